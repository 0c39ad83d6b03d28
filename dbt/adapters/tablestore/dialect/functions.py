"""Corrections of functions and operators: quotients of integers, matches, texts of numbers and times."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.aggregates import refuse_json, share
from dbt.adapters.tablestore.dialect.casts import is_integer
from dbt.adapters.tablestore.dialect.dates import extracted, is_date
from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.texts import joda

_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")

_MOST_DIGITS: Final = 9
# Functions that sqlglot leaves as they are, by their name in Spark.
_RENAMED: Final[Mapping[str, str]] = {
    "ANY_MATCH": "EXISTS", "ALL_MATCH": "FORALL", "LIST_REVERSE": "REVERSE", "FUNC_SHA1": "SHA1",
    "GET_ARRAY_LENGTH": "SIZE", "JSONB_ARRAY_LENGTH": "JSON_ARRAY_LENGTH", "PREFIX": "STARTSWITH", "SUFFIX": "ENDSWITH",
    "BASE64_ENCODE": "BASE64",
}  # fmt: skip
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
    unknown = [one for one in given if not is_integer(one)]
    if not unknown:
        return whole
    kinds = [exp.Literal.string(one) for one in _INTEGERS]
    tests = [exp.In(this=exp.func("TYPEOF", one.copy()), expressions=[k.copy() for k in kinds]) for one in unknown]
    return exp.func("IF", exp.and_(*tests), whole, plain)


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
    if dialect == "duckdb":  # no match is an empty text, as in Spark
        return exp.Anonymous(this="REGEXP_EXTRACT", expressions=[text, pattern, group or exp.Literal.number(0)])
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
    raise Untranslatable(f"TO_CHAR of a number by the pattern '{pattern.name}' (write spark__format_number)")


def _by_path(node: exp.Expr, dialect: str) -> exp.Expr:
    """Postgres' `j #>> '{a,b}'`."""
    path = node.expression
    if not isinstance(path, exp.Literal):
        raise Untranslatable("#> and #>> with a computed path")
    keys = [one.strip().strip('"') for one in path.name.strip("{}").split(",")]
    text = "".join(f"[{one}]" if one.isdigit() else f".{one}" for one in keys if one)
    return exp.Anonymous(this="GET_JSON_OBJECT", expressions=[node.this, exp.Literal.string(f"${text}")])


def _initcap(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.Anonymous(this="INITCAP", expressions=[node.this])


def _day_count(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """A date minus a date is a number of days in some warehouses, and an interval in Spark."""
    days = dialect in ("postgres", "redshift", "duckdb", "snowflake")
    if days and all(is_date(one) for one in (node.this, node.expression)):
        return exp.Anonymous(this="DATEDIFF", expressions=[node.this, node.expression])
    return None


def _of_any_null(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """GREATEST and LEAST are null in some warehouses if one value is null. Spark passes over nulls."""
    values = [node.this, *node.expressions]
    if dialect not in _NULL_OF_ANY_NULL or len(values) < 2 or node.args.get("ignore_nulls"):
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
    options = _text(node.args.get("modifiers"))
    if dialect in ("postgres", "duckdb"):
        if "g" not in options:
            raise Untranslatable("REGEXP_REPLACE of the first match (replace all with the flag 'g')")
        options = options.replace("g", "")
    if set(options) - set("cims"):
        raise Untranslatable(f"the parameters '{options}' of REGEXP_REPLACE")
    letters = options.replace("c", "")
    if letters:
        opening = exp.Literal.string(f"(?{letters})")
        node.set("expression", exp.Anonymous(this="CONCAT", expressions=[opening, node.expression.copy()]))
    node.set("modifiers", None)
    if _text(node.args.get("occurrence")) == "0":
        node.set("occurrence", None)
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


def _truncated(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TRUNC(number, digits): without the rest of a division, exactly."""
    digits = node.args.get("decimals")
    if digits is None:
        if dialect == "redshift":
            raise Untranslatable("TRUNC with one argument (write a cast to DATE or to BIGINT)")
        return None
    if not isinstance(digits, exp.Literal) or not digits.is_int or int(digits.name) > _MOST_DIGITS:
        raise Untranslatable(f"TRUNC to a number of digits that is not between 0 and {_MOST_DIGITS}")
    number = exp.cast(node.this.copy(), "DECIMAL(38, 10)")
    unit = exp.cast(exp.Literal.string(f"1e-{digits.name}"), "DECIMAL(38, 10)")
    return exp.paren(exp.Sub(this=number, expression=exp.Mod(this=number.copy(), expression=unit)), copy=False)


def _overlay(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's INSERT: some characters replaced by a text."""
    if isinstance(node, exp.Overlay):
        return None
    given = [node.this, node.expression, node.args["start"], node.args["length"]]
    return exp.Anonymous(this="OVERLAY", expressions=given)


def _joined(node: exp.Expr, dialect: str) -> None:
    """Redshift's CONCAT is null if a value is null, as Spark's is."""
    if dialect == "redshift":
        node.set("coalesce", False)


def _if_alone(node: exp.Expr, dialect: str) -> None:
    """IF(test, value), which is null where the test is not true."""
    if not isinstance(node.parent, exp.Case) and node.args.get("false") is None:
        node.set("false", exp.Null())


def _safe(node: exp.Expr, dialect: str) -> exp.Expr:
    """BigQuery's SAFE.f(…), null where f fails."""
    inner = node.this
    if not isinstance(inner, (exp.StrToDate, exp.StrToTime)):
        raise Untranslatable(f"SAFE.{inner.sql_name() if isinstance(inner, exp.Func) else inner.name}")
    inner.set("safe", True)
    return inner.copy()


def _similar(node: exp.Expr, dialect: str) -> exp.Expr:
    """SIMILAR TO matches a whole text by a regular expression with the % and _ of LIKE; DuckDB's has not these."""
    pattern = node.expression
    if not isinstance(pattern, exp.Literal) or "\\" in pattern.name:
        raise Untranslatable("SIMILAR TO with a computed or escaped pattern (write a regular expression)")
    text = pattern.name
    if dialect != "duckdb":
        text = "".join({"%": ".*", "_": ".", ".": "[.]", "^": "\\^", "$": "\\$"}.get(one, one) for one in text)
    return exp.RegexpLike(this=node.this, expression=exp.Literal.string(f"^(?s:{text})$"))


def _encoded(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Postgres' ENCODE makes a text of bytes."""
    charset = node.args["charset"].name.lower()
    if dialect != "postgres":
        return None
    if charset not in ("hex", "base64"):
        raise Untranslatable(f"ENCODE as {charset}")
    if charset == "base64":
        return exp.Anonymous(this="BASE64", expressions=[node.this])
    return exp.Lower(this=exp.Anonymous(this="HEX", expressions=[node.this]))


def _base64(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.Anonymous(this="BASE64", expressions=[node.this])


def _type_name(node: exp.Expr, dialect: str) -> None:
    if dialect != "databricks":
        raise Untranslatable("TYPEOF, which names the types of its warehouse (write spark__typeof)")


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
    if _RENAMED.get(node.name.upper()) and dialect != "databricks":
        return exp.Anonymous(this=_RENAMED[node.name.upper()], expressions=node.expressions)
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
    exp.JSONBExtract: _by_path,
    exp.JSONBExtractScalar: _by_path,
    exp.Initcap: _initcap,
    exp.Sub: _day_count,
    exp.Greatest: _of_any_null,
    exp.Least: _of_any_null,
    exp.PercentileCont: _percentile,
    exp.PercentileDisc: _percentile,
    exp.Array: _array,
    exp.Window: _distinct_in_window,
    exp.Trunc: _truncated,
    exp.Localtimestamp: _local_now,
    exp.Overlay: _overlay,
    exp.Stuff: _overlay,
    exp.Concat: _joined,
    exp.If: _if_alone,
    exp.SafeFunc: _safe,
    exp.SimilarTo: _similar,
    exp.Encode: _encoded,
    exp.Typeof: _type_name,
    exp.Base64Encode: _base64,
    exp.Anonymous: _by_name,
}
