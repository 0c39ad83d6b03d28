"""Rules for dates and times: differences that count boundaries, additions that keep the time, days of a week."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.counterparts.time_parts import (
    WEEK,
    extracted,
    full_name,
    minus_one,
    week_from,
)
from dbt.adapters.tablestore.dialect.rules.intervals import clock_time, epoch_of, instant, instant_of, is_date
from dbt.adapters.tablestore.dialect.rules.json_parts import call

_FIRST_MILLIS: Final = 31_536_000_000
_UNITS: Final = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
_STEPS: Final[Mapping[str, tuple[str, str]]] = {
    "YEAR": ("1", "YEAR"),
    "QUARTER": ("3", "MONTH"),
    "MONTH": ("1", "MONTH"),
    "WEEK": ("7", "DAY"),
    "DAY": ("1", "DAY"),
    "HOUR": ("1", "HOUR"),
    "MINUTE": ("1", "MINUTE"),
    "SECOND": ("1", "SECOND"),
    "MILLISECOND": ("0.001", "SECOND"),
    "MICROSECOND": ("0.000001", "SECOND"),
}
_MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_PARTS_BY_NAME: Final = {
    "WEEKDAY": "DAYOFWEEK", "ISOYEAR": "ISOYEAR", "YOW": "ISOYEAR", "MILLISECOND": "MILLISECOND", "ISODOW": "ISODOW",
}  # fmt: skip
_UNITS_BY_NAME: Final = {"TO_DAYS": "DAY", "TO_MONTHS": "MONTH", "TO_YEARS": "YEAR", "TO_HOURS": "HOUR",
                         "TO_MINUTES": "MINUTE", "TO_SECONDS": "SECOND"}  # fmt: skip
_UTC: Final = ("UTC", "GMT", "ETC/UTC")
_UNKNOWN: Final = "AT TIME ZONE of a value whose type is not in the text (cast it to TIMESTAMP or to TIMESTAMPTZ)"
_SAME_IN_UTC: Final = f"if(current_timezone() IN ('UTC', 'Etc/UTC', 'GMT', 'Z'), :a, raise_error('{_UNKNOWN}'))"
_PRESENT: Final = ("NOW", "GET_CURRENT_TIMESTAMP", "TRANSACTION_TIMESTAMP", "STATEMENT_TIMESTAMP", "CLOCK_TIMESTAMP")
_INSTANTS: Final = (exp.CurrentTimestamp,)
_TIMES: Final = ("timestamp", "timestamptz", "timestampltz", "timestampntz", "date")
_OF_DAYS: Final = ("snowflake", "trino")
_SUNDAY_IS_ZERO: Final = ("snowflake", "redshift", "postgres", "duckdb")


def _difference(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The number of boundaries between two times, where the warehouse counts these and not whole units."""
    if node.args.get("unit") is None:
        return None
    later, earlier = node.this, node.expression
    if not (node.args.get("date_part_boundary") or dialect == "redshift"):
        return _whole_units(node, earlier, later, dialect) if dialect in ("duckdb", "trino") else None
    unit, first_day = _unit(node)
    first_day = "SUN" if dialect == "redshift" else first_day
    if unit == "DAY":
        return call("DATEDIFF", exp.cast(later, "date"), exp.cast(earlier, "date"))
    if unit == "WEEK":
        weeks = [call("NEXT_DAY", exp.cast(one, "date"), exp.Literal.string(first_day)) for one in (later, earlier)]
        return exp.cast(exp.Div(this=call("DATEDIFF", *weeks), expression=exp.Literal.number(7)), "bigint")
    cut = [call("DATE_TRUNC", exp.Literal.string(unit), one) for one in (earlier, later)]
    return call("TIMESTAMPDIFF", exp.Var(this=unit), *cut)


def _whole_units(node: exp.Expr, earlier: exp.Expr, later: exp.Expr, dialect: str) -> exp.Expr:
    """The number of whole units between two times, in DuckDB and Trino: from the 31st of January, the last day of
    February is a month later. DuckDB's DATE_DIFF counts weeks between days, whatever the time of day."""
    unit, _ = _unit(node)
    if unit == "WEEK" and dialect == "duckdb" and isinstance(node, exp.DateDiff):
        days = call("DATEDIFF", exp.cast(later, "date"), exp.cast(earlier, "date"))
        return exp.IntDiv(this=days, expression=exp.Literal.number(7))
    if unit not in _MONTHS:
        return call("TIMESTAMPDIFF", exp.Var(this=unit), earlier, later)
    months = _whole_months(earlier, later)
    return months if unit == "MONTH" else exp.IntDiv(this=months, expression=exp.Literal.number(_MONTHS[unit]))


def _whole_months(earlier: exp.Expr, later: exp.Expr) -> exp.Expr:
    """How often a month can be added to the smaller time, where a short month's last day will do."""
    a, b = (_operand(exp.cast(one, "timestamp") if one.is_string else one) for one in (earlier, later))
    cut = [call("DATE_TRUNC", _text("MONTH"), one.copy()) for one in (a, b)]
    count = call("TIMESTAMPDIFF", exp.Var(this="MONTH"), *cut)
    step = exp.Mul(this=count, expression=_interval("1", "MONTH"))
    beyond = exp.and_(exp.LTE(this=a.copy(), expression=b.copy()),
                      exp.GT(this=exp.Add(this=a.copy(), expression=step.copy()), expression=b.copy()))  # fmt: skip
    before = exp.and_(exp.GT(this=a.copy(), expression=b.copy()),
                      exp.GT(this=exp.Sub(this=b.copy(), expression=step.copy()), expression=a.copy()))  # fmt: skip
    rest = exp.Case().when(beyond, "1").when(before, "-1").else_("0")
    return exp.paren(exp.Sub(this=count.copy(), expression=rest), copy=False)


def _sum(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """A time moved by units. Spark's DATE_ADD knows days only, and loses the time of day."""
    back = isinstance(node, (exp.DateSub, exp.TimestampSub, exp.DatetimeSub))
    amount = node.expression
    if amount is not None and amount.find(exp.Interval):
        return _moved(node.this, amount, back)
    if dialect == "databricks" or node.args.get("unit") is None:
        return None
    if isinstance(amount, exp.Neg) and isinstance(amount.this, exp.Literal):
        amount, back = amount.this, not back
    size, unit = _STEPS[_unit(node)[0]]
    of_date = is_date(node.this) or (dialect == "bigquery" and isinstance(node, (exp.DateAdd, exp.DateSub)))
    if unit == "DAY" and of_date and not isinstance(amount, exp.Literal):
        days = exp.Mul(this=_operand(amount), expression=exp.Literal.number(size)) if size != "1" else amount
        return call("DATE_SUB" if back else "DATE_ADD", node.this, exp.cast(days, "int"))
    if isinstance(amount, exp.Literal) and amount.name.isdigit() and size in ("1", "3", "7"):
        step: exp.Expr = _interval(str(int(amount.name) * int(size)), unit)
    else:
        number = exp.Literal.number(amount.name) if isinstance(amount, exp.Literal) else _operand(amount)
        step = exp.Mul(this=number, expression=_interval(size, unit))
        if unit == "DAY" and dialect in _OF_DAYS:  # or a date would become a timestamp
            step = exp.Cast(this=step, to=exp.DataType(this=exp.Interval(unit=exp.Var(this="DAY"))))
    return _moved(node.this, step, back)


def _time_later(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's TIMEADD is its DATEADD."""
    return _sum(node, dialect) if dialect == "snowflake" else None


def _moved(time: exp.Expr, step: exp.Expr, back: bool) -> exp.Expr:
    if isinstance(time, exp.Literal) and time.is_string:
        time = exp.cast(time, "timestamp")
    return exp.paren((exp.Sub if back else exp.Add)(this=_operand(time), expression=step), copy=False)


def _operand(value: exp.Expr) -> exp.Expr:
    """The value, in parentheses unless it needs none."""
    simple = isinstance(value, (exp.Column, exp.Literal, exp.Func, exp.Paren, exp.Dot))
    return value if simple else exp.paren(value, copy=False)


def _beginning(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The beginning of a unit. Spark's TRUNC gives null for a unit below a week, and its weeks begin on Monday."""
    if dialect == "databricks" or node.args.get("unit") is None:
        return None
    unit, first_day = _unit(node)
    of_date = isinstance(node, exp.DateTrunc) and not _is_instant(node.this)
    if unit == "WEEK" and first_day != "MON":
        following = call("NEXT_DAY", exp.cast(node.this, "date"), exp.Literal.string(first_day))
        day = call("DATE_SUB", following, exp.Literal.number(7))
        return day if of_date else exp.cast(day, "timestamp")
    if of_date and unit == "DAY":
        return exp.cast(node.this, "date")
    below_day = _UNITS.index(unit) > _UNITS.index("DAY")
    name = "TRUNC" if of_date and not below_day else "DATE_TRUNC"
    arguments = [node.this, exp.Literal.string(unit)]
    return call(name, *(arguments if name == "TRUNC" else reversed(arguments)))


def _is_instant(time: exp.Expr) -> bool:
    """Whether a value is surely a timestamp, of which also DATE_TRUNC gives one."""
    time = time.unnest()
    cast = isinstance(time, exp.Cast) and time.to.is_type("timestamp", "timestamptz", "datetime", "timestampntz")
    return cast or isinstance(time, (exp.CurrentTimestamp, exp.CurrentDatetime))


def _in_zone(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """AT TIME ZONE. Of an instant it is a clock time, and of a clock time an instant; here, both are timestamps, so the
    text must say which is meant."""
    time, zone = node.this.unnest(), node.args["zone"]
    if dialect in ("bigquery", "trino"):
        return exp.paren(clock_time(node.this, zone), copy=False)
    if dialect not in ("postgres", "redshift", "duckdb"):
        return None
    utc = isinstance(zone, exp.Literal) and zone.name.upper() in _UTC
    kind = False if time.meta.get("clock") else time.meta.get("instant")
    if kind is None and (isinstance(time, _INSTANTS) or _is_present(time)):
        kind = True
    if kind is None and isinstance(time, exp.StrToTime):
        kind = dialect != "duckdb"  # STRPTIME gives no instant, as TO_TIMESTAMP does
    if kind is None and isinstance(time, exp.Cast) and time.to.is_type(*_TIMES):
        kind = time.to.is_type("timestamptz", "timestampltz")
    outer = node.parent.parent if isinstance(node.parent, exp.Paren) else node.parent
    if kind is None and utc and isinstance(outer, exp.AtTimeZone):
        kind = False  # the idiom `t at time zone 'utc' at time zone 'Europe/Berlin'`
    if kind is None and not utc:
        raise Untranslatable(_UNKNOWN)
    if kind is None:
        new = filled(_SAME_IN_UTC, [node.this])
    else:
        new = clock_time(node.this, zone) if kind else instant(node.this, zone)
    new.meta["instant"] = not kind
    return exp.paren(new, copy=False)


def _is_present(time: exp.Expr) -> bool:
    return isinstance(time, exp.Anonymous) and time.name.upper() in _PRESENT


def _cut_in_zone(node: exp.Expr, dialect: str) -> exp.Expr | None:
    zone = node.args.get("zone")
    if zone is None:
        return _beginning(node, dialect)
    node.set("zone", None)
    node.set("this", clock_time(node.this, zone))
    cut = _beginning(node, dialect)
    return instant(node.copy() if cut is None else cut, zone)


def _parsed_in_zone(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """PARSE_TIMESTAMP(pattern, text, zone)."""
    zone = node.args.get("zone")
    if zone is None or dialect != "bigquery":
        return None
    plain = node.copy()
    plain.set("zone", None)
    return instant(plain, zone)


def _made_in_zone(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """BigQuery's DATE, DATETIME and TIMESTAMP with a zone, and those of the present in a zone."""
    if dialect != "bigquery":
        return None
    now = isinstance(node, (exp.CurrentDate, exp.CurrentDatetime))
    zone = node.this if now else node.args.get("expression" if isinstance(node, exp.Datetime) else "zone")
    if zone is None:
        return call("LOCALTIMESTAMP") if isinstance(node, exp.CurrentDatetime) else None
    if isinstance(node, exp.Timestamp):
        return instant(node.this, zone)
    local = clock_time(exp.CurrentTimestamp() if now else node.this, zone)
    return exp.cast(local, "date") if isinstance(node, (exp.Date, exp.CurrentDate)) else local


def _last_day(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """LAST_DAY of a year, quarter or week."""
    if node.args.get("unit") is None:
        return None
    unit, first_day = _unit(node)
    if unit == "WEEK":
        sundays = dialect == "bigquery" and node.args["unit"].name.upper() == "WEEK"
        first_day = "SUN" if sundays else first_day
        last = WEEK[WEEK.index(first_day) - 1]
        return call("NEXT_DAY", call("DATE_SUB", exp.cast(node.this, "date"), exp.Literal.number(1)), _text(last))
    months = {"MONTH": 0, "QUARTER": 2, "YEAR": 11}.get(unit)
    if months is None:
        raise Untranslatable(f"LAST_DAY of a unit {unit}")
    first = call("TRUNC", node.this, _text(unit))
    return call("LAST_DAY", call("ADD_MONTHS", first, exp.Literal.number(months)) if months else node.this)


def _months_later(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ADD_MONTHS: the last day of a month stays one, by way of the day after; Spark's gives a date."""
    if dialect not in ("snowflake", "redshift"):
        return None
    given, day = node.this, _interval("1", "DAY")
    step = exp.Mul(this=_operand(node.expression), expression=_interval("1", "MONTH"))
    by_way = _moved(_moved(_moved(given.copy(), day, False), step.copy(), False), day.copy(), True)
    is_last = exp.EQ(this=exp.cast(given.copy(), "date"), expression=call("LAST_DAY", given.copy()))
    return call("IF", is_last, by_way, _moved(given, step, False))


def _previous_day(node: exp.Expr, dialect: str) -> exp.Expr:
    """The last such day of a week before a day."""
    return call("NEXT_DAY", call("DATE_SUB", node.this, exp.Literal.number(8)), node.expression)


def _day_of_week(node: exp.Expr, dialect: str) -> exp.Expr | None:
    if dialect not in _SUNDAY_IS_ZERO:
        return None
    return minus_one(call("DAYOFWEEK", node.this))


def _iso_day_of_week(node: exp.Expr, dialect: str) -> exp.Expr | None:
    return None if dialect == "databricks" else exp.Extract(this=exp.Var(this="DAYOFWEEK_ISO"), expression=node.this)


def _part(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """EXTRACT of a part that Spark calls otherwise, or counts otherwise."""
    if isinstance(node.this, exp.WeekStart):
        return week_from(node.expression, node.this.this.name.upper()[:3])
    return None if dialect == "databricks" else extracted(node.name or node.this.sql(), node.expression, dialect)


def _as_seconds(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Seconds since 1970 are fractions in DuckDB and Trino, and integers of Spark's UNIX_TIMESTAMP."""
    return epoch_of("EPOCH", node.this, dialect) if dialect in ("duckdb", "trino") else None


def _of_seconds(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Spark's FROM_UNIXTIME cuts fractions of seconds off. Of a time, DuckDB's EPOCH_MS gives milliseconds."""
    time = node.this.unnest()
    if isinstance(time, exp.Literal) and time.is_string:
        if dialect == "snowflake" and time.name.isdigit() and int(time.name) >= _FIRST_MILLIS:
            return _of_smaller_units(int(time.name))
        node.set("this", exp.Literal.number(time.name))  # TO_TIMESTAMP('1700000000')
    known = time.meta.get("time") or (isinstance(time, exp.Cast) and time.to.is_type(*_TIMES))
    if dialect == "duckdb" and known:
        return call("UNIX_MILLIS", instant_of(node.this, dialect))
    if dialect == "trino":
        node.set("zone", None)  # it says how the time is shown
    plain = node.args.get("scale") is None and node.args.get("format") is None and node.args.get("zone") is None
    if not plain or dialect == "databricks":
        return None
    made = call("TIMESTAMP_SECONDS", node.this)
    made.meta["instant"] = True
    return made


def _of_smaller_units(number: int) -> exp.Expr:
    """Snowflake takes a large integer in a text for milliseconds, microseconds or nanoseconds, by its size."""
    if number < _FIRST_MILLIS * 1000:
        return call("TIMESTAMP_MILLIS", exp.Literal.number(number))
    micros = number if number < _FIRST_MILLIS * 1_000_000 else number // 1000
    return call("TIMESTAMP_MICROS", exp.Literal.number(micros))


def time_by_name(name: str, given: list[exp.Expr], dialect: str) -> exp.Expr | None:
    """Functions of times that sqlglot does not know in a dialect; None for another function."""
    if name in ("DATE_PART", "DATEPART") and len(given) == 2:
        return extracted(given[0].name, given[1], dialect)
    if name == "TIMEZONE" and len(given) == 2:
        return _in_zone(exp.AtTimeZone(this=given[1], zone=given[0]), dialect)
    if dialect == "trino" and name in ("AT_TIMEZONE", "WITH_TIMEZONE") and len(given) == 2:
        return clock_time(*given) if name == "AT_TIMEZONE" else instant(*given)
    part = _PARTS_BY_NAME.get(name)
    if part is not None and len(given) == 1:
        return extracted(part, given[0], dialect)
    if dialect == "duckdb" and name in ("DATE_SUB", "DATESUB") and len(given) == 3:
        of_unit = exp.TimestampDiff(unit=exp.var(given[0].name))
        return _whole_units(of_unit, given[1], given[2], dialect)
    if dialect == "duckdb" and name == "TRY_STRPTIME" and len(given) == 2:
        return exp.StrToTime(this=given[0], format=given[1], safe=True)
    units = _UNITS_BY_NAME.get(name) if dialect == "duckdb" and len(given) == 1 else None
    return None if units is None else exp.Mul(this=_operand(given[0]), expression=_interval("1", units))


def _iso_year(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.Extract(this=exp.Var(this="YEAROFWEEK"), expression=node.this)


def _week(node: exp.Expr, dialect: str) -> exp.Expr:
    return call("WEEKOFYEAR", node.this)


def _unit(node: exp.Expr) -> tuple[str, str]:
    """The unit of a difference or sum, and the first day of its weeks: `("WEEK", "SUN")`."""
    given = node.args["unit"]
    if isinstance(given, exp.WeekStart):
        return "WEEK", given.name.upper()[:3]
    unit = given.name.upper().removesuffix("S")
    unit = {"ISOWEEK": "WEEK"}.get(unit, unit if unit in _UNITS else full_name(given.name.upper()))
    if unit not in _UNITS:
        raise Untranslatable(f"the unit {given.name} of a time")
    return unit, "MON"


def _interval(number: str, unit: str) -> exp.Expr:
    return exp.Interval(this=exp.Literal.string(number), unit=exp.Var(this=unit))


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    **dict.fromkeys((exp.DateDiff, exp.DatetimeDiff, exp.TimestampDiff, exp.TsOrDsDiff), _difference),
    **dict.fromkeys(
        (exp.DateAdd, exp.DatetimeAdd, exp.TimestampAdd, exp.TsOrDsAdd, exp.DateSub, exp.DatetimeSub, exp.TimestampSub),
        _sum,
    ),
    exp.TimeAdd: _time_later,
    exp.DateTrunc: _beginning,
    **dict.fromkeys((exp.TimestampTrunc, exp.DatetimeTrunc), _cut_in_zone),
    **dict.fromkeys((exp.Date, exp.Datetime, exp.Timestamp, exp.CurrentDate, exp.CurrentDatetime), _made_in_zone),
    exp.AtTimeZone: _in_zone,
    exp.StrToTime: _parsed_in_zone,
    exp.LastDay: _last_day,
    exp.AddMonths: _months_later,
    exp.PreviousDay: _previous_day,
    exp.DayOfWeek: _day_of_week,
    exp.DayOfWeekIso: _iso_day_of_week,
    exp.Extract: _part,
    exp.Week: _week,
    exp.TimeToUnix: _as_seconds,
    exp.UnixToTime: _of_seconds,
    exp.YearOfWeek: _iso_year,
    exp.YearOfWeekIso: _iso_year,
}
