"""The types in which Spark compares and computes values of two types, as far as its settings do not matter.

Vocabulary: an *operand* is an expression whose type is known. A pair of types is *uncertain* where ANSI SQL and Spark's
older rules differ, or where Spark rounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Final

import pyarrow as pa

from tablestore_engine.schema.expressions.expression import Value
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    DECIMAL_DIGITS,
    INTEGER_ROOTS,
    MOST_DIGITS,
    TIMESTAMP_ROOTS,
    AtomicType,
    DataType,
)

BOOLEAN: Final = AtomicType("BOOLEAN")
STRING: Final = AtomicType("STRING")
INT: Final = AtomicType("INT")
BIGINT: Final = AtomicType("BIGINT")
DOUBLE: Final = AtomicType("DOUBLE")
FLOATS: Final = ("FLOAT", "DOUBLE")

_EXACT_FLOATS: Final = 2**24  # up to which all integers are values of FLOAT
MICROS: Final = 6
_TEXTS: Final = ("VARCHAR", "STRING")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class UncertainError(Exception):
    """An expression whose value only Spark knows. It does not leave this room."""


@dataclass(frozen=True)
class Found:
    """The values of an expression for some rows. `unknown` is true for rows whose value only Spark knows, or fails
    at; None where there are none."""

    values: pa.Array | pa.Scalar
    unknown: pa.Array | pa.Scalar | None = None


@dataclass(frozen=True)
class Operand:
    """An expression: its type, which is None for NULL, and its values for rows. `constant` is its value if it is a
    literal."""

    kind: DataType | None
    of: Callable[[pa.Table], Found]
    constant: Value | None = None

    @property
    def atomic(self) -> AtomicType:
        """The type of a value that Spark compares as it is. Raises UncertainError for other types, and for NULL."""
        kind = self.kind
        if not isinstance(kind, AtomicType) or kind.root in ("CHAR", "TIME", "VARIANT"):
            raise UncertainError
        if kind.root in TIMESTAMP_ROOTS and (kind.precision or 0) > MICROS:
            raise UncertainError
        if kind.root in _TEXTS:
            return STRING
        if kind.root in BINARY_ROOTS:
            return AtomicType("BYTES")
        return kind.as_nullable(True)

    def as_any(self, *roots: str) -> AtomicType:
        """The type, if it is one of these roots. Raises UncertainError for others."""
        kind = self.atomic
        if kind.root not in roots:
            raise UncertainError
        return kind


def compared_as(operands: Iterable[Operand]) -> AtomicType | None:
    """The type in which values are compared; None when all of them are NULL. Raises UncertainError."""
    known = [one for one in operands if one.kind is not None]
    return reduce(_common, known[1:], known[0]).atomic if known else None


def _common(one: Operand, other: Operand) -> Operand:
    """An operand without values, of the type in which two are compared."""
    first, second = one.atomic, other.atomic
    if {first.root, second.root} == {"DATE", "STRING"}:
        text = one if first.root == "STRING" else other
        if not isinstance(text.constant, str) or _DAY.fullmatch(text.constant) is None:
            raise UncertainError
        return _typed(AtomicType("DATE"))
    if {first.root, second.root} == {"DATE", "TIMESTAMP"}:
        return _typed(AtomicType("TIMESTAMP"))
    if "FLOAT" in (first.root, second.root) and first.root != second.root:
        number = other if first.root == "FLOAT" else one
        _check_exact_float(number)
        return _typed(DOUBLE)
    if first.root in TIMESTAMP_ROOTS and first.root == second.root:
        return _typed(AtomicType(first.root, precision=MICROS))
    numeric = _numeric(first, second)
    if numeric is not None:
        return _typed(numeric)
    if first.root != second.root:
        raise UncertainError
    return _typed(first)


def _typed(kind: AtomicType) -> Operand:
    return Operand(kind, _no_values)


def _no_values(_: pa.Table) -> Found:
    raise AssertionError("an operand without values")


def _check_exact_float(number: Operand) -> None:
    """Raise UncertainError for numbers that Spark may compare as FLOAT, and that are none."""
    root = number.atomic.root
    if root in ("DOUBLE", "DECIMAL", "TINYINT", "SMALLINT"):
        return
    if not (root in INTEGER_ROOTS and isinstance(number.constant, int) and abs(number.constant) <= _EXACT_FLOATS):
        raise UncertainError


def _numeric(first: AtomicType, second: AtomicType) -> AtomicType | None:
    """The type that holds both numbers; None when one is no number. Raises UncertainError for decimals that Spark
    would round."""
    roots = (first.root, second.root)
    if not all(root in (*INTEGER_ROOTS, *FLOATS, "DECIMAL") for root in roots):
        return None
    if "DOUBLE" in roots:
        return DOUBLE
    if first.root == second.root == "FLOAT":
        return first
    if all(root in INTEGER_ROOTS for root in roots):
        return first if INTEGER_ROOTS.index(first.root) >= INTEGER_ROOTS.index(second.root) else second
    if "FLOAT" in roots:
        raise UncertainError
    (whole, scale), (other_whole, other_scale) = digits_of(first), digits_of(second)
    return decimal_of(max(whole, other_whole), max(scale, other_scale))


def digits_of(kind: AtomicType) -> tuple[int, int]:
    """The digits before and behind the point of a decimal, or of the one that Spark takes for an integer."""
    if kind.root == "DECIMAL":
        scale = kind.scale or 0
        return (kind.precision or 0) - scale, scale
    return DECIMAL_DIGITS[kind.root], 0


def decimal_of(whole: int, scale: int) -> AtomicType:
    """A decimal. Raises UncertainError for one of too many digits, which Spark makes smaller."""
    if whole + scale > MOST_DIGITS:
        raise UncertainError
    return AtomicType("DECIMAL", precision=max(whole + scale, 1), scale=scale)


def computed_as(one: Operand, other: Operand) -> AtomicType:
    """The type in which two numbers are added or multiplied: an integer, FLOAT, DOUBLE or, for all decimals, DECIMAL.
    Raises UncertainError."""
    first, second = one.atomic, other.atomic
    roots = {first.root, second.root}
    if "FLOAT" in roots and not roots & {"DOUBLE", "DECIMAL"} and roots != {"FLOAT"}:
        raise UncertainError
    if "FLOAT" in roots and "DECIMAL" in roots:
        return DOUBLE
    found = _numeric(first, second)
    if found is None:
        raise UncertainError
    return found
