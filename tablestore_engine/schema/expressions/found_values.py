"""Values of expressions as Arrow: as other types, compared, and joined by AND and OR, all with Spark's answers.

Invariants: a value that is unknown is null, or any value of its type; integers are BIGINT, whatever their type is, and
timestamps have microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.expressions.common_types import FLOATS, Found, Operand, UncertainError
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import INTEGER_ROOTS, TIMESTAMP_ROOTS, AtomicType

_Datum = Any  # an array or a scalar: Arrow's functions take both
_COMPARED: Final = {"=": pc.equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal}
_WIDE: Final = 76
COMPARISONS: Final = tuple(_COMPARED)


def arrow_type_of(kind: AtomicType) -> pa.DataType:
    """The Arrow type of the values of a type here."""
    if kind.root in INTEGER_ROOTS:
        return pa.int64()
    if kind.root == "BOOLEAN":
        return pa.bool_()
    if kind.root in TIMESTAMP_ROOTS:
        return pa.timestamp("us", "UTC") if kind.root == "TIMESTAMP_LTZ" else pa.timestamp("us")
    return to_arrow_type(kind)


def stored(column: pa.ChunkedArray, kind: AtomicType) -> pa.Array:
    """A column of a table as values."""
    return column.combine_chunks().cast(arrow_type_of(kind))


def scalar(value: object, kind: AtomicType) -> pa.Scalar:
    """A constant as a value of a type."""
    if kind.root in FLOATS:
        value = float(value)  # type: ignore[arg-type]
    elif kind.root == "DECIMAL" and not isinstance(value, Decimal):
        value = Decimal(value)  # type: ignore[arg-type]
    return pa.scalar(value, arrow_type_of(kind))


def values_as(operand: Operand, kind: AtomicType) -> Callable[[pa.Table], Found]:
    """The values of an operand as ones of the type in which they are compared or computed."""
    if operand.kind is None:
        nothing = Found(pa.scalar(None, arrow_type_of(kind)))
        return lambda rows: nothing
    if operand.constant is not None:
        constant = operand.constant
        if isinstance(constant, str) and kind.root == "DATE":
            constant = _day(constant)
        found = Found(scalar(constant, kind))
        return lambda rows: found
    past, target = operand.atomic, arrow_type_of(kind)

    def cast(rows: pa.Table) -> Found:
        before = operand.of(rows)
        return Found(_cast(before.values, past, target), before.unknown)

    return cast


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UncertainError from error


def _cast(values: _Datum, past: AtomicType, target: pa.DataType) -> _Datum:
    if values.type == target:
        return values
    if past.root == "DECIMAL" and pa.types.is_floating(target):
        values = values.cast(pa.string())  # which is read exactly
    if past.root == "BIGINT" and pa.types.is_floating(target):
        return pc.cast(values, target, safe=False)  # rounded, as in Java
    if past.root in INTEGER_ROOTS and pa.types.is_decimal(target):
        values = values.cast(pa.decimal256(_WIDE, target.scale))  # Arrow asks for room for any BIGINT
    return pc.cast(values, target)


def compared(op: str, one: Found, other: Found) -> Found:
    """``one op other`` for values of one type. NaN equals NaN and is greater than all other numbers."""
    a: _Datum = one.values
    b: _Datum = other.values
    if pa.types.is_boolean(a.type):
        a, b = pc.cast(a, pa.int8()), pc.cast(b, pa.int8())
    found = _COMPARED[op](a, b)
    if pa.types.is_floating(a.type):
        found = pc.or_(found, _of_nan(op, pc.is_nan(a), pc.is_nan(b)))
    return Found(found, either(one.unknown, other.unknown))


def _of_nan(op: str, a: _Datum, b: _Datum) -> _Datum:
    """The rows that NaN adds to the answer of Arrow, to which no comparison with it is true."""
    if op == "=":
        return pc.and_(a, b)
    if op in ("<=", ">="):
        return b if op == "<=" else a
    return pc.and_(b, pc.invert(a)) if op == "<" else pc.and_(a, pc.invert(b))


def null_safe_equal(one: Found, other: Found) -> Found:
    """``one <=> other``."""
    both = pc.and_(pc.is_null(one.values), pc.is_null(other.values))
    equal = compared("=", one, other)
    return Found(pc.or_(both, pc.fill_null(equal.values, False)), equal.unknown)


def both_hold(one: Found, other: Found) -> Found:
    """``one AND other``: of a row for which one is false, the other one is not looked at."""
    looked_at = pc.invert(pc.fill_null(pc.equal(one.values, False), False))
    return Found(pc.and_kleene(one.values, other.values), _behind(one, other, looked_at))


def either_holds(one: Found, other: Found) -> Found:
    """``one OR other``."""
    looked_at = pc.invert(pc.fill_null(one.values, False))
    return Found(pc.or_kleene(one.values, other.values), _behind(one, other, looked_at))


def first_value(one: Found, other: Found) -> Found:
    """``coalesce(one, other)`` for values of one type."""
    return Found(pc.coalesce(one.values, other.values), _behind(one, other, pc.is_null(one.values)))


def _behind(one: Found, other: Found, looked_at: _Datum) -> _Datum:
    if other.unknown is None:
        return one.unknown
    return either(one.unknown, pc.and_(other.unknown, looked_at))


def opposite(one: Found) -> Found:
    """``NOT one``."""
    return Found(pc.invert(one.values), one.unknown)


def either(one: _Datum, other: _Datum) -> _Datum:
    """The rows that are unknown by one of two values."""
    if one is None or other is None:
        return other if one is None else one
    return pc.or_(one, other)
