"""Rules for intervals: several units in one text, units under other names, fractions, computed numbers, seconds, and
the beginning of the interval in which a time is.

Spark's intervals are of months or of seconds, never of both. A sum with `interval '1 month 2 days'` therefore becomes
two sums, months first, as the warehouses add them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache, reduce
from typing import Final, cast
from zoneinfo import available_timezones

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.json_parts import call

_NAMES: Final[Mapping[str, str]] = {
    "Y": "YEAR", "YR": "YEAR", "MON": "MONTH", "MM": "MONTH", "W": "WEEK", "D": "DAY", "H": "HOUR", "HR": "HOUR",
    "M": "MINUTE", "MIN": "MINUTE", "S": "SECOND", "SEC": "SECOND", "MSEC": "MILLISECOND", "USEC": "MICROSECOND",
}  # fmt: skip
_MONTHS: Final[Mapping[str, int]] = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200}
_SECONDS: Final[Mapping[str, Decimal]] = {
    "WEEK": Decimal(604800), "DAY": Decimal(86400), "HOUR": Decimal(3600), "MINUTE": Decimal(60), "SECOND": Decimal(1),
    "MILLISECOND": Decimal("0.001"), "MICROSECOND": Decimal("0.000001"),
}  # fmt: skip
_MICROS: Final = 1_000_000
_NO_ZONE: Final = exp.DataType.build("timestamp_ntz", dialect="spark")
_WITHOUT_ZONES: Final = ("duckdb", "postgres", "redshift", "snowflake")
"""Dialects in which the seconds since 1970 of a time without zone are those of UTC."""
_CLOCK_TIMES: Final = ("timestamp", "timestampntz", "datetime", "date")
DAYS: Final = "days"
"""The mark of a difference that is a number of days."""
_MONDAY: Final = "2000-01-03"
_SPARKS: Final = ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_PART: Final = re.compile(
    r"\s*,?\s*(?:([+-]?)(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?|([+-]?\s*\d+(?:\.\d+)?)\s*([a-zA-Z]+))"
)


def _interval(node: exp.Expr, dialect: str) -> exp.Expr | None:
    if dialect == "databricks" or isinstance(node.args.get("unit"), exp.IntervalSpan):
        return None
    number, unit = node.this, node.args.get("unit")
    if number is None or (unit is not None and not isinstance(unit, exp.Var)):
        return None
    if isinstance(number, exp.Literal):
        return _joined(node, parts_of(number.name if unit is None else f"{number.name} {unit.name}"))
    if unit is None:
        raise Untranslatable("INTERVAL of a computed text")
    return times(number, unit.name)


def times(number: exp.Expr, unit: str) -> exp.Expr:
    """An interval of a computed number of units."""
    return exp.Mul(this=exp.paren(number.unnest().copy(), copy=False), expression=parts_of(f"1 {unit}")[0])


def of_cast(node: exp.Expr) -> exp.Expr | None:
    """The interval of `'1 day'::interval`, or of `(n || ' days')::interval`; None for another text."""
    text = node.this.unnest()
    if isinstance(text, exp.Literal) and text.is_string:
        return _joined(node, parts_of(text.name))
    behind = text.expression if isinstance(text, exp.DPipe) else None
    if isinstance(behind, exp.Literal) and behind.name.strip().isalpha():
        return exp.paren(times(text.this, behind.name.strip()), copy=False)
    return None


def parts_of(text: str) -> list[exp.Expr]:
    """The intervals of one unit in a text, those of months first. Raises Untranslatable for another text."""
    found: list[exp.Expr] = []
    position = 0
    while position < len(text.rstrip()):
        part = _PART.match(text, position)
        if part is None:
            raise Untranslatable(f"the interval '{text}'")
        position = part.end()
        found.append(_clock(part) if part[6] is None else _simple(_number(part[5]), part[6], text))
    if not found:
        raise Untranslatable(f"the interval '{text}'")
    return sorted(found, key=lambda one: one.text("unit") not in ("YEAR", "MONTH"))


def _number(text: str) -> Decimal:
    return Decimal("".join(text.split()))


def _clock(part: re.Match[str]) -> exp.Expr:
    """Hours, minutes and seconds, as in 01:30:00."""
    seconds = Decimal(part[2]) * 3600 + Decimal(part[3]) * 60 + Decimal(part[4] or 0)
    return _made(f"{part[1]}{seconds}", "SECOND")


def _simple(number: Decimal, name: str, text: str) -> exp.Expr:
    unit = name.upper()
    unit = _NAMES.get(unit.removesuffix("S") or unit, unit.removesuffix("S"))
    unit = {"CENTURIE": "CENTURY"}.get(unit, unit)
    whole = number == number.to_integral_value()
    if whole and unit in _SPARKS:
        return _made(f"{number:f}", unit)
    if whole and unit in _MONTHS:
        return _made(str(int(number) * _MONTHS[unit]), "MONTH")
    if unit in _SECONDS:
        return _made(f"{(number * _SECONDS[unit]).normalize():f}", "SECOND")
    raise Untranslatable(f"the interval '{text}'")


def _made(number: str, unit: str) -> exp.Expr:
    return exp.Interval(this=exp.Literal.string(number), unit=exp.Var(this=unit))


def _joined(node: exp.Expr, parts: list[exp.Expr]) -> exp.Expr:
    """The interval; of several, the last one, after the others were added to the other operand."""
    if len(parts) == 1:
        return parts[0]
    months = [one for one in parts if one.text("unit") in ("YEAR", "MONTH")]
    parent = node.parent
    if months and len(months) < len(parts):
        if not isinstance(parent, (exp.Add, exp.Sub)) or parent.expression is not node:
            raise Untranslatable("an interval of months and of days, which Spark only adds to a time")
        kind = type(parent)
        before = reduce(lambda time, one: kind(this=time, expression=one), parts[:-1], cast("exp.Expr", parent.this))
        parent.set("this", before)
        return parts[-1]
    total = reduce(lambda sum_, one: exp.Add(this=sum_, expression=one), parts)
    return exp.paren(total, copy=False)


def clock_time(time: exp.Expr, zone: exp.Expr) -> exp.Expr:
    """The time that clocks of a zone show at an instant."""
    plain = exp.cast(time.copy(), _NO_ZONE)
    return exp.cast(call("CONVERT_TIMEZONE", _known(zone), plain), "timestamptz")


def instant(time: exp.Expr, zone: exp.Expr) -> exp.Expr:
    """The instant at which clocks of a zone show a time."""
    plain = exp.cast(time.copy(), _NO_ZONE)
    return exp.cast(call("CONVERT_TIMEZONE", _known(zone), call("CURRENT_TIMEZONE"), plain), "timestamptz")


def _known(zone: exp.Expr) -> exp.Expr:
    """A zone, whose name Spark knows in one spelling only."""
    return exp.Literal.string(_zones().get(zone.name.lower(), zone.name)) if zone.is_string else zone.copy()


@lru_cache(maxsize=1)
def _zones() -> Mapping[str, str]:
    return {"utc": "UTC", "gmt": "GMT", **{one.lower(): one for one in available_timezones()}}


def instant_of(time: exp.Expr, dialect: str) -> exp.Expr:
    """The instant of a time, of which seconds are counted: in many warehouses, a time without zone is one of UTC."""
    inner = time.unnest()
    clock = isinstance(inner, exp.Cast) and inner.to.is_type(*_CLOCK_TIMES) and dialect in _WITHOUT_ZONES
    return instant(time, exp.Literal.string("UTC")) if clock else exp.cast(time, "timestamptz")


def epoch_of(part: str, time: exp.Expr, dialect: str) -> exp.Expr:
    """The seconds of an interval, or since 1970 of a time; also milliseconds and microseconds."""
    if part in ("EPOCH", "EPOCH_SECOND") and _is_interval(time):
        return _seconds(time)
    stamp = instant_of(time, dialect)
    if part in ("EPOCH_MILLISECOND", "EPOCH_MS"):
        return call("UNIX_MILLIS", stamp)
    if part == "EPOCH_MICROSECOND":
        return call("UNIX_MICROS", stamp)
    if part not in ("EPOCH", "EPOCH_SECOND"):
        raise Untranslatable(f"EXTRACT({part} …)")
    return call("UNIX_SECONDS", stamp) if dialect in ("snowflake", "redshift") else exp.cast(stamp, "double")


def _is_interval(node: exp.Expr) -> bool:
    """Whether a value is a difference of times, or a constant interval."""
    node = node.unnest()
    if isinstance(node, exp.Add):
        return _is_interval(node.this) and _is_interval(node.expression)
    return isinstance(node, exp.Interval) or (
        isinstance(node, exp.Sub) and not isinstance(node.expression, exp.Interval)
    )


def _seconds(interval: exp.Expr) -> exp.Expr:
    """The seconds of an interval, with fractions. Spark has only its parts, and of constants those that are written."""
    sizes = {"DAY": 86400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}
    span = exp.IntervalSpan(this=exp.var("DAY"), expression=exp.var("SECOND"))
    inner = exp.Cast(this=interval.unnest(), to=exp.DataType(this=exp.Interval(unit=span)))
    parts = [
        exp.Mul(this=exp.Extract(this=exp.Var(this=part), expression=inner.copy()), expression=exp.Literal.number(size))
        for part, size in sizes.items()
    ]
    total = reduce(lambda sum_, one: exp.Add(this=sum_, expression=one), parts[1:], cast("exp.Expr", parts[0]))
    return exp.cast(exp.paren(total), "double")


def _days(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """DuckDB's TO_DAYS(n)."""
    return times(node.this, "DAY") if dialect == "duckdb" else None


def is_date(time: exp.Expr) -> bool:
    """Whether a value is surely a date."""
    time = time.unnest()
    return isinstance(time, exp.CurrentDate) or (isinstance(time, exp.Cast) and time.to.is_type("date"))


def _bucket(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TIME_BUCKET and DATE_BIN: the beginning of the interval of a width in which a time is, counted from an origin.
    DuckDB counts months from 2000, and others from Monday, 2000-01-03; an interval moves the origin."""
    width, time, origin = node.this, node.expression, node.args.get("unit")
    parts = parts_of(width.name) if isinstance(width, exp.Literal) else [width]
    if len(parts) != 1 or not isinstance(parts[0], exp.Interval) or not isinstance(parts[0].this, exp.Literal):
        raise Untranslatable("a computed width of an interval of time, or one of several units")
    if isinstance(origin, exp.Var):  # which sqlglot makes of a text and of a bare column
        raise Untranslatable("an origin that is a text or a column alone (write t.column, or TIMESTAMP '…')")
    number, unit = Decimal(parts[0].this.name), parts[0].text("unit")
    if number <= 0:
        raise Untranslatable(f"the width {number:f} {unit} of an interval of time")
    if isinstance(origin, exp.Interval):
        moved = exp.DateBin(this=width, expression=exp.paren(exp.Sub(this=time, expression=origin)))
        start = _bucket(moved, dialect)
        return None if start is None else exp.paren(exp.Add(this=start, expression=origin.copy()))
    if unit in _MONTHS:
        if dialect == "postgres":
            raise Untranslatable("DATE_BIN by months")
        return _as_typed(_by_months(time, int(number) * _MONTHS[unit], origin), time)
    size = number * _SECONDS[unit]
    if dialect == "duckdb" and not size % _SECONDS["DAY"] and (origin is None or is_date(origin)):
        first = exp.cast(exp.Literal.string(_MONDAY), "date") if origin is None else origin
        passed = call("PMOD", call("DATEDIFF", time.copy(), first), exp.Literal.number(int(size / _SECONDS["DAY"])))
        return _as_typed(call("DATE_SUB", exp.cast(time.copy(), "date"), passed), time)
    start = _since(time, origin or exp.Literal.string(_MONDAY), exp.Literal.number(int(size * _MICROS)))
    if is_date(time):
        return exp.cast(start, "date") if dialect == "duckdb" else start
    if dialect != "duckdb" or isinstance(time.unnest(), exp.Cast):
        return start
    day = call("DATE_TRUNC", exp.Literal.string("DAY"), start.copy())
    return call("IF", exp.EQ(this=call("TYPEOF", time.copy()), expression=exp.Literal.string("date")), day, start)


def _by_months(time: exp.Expr, months: int, origin: exp.Expr | None) -> exp.Expr:
    """The first day of the first of so many months; the day of an origin does not count."""
    counts = []
    for one in (time, origin):
        year: exp.Expr = exp.Literal.number(2000) if one is None else call("YEAR", one.copy())
        month: exp.Expr = exp.Literal.number(1) if one is None else call("MONTH", one.copy())
        counts.append(exp.Add(this=exp.Mul(this=year, expression=exp.Literal.number(12)), expression=month))
    passed = call("PMOD", exp.Sub(this=counts[0], expression=exp.paren(counts[1])), exp.Literal.number(months))
    return call("ADD_MONTHS", call("TRUNC", time.copy(), exp.Literal.string("MONTH")), exp.Neg(this=passed))


def _as_typed(day: exp.Expr, time: exp.Expr) -> exp.Expr:
    """A day with the type of a time: COALESCE has the wider one of both, and the day is null only where the time is."""
    return day if is_date(time) else call("COALESCE", day, time.copy())


def _since(time: exp.Expr, origin: exp.Expr, micros: exp.Expr) -> exp.Expr:
    """The beginning of the span of so many microseconds, counted from an origin, in which a time is."""
    at, first = (call("UNIX_MICROS", exp.cast(one.copy(), "timestamptz")) for one in (time, origin))
    passed = call("PMOD", exp.Sub(this=at, expression=first), micros)
    return call("TIMESTAMP_MICROS", exp.Sub(this=at.copy(), expression=passed))


def _slice_of_time(node: exp.Expr, dialect: str) -> exp.Expr:
    """Snowflake's TIME_SLICE: the beginning of a slice of so many units, counted from 1970."""
    unit = node.args["unit"].name.upper()
    if unit not in ("SECOND", "MINUTE", "HOUR", "DAY") or node.args.get("kind") or node.args.get("origin"):
        raise Untranslatable(f"TIME_SLICE by {unit}, or of its end")
    size = exp.Literal.number(int(_SECONDS[unit] * _MICROS))
    micros = exp.Mul(this=exp.paren(node.expression), expression=size)
    return _since(node.this, exp.Literal.string("1970-01-01"), micros)


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Interval: _interval,
    exp.ToDays: _days,
    exp.DateBin: _bucket,
    exp.TimeSlice: _slice_of_time,
}
