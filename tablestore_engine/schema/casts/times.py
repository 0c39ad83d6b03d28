"""Casts between dates, timestamps with and without a time zone, and numbers of seconds.

Vocabulary: an *instant* is a value of TIMESTAMP WITH LOCAL TIME ZONE; a *clock* value is one of TIMESTAMP. Clock times
that a zone skips or repeats mean what they mean to Java: the later one by the length of the gap, the earlier of two.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.casts.numbers import kept, to_decimal, to_number

MICROS = 1_000_000
CLOCK = pa.timestamp("us")
INSTANT = pa.timestamp("us", "UTC")
_LIMIT = 1 << 63


def clock_to_instant(values: pa.Array, zone: str) -> pa.Array:
    """The time of a clock in the zone, as the instant."""
    if zone == "UTC":
        return values.cast(pa.int64()).cast(INSTANT)
    # In a gap, the instant before it and what is missing from there.
    found = pc.assume_timezone(values, zone, ambiguous="earliest", nonexistent="earliest")
    shown = pc.local_timestamp(found)
    missing = pc.subtract(values.cast(pa.int64()), shown.cast(pa.int64()))
    return pc.add(found.cast(pa.int64()), missing).cast(INSTANT)


def instant_to_clock(values: pa.Array, zone: str) -> pa.Array:
    """The time of a clock in the zone at an instant."""
    if zone == "UTC":
        return values.cast(pa.int64()).cast(CLOCK)
    return pc.local_timestamp(values.cast(pa.timestamp("us", zone)))


def to_date(values: pa.Array) -> pa.Array:
    """The day of clock values."""
    return floor_div(values.cast(pa.int64()), 86_400 * MICROS).cast(pa.int32()).cast(pa.date32())


def to_time(values: pa.Array, precision: int) -> pa.Array:
    """The time of day of clock values."""
    micros = values.cast(pa.int64())
    day = 86_400 * MICROS
    return time_of(pc.subtract(micros, pc.multiply(floor_div(micros, day), day)), precision)


def time_of(micros: pa.Array, precision: int) -> pa.Array:
    """Microseconds of a day as times of day, without the digits beyond a precision; at most milliseconds are kept."""
    unit = 10 ** (6 - min(precision, 3))
    millis = floor_div(pc.multiply(floor_div(micros, unit), unit), 1000)
    return millis.cast(pa.int32()).cast(pa.time32("ms"))


def with_precision(values: pa.Array, precision: int) -> pa.Array:
    """Timestamps without the digits beyond a precision."""
    if precision >= 6:
        return values
    unit = 10 ** (6 - precision)
    micros = values.cast(pa.int64())
    return pc.multiply(floor_div(micros, unit), unit).cast(values.type)


def instant_to_number(values: pa.Array, target: pa.DataType) -> pa.Array:
    """The seconds since 1970 of instants."""
    micros = values.cast(pa.int64())
    if pa.types.is_integer(target):
        return to_number(floor_div(micros, MICROS), target)
    if pa.types.is_decimal(target):
        digits = micros.cast(pa.decimal128(19, 0))
        exact = pa.Array.from_buffers(pa.decimal128(19, 6), len(digits), digits.buffers(), offset=digits.offset)
        return to_decimal(exact, target)
    seconds = pc.divide(micros.cast(pa.float64(), safe=False), float(MICROS))
    return to_number(seconds, target)


def number_to_instant(values: pa.Array) -> pa.Array:
    """Instants of seconds since 1970."""
    if pa.types.is_integer(values.type):
        seconds, most = values.cast(pa.int64()), _LIMIT // MICROS
        micros = pc.multiply(pc.max_element_wise(pc.min_element_wise(seconds, most), -most), MICROS)
        low, high = pc.less(seconds, -most), pc.greater(seconds, most)
        micros = pc.if_else(high, pa.scalar(_LIMIT - 1), pc.if_else(low, pa.scalar(-_LIMIT), micros))
        return kept(micros, values.is_valid()).cast(INSTANT)
    if pa.types.is_decimal(values.type):
        million = pa.scalar(Decimal(MICROS), pa.decimal256(7, 0))
        seconds = values.cast(pa.decimal256(38, values.type.scale))
        fits = pc.less(pc.abs(seconds), pa.scalar(Decimal(_LIMIT // MICROS), pa.decimal256(13, 0)))
        return to_number(kept(pc.multiply(seconds, million), fits), pa.int64()).cast(INSTANT)
    return to_number(pc.multiply(values.cast(pa.float64()), float(MICROS)), pa.int64()).cast(INSTANT)


def floor_div(values: pa.Array, by: int) -> pa.Array:
    """Whole numbers divided, rounded down."""
    found = pc.divide(values, by)
    return pc.subtract(found, pc.less(values, pc.multiply(found, by)).cast(pa.int64()))
