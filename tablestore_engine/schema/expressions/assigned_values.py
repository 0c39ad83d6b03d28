"""Values of expressions as a column takes them in an assignment.

A number that the column may not hold is unknown: Spark fails at it, or does what a setting says. Where Spark would
round, or make a value of another kind, there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.expressions.common_types import (
    DOUBLE,
    FLOATS,
    MICROS,
    Found,
    Operand,
    UncertainError,
    decimal_of,
    digits_of,
)
from tablestore_engine.schema.expressions.computed_values import within
from tablestore_engine.schema.expressions.found_values import either, values_as
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import INTEGER_ROOTS, TIMESTAMP_ROOTS, AtomicType, DataType

_SAME = ("BOOLEAN", "DATE", "FLOAT", "BYTES")
_TEXTS = ("STRING", "VARCHAR")


def assigned(operand: Operand, kind: DataType) -> Callable[[pa.Table], Found]:
    """The values of an operand in the Arrow type of a column of type `kind`. Raises UncertainError."""
    target = to_arrow_type(kind)
    if operand.kind is None:
        return lambda rows: Found(pa.scalar(None, target))
    if not isinstance(kind, AtomicType):
        raise UncertainError
    before = _fitting(operand, kind)

    def of(rows: pa.Table) -> Found:
        found = before(rows)
        return Found(pc.cast(found.values, target), found.unknown)

    return of


def _fitting(operand: Operand, kind: AtomicType) -> Callable[[pa.Table], Found]:
    if kind.root in INTEGER_ROOTS:
        return _integers(operand, kind)
    if kind.root == "DECIMAL":
        return _decimals(operand, kind)
    if kind.root == "DOUBLE":
        operand.as_any(*FLOATS, *INTEGER_ROOTS)
        return values_as(operand, DOUBLE)
    if kind.root in TIMESTAMP_ROOTS:
        found = operand.as_any(kind.root)
        if not (found.precision or 0) <= (kind.precision or 0) <= MICROS:
            raise UncertainError
        return values_as(operand, found)
    return values_as(operand, operand.as_any(*_taken_as_they_are(kind.root)))


def _taken_as_they_are(root: str) -> tuple[str, ...]:
    """The kind of values that a column takes as they are. The length of a text is checked when it is written."""
    if root in _TEXTS:
        return ("STRING",)
    if root in _SAME:
        return (root,)
    raise UncertainError


def _integers(operand: Operand, kind: AtomicType) -> Callable[[pa.Table], Found]:
    before = values_as(operand, operand.as_any(*INTEGER_ROOTS))

    def of(rows: pa.Table) -> Found:
        found = before(rows)
        return within(found.values, kind, found.unknown)

    return of


def _decimals(operand: Operand, kind: AtomicType) -> Callable[[pa.Table], Found]:
    (whole, scale), (own_whole, own_scale) = digits_of(operand.as_any("DECIMAL", *INTEGER_ROOTS)), digits_of(kind)
    if scale > own_scale:
        raise UncertainError
    before = values_as(operand, decimal_of(max(whole, own_whole), own_scale))
    return before if whole <= own_whole else _below(before, Decimal(10**own_whole))


def _below(before: Callable[[pa.Table], Found], limit: Decimal) -> Callable[[pa.Table], Found]:
    """Decimals, of which those that are not nearer to zero than a limit are unknown."""

    def of(rows: pa.Table) -> Found:
        found = before(rows)
        values: Any = found.values
        beyond = pc.fill_null(pc.greater_equal(pc.abs(values), pa.scalar(limit, values.type)), False)
        nothing = pa.scalar(None, values.type)
        return Found(pc.if_else(beyond, nothing, values), either(found.unknown, beyond))

    return of
