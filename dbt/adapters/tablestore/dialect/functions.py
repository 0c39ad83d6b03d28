"""Corrections of functions and operators: quotients of integers, casts, matches, texts of numbers and times."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.aggregates import refuse_json, share
from dbt.adapters.tablestore.dialect.dates import extracted
from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.texts import joda

_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")

# DECIMAL without a precision, which in Spark is a decimal(10,0), without fractions.
_ANY_DECIMAL: Final[Mapping[str, str]] = {
    "snowflake": "DECIMAL(38, 0)",
    "bigquery": "DECIMAL(38, 9)",
    "redshift": "DECIMAL(18, 0)",
    "postgres": "DECIMAL(38, 6)",
    "duckdb": "DECIMAL(18, 3)",
    "trino": "DECIMAL(38, 0)",
}
_NULL_OF_ANY_NULL: Final = ("snowflake", "bigquery", "trino")
_PATTERN_OF_TIMES: Final = ("YY", "MM", "DD", "MON", "HH", "MI", "SS", "DY")


def _quotient(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """A quotient of integers is an integer in some warehouses, and never in Spark. Spark finds the types out."""
    if not node.args.get("typed"):
        return None
    given = [node.this, node.expression]
    if any(_is_fraction(one) for one in given):
        return None
    plain = exp.Div(this=node.this.copy(), expression=node.expression.copy())
    whole = exp.cast(plain.copy(), "bigint")
    unknown = [one for one in given if not _is_integer(one)]
    if not unknown:
        return whole
    kinds = [exp.Literal.string(one) for one in _INTEGERS]
    tests = [exp.In(this=exp.func("TYPEOF", one.copy()), expressions=[k.copy() for k in kinds]) for one in unknown]
    return exp.func("IF", exp.and_(*tests), whole, plain)


def _is_integer(node: exp.Expr) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Neg):
        return _is_integer(node.this)
    if isinstance(node, exp.Literal):
        return bool(node.is_int)
    if isinstance(node, exp.Cast):
        return node.to.this in exp.DataType.INTEGER_TYPES
    return isinstance(node, exp.Count)


def _is_fraction(node: exp.Expr) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return not node.is_string and not node.is_int
    if isinstance(node, exp.Cast):
        return node.to.this in exp.DataType.REAL_TYPES
    if isinstance(node, (exp.Mul, exp.Add, exp.Sub)):
        return _is_fraction(node.this) or _is_fraction(node.expression)
    return False


def _found_text(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The match of a pattern, or null. Spark's REGEXP_EXTRACT gives an empty text for no match, and wants a group."""
    if dialect == "databricks":
        return None
    if node.args.get("position") or node.args.get("occurrence"):
        raise Untranslatable("a position or occurrence of REGEXP_SUBSTR")
    text, pattern, group = node.this, node.expression, node.args.get("group")
    if group is None and dialect == "bigquery" and "(" in pattern.name.replace("\\(", "").replace("(?", ""):
        group = exp.Literal.number(1)
    if group is None or group.name == "0":
        return exp.Anonymous(this="REGEXP_SUBSTR", expressions=[text, pattern])
    part = exp.Anonymous(this="REGEXP_EXTRACT", expressions=[text.copy(), pattern.copy(), group.copy()])
    return exp.Anonymous(this="IF", expressions=[exp.RegexpLike(this=text, expression=pattern), part, exp.Null()])


def _text_of(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TO_CHAR by the pattern of a time, or by that of a number."""
    pattern = node.args.get("format")
    if pattern is None:
        return None
    if not isinstance(pattern, exp.Literal):
        raise Untranslatable("TO_CHAR with a computed format")
    if any(part in pattern.name.upper() for part in _PATTERN_OF_TIMES):
        from sqlglot.dialects.dialect import Dialect

        python = Dialect.get_or_raise(dialect).format_time(pattern)
        return exp.TimeToStr(this=node.this, format=python)
    return exp.Anonymous(this="TO_CHAR", expressions=[node.this, pattern])


def _by_path(node: exp.Expr, dialect: str) -> exp.Expr:
    """Postgres' `j #>> '{a,b}'`."""
    path = node.expression
    if not isinstance(path, exp.Literal):
        raise Untranslatable("#> and #>> with a computed path")
    keys = [one.strip().strip('"') for one in path.name.strip("{}").split(",")]
    text = "".join(f"[{one}]" if one.isdigit() else f".{one}" for one in keys if one)
    return exp.Anonymous(this="GET_JSON_OBJECT", expressions=[node.this, exp.Literal.string(f"${text}")])


def _number_of(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's TO_NUMBER and TO_DECIMAL without a format are casts."""
    if node.args.get("format") or not node.args.get("precision"):
        return None
    kind = f"DECIMAL({node.args['precision'].name}, {node.args['scale'].name if node.args.get('scale') else 0})"
    target = exp.DataType.build(kind)
    return (
        exp.TryCast(this=node.this, to=target, safe=True)
        if node.args.get("safe")
        else exp.Cast(this=node.this, to=target)
    )


def _try_cast(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TRY_CAST and SAFE_CAST. A plain CAST of Databricks, as sqlglot reads it, stays one."""
    if dialect != "databricks":
        node.set("safe", True)
    return _cast(node, dialect)


def _try_date(node: exp.Expr, dialect: str) -> exp.Expr | None:
    if not node.args.get("safe"):
        return None
    return exp.TryCast(this=node.this, to=exp.DataType.build("date"), safe=True)


def _json_text(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """JSON is text here, from which a path takes its part."""
    return exp.cast(node.this, "text") if dialect != "databricks" else None


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
    return None


def _initcap(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.Anonymous(this="INITCAP", expressions=[node.this])


def _day_count(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """A date minus a date is a number of days in some warehouses, and an interval in Spark."""
    days = dialect in ("postgres", "redshift", "duckdb", "snowflake")
    if days and all(_is_date(one) for one in (node.this, node.expression)):
        return exp.Anonymous(this="DATEDIFF", expressions=[node.this, node.expression])
    return None


def _is_date(node: exp.Expr) -> bool:
    node = node.unnest()
    return isinstance(node, exp.CurrentDate) or (isinstance(node, exp.Cast) and node.to.is_type("date"))


def _of_any_null(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """GREATEST and LEAST are null in some warehouses if one value is null. Spark passes over nulls."""
    values = [node.this, *node.expressions]
    if dialect not in _NULL_OF_ANY_NULL or len(values) < 2:
        return None
    tests = [exp.Is(this=one.copy(), expression=exp.Null()) for one in values if not isinstance(one, exp.Literal)]
    name = "GREATEST" if isinstance(node, exp.Greatest) else "LEAST"
    plain = exp.Anonymous(this=name, expressions=[one.copy() for one in values])
    return exp.Anonymous(this="IF", expressions=[exp.or_(*tests), exp.Null(), plain]) if tests else plain


def _percentile(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """An exact percentile stays one."""
    if isinstance(node.parent, exp.WithinGroup):
        name = "PERCENTILE_CONT" if isinstance(node, exp.PercentileCont) else "PERCENTILE_DISC"
        return exp.Anonymous(this=name, expressions=[node.this])
    if isinstance(node, exp.PercentileCont) and node.expression is not None:
        return exp.Anonymous(this="PERCENTILE", expressions=[node.this, node.expression])
    return None


def _matches_any_case(node: exp.Expr, dialect: str) -> exp.Expr:
    pattern = exp.Anonymous(this="CONCAT", expressions=[exp.Literal.string("(?i)"), node.expression])
    return exp.RegexpLike(this=node.this, expression=pattern)


def _replaced_text(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """All matches are replaced in Spark, and groups are `$1` in the new text."""
    if dialect in ("postgres", "duckdb") and "g" not in _text(node.args.get("modifiers")):
        raise Untranslatable("REGEXP_REPLACE of the first match (replace all with the flag 'g')")
    new = node.args.get("replacement")
    if dialect not in ("databricks", "trino") and isinstance(new, (exp.Literal, exp.RawString)):
        groups = re.sub(r"\\(\d)", r"$\1", new.name.replace("$", r"\$"))
        new.replace(exp.Literal.string(groups))
    return None


def _text(literal: exp.Expr | None) -> str:
    return literal.name if literal is not None else ""


def _logarithm(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """LOG of one number is the decimal logarithm in some warehouses, and the natural one in Spark."""
    decimal = dialect in ("postgres", "redshift", "duckdb") and node.expression is None
    return exp.Anonymous(this="LOG10", expressions=[node.this]) if decimal else None


def _in_array(node: exp.Expr, dialect: str) -> exp.Expr | None:
    unnested = node.args.get("unnest")
    if not isinstance(unnested, exp.Unnest) or len(unnested.expressions) != 1:
        return None
    return exp.Anonymous(this="ARRAY_CONTAINS", expressions=[unnested.expressions[0], node.this])


def _slice(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake and DuckDB name the end; Snowflake counts from 0."""
    start, end = node.args.get("start"), node.args.get("end")
    if dialect not in ("snowflake", "duckdb"):
        return None
    plain = isinstance(start, exp.Literal) and isinstance(end, exp.Literal) and start.is_int and end.is_int
    if start is None or end is None or not plain or node.args.get("step"):
        raise Untranslatable("ARRAY_SLICE with computed or negative positions")
    first, last = int(start.name) + (dialect == "snowflake"), int(end.name)
    numbers = [exp.Literal.number(max(first, 1)), exp.Literal.number(max(last - max(first, 1) + 1, 0))]
    return exp.Anonymous(this="SLICE", expressions=[node.this, *numbers])


def _array(node: exp.Expr, dialect: str) -> None:
    if any(isinstance(one, exp.Query) for one in node.expressions):
        raise Untranslatable("ARRAY(SELECT …) (aggregate with ARRAY_AGG)")


def _distinct_in_window(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """COUNT(DISTINCT …) OVER (…), which Spark refuses: the size of a set. Neither counts nulls."""
    if (of_sum := share(node)) is not None:
        return of_sum
    if not isinstance(node.this, exp.Count) or not isinstance(node.this.this, exp.Distinct):
        return None
    values = node.this.this.expressions
    value = values[0]
    if len(values) > 1:
        nulls = [exp.Is(this=one.copy(), expression=exp.Null()) for one in values]
        value = exp.func("IF", exp.or_(*nulls), exp.Null(), exp.Anonymous(this="STRUCT", expressions=values))
    node.set("this", exp.Anonymous(this="COLLECT_SET", expressions=[value]))
    return exp.Anonymous(this="SIZE", expressions=[node.copy()])


def _truncated(node: exp.Expr, dialect: str) -> None:
    if dialect == "redshift" and not node.args.get("decimals"):
        raise Untranslatable("TRUNC with one argument (write a cast to DATE or to BIGINT)")


def _local_now(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.Anonymous(this="LOCALTIMESTAMP", expressions=[])


def _by_name(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Functions that sqlglot does not know in a dialect, and those that dbt's macros mark as Spark's."""
    if node.name.lower().startswith("spark__"):
        return exp.Anonymous(this=node.name[len("spark__") :], expressions=node.expressions)
    if node.name.upper() == "DATE_PART" and len(node.expressions) == 2 and dialect != "databricks":
        return extracted(node.expressions[0].name, node.expressions[1], dialect)
    if dialect == "duckdb" and node.name.upper() == "WEEKDAY":
        return extracted("DAYOFWEEK", node.expressions[0], dialect)
    refuse_json(node.name.upper())
    return joda(node.name.upper(), node.expressions) if dialect == "trino" else None


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Div: _quotient,
    exp.RegexpExtract: _found_text,
    exp.RegexpILike: _matches_any_case,
    exp.RegexpReplace: _replaced_text,
    exp.Log: _logarithm,
    exp.In: _in_array,
    exp.ArraySlice: _slice,
    exp.ToChar: _text_of,
    exp.ToNumber: _number_of,
    exp.ParseJSON: _json_text,
    exp.JSONBExtract: _by_path,
    exp.JSONBExtractScalar: _by_path,
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.TsOrDsToDate: _try_date,
    exp.Initcap: _initcap,
    exp.Sub: _day_count,
    exp.Greatest: _of_any_null,
    exp.Least: _of_any_null,
    exp.PercentileCont: _percentile,
    exp.PercentileDisc: _percentile,
    exp.Array: _array,
    exp.Window: _distinct_in_window,
    exp.Trunc: _truncated,
    exp.CurrentDatetime: _local_now,
    exp.Anonymous: _by_name,
}
