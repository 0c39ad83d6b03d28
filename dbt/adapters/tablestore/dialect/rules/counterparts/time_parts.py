"""Parts of a time, by the names that dialects have for them; Spark calls some otherwise, or counts them otherwise."""

from __future__ import annotations

from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.intervals import epoch_of
from dbt.adapters.tablestore.dialect.rules.json_parts import call

# Parts of a time under other names, and under Spark's.
_PARTS: Final = {
    "DAYOFYEAR": "DOY", "ISOWEEK": "WEEK", "WEEKISO": "WEEK", "WEEK_ISO": "WEEK", "ISOYEAR": "YEAROFWEEK",
    "YEAROFWEEKISO": "YEAROFWEEK", "YOW": "YEAROFWEEK", "ISODOW": "DAYOFWEEK_ISO", "DAYOFWEEKISO": "DAYOFWEEK_ISO",
    "DAYOFWEEK_ISO": "DAYOFWEEK_ISO", "DAYOFMONTH": "DAY", "DAY_OF_MONTH": "DAY", "DAY_OF_YEAR": "DOY",
}  # fmt: skip
_SPARKS_PARTS: Final = frozenset(
    ["YEAR", "YEAROFWEEK", "QUARTER", "MONTH", "WEEK", "DAY", "DOY", "HOUR", "MINUTE", "SECOND", "DAYOFWEEK_ISO"]
)
WEEK: Final = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_WEEKDAYS: Final = ("DOW", "DAYOFWEEK", "DAY_OF_WEEK", "WEEKDAY")
_YEARS: Final = {"DECADE": 10, "CENTURY": 100, "MILLENNIUM": 1000}
_OF_A_SECOND: Final = {"MILLISECOND": ("UNIX_MILLIS", 1_000), "MICROSECOND": ("UNIX_MICROS", 1_000_000)}


def extracted(name: str, time: exp.Expr, dialect: str) -> exp.Expr:
    """A part of a time, by its name in the dialect."""
    part = name.upper()
    if part in _WEEKDAYS:
        if dialect == "trino":
            return exp.Extract(this=exp.Var(this="DAYOFWEEK_ISO"), expression=time)
        day = call("DAYOFWEEK", time)
        return day if dialect == "bigquery" else minus_one(day)
    if part.startswith("EPOCH"):
        return epoch_of(part, time, dialect)
    if part == "DATE":
        return exp.cast(time, "date")
    if part == "WEEK" and dialect == "bigquery":
        return week_from(time, "SUN")
    if part in _OF_A_SECOND and dialect in ("bigquery", "trino"):
        name, count = _OF_A_SECOND[part]
        return call("PMOD", call(name, exp.cast(time, "timestamptz")), exp.Literal.number(count))
    sparks = _PARTS.get(part, part)
    if sparks not in _SPARKS_PARTS:
        other = full_name(part)
        if other != part:
            return extracted(other, time, dialect)
        if dialect in ("postgres", "duckdb") and part in _OF_A_SECOND:  # with the counted seconds
            seconds = exp.Extract(this=exp.Var(this="SECOND"), expression=time)
            counted = exp.Mul(this=seconds, expression=exp.Literal.number(_OF_A_SECOND[part][1]))
            return exp.paren(counted, copy=False) if dialect == "postgres" else exp.cast(counted, "bigint")
        if part in _YEARS:
            year = exp.Extract(this=exp.Var(this="YEAR"), expression=time)
            began = year if part == "DECADE" else exp.paren(exp.Add(this=year, expression=_number(_YEARS[part] - 1)))
            return exp.paren(exp.IntDiv(this=began, expression=_number(_YEARS[part])), copy=False)
        raise Untranslatable(f"EXTRACT({part} …)")
    found = exp.Extract(this=exp.Var(this=sparks), expression=time)
    whole = sparks == "SECOND" and dialect != "postgres"  # Spark's has fractions
    return exp.cast(call("FLOOR", found), "int") if whole else found


def full_name(part: str) -> str:
    """The name of a part of a time, of one of its short forms or of its plural: HRS, HOURS."""
    return str(Dialect.DATE_PART_MAPPING.get(part, part))


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def week_from(time: exp.Expr, first_day: str) -> exp.Expr:
    """The number of a week that begins on some day; days before the first such day are in week 0."""
    first = (WEEK.index(first_day) + 1) % len(WEEK) + 1  # in Spark, Sunday is 1
    passed = exp.Sub(this=call("DAYOFWEEK", time.copy()), expression=exp.Literal.number(first))
    days = exp.Sub(
        this=exp.Add(this=call("DAYOFYEAR", time.copy()), expression=exp.Literal.number(6)),
        expression=call("PMOD", passed, exp.Literal.number(7)),
    )
    return exp.IntDiv(this=exp.paren(days, copy=False), expression=exp.Literal.number(7))


def minus_one(number: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Sub(this=number, expression=exp.Literal.number(1)), copy=False)
