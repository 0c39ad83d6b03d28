"""Rules for functions and operators: comparisons with arrays, functions by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.aggregates import share
from dbt.adapters.tablestore.dialect.rules.counterparts.arrays import element_or_null, texts_of_array
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.counterparts.lookup import called, counterpart
from dbt.adapters.tablestore.dialect.rules.counterparts.objects import step_of
from dbt.adapters.tablestore.dialect.rules.dates import time_by_name
from dbt.adapters.tablestore.dialect.rules.intervals import DAYS
from dbt.adapters.tablestore.dialect.rules.json_parts import built, listed_rows
from dbt.adapters.tablestore.dialect.rules.json_values import collected
from dbt.adapters.tablestore.dialect.rules.matches import by_name
from dbt.adapters.tablestore.dialect.rules.numbers.kinds import FRACTION, MARK, has_fraction, kind_of
from dbt.adapters.tablestore.dialect.rules.texts import joda, printf

_MOST_DIGITS: Final = 9
# Functions that sqlglot leaves as they are, by their name in Spark.
_RENAMED: Final[Mapping[str, str]] = {
    "ANY_MATCH": "EXISTS", "ALL_MATCH": "FORALL", "LIST_REVERSE": "REVERSE", "FUNC_SHA1": "SHA1",
    "JSONB_ARRAY_LENGTH": "JSON_ARRAY_LENGTH", "PREFIX": "STARTSWITH", "SUFFIX": "ENDSWITH",
    "BASE64_ENCODE": "BASE64", "LIST_ZIP": "ARRAYS_ZIP", "ZIP": "ARRAYS_ZIP",
    "LIST_INTERSECT": "ARRAY_INTERSECT", "ARRAY_INCLUDES": "ARRAY_CONTAINS", "UUID_GENERATE_V4": "UUID",
    "STRLEN": "OCTET_LENGTH", "MAP_EXTRACT_VALUE": "TRY_ELEMENT_AT", "EVERY": "BOOL_AND", "REPLICATE": "REPEAT",
}  # fmt: skip
_MANY_DIGITS: Final = r"decimal\(\d+,([7-9]|\d\d)\)"
_TOO_MANY_DIGITS: Final = "LIST_SUM of decimals with more than 6 digits behind the point: cast them to DOUBLE"
_HOST: Final = (
    r"nullif(regexp_extract(trim(:a), '^(?:(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//)?(?:[^/?#@]*@)?([^/?#:]+)', 1), '')"
)
_NULL_OF_ANY_NULL: Final = ("snowflake", "bigquery", "trino")
_WHOLE_DECIMAL: Final = "if(:a < 0, ceil(:a), floor(:a))"
_WHOLE: Final = "if(isnan(:a % 1), :a, :a - :a % 1)"  # an infinite number has no rest
_STAMPS: Final = ("timestamp", "timestamptz", "timestampntz", "timestampltz")
_PATTERN_OF_TIMES: Final = ("YY", "MM", "DD", "MON", "HH", "MI", "SS", "DY")


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
    keys = texts_of_array(path.name)
    if keys is None or None in keys:
        raise Untranslatable("#> and #>> with a path that is not '{key,…}'")
    text = "".join(step_of(one) for one in keys if one)
    return exp.Anonymous(this="GET_JSON_OBJECT", expressions=[node.this, exp.Literal.string(f"${text}")])


def _day_count(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """A date minus a date is a number of days in some warehouses, and an interval in Spark."""
    if node.meta.get(DAYS):
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
    if node.expression is None:
        return None
    if isinstance(node, exp.PercentileCont):
        return exp.Anonymous(this="PERCENTILE", expressions=[node.this, node.expression])
    by = exp.Order(expressions=[exp.Ordered(this=node.this.copy(), nulls_first=True)])
    return exp.WithinGroup(this=exp.Anonymous(this="PERCENTILE_DISC", expressions=[node.expression]), expression=by)


def _logarithm(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """LOG of one number is the decimal logarithm in some warehouses, and the natural one in Spark, whose LOG(10, 1000)
    is not quite 3."""
    if node.expression is None:
        decimal = dialect in ("postgres", "redshift", "duckdb")
        return exp.Anonymous(this="LOG10", expressions=[node.this]) if decimal else None
    name = {"10": "LOG10", "2": "LOG2"}.get(node.this.name if isinstance(node.this, exp.Literal) else "")
    return exp.Anonymous(this=name, expressions=[node.expression]) if name and dialect != "databricks" else None


def _in_array(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """BigQuery's a IN UNNEST(l), which is false, and not null, where the list is null or has no elements; DuckDB's
    a IN l, which passes over null elements."""
    listed = node.args.get("field")
    rows = node.expressions[0] if len(node.expressions) == 1 else None
    if isinstance(rows, exp.Values):  # of one column, they are its values
        single = [one.expressions[0] if len(one.expressions) == 1 else one for one in rows.expressions]
        node.set("expressions", single)
        return None
    if dialect == "duckdb" and listed is not None:
        return filled(
            "IF(:a IS NULL OR :b IS NULL, NULL, COALESCE(ARRAY_CONTAINS(:a, :b), FALSE))", [listed, node.this]
        )
    unnested = node.args.get("unnest")
    if not isinstance(unnested, exp.Unnest) or len(unnested.expressions) != 1:
        return None
    listed = unnested.expressions[0]
    if isinstance(listed, exp.Array) and listed.expressions:
        return exp.Anonymous(this="ARRAY_CONTAINS", expressions=[listed, node.this])
    return filled("IF(SIZE(:a) > 0, ARRAY_CONTAINS(:a, :b), FALSE)", [listed, node.this])


def _distinct_in_window(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """COUNT(DISTINCT …) OVER (…), which Spark refuses: the size of a set. Neither counts nulls."""
    if (of_sum := share(node)) is not None:
        return of_sum
    call = node.this.this if isinstance(node.this, exp.Filter) else node.this
    if not isinstance(call, exp.AggFunc) or not isinstance(call.this, exp.Distinct):
        return None
    values = call.this.expressions
    if isinstance(call, (exp.Max, exp.Min)):
        call.set("this", values[0].copy())
    if not isinstance(call, exp.Count):
        if isinstance(call, (exp.Max, exp.Min)) or dialect == "databricks":
            return None
        raise Untranslatable(f"{call.sql_name()}(DISTINCT …) OVER (…) (group in an inner query, and join)")
    value = values[0]
    if len(values) > 1:
        nulls = [exp.Is(this=one.copy(), expression=exp.Null()) for one in values]
        value = exp.func("IF", exp.or_(*nulls), exp.Null(), exp.Anonymous(this="STRUCT", expressions=values))
    call.replace(exp.Anonymous(this="COLLECT_SET", expressions=[value]))
    return exp.Anonymous(this="SIZE", expressions=[node.copy()])


def _truncated(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TRUNC(number, digits): without the rest of a division, exactly."""
    digits = node.args.get("decimals")
    if digits is None:
        value = node.this.unnest()
        if dialect == "redshift" and _is_time(value):
            return exp.cast(node.this, "date")
        if dialect == "redshift" and (has_fraction([kind_of(value)]) or value.meta.get("number")):
            return _whole(node.this)
        if dialect == "redshift":
            raise Untranslatable("TRUNC with one argument (write a cast to DATE or to BIGINT)")
        return None
    if not isinstance(digits, exp.Literal) or not digits.is_int or int(digits.name) > _MOST_DIGITS:
        raise Untranslatable(f"TRUNC to a number of digits that is not between 0 and {_MOST_DIGITS}")
    number = exp.cast(node.this.copy(), "DECIMAL(38, 10)")
    unit = exp.cast(exp.Literal.string(f"1e-{digits.name}"), "DECIMAL(38, 10)")
    return exp.paren(exp.Sub(this=number, expression=exp.Mod(this=number.copy(), expression=unit)), copy=False)


def _whole(number: exp.Expr) -> exp.Expr:
    """A fraction cut off at its point, which is no integer: half of it may be a fraction again."""
    value = number.unnest()
    value = value.this.unnest() if isinstance(value, exp.Neg) else value
    exact = value.to.is_type("decimal") if isinstance(value, exp.Cast) else value.name.replace(".", "").isdigit()
    made = filled(_WHOLE_DECIMAL if exact else _WHOLE, [number])
    made.meta[MARK] = FRACTION
    return made


def _is_time(value: exp.Expr) -> bool:
    """Whether a value is surely a timestamp."""
    known = isinstance(value, exp.CurrentTimestamp) or bool(value.meta.get("time"))
    return known or (isinstance(value, exp.Cast) and value.to.is_type(*_STAMPS))


def _overlay(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's INSERT: some characters replaced by a text."""
    if isinstance(node, exp.Overlay):
        return None
    given = [node.this, node.expression, node.args["start"], node.args["length"]]
    return exp.Anonymous(this="OVERLAY", expressions=given)


def _if_alone(node: exp.Expr, dialect: str) -> None:
    """IF(test, value), which is null where the test is not true."""
    if not isinstance(node.parent, exp.Case) and node.args.get("false") is None:
        node.set("false", exp.Null())


def _decoded(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Postgres' DECODE makes bytes of a text."""
    name = {"hex": "UNHEX", "base64": "UNBASE64"}.get(node.args["charset"].name.lower())
    if dialect != "postgres":
        return None
    if name is None:
        raise Untranslatable(f"DECODE of {node.args['charset'].name}")
    return exp.Anonymous(this=name, expressions=[node.this])


def _digits(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TO_HEX of Postgres has small letters."""
    return exp.Lower(this=exp.Anonymous(this="HEX", expressions=[node.this])) if dialect == "postgres" else None


def _unequal(node: exp.Expr, dialect: str) -> exp.Expr:
    """XOR of truth values."""
    sides = [exp.cast(one.copy(), "boolean") for one in (node.this, node.expression)]
    return exp.paren(exp.NEQ(this=sides[0], expression=sides[1]), copy=False)


def _like_any(node: exp.Expr, dialect: str) -> None:
    """LIKE ANY (ARRAY['a', 'b']): Spark's has a list of patterns."""
    quantified = node.expression
    if isinstance(quantified, (exp.Any, exp.All)) and isinstance(quantified.this.unnest(), exp.Array):
        patterns = [one.copy() for one in quantified.this.unnest().expressions]
        quantified.set("this", exp.Tuple(expressions=patterns))


def _with_all(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """A <> ALL (array). Of queries, `= ANY` is IN, and `<> ALL` is NOT IN, which sqlglot makes of Snowflake's."""
    other = node.expression
    named = isinstance(other, exp.Anonymous) and other.name.upper() == "ALL" and len(other.expressions) == 1
    listed = other.expressions[0] if named else other.this.unnest() if isinstance(other, exp.All) else None
    query = other.this.unnest() if isinstance(other, (exp.All, exp.Any)) else None
    if isinstance(query, exp.Query) and not isinstance(node, exp.NEQ if isinstance(other, exp.All) else exp.EQ):
        word = "ALL" if isinstance(other, exp.All) else "ANY"
        raise Untranslatable(f"a comparison with {word} of a query (compare with its MIN or MAX)")
    if isinstance(query, exp.Query):
        found = exp.In(this=node.this.copy(), query=exp.Subquery(this=query.copy()))
        return exp.Not(this=found) if isinstance(other, exp.All) else found
    if listed is None or isinstance(listed, (exp.Query, exp.Tuple)):
        return None
    element = exp.to_identifier("_x")
    test = type(node)(this=node.this.copy(), expression=exp.column("_x"))
    return exp.Anonymous(this="FORALL", expressions=[listed.copy(), exp.Lambda(this=test, expressions=[element])])


def _encoded(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Postgres' ENCODE makes a text of bytes."""
    if dialect != "postgres":
        return None
    charset = node.args["charset"].name.lower()
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


def _total(listed: exp.Expr) -> exp.Expr:
    """The sum of the values of a list that are not null; null where there is none. A decimal of 38 digits plus one of
    few digits behind the point has the type of the former, which the steps of AGGREGATE need, and plus a double it is
    a double."""
    value, total = exp.column("x"), exp.column("total")
    zero, none = (exp.cast(one, "DECIMAL(38, 0)") for one in (exp.Literal.number(0), exp.Null()))
    first = exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[listed.copy(), exp.Literal.number(1)])
    sums = [exp.Add(this=total.copy(), expression=value.copy()), total, exp.Add(this=zero, expression=value)]
    step = exp.Lambda(
        this=exp.Anonymous(this="COALESCE", expressions=sums),
        expressions=[exp.to_identifier("total"), exp.to_identifier("x")],
    )
    start = exp.Add(this=none, expression=first)
    made = exp.Anonymous(this="AGGREGATE", expressions=[listed.copy(), start, step])
    kind = exp.Anonymous(this="TYPEOF", expressions=[listed.copy()])
    test = exp.Anonymous(this="REGEXP", expressions=[kind, exp.Literal.string(_MANY_DIGITS)])
    error = exp.Anonymous(this="RAISE_ERROR", expressions=[exp.Literal.string(_TOO_MANY_DIGITS)])
    return exp.Anonymous(this="IF", expressions=[test, error, made])


def _of_list(name: str, given: list[exp.Expr]) -> exp.Expr | None:
    """DuckDB's functions of lists and maps that sqlglot does not know; None for another function."""
    if name == "LIST_SUM" and len(given) == 1:
        return _total(given[0])
    if len(given) != 2:
        return None
    first, second = given
    if name == "LIST_EXTRACT":
        return element_or_null(first, second)
    if name == "LIST_POSITION":
        position = exp.Anonymous(this="ARRAY_POSITION", expressions=[first, second])
        return exp.Anonymous(this="NULLIF", expressions=[position, exp.Literal.number(0)])
    if name == "LIST_HAS_ALL":
        missing = exp.Anonymous(this="ARRAY_EXCEPT", expressions=[second, first])
        return exp.EQ(this=exp.Anonymous(this="SIZE", expressions=[missing]), expression=exp.Literal.number(0))
    if name in ("ELEMENT_AT", "MAP_EXTRACT"):
        held = exp.Anonymous(this="MAP_CONTAINS_KEY", expressions=[first.copy(), second.copy()])
        values = exp.Anonymous(
            this="ARRAY", expressions=[exp.Anonymous(this="ELEMENT_AT", expressions=[first, second])]
        )
        none = exp.Anonymous(this="SLICE", expressions=[values.copy(), exp.Literal.number(1), exp.Literal.number(0)])
        return exp.Anonymous(this="IF", expressions=[held, values, none])
    return None


def _of_struct(node: exp.Expr, dialect: str) -> None:
    """DuckDB's UNNEST of a struct, whose fields become columns."""
    if dialect == "duckdb" and isinstance(node.this.unnest(), exp.Struct):
        raise Untranslatable("UNNEST of a struct (name its fields as columns)")


def _of_net(node: exp.Expr, dialect: str) -> exp.Expr:
    """BigQuery's NET.HOST."""
    if not isinstance(node.this, exp.Host):
        raise Untranslatable(f"NET.{called(node.this)[0] or node.this.name}")
    return filled(_HOST, [node.this.this])


def _by_name(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Functions that sqlglot does not know in a dialect, and those that dbt's macros mark as Spark's."""
    if node.name.lower().startswith("spark__"):
        return exp.Anonymous(this=node.name[len("spark__") :], expressions=node.expressions)
    name, given = node.name.upper(), node.expressions
    if dialect == "databricks" or (isinstance(node.parent, exp.Dot) and node.arg_key == "expression"):
        return None  # Spark's, or a function of a schema
    if name in collected.NAMES:
        return collected.json_of_rows(node, dialect)
    if name == "LIST_AGGREGATE" and len(given) == 2 and given[1].is_string:
        name, given = f"LIST_{given[1].name.upper()}", given[:1]
        node = exp.Anonymous(this=name, expressions=given)
    if name == "LIST_AGGREGATE" and len(given) == 3 and given[1].name.lower() == "string_agg":
        return exp.Anonymous(this="ARRAY_JOIN", expressions=[given[0], given[2]])
    is_table = isinstance(node.parent, (exp.Table, exp.Lateral))
    known = by_name(name, given) or built(name, given) or (None if is_table else listed_rows(name, given, dialect))
    if known is None and dialect == "duckdb":
        known = _of_list(name, given)
    if known is not None:
        return known
    if name == "PRINTF" and dialect == "duckdb" and given:
        return printf(given)
    if name == "NONE_MATCH" and len(given) == 2:
        return exp.Not(this=exp.Anonymous(this="EXISTS", expressions=given))
    if name in _RENAMED:
        return exp.Anonymous(this=_RENAMED[name], expressions=given)
    known = time_by_name(name, given, dialect) or (joda(name, given) if dialect == "trino" else None)
    return known or counterpart(node, dialect)


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Log: _logarithm,
    exp.In: _in_array,
    exp.ToChar: _text_of,
    exp.JSONBExtract: _by_path,
    exp.JSONBExtractScalar: _by_path,
    exp.Sub: _day_count,
    exp.Greatest: _of_any_null,
    exp.Least: _of_any_null,
    exp.PercentileCont: _percentile,
    exp.PercentileDisc: _percentile,
    exp.Window: _distinct_in_window,
    exp.Trunc: _truncated,
    exp.Localtimestamp: _local_now,
    exp.Overlay: _overlay,
    exp.Stuff: _overlay,
    exp.If: _if_alone,
    exp.NetFunc: _of_net,
    exp.Explode: _of_struct,
    exp.Encode: _encoded,
    exp.Typeof: _type_name,
    exp.Decode: _decoded,
    exp.Hex: _digits,
    exp.Xor: _unequal,
    exp.Like: _like_any,
    exp.ILike: _like_any,
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), _with_all),
    exp.Base64Encode: _base64,
    exp.Anonymous: _by_name,
}
