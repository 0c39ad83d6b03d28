"""The cast that leads from one type to another, for Arrow arrays."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.casts import numbers, of_text, times, to_text
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_ROOTS,
    STRING_ROOTS,
    TIMESTAMP_ROOTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
)

_NUMBERS = (*INTEGER_ROOTS, "FLOAT", "DOUBLE", "DECIMAL")


def cast_array(values: pa.Array, past: DataType, current: AtomicType, zone: str) -> pa.Array:
    """Values of the type `past` as ones of `current`; null where a value cannot be cast.

    `zone` is the time zone of casts between instants and what a clock shows. The change is one that `check_readable`
    allows.
    """
    target = to_arrow_type(current)
    values = values if values.type == to_arrow_type(past) else values.cast(to_arrow_type(past))
    if isinstance(past, AtomicType) and past.root in TIMESTAMP_ROOTS:
        values = values.cast(times.INSTANT if past.root == "TIMESTAMP_LTZ" else times.CLOCK, safe=False)
    if current.root in STRING_ROOTS:
        text = text_of(values, past, zone)
        return text if current.root == "STRING" else to_text.sized(text, _length(current), fill=current.root == "CHAR")
    assert isinstance(past, AtomicType)
    if current.root in BINARY_ROOTS:
        found = values.cast(pa.binary())
        short = pc.less_equal(pc.binary_length(found), _length(current))
        return found if current.root == "BYTES" else numbers.kept(found, short)
    return _plain(values, past.root, current, zone).cast(target)


def _length(kind: AtomicType) -> int:
    return kind.precision or 1


def _plain(values: pa.Array, root: str, current: AtomicType, zone: str) -> pa.Array:
    """Values as numbers, booleans, dates or timestamps."""
    to, target = current.root, to_arrow_type(current)
    if root in STRING_ROOTS:
        return _of_text(values, current, zone)
    if to in _NUMBERS:
        return times.instant_to_number(values, target) if root == "TIMESTAMP_LTZ" else numbers.to_number(values, target)
    if to == "BOOLEAN":
        return numbers.to_boolean(values)
    if to in ("DATE", "TIME"):
        if root == "TIME":
            return times.time_of(pc.multiply(values.cast(pa.int32()).cast(pa.int64()), 1000), current.precision or 0)
        clock = times.instant_to_clock(values, zone) if root == "TIMESTAMP_LTZ" else values
        return times.to_date(clock) if to == "DATE" else times.to_time(clock, current.precision or 0)
    if root in (*_NUMBERS, "BOOLEAN"):
        return times.with_precision(times.number_to_instant(values), current.precision or 0)
    if root == "DATE":
        values = values.cast(times.CLOCK)
    if root == "TIMESTAMP_LTZ" and to == "TIMESTAMP":
        values = times.instant_to_clock(values, zone)
    elif root != "TIMESTAMP_LTZ" and to == "TIMESTAMP_LTZ":
        values = times.clock_to_instant(values, zone)
    return times.with_precision(values, current.precision or 0)


def _of_text(values: pa.Array, current: AtomicType, zone: str) -> pa.Array:
    to = current.root
    if to in _NUMBERS:
        return of_text.text_to_number(values, to_arrow_type(current))
    if to == "BOOLEAN":
        return of_text.text_to_boolean(values)
    if to == "DATE":
        return of_text.text_to_date(values)
    if to == "TIME":
        return times.time_of(of_text.text_to_day_micros(values), current.precision or 0)
    found = of_text.text_to_instant(values, zone) if to == "TIMESTAMP_LTZ" else of_text.text_to_clock(values)
    return times.with_precision(found, current.precision or 0)


def text_of(values: pa.Array, past: DataType, zone: str) -> pa.Array:
    """Values as texts."""
    if isinstance(past, ArrayType):
        return to_text.nested_text(values, lambda part: text_of(part, past.element, zone))
    if isinstance(past, MapType):
        kinds = iter((past.key, past.value))
        return to_text.nested_text(values, lambda part: text_of(part, next(kinds), zone))
    if isinstance(past, RowType):
        fields = iter(past.fields)
        return to_text.nested_text(values, lambda part: text_of(part, next(fields).type, zone))
    assert isinstance(past, AtomicType)
    if past.root == "DECIMAL":
        return to_text.decimal_text(values)
    if past.root in ("FLOAT", "DOUBLE"):
        return to_text.float_text(values)
    if past.root in TIMESTAMP_ROOTS:
        clock = times.instant_to_clock(values, zone) if past.root == "TIMESTAMP_LTZ" else values
        return to_text.timestamp_text(clock)
    if past.root == "TIME":
        return to_text.without_zeros(values.cast(pa.string()))
    if past.root == "DATE":
        return to_text.date_text(values.cast(pa.string()))
    return to_text.bytes_text(values) if past.root in BINARY_ROOTS else values.cast(pa.string())
