"""Corrections of casts: rounding, lengths of texts, decimals without a precision, JSON, which is text here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable

# DECIMAL without a precision, which in Spark is a decimal(10,0), without fractions.
_ANY_DECIMAL: Final[Mapping[str, str]] = {
    "snowflake": "DECIMAL(38, 0)",
    "bigquery": "DECIMAL(38, 9)",
    "redshift": "DECIMAL(18, 0)",
    "postgres": "DECIMAL(38, 6)",
    "duckdb": "DECIMAL(18, 3)",
    "trino": "DECIMAL(38, 0)",
}
_CUTTING: Final = ("postgres", "redshift", "trino")
"""Dialects in which a cast to VARCHAR(n) cuts longer texts; Spark keeps them whole."""
_COUNTS: Final = (exp.Count, exp.Length, exp.RowNumber, exp.Rank, exp.DenseRank)


def is_integer(node: exp.Expr) -> bool:
    """Whether a value is surely an integer."""
    node = node.unnest()
    if isinstance(node, exp.Neg):
        return is_integer(node.this)
    if isinstance(node, exp.Literal):
        return bool(node.is_int)
    if isinstance(node, exp.Cast):
        return node.to.this in exp.DataType.INTEGER_TYPES
    return isinstance(node, _COUNTS)


def _round(node: exp.Expr) -> None:
    """A cast of a fraction to an integer rounds in other warehouses; Spark's cuts the fraction off, of a decimal too,
    but a cast to a decimal rounds."""
    value = node.this.unnest()
    digits = isinstance(value, exp.Literal) and value.is_string and value.name.strip().lstrip("+-").isdigit()
    if digits or is_integer(value) or isinstance(value, (exp.Boolean, exp.Null)):
        return
    node.set("this", _cast_as(node, node.this.copy(), "DECIMAL(38, 0)"))


def _cast_as(node: exp.Expr, value: exp.Expr, kind: str) -> exp.Expr:
    """A cast that fails or gives null where the function `node` does."""
    target = exp.DataType.build(kind)
    if isinstance(node, exp.TryCast) or node.args.get("safe"):
        return exp.TryCast(this=value, to=target, safe=True)
    return exp.Cast(this=value, to=target)


def _one() -> exp.Expr:
    return exp.Literal.number(1)


def _cast(node: exp.Expr, dialect: str) -> exp.Expr | None:
    kind = node.args["to"]
    if kind.is_type("time", "timetz"):
        raise Untranslatable("the type TIME (keep the time as a text)")
    if kind.this is exp.DataType.Type.SUPER:
        return exp.cast(node.this, "text")  # as of PARSE_JSON
    if kind.is_type("variant") and dialect == "snowflake":
        return node.this
    if kind.is_type("json", "jsonb") and dialect == "postgres":
        return exp.cast(node.this, "text")  # as of PARSE_JSON
    if kind.is_type("decimal", "bigdecimal") and not kind.expressions and dialect in _ANY_DECIMAL:
        node.set("to", exp.DataType.build(_ANY_DECIMAL[dialect]))
    if kind.this in exp.DataType.INTEGER_TYPES and dialect != "databricks":
        _round(node)
    if kind.is_type("char", "varchar", "nchar", "nvarchar") and kind.expressions and dialect in _CUTTING:
        text = exp.cast(node.this.copy(), "text")
        node.set("this", exp.Anonymous(this="SUBSTRING", expressions=[text, _one(), kind.expressions[0].this.copy()]))
    return None


def _number_of(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's TO_NUMBER and TO_DECIMAL without a format are casts."""
    if node.args.get("format"):
        node.set("precision", None)
        node.set("scale", None)
    if not node.args.get("precision"):
        return None
    kind = f"DECIMAL({node.args['precision'].name}, {node.args['scale'].name if node.args.get('scale') else 0})"
    return _cast_as(node, node.this, kind)


def _try_cast(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TRY_CAST and SAFE_CAST. A plain CAST of Databricks, as sqlglot reads it, stays one."""
    if dialect != "databricks":
        node.set("safe", True)
    return _cast(node, dialect)


def _try_date(node: exp.Expr, dialect: str) -> exp.Expr | None:
    return _cast_as(node, node.this, "date") if node.args.get("safe") else None


def _json_text(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """JSON is text here, from which a path takes its part."""
    if dialect == "databricks":
        return None
    text = exp.cast(node.this.copy(), "text")
    if not node.args.get("safe"):
        return text
    parsed = exp.Anonymous(this="TRY_PARSE_JSON", expressions=[text.copy()])
    return exp.Anonymous(this="NVL2", expressions=[parsed, text, exp.Null()])


def _boolean(node: exp.Expr, dialect: str) -> exp.Expr:
    """Snowflake's TO_BOOLEAN and TRY_TO_BOOLEAN."""
    return _cast_as(node, node.this, "boolean")


def _as_json(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """OBJECT_CONSTRUCT: a JSON text without the keys whose values are null, as TO_JSON makes it of a struct."""
    if dialect != "snowflake":
        return None
    parts: list[exp.Expr] = []
    for pair in node.expressions:
        key = pair.this if isinstance(pair, exp.PropertyEQ) else None
        if not isinstance(key, exp.Literal):
            raise Untranslatable("OBJECT_CONSTRUCT with computed keys (write spark__to_json(spark__map(…)))")
        value = pair.expression
        if isinstance(value, (exp.JSONExtract, exp.JSONExtractScalar)):
            raise Untranslatable(f"OBJECT_CONSTRUCT of a part of a variant without a cast ('{key.name}')")
        if isinstance(value, exp.Anonymous) and value.name == "TO_JSON":
            value = value.expressions[0]
        parts += [exp.Literal.string(key.name), value.copy()]
    return exp.Anonymous(this="TO_JSON", expressions=[exp.Anonymous(this="NAMED_STRUCT", expressions=parts)])


def _row_as_json(node: exp.Expr, dialect: str) -> exp.Expr | None:
    if dialect != "snowflake":
        return None
    return exp.Anonymous(this="TO_JSON", expressions=[exp.Anonymous(this="STRUCT", expressions=[exp.Star()])])


def _json_part(node: exp.Expr, dialect: str) -> None:
    """A path of SQL/JSON, `lax $.a`, in Trino's JSON_QUERY."""
    path = node.expression
    if dialect == "trino" and isinstance(path, exp.Literal) and path.is_string:
        plain = path.name.removeprefix("lax ").removeprefix("strict ").strip()
        path.replace(exp.Literal.string(plain))


def _json_of(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TO_JSON and JSON_FORMAT of JSON, which is text already."""
    return node.this if dialect in ("snowflake", "trino") else None


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.ToNumber: _number_of,
    exp.TsOrDsToDate: _try_date,
    exp.ParseJSON: _json_text,
    exp.ToBoolean: _boolean,
    exp.Struct: _as_json,
    exp.StarMap: _row_as_json,
    exp.JSONFormat: _json_of,
    exp.JSONExtract: _json_part,
}
