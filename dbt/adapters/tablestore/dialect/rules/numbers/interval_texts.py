"""Texts of intervals: those of Postgres and DuckDB, as in `1 day 12:00:00`. Spark's are other ones.

The text of a written interval is known, and that of a difference of two times has its days and the time of day. Of
other intervals, the days that Spark's have are not those of the warehouse; a text of them is refused.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable, about
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.intervals import parts_of

STAMP: Final = "stamp"
"""The key of a mark at columns that are surely timestamps."""
_DIALECTS: Final = ("postgres", "duckdb")
_MONTHS: Final = {"YEAR": 12, "MONTH": 1}
_DAYS: Final = {"WEEK": 7, "DAY": 1}
_SECONDS: Final = {"HOUR": 3600, "MINUTE": 60, "SECOND": 1}
_STAMPS: Final = ("timestamp", "timestamptz", "timestampntz", "timestampltz", "datetime")
_TIMES: Final = (exp.CurrentTimestamp, exp.Localtimestamp, exp.TimestampTrunc, exp.StrToTime)
_SAME: Final = (exp.Neg, exp.Abs, exp.Min, exp.Max, exp.Sum, exp.Avg, exp.Coalesce, exp.Window, exp.Filter)
_MARKER: Final = "_interval_text"
_DIFFERENCE: Final = """
element_at(transform(array(cast(:a as interval day to second)), _x -> concat(
    if(extract(day from _x) = 0, '', concat(extract(day from _x), if(:b, ' day', ' days'))),
    if(extract(day from _x) <> 0 and _x = make_dt_interval(extract(day from _x)), '', concat(
        if(extract(day from _x) = 0, '', ' '),
        if(_x < interval '0' second, '-', ''),
        lpad(abs(extract(hour from _x)), 2, '0'), ':', lpad(abs(extract(minute from _x)), 2, '0'), ':',
        rtrim('.', rtrim('0', lpad(abs(extract(second from _x)), 9, '0')))
    ))
)), 1)
"""
_ONE_DAY: Final = {"postgres": "extract(day from _x) = 1", "duckdb": "abs(extract(day from _x)) = 1"}
# Days with a fraction, of which the text is in hours.
_PART_OF_DAYS: Final = re.compile(r"\d\.\d+\s*[dw]", re.IGNORECASE)


def write_intervals_as_texts(tree: exp.Expr, dialect: str) -> None:
    """Replace the texts of intervals. Raises Untranslatable for those that are not known."""
    if dialect == "databricks":
        return
    for node in list(tree.find_all(exp.Cast, exp.DPipe, exp.Concat)):
        if isinstance(node, exp.Cast):
            if node.to.is_type(*exp.DataType.TEXT_TYPES) and _is_interval(node.this):
                with about(node):
                    node.set("this", _text(node.this, dialect))
            continue
        for side in _joined(node) if dialect != "snowflake" else ():
            if _is_interval(side):
                with about(side):
                    side.replace(_text(side, dialect))


def write_differences(tree: exp.Expr, dialect: str) -> None:
    """Write Spark's text of what has been marked as a difference of times, when other rules are done."""
    for node in reversed(list(tree.find_all(exp.Anonymous)) if dialect in _DIALECTS else []):
        if node.name == _MARKER:
            node.replace(filled(_DIFFERENCE, [node.expressions[0], filled(_ONE_DAY[dialect], [])]))


def differing_columns(tree: exp.Expr) -> list[exp.Expr]:
    """The columns in differences that become texts."""
    casts = [one.this for one in tree.find_all(exp.Cast) if one.to.is_type(*exp.DataType.TEXT_TYPES)]
    sides = [side for one in tree.find_all(exp.DPipe, exp.Concat) for side in _joined(one)]
    differences = [one for value in (*casts, *sides) for one in value.find_all(exp.Sub)]
    return [column for one in differences for column in one.find_all(exp.Column)]


def _joined(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) if isinstance(node, exp.Concat) else [node.this, node.expression]


def _is_interval(value: exp.Expr) -> bool:
    value = value.unnest()
    if isinstance(value, exp.Interval):
        return True
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("interval")) or isinstance(value.to.this, exp.Interval)
    if isinstance(value, _SAME):
        return _is_interval(value.this)
    if isinstance(value, (exp.Mul, exp.Div)):
        return _is_interval(value.this) or _is_interval(value.expression)
    if not isinstance(value, (exp.Add, exp.Sub)):
        return False
    return (_is_interval(value.this) and _is_interval(value.expression)) or _is_difference(value)


def _is_difference(value: exp.Expr) -> bool:
    """Whether a value is a time minus another one."""
    if not isinstance(value, exp.Sub) or _is_interval(value.expression):
        return False
    return _is_time(value.this) or _is_time(value.expression)


def _is_time(value: exp.Expr) -> bool:
    value = value.unnest()
    if isinstance(value, (exp.Min, exp.Max, exp.Window, exp.Lag, exp.Lead, exp.Coalesce)):
        return _is_time(value.this)
    known = isinstance(value, _TIMES) or bool(value.meta.get(STAMP))
    return known or (isinstance(value, exp.Cast) and value.to.is_type(*_STAMPS))


def _text(value: exp.Expr, dialect: str) -> exp.Expr:
    inner = value.unnest()
    if dialect in _DIALECTS and _is_difference(inner):
        return exp.Anonymous(this=_MARKER, expressions=[value.copy()])
    written = _written(inner)
    if dialect in _DIALECTS and written is not None and not _PART_OF_DAYS.search(written):
        return exp.Literal.string(_of_parts(parts_of(written), dialect))
    raise Untranslatable("a text of an interval, which is another one in Spark (write its parts, by EXTRACT)")


def _written(value: exp.Expr) -> str | None:
    """The text of a constant interval; None for another one."""
    number = value.this if isinstance(value, (exp.Interval, exp.Cast)) else None
    if not isinstance(number, exp.Literal):
        return None
    unit = value.args.get("unit")
    if isinstance(value, exp.Cast) or unit is None:
        return str(number.name)
    return f"{number.name} {unit.name}" if isinstance(unit, exp.Var) else None


def _of_parts(parts: list[exp.Expr], dialect: str) -> str:
    months = days = 0
    seconds = Decimal(0)
    for one in parts:
        number, unit = Decimal(one.this.name), one.text("unit").upper()
        if unit in _MONTHS:
            months += int(number) * _MONTHS[unit]
        elif unit in _DAYS:
            days += int(number) * _DAYS[unit]
        else:
            seconds += number * _SECONDS[unit]
    years, rest = abs(months) // 12, abs(months) % 12
    sign = -1 if months < 0 else 1
    month = "mon" if dialect == "postgres" else "month"
    found: list[str] = []
    negative = False
    for count, name in ((sign * years, "year"), (sign * rest, month), (days, "day")):
        if count:
            plural = count != 1 if dialect == "postgres" else abs(count) != 1
            found.append(f"{'+' if negative and count > 0 else ''}{count} {name}{'s' if plural else ''}")
            negative = count < 0 and dialect == "postgres"
    if seconds or not found:
        found.append(_clock(seconds, negative))
    return " ".join(found)


def _clock(seconds: Decimal, negative: bool) -> str:
    """The hours, minutes and seconds; behind a negative part, with the sign of positive ones."""
    whole = int(abs(seconds))
    digits = f"{abs(seconds) - whole:.6f}"[1:].rstrip("0").rstrip(".")
    sign = "-" if seconds < 0 else "+" if negative else ""
    return f"{sign}{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{digits}"
