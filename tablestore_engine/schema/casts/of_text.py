"""Casts of texts, by the rules of Spark's ANSI cast. A text that is no value of the type becomes null.

Numbers and booleans are read by Arrow; the forms of dates and timestamps are many, so that each distinct text is read
by itself. A text that is only a time of day is no timestamp here: Spark takes the day of the query for it.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import ROUND_DOWN, Context, Decimal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.casts.numbers import kept, to_decimal, to_number
from tablestore_engine.schema.casts.times import CLOCK, INSTANT, clock_to_instant
from tablestore_engine.schema.casts.to_text import by_distinct

_BLANKS = "".join(map(chr, range(33))) + "\x7f"
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
_INTEGER = r"^[+-]?[0-9]+$"
_NUMBER = r"^[+-]?(\pN+\.?\pN*|\.\pN+)([eE][+-]?\pN+)?$"
_DOUBLE = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?$"
_INFINITE = r"^[+-]?(inf|infinity)$"
_MOST_DIGITS = 38
_MOST_EXPONENT = 2**31 - 1  # Java's
_DECIMALS = Context(prec=100)
_DATE = re.compile(r"([+-]?)(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_CLOCK = re.compile(
    r"([+-]?)(\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T]"
    r"(?:(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?(.*)))?)?)?",
    re.DOTALL,
)
_TIME = re.compile(r"T?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?(?: ?([AaPp][Mm]))?")
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?")
_DAY = 86_400
_DAYS_TO_1970 = 719_468  # from the first of March of the year 0


def trimmed(values: pa.Array) -> pa.Array:
    """Texts without blanks and control characters at both ends."""
    return pc.utf8_trim(values, _BLANKS)


def text_to_boolean(values: pa.Array) -> pa.Array:
    """The words and digits for true and false."""
    lower = pc.utf8_lower(trimmed(values))
    is_true = pc.is_in(lower, pa.array(_TRUE))
    return kept(is_true, pc.or_(is_true, pc.is_in(lower, pa.array(_FALSE))))


def text_to_number(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Numbers; whole ones have no point."""
    text = trimmed(values)
    if pa.types.is_integer(target):
        return _integers(text, target)
    if pa.types.is_decimal(target):
        return _decimals(text, target)
    lower = pc.utf8_lower(text)
    infinite = pc.match_substring_regex(lower, _INFINITE)
    minus = pc.starts_with(lower, "-")
    special = pc.if_else(infinite, pc.if_else(minus, float("-inf"), float("inf")), pa.scalar(None, pa.float64()))
    special = pc.if_else(pc.equal(lower, "nan"), float("nan"), special)
    plain = kept(text, pc.match_substring_regex(text, _DOUBLE))
    plain = pc.utf8_ltrim(pc.utf8_rtrim(plain, "fFdD"), "+")
    return pc.coalesce(plain.cast(target), special.cast(target))


def _integers(text: pa.Array, target: pa.DataType) -> pa.Array:
    text = kept(text, pc.match_substring_regex(text, _INTEGER))
    minus = pc.starts_with(text, "-")
    digits = pc.utf8_ltrim(pc.utf8_ltrim(text, "+-"), "0")
    digits = kept(digits, pc.less_equal(pc.utf8_length(digits), _MOST_DIGITS))
    whole = pc.binary_join_element_wise(pc.if_else(minus, "-0", "0"), digits, "").cast(pa.decimal128(38, 0))
    return to_number(whole, target)


def _decimals(text: pa.Array, target: pa.Decimal128Type) -> pa.Array:
    plain = kept(text, pc.match_substring_regex(text, _NUMBER))
    return to_decimal(by_distinct(plain, _decimal, pa.decimal256(76, _MOST_DIGITS)), target)


def _decimal(text: str) -> Decimal | None:
    """The number, cut off far beyond any scale; None for one of more digits than a decimal has."""
    if abs(int(text.lower().partition("e")[2] or 0)) > _MOST_EXPONENT:
        return None
    value = Decimal(text)
    if not value or value.adjusted() < -_MOST_DIGITS:
        return Decimal(0)
    if value.adjusted() >= _MOST_DIGITS:
        return None
    last = max(int(value.as_tuple().exponent), -_MOST_DIGITS)
    return value.quantize(Decimal(1).scaleb(last), rounding=ROUND_DOWN, context=_DECIMALS)


def text_to_date(values: pa.Array) -> pa.Array:
    """Days: a year, a month of it, or a day, which a time may follow."""
    return by_distinct(trimmed(values), _days, pa.int32()).cast(pa.date32())


def text_to_clock(values: pa.Array) -> pa.Array:
    """Timestamps; a time zone in the text is ignored."""

    def clock(text: str) -> int | None:
        found = _clock(text)
        return None if found is None else found[0]

    return by_distinct(trimmed(values), clock, pa.int64()).cast(CLOCK)


def text_to_instant(values: pa.Array, zone: str) -> pa.Array:
    """Timestamps in the time zone that the text has, else in that of the table."""

    def instant(text: str) -> int | None:
        found = _clock(text)
        if found is None or found[1] is None:
            return None
        return _at(found[0], found[1])

    def clock(text: str) -> int | None:
        found = _clock(text)
        return None if found is None or found[1] is not None else found[0]

    text = trimmed(values)
    zoned = by_distinct(text, instant, pa.int64()).cast(INSTANT)
    local = by_distinct(text, clock, pa.int64()).cast(CLOCK)
    return pc.coalesce(zoned, clock_to_instant(local, zone))


def text_to_day_micros(values: pa.Array) -> pa.Array:
    """The microseconds of a day of times of day, of 24 hours or with AM or PM."""
    return by_distinct(trimmed(values), _day_micros, pa.int64())


def _day_micros(text: str) -> int | None:
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hours, minutes, seconds = (int(one or 0) for one in found.group(1, 2, 3))
    half = (found[5] or "").upper()
    if minutes > 59 or seconds > 59 or hours > 23 or (half and not 1 <= hours <= 12):
        return None
    if half:
        hours = hours % 12 + 12 * (half == "PM")
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + int((found[4] or "")[:6].ljust(6, "0"))


def _days(text: str) -> int | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year = int(found[2]) * (-1 if found[1] == "-" else 1)
    return _day_number(year, int(found[3] or 1), int(found[4] or 1))


def _day_number(year: int, month: int, day: int) -> int | None:
    """Days since 1970 in the proleptic Gregorian calendar; None when there is no such day."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= (31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]:
        return None
    year -= month <= 2
    century = year % 400
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return (year // 400) * 146_097 + century * 365 + century // 4 - century // 100 + day_of_year - _DAYS_TO_1970


def _clock(text: str) -> tuple[int, tzinfo | None] | None:
    """Microseconds since 1970 that a text shows, and its time zone, if it has one."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    sign, year, month, day, hour, minute, second, fraction, rest = found.groups()
    days = _day_number(int(year) * (-1 if sign == "-" else 1), int(month or 1), int(day or 1))
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if days is None or hours > 23 or minutes > 59 or seconds > 59:
        return None
    zone = None
    if rest:
        zone = _zone(rest.strip())
        if zone is None:
            return None
    micros = int((fraction or "")[:6].ljust(6, "0"))
    return ((days * _DAY + hours * 3600 + minutes * 60 + seconds) * 1_000_000 + micros, zone)


def _zone(text: str) -> tzinfo | None:
    if text in ("Z", "UTC", "GMT", "UT"):
        return timezone.utc
    found = _OFFSET.fullmatch(text)
    if found is not None:
        hours, minutes, seconds = (int(one or 0) for one in found.group(2, 3, 4))
        offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        if minutes > 59 or seconds > 59 or offset > timedelta(hours=18):
            return None
        return timezone(-offset if found[1] == "-" else offset)
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _at(micros: int, zone: tzinfo) -> int | None:
    """The instant of a clock time in a zone."""
    seconds = micros // 1_000_000
    try:
        offset = zone.utcoffset(datetime(1970, 1, 1) + timedelta(seconds=seconds))
    except OverflowError:
        return None
    return None if offset is None else micros - int(offset.total_seconds()) * 1_000_000
