"""Functions whose arguments decide what they become: any number of them, keys of JSON, character sets, ages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts import objects
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.json_parts import call, is_part, variant_of, with_nulls

_Given = Sequence[exp.Expr]
_KIND_OF_JSON: Final = (
    "CASE substring_index(schema_of_variant(:a), '<', 1) WHEN 'OBJECT' THEN 'object' WHEN 'ARRAY' THEN 'array' "
    "WHEN 'STRING' THEN 'string' WHEN 'BOOLEAN' THEN 'boolean' WHEN 'VOID' THEN 'null' "
    "ELSE if(:a IS NULL, NULL, 'number') END"
)
_DIGESTS: Final = {
    "md5": "unhex(md5(:a))", "sha1": "unhex(sha1(:a))",
    **{f"sha{bits}": f"unhex(sha2(:a, {bits}))" for bits in (224, 256, 384, 512)},
}  # fmt: skip
# Snowflake takes a number in a text for seconds, milliseconds, microseconds or nanoseconds, by its size.
_OF_DIGITS: Final = (
    "IF(typeof(:a) = 'string' AND CAST(:a AS STRING) RLIKE '^[0-9]+$', CAST(timestamp_micros(CAST(CASE "
    "WHEN :b < 31536000000 THEN :b * 1000000 WHEN :b < 31536000000000 THEN :b * 1000 "
    "WHEN :b < 31536000000000000 THEN :b ELSE floor(:b / 1000) END AS BIGINT)) AS {kind}), {plain})"
)
_PARTS_OF_SECONDS: Final = ((31_536_000_000, 1), (31_536_000_000_000, 1_000), (31_536_000_000_000_000, 1_000_000))
_DIGITS: Final = "TRY_CAST(CAST(:a AS STRING) AS DECIMAL(20, 0))"

# AGE counts from the earlier time: months that end on its day and time, and the days behind the last one, of which
# there are as many in a month as in that of the earlier time.
_MONTHS_OF_AGE: Final = "timestampdiff(MONTH, :b, :a)"
_PASSED: Final = "(unix_micros(CAST({0} AS TIMESTAMP)) - unix_micros(CAST(date_trunc('DAY', {0}) AS TIMESTAMP)))"
_EARLIER: Final = f"if({_PASSED.format('_p.b')} > {_PASSED.format('_p.a')}, 1, 0)"
_DAYS: Final = f"day(_p.a) - day(_p.b) - {_EARLIER}"
_DAYS_BEYOND: Final = f"if({_DAYS} < 0, {_DAYS} + day(last_day(_p.b)), {_DAYS})"
_TIME_BEYOND: Final = f"({_PASSED.format('_p.a')} - {_PASSED.format('_p.b')} + 86400000000 * {_EARLIER})"
_SIGNED: Final = (
    "CASE WHEN :a < :b THEN -1 WHEN :a >= :b THEN 1 END * "
    "get(transform(array(named_struct('a', greatest(:a, :b), 'b', least(:a, :b))), _p -> {}), 0)"
)
_OF_AGE: Final[Mapping[str, str]] = {
    "YEAR": f"{_MONTHS_OF_AGE} div 12",
    "MONTH": f"{_MONTHS_OF_AGE} % 12",
    "DAY": _SIGNED.format(_DAYS_BEYOND),
    "EPOCH": (
        f"({_MONTHS_OF_AGE} div 12) * 31557600 + ({_MONTHS_OF_AGE} % 12) * 2592000 + "
        + _SIGNED.format(f"({_DAYS_BEYOND}) * 86400 + {_TIME_BEYOND} / 1000000")
    ),
}


def composed(name: str, given: _Given, node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The expression of Spark's that a function is; None for another function."""
    make = _MAKERS.get(dialect, {}).get(name) or objects.MAKERS.get(dialect, {}).get(name)
    return None if make is None else make(given, node)


def _path(given: _Given, node: exp.Expr) -> exp.Expr:
    """JSONB_EXTRACT_PATH(j, 'a', '0')."""
    if not all(isinstance(one, exp.Literal) for one in given[1:]):
        raise Untranslatable("a computed key of JSON (write spark__get_json_object(j, concat('$.', k)))")
    steps = "".join(objects.step_of(one.name) for one in given[1:])
    return call("GET_JSON_OBJECT", given[0], exp.Literal.string(f"${steps}"))


def _element(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """An element of a JSON array, by its number from 0."""
    if len(given) < 2:
        return None
    number = given[1]
    if isinstance(number, exp.Literal) and number.is_int:
        path: exp.Expr = exp.Literal.string(f"$[{number.name}]")
    else:
        path = call("CONCAT", exp.Literal.string("$["), number, exp.Literal.string("]"))
    return call("GET_JSON_OBJECT", given[0], path)


def _element_from_either_end(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """An element of a JSON array, by its number from 0, or from the end, where -1 is the last one."""
    if len(given) != 2 or (isinstance(given[1], exp.Literal) and given[1].is_int):
        return _element(given, node)
    array, number = given
    behind = exp.Add(this=exp.paren(number), expression=call("JSON_ARRAY_LENGTH", array.copy()))
    below = exp.LT(this=exp.paren(number), expression=exp.Literal.number(0))
    return _element([array, call("IF", below, behind, number.copy())], node)


def _nulls(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """NUM_NULLS(a, b, …), and NUM_NONNULLS."""
    others = node.name.upper() == "NUM_NONNULLS"
    tests = [exp.Is(this=exp.paren(one), expression=exp.Null()) for one in given]
    counts: list[exp.Expr] = [exp.cast(exp.Not(this=one) if others else one, "int") for one in tests]
    total = reduce(lambda one, other: exp.Add(this=one, expression=other), counts) if counts else None
    return None if total is None else exp.paren(total, copy=False)


def _row(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """ROW_TO_JSON(t) of a table, with its nulls."""
    table = given[0] if len(given) == 1 else None
    if not isinstance(table, exp.Column) or table.table:
        return None
    fields = exp.Column(this=exp.Star(), table=table.this.copy())
    return call("TO_JSON", call("STRUCT", fields), with_nulls())


def _coded(name: str) -> Callable[[_Given, exp.Expr], exp.Expr | None]:
    def make(given: _Given, node: exp.Expr) -> exp.Expr | None:
        if len(given) != 2:
            return None
        charset = given[1].name.lower().replace("_", "").replace("-", "")
        if charset not in ("utf8", "unicode"):
            raise Untranslatable(f"the character set {given[1].sql()} of {node.name.upper()}")
        return call(name, given[0], exp.Literal.string("UTF-8"))

    return make


def _object(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """OBJECT_AGG(key, value): without the keys and values that are null."""
    if len(given) != 2:
        return None
    key, value = given
    value = variant_of(value) if is_part(value) else value
    known = exp.and_(*(exp.Not(this=exp.Is(this=exp.paren(one), expression=exp.Null())) for one in (key, value)))
    pair = call("IF", known, call("STRUCT", key.copy(), value.copy()), exp.Null())
    return call("TO_JSON", call("MAP_FROM_ENTRIES", call("COLLECT_LIST", pair)))


def _json_type(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """JSONB_TYPEOF."""
    return filled(_KIND_OF_JSON, [variant_of(given[0])]) if len(given) == 1 else None


def _digest(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """DIGEST(text, 'sha256') of pgcrypto."""
    text = _DIGESTS.get(given[1].name.lower()) if len(given) == 2 else None
    return None if text is None else filled(text, [given[0]])


def _is_json_null(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """IS_NULL_VALUE(v:a): whether it is there, and is a JSON null."""
    part = variant_of(given[0]) if len(given) == 1 else None
    if part is None:
        return None
    absent = exp.Is(this=part.copy(), expression=exp.Null())
    return call("IF", absent, exp.Null(), call("IS_VARIANT_NULL", part))


def _age(*parts: str) -> Callable[[_Given, exp.Expr], exp.Expr | None]:
    """A part of AGE(later, earlier) or AGE(earlier): years, the months beyond them, the days beyond these, or seconds,
    of which a year has those of 365.25 days, and a month those of 30."""

    def make(given: _Given, node: exp.Expr) -> exp.Expr | None:
        part = node.parent
        name = _part_name(part)
        if part is None or name not in parts or len(given) not in (1, 2):
            return None
        later = given[0] if len(given) == 2 else call("CURRENT_DATE")
        part.replace(exp.paren(filled(_OF_AGE[name], [later, given[-1]]), copy=False))
        return node

    return make


def _part_name(node: exp.Expr | None) -> str:
    """The part that EXTRACT or DATE_PART takes from a time."""
    if isinstance(node, exp.Extract):
        return str(node.name).upper()
    called = isinstance(node, exp.Anonymous) and node.name.upper() in ("DATE_PART", "DATEPART")
    return str(node.expressions[0].name).upper() if called and node is not None else ""


def _time_of(name: str, *, failing: bool = True) -> Callable[[_Given, exp.Expr], exp.Expr | None]:
    """Snowflake's TO_TIMESTAMP of a value whose type is not in the text, and which may be a text of digits."""

    def make(given: _Given, node: exp.Expr) -> exp.Expr | None:
        value = given[0].unnest() if len(given) == 1 else None
        if value is None or (isinstance(value, exp.Cast) and not value.to.is_type("text", "varchar")):
            return None
        plain = f"TRY_CAST(:a AS {name})" if not failing else f"to_{name.lower()}(:a)"
        return filled(_OF_DIGITS.format(plain=plain, kind=name), [value, filled(_DIGITS, [value])])

    return make


def _date_of_digits(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """Snowflake's TO_DATE of a constant text of digits; None of another value."""
    text = given[0].name if len(given) == 1 and given[0].is_string else ""
    if not text.isdecimal():
        return None
    size = next((one for most, one in _PARTS_OF_SECONDS if int(text) < most), 1_000_000_000)
    return filled(f"date_from_unix_date({int(text) // (size * 86_400)})", [])


_TIMES: Final = {
    **dict.fromkeys(("TO_DATE", "TRY_TO_DATE"), _date_of_digits),
    **dict.fromkeys(("TO_TIMESTAMP", "TO_TIMESTAMP_LTZ", "TO_TIMESTAMP_TZ"), _time_of("TIMESTAMP")),
    **dict.fromkeys(("TRY_TO_TIMESTAMP", "TRY_TO_TIMESTAMP_LTZ", "TRY_TO_TIMESTAMP_TZ"),
                    _time_of("TIMESTAMP", failing=False)),
    "TO_TIMESTAMP_NTZ": _time_of("TIMESTAMP_NTZ"),
    "TRY_TO_TIMESTAMP_NTZ": _time_of("TIMESTAMP_NTZ", failing=False),
}  # fmt: skip
_PATHS: Final = dict.fromkeys(
    ("JSONB_EXTRACT_PATH", "JSONB_EXTRACT_PATH_TEXT", "JSON_EXTRACT_PATH", "JSON_EXTRACT_PATH_TEXT"), _path
)
_MAKERS: Final[Mapping[str, Mapping[str, Callable[[_Given, exp.Expr], exp.Expr | None]]]] = {
    "snowflake": {"IS_NULL_VALUE": _is_json_null, "OBJECT_AGG": _object, **_TIMES},
    "postgres": {
        **_PATHS,
        **dict.fromkeys(("JSONB_TYPEOF", "JSON_TYPEOF"), _json_type),
        "AGE": _age("YEAR", "MONTH", "DAY", "EPOCH"),
        "DIGEST": _digest,
        "CONVERT_FROM": _coded("DECODE"),
        "CONVERT_TO": _coded("ENCODE"),
        "NUM_NONNULLS": _nulls,
        "NUM_NULLS": _nulls,
        "ROW": lambda given, node: call("STRUCT", *given),
        "ROW_TO_JSON": _row,
    },
    "bigquery": {"JSON_TYPE": _json_type},
    "redshift": {"JSON_EXTRACT_ARRAY_ELEMENT_TEXT": _element, "JSON_TYPEOF": _json_type},
    "duckdb": {"AGE": _age("YEAR", "MONTH", "DAY")},
    "trino": {"JSON_ARRAY_GET": _element_from_either_end},
}
