"""Dates and intervals that are made of numbers, and spans of time that overlap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.rules.json_parts import call

_OF_INTERVAL: Final = ("year", "month", "week", "day", "hour", "minute", "second")
_NAMES: Final = ("years", "months", "weeks", "days", "hours", "mins", "secs")
_LAST: Final = {"month": 12, "day": 28}


def _date(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's DATE_FROM_PARTS counts on over the end of a year or month, and back before its first day."""
    parts = {name: node.args.get(name) for name in ("year", "month", "day")}
    if dialect != "snowflake" or any(one is None for one in parts.values()):
        return None
    year, month, day = (one.copy() for one in parts.values() if one is not None)
    if all(_is_within(one, _LAST[name]) for name, one in (("month", month), ("day", day))):
        return None
    first = call("MAKE_DATE", year, exp.Literal.number(1), exp.Literal.number(1))
    return call("DATE_ADD", call("ADD_MONTHS", first, _less(month)), _less(day))


def _is_within(value: exp.Expr, last: int) -> bool:
    return isinstance(value, exp.Literal) and bool(value.is_int) and 1 <= int(value.name) <= last


def _less(value: exp.Expr) -> exp.Expr:
    whole = value if isinstance(value, (exp.Literal, exp.Column, exp.Func)) else exp.paren(value)
    return exp.cast(exp.Sub(this=whole, expression=exp.Literal.number(1)), "int")


def _interval(node: exp.Expr, dialect: str) -> exp.Expr:
    """MAKE_INTERVAL(days => 3), whose arguments have no names in Spark."""
    given: list[exp.Expr | None] = [None] * len(_OF_INTERVAL)
    names = _OF_INTERVAL if dialect == "bigquery" else _NAMES
    for number, part in enumerate(_OF_INTERVAL):
        value = node.args.get(part)
        if isinstance(value, (exp.Kwarg, exp.PropertyEQ)):
            given[names.index(value.this.name.lower())] = value.expression
        elif value is not None:
            given[number] = value
    while given and given[-1] is None:
        given.pop()
    return call("MAKE_INTERVAL", *(exp.Literal.number(0) if one is None else one.copy() for one in given))


def _overlap(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """(a, b) OVERLAPS (c, d): spans that end before their last time, unless this is their first one, too."""
    pairs = [one.expressions for one in (node.this.unnest(), node.expression.unnest())]
    if dialect == "databricks" or any(len(one) != 2 for one in pairs):
        return None
    spans = []
    for start, given in pairs:
        end = exp.Add(this=start.copy(), expression=given) if isinstance(given, exp.Interval) else given
        spans.append([call(name, start.copy(), end.copy()) for name in ("LEAST", "GREATEST")])
    (first, end_of_first), (second, end_of_second) = spans
    together = exp.EQ(this=first.copy(), expression=second.copy())
    within = exp.and_(exp.LT(this=first, expression=end_of_second), exp.LT(this=second, expression=end_of_first))
    return exp.paren(exp.or_(together, within), copy=False)


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.DateFromParts: _date,
    exp.MakeInterval: _interval,
    exp.Overlaps: _overlap,
}
