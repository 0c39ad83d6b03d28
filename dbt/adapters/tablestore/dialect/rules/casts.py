"""Rules for casts: rounding, lengths of texts, decimals without a precision, types that Spark does not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.arrays import texts_of_array
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.intervals import of_cast
from dbt.adapters.tablestore.dialect.rules.json_parts import is_json, is_part, json_of_any
from dbt.adapters.tablestore.dialect.rules.numbers.bits import integer_of_bits, refuse_bits
from dbt.adapters.tablestore.dialect.rules.numbers.kinds import is_integer

SPARKS: Final = "sparks"
"""The mark of casts to types of Spark's."""
# DECIMAL without a precision, which in Spark is a decimal(10,0), without fractions.
_ANY_DECIMAL: Final[Mapping[str, str]] = {
    "snowflake": "DECIMAL(38, 0)",
    "bigquery": "DECIMAL(38, 9)",
    "redshift": "DECIMAL(18, 0)",
    "postgres": "DECIMAL(38, 6)",
    "duckdb": "DECIMAL(18, 3)",
    "trino": "DECIMAL(38, 0)",
}
_CUTTING: Final = ("postgres", "redshift", "trino", "snowflake")
"""Dialects in which a cast to VARCHAR(n) cuts longer texts; Spark keeps them whole. CHAR is one character there."""
_WIDE: Final[Mapping[str, str]] = {
    "INT128": "DECIMAL(38, 0)", "UBIGINT": "DECIMAL(20, 0)", "UINT": "BIGINT", "BPCHAR": "STRING", "JSON": "STRING",
    "JSONB": "STRING",
}  # fmt: skip
"""Types that Spark does not have, by sqlglot's names, with those that hold their values."""
_ONE_INTEGER: Final = ("snowflake", "bigquery")
"""Dialects in which all names of integers are one type, of 64 bits or more."""
_WHOLE_TEXTS: Final = ("bigquery", "trino")
"""Dialects in which a text with a fraction is no integer."""
_LONGEST: Final = 65_535
"""The length of the longest texts of Redshift; nobody cuts texts at that or more."""
_PLAIN_TEXT: Final = "if(is_variant_null(try_parse_json(:a)), NULL, get_json_object(:a, '$'))"
_INFINITE: Final = ("infinity", "inf")
_PRESENT: Final = {"now": "CURRENT_TIMESTAMP", "today": "CURRENT_DATE"}


def _round(node: exp.Expr, dialect: str) -> None:
    """A cast of a fraction to an integer rounds in other warehouses; Spark's cuts the fraction off, of a decimal too,
    but a cast to a decimal rounds."""
    value = node.this.unnest()
    digits = isinstance(value, exp.Literal) and value.is_string and value.name.strip().lstrip("+-").isdigit()
    if digits or is_integer(value) or isinstance(value, (exp.Boolean, exp.Null)):
        return
    if value.is_string and dialect in _WHOLE_TEXTS:
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
    if dialect == "databricks" or node.meta.get(SPARKS):
        return None
    kind = node.args["to"]
    if kind.is_type("time", "timetz"):
        raise Untranslatable("the type TIME (keep the time as a text)")
    if kind.is_type("bit"):
        refuse_bits(node)
        return None
    if node.args.get("format") is not None:
        return _formatted(node, kind, dialect)
    if (number := integer_of_bits(node)) is not None:
        return number
    if kind.this is exp.DataType.Type.INTERVAL:
        return of_cast(node)
    other = _as_other(node, kind, dialect)
    if other is not None:
        return other
    node.set("to", number_type(kind, dialect))
    if dialect in _ONE_INTEGER:
        _take_json_apart(node)
    if kind.this in exp.DataType.INTEGER_TYPES:
        _round(node, dialect)
    for one in [kind, *kind.find_all(exp.DataType)]:
        one.set("values", None)  # INT[3]
        wide = _WIDE.get(str(one.this.name)) if isinstance(one.this, exp.DataType.Type) else None
        if wide is not None:
            one.replace(exp.DataType.build(wide, dialect="spark"))
    if kind.is_type("char", "varchar", "nchar", "nvarchar") and dialect in _CUTTING:
        return _cut(node, kind)
    return None


def number_type(kind: exp.Expr, dialect: str) -> exp.Expr:
    """The type of numbers that a dialect means by a name; another type as it is."""
    if kind.is_type("decimal", "bigdecimal") and not kind.expressions and dialect in _ANY_DECIMAL:
        return exp.DataType.build(_ANY_DECIMAL[dialect])
    if kind.is_type("float") and dialect == "snowflake":
        return exp.DataType.build("DOUBLE")  # of 64 bits by all of its names
    signed = kind.this in exp.DataType.SIGNED_INTEGER_TYPES and not kind.is_type("int128", "int256")
    return exp.DataType.build("BIGINT") if signed and dialect in _ONE_INTEGER else kind


def _take_json_apart(node: exp.Expr) -> None:
    """PARSE_JSON('"a"')::varchar, the text without its quotes; null for a JSON null."""
    value = node.this.unnest()
    tried = isinstance(value, exp.Anonymous) and value.name == "NVL2" and value.expressions[1].meta.get("json")
    if value.meta.get("json") or tried:
        node.set("this", filled(_PLAIN_TEXT, [value]))


def _cut(node: exp.Expr, kind: exp.Expr) -> exp.Expr | None:
    one_character = kind.is_type("char", "nchar") and not kind.expressions
    length = _one() if one_character else kind.expressions[0].this.copy() if kind.expressions else None
    if not isinstance(length, exp.Literal) or int(length.name) >= _LONGEST:
        return None
    text = _cast_as(node, node.this.copy(), "text")
    cut = exp.Anonymous(this="SUBSTRING", expressions=[text, _one(), length])
    if one_character:
        return cut
    node.set("this", cut)
    return None


def _as_other(node: exp.Expr, kind: exp.Expr, dialect: str) -> exp.Expr | None:
    """JSON is text; words for times are times. None for another cast."""
    text = node.this.unnest()
    word = text.name.lower() if isinstance(text, exp.Literal) and text.is_string else ""
    if kind.is_type("timestamp", "timestamptz", "timestampntz", "date") and word.lstrip("+-") in _INFINITE:
        raise Untranslatable("an infinite time (write one that is far away, such as '9999-12-31')")
    if kind.is_type("timestamp", "timestamptz", "timestampntz", "date") and word in (*_PRESENT, "epoch"):
        if word == "epoch":
            text.replace(exp.Literal.string("1970-01-01"))
            return None
        return exp.Cast(this=exp.Anonymous(this=_PRESENT[word], expressions=[]), to=kind.copy())
    if kind.is_type("array") and dialect in ("postgres", "duckdb") and word.startswith("{"):
        parts = texts_of_array(text.name)
        if parts is None:
            raise Untranslatable("an array in a text with escapes, or of several dimensions (write ARRAY[…])")
        values = [exp.Null() if one is None else exp.Literal.string(one) for one in parts]
        return exp.Cast(this=exp.Anonymous(this="ARRAY", expressions=values), to=kind.copy())
    if kind.this is exp.DataType.Type.SUPER:
        return exp.cast(node.this, "text")  # as of PARSE_JSON
    if dialect == "snowflake" and (kind.is_type("variant", "object", "array") and not kind.expressions):
        return node.this
    if kind.is_type("json") and dialect == "trino" and not word and not is_json(text):
        plain = exp.cast(node.this.copy(), "text")
        kind_of = exp.Anonymous(this="TYPEOF", expressions=[node.this.copy()])
        is_text = exp.EQ(this=kind_of, expression=exp.Literal.string("string"))
        absent = exp.Is(this=exp.paren(node.this.copy()), expression=exp.Null())
        return exp.Case().when(is_text, plain).when(exp.Not(this=absent), json_of_any(node.this))
    if kind.is_type("json", "jsonb") and (dialect == "postgres" or (dialect == "duckdb" and word)):
        if is_part(text):
            return node.this
        made = exp.cast(node.this, "text")  # as of PARSE_JSON
        made.meta["json"] = True
        return made
    parsed = isinstance(text, exp.Cast) and text.meta.get("json")
    if kind.is_type("array", "map", "struct") and parsed:
        for one in kind.find_all(exp.DataType):
            if one.is_type("json", "jsonb"):
                one.set("this", exp.DataType.Type.TEXT)
        given = exp.Literal.string(kind.sql("spark"))
        return exp.Anonymous(this="FROM_JSON", expressions=[node.this.copy(), given])
    return None


def _formatted(node: exp.Expr, kind: exp.Expr, dialect: str) -> exp.Expr:
    """CAST(time AS STRING FORMAT 'YYYY-MM')."""
    from sqlglot.dialects.bigquery import BigQuery
    from sqlglot.time import format_time

    given = node.args["format"]
    pattern = format_time(given.name, BigQuery.FORMAT_MAPPING, BigQuery.FORMAT_TRIE) if given.is_string else None
    if dialect != "bigquery" or not kind.is_type("text") or not pattern:
        raise Untranslatable("CAST … FORMAT of this type")
    return exp.TimeToStr(this=node.this, format=exp.Literal.string(pattern))


def _number_of(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's TO_NUMBER and TO_DECIMAL are casts, also of what a format gives; to whole numbers without a scale."""
    precision, scale = node.args.get("precision"), node.args.get("scale")
    kind = f"DECIMAL({precision.name if precision else 38}, {scale.name if scale else 0})"
    if node.args.get("format") and dialect == "snowflake":
        name = "TRY_TO_NUMBER" if node.args.get("safe") else "TO_NUMBER"
        return _cast_as(node, exp.Anonymous(this=name, expressions=[node.this, node.args["format"]]), kind)
    return _cast_as(node, node.this, kind) if precision else None


def _try_cast(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TRY_CAST and SAFE_CAST. A plain CAST of Databricks, as sqlglot reads it, stays one. In BigQuery and Trino, a text
    with a fraction is no integer, and a number with one is rounded."""
    if dialect == "databricks":
        return None
    node.set("safe", True)
    kind, value = node.args["to"], node.this.unnest()
    whole = kind.this in exp.DataType.INTEGER_TYPES and dialect in _WHOLE_TEXTS
    if not whole or is_integer(value) or value.is_number or node.args.get("format") is not None:
        return _cast(node, dialect)
    plain = exp.TryCast(this=node.this.copy(), to=number_type(kind, dialect).copy(), safe=True)
    if value.is_string:
        return plain
    rounded = node.copy()
    rounded = _cast(rounded, dialect) or rounded
    kind_of = exp.Anonymous(this="TYPEOF", expressions=[node.this.copy()])
    text = exp.EQ(this=kind_of, expression=exp.Literal.string("string"))
    return exp.Anonymous(this="IF", expressions=[text, plain, rounded])


def _try_date(node: exp.Expr, dialect: str) -> exp.Expr | None:
    plain = node.args.get("safe") and node.args.get("format") is None
    return _cast_as(node, node.this, "date") if plain else None


def _double(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's TRY_TO_DOUBLE."""
    return _cast_as(node, node.this, "double") if node.args.get("format") is None else None


def _boolean(node: exp.Expr, dialect: str) -> exp.Expr:
    """Snowflake's TO_BOOLEAN and TRY_TO_BOOLEAN."""
    return _cast_as(node, node.this, "boolean")


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.ToNumber: _number_of,
    exp.TsOrDsToDate: _try_date,
    exp.ToBoolean: _boolean,
    exp.ToDouble: _double,
}
