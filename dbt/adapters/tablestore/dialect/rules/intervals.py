"""Rules for intervals: several units in one text, units under other names, fractions, computed numbers, seconds.

Spark's intervals are of months or of seconds, never of both. A sum with `interval '1 month 2 days'` therefore becomes
two sums, months first, as the warehouses add them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import reduce
from typing import Final, cast

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
_SPARKS: Final = ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_PART: Final = re.compile(r"\s*,?\s*(?:([+-]?)(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?|([+-]?\d+(?:\.\d+)?)\s*([a-zA-Z]+))")


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
        found.append(_clock(part) if part[6] is None else _simple(Decimal(part[5]), part[6], text))
    if not found:
        raise Untranslatable(f"the interval '{text}'")
    return sorted(found, key=lambda one: one.text("unit") not in ("YEAR", "MONTH"))


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


def epoch_of(part: str, time: exp.Expr, dialect: str) -> exp.Expr:
    """The seconds of an interval, or since 1970 of a time; also milliseconds and microseconds."""
    if part in ("EPOCH", "EPOCH_SECOND") and _is_interval(time):
        return _seconds(time)
    stamp = exp.cast(time, "timestamptz")
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


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Interval: _interval,
    exp.ToDays: _days,
}
