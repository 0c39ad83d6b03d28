"""Casts between numbers and booleans. A value that does not fit becomes null."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_WIDE = 76  # digits of a decimal256, in which nothing here overflows
_BITS = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}
# Doubles below have at most 15 digits before the point and 56 after it; those above at most 17 after it.
_LARGE = 1e15
_SMALL = 1e-39


def kept(values: pa.Array, condition: pa.Array) -> pa.Array:
    """The values for which a condition holds, null for the others."""
    return pc.if_else(condition, values, pa.scalar(None, values.type))


def to_number(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Numbers or booleans as another type of number."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    if pa.types.is_decimal(target):
        return to_decimal(values, target)
    if pa.types.is_integer(target):
        return to_integers(values, target)
    if pa.types.is_decimal(values.type):
        # By its text, which is read exactly.
        values = values.cast(pa.string())
    return values.cast(target, safe=False)


def to_boolean(values: pa.Array) -> pa.Array:
    """Whether numbers are not zero; NaN is not."""
    zero: Any = Decimal(0) if pa.types.is_decimal(values.type) else 0
    return pc.not_equal(values, pa.scalar(zero, values.type))


def to_integers(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Numbers without their fraction."""
    limit = 1 << (_BITS[target] - 1)
    if pa.types.is_floating(values.type):
        values = values.cast(pa.float64())
        fits = pc.and_(
            pc.less_equal(pc.floor(values), float(limit - 1)), pc.greater_equal(pc.ceil(values), float(-limit))
        )
        # The greatest BIGINT is no double; 2 to 63, which is the next one, becomes it.
        rounded_up = pc.greater_equal(values, 2.0**63)
        whole = kept(pc.trunc(values), pc.and_(fits, pc.invert(rounded_up))).cast(pa.int64()).cast(target)
        if target != pa.int64():
            return whole
        return pc.if_else(pc.fill_null(pc.and_(fits, rounded_up), False), pa.scalar(limit - 1, target), whole)
    if pa.types.is_decimal(values.type):
        wide = pc.trunc(_wide(values))
        fits = pc.and_(
            pc.less_equal(wide, _decimal(limit - 1, wide.type)), pc.greater_equal(wide, _decimal(-limit, wide.type))
        )
        return kept(wide, fits).cast(pa.decimal256(_WIDE, 0)).cast(target)
    if _BITS[values.type] <= _BITS[target]:
        return values.cast(target)
    fits = pc.and_(pc.less_equal(values, limit - 1), pc.greater_equal(values, -limit))
    return kept(values, fits).cast(target)


def to_decimal(values: pa.Array, target: pa.Decimal128Type) -> pa.Array:
    """Numbers rounded to the scale, halves away from zero."""
    if pa.types.is_floating(values.type):
        return _of_doubles(values.cast(pa.float64()), target)
    if pa.types.is_integer(values.type):
        return _fitting(values.cast(pa.int64()).cast(pa.decimal256(_WIDE, target.scale)), target)
    return _fitting(_wide(values), target)


def _of_doubles(values: pa.Array, target: pa.Decimal128Type) -> pa.Array:
    # By the shortest text that is the double, as Java's BigDecimal.
    size = pc.abs(values)
    values = pc.if_else(pc.less(size, _SMALL), pa.scalar(0.0), values)
    parts = []
    for scale, chosen in (
        (56, pc.less(size, _LARGE)),
        (17, pc.and_(pc.greater_equal(size, _LARGE), pc.less(size, 1e38))),
    ):
        text = kept(values, chosen).cast(pa.string())
        parts.append(_fitting(text.cast(pa.decimal256(_WIDE, scale)), target))
    return pc.coalesce(*parts)


def _fitting(wide: pa.Array, target: pa.Decimal128Type) -> pa.Array:
    if wide.type.scale > target.scale:
        wide = pc.round(wide, ndigits=target.scale, round_mode="half_towards_infinity")
    wide = wide.cast(pa.decimal256(_WIDE, target.scale))
    limit = _decimal(Decimal(10) ** (target.precision - target.scale), wide.type)
    return kept(wide, pc.less(pc.abs(wide), limit)).cast(target)


def _wide(values: pa.Array) -> pa.Array:
    return values.cast(pa.decimal256(_WIDE, values.type.scale))


def _decimal(value: Any, kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(Decimal(value), kind)
