"""Arithmetic and functions of values, as Spark's: a row at which Spark fails, or may, is unknown.

Arrow has no answer for it, and under AND and OR Spark may never look at it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.expressions.common_types import (
    BIGINT,
    DOUBLE,
    INT,
    STRING,
    Found,
    Operand,
    UncertainError,
    computed_as,
    decimal_of,
    digits_of,
)
from tablestore_engine.schema.expressions.found_values import either, values_as
from tablestore_engine.schema.types.types import INTEGER_ROOTS, AtomicType

_BITS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_NUMBERS: Final = (*INTEGER_ROOTS, "FLOAT", "DOUBLE", "DECIMAL")
_CHECKED: Final[dict[str, Callable[..., Any]]] = {
    "+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked,
}  # fmt: skip
_PLAIN: Final[dict[str, Callable[..., Any]]] = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}
_NOTHING: Final = pa.scalar(None, pa.int64())
_ALL_UNKNOWN: Final = Found(_NOTHING, pa.scalar(True))
_BLANK: Final = " "
_TRIMMED: Final[dict[str, Callable[..., Any]]] = {
    "TRIM": pc.utf8_trim, "LTRIM": pc.utf8_ltrim, "RTRIM": pc.utf8_rtrim,
}  # fmt: skip


def arithmetic(op: str, one: Operand, other: Operand) -> Operand:
    """``one op other`` for ``+``, ``-`` and ``*``."""
    kind = computed_as(one, other)
    if kind.root == "DECIMAL":
        return _of_decimals(op, one, other)
    a, b = values_as(one, kind), values_as(other, kind)

    def of(rows: pa.Table) -> Found:
        return _calculated(op, a(rows), b(rows), kind)

    return Operand(kind, of)


def _calculated(op: str, one: Found, other: Found, kind: AtomicType) -> Found:
    unknown = either(one.unknown, other.unknown)
    if kind.root not in INTEGER_ROOTS:
        return Found(_PLAIN[op](one.values, other.values), unknown)
    try:
        values = _CHECKED[op](one.values, other.values)
    except pa.ArrowInvalid:  # an overflow in some row
        return _ALL_UNKNOWN
    return within(values, kind, unknown)


def within(values: Any, kind: AtomicType, unknown: Any) -> Found:
    """Integers, of which those that the type does not hold are unknown."""
    if kind.root == "BIGINT":
        return Found(values, unknown)
    limit = 1 << (_BITS[kind.root] - 1)
    beyond = pc.fill_null(pc.or_(pc.less(values, -limit), pc.greater(values, limit - 1)), False)
    return Found(pc.if_else(beyond, _NOTHING, values), either(unknown, beyond))


def _of_decimals(op: str, one: Operand, other: Operand) -> Operand:
    """Spark's types: it cuts digits of larger ones."""
    (whole, scale), (other_whole, other_scale) = digits_of(one.atomic), digits_of(other.atomic)
    if op == "*":
        kind = decimal_of(whole + other_whole + 1, scale + other_scale)
    else:
        kind = decimal_of(max(whole, other_whole) + 1, max(scale, other_scale))
    a = values_as(one, decimal_of(whole, scale))
    b = values_as(other, decimal_of(other_whole, other_scale))

    def of(rows: pa.Table) -> Found:
        first, second = a(rows), b(rows)
        return Found(_PLAIN[op](first.values, second.values), either(first.unknown, second.unknown))

    return Operand(kind, of)


def divided(one: Operand, other: Operand) -> Operand:
    """``one / other`` for numbers that Spark divides as DOUBLE."""
    kinds = {one.as_any(*_NUMBERS).root, other.as_any(*_NUMBERS).root}
    if "DECIMAL" in kinds and not kinds & {"FLOAT", "DOUBLE"}:
        raise UncertainError
    a, b = values_as(one, DOUBLE), values_as(other, DOUBLE)

    def of(rows: pa.Table) -> Found:
        first, (divisor, unknown) = a(rows), _divisor(b(rows))
        return Found(pc.divide(first.values, divisor), either(first.unknown, unknown))

    return Operand(DOUBLE, of)


def _divisor(found: Found) -> tuple[Any, Any]:
    """Numbers to divide by, null instead of zero, and which rows are unknown."""
    zero = pc.fill_null(pc.equal(found.values, pa.scalar(0, found.values.type)), False)
    nothing = pa.scalar(None, found.values.type)
    return pc.if_else(zero, nothing, found.values), either(found.unknown, zero)


def whole_quotient(one: Operand, other: Operand) -> Operand:
    """``one DIV other`` for integers."""
    a, b = _integers(one), _integers(other)

    def of(rows: pa.Table) -> Found:
        first, (divisor, unknown) = a(rows), _divisor(b(rows))
        try:
            values = pc.divide_checked(first.values, divisor)
        except pa.ArrowInvalid:  # the least BIGINT by -1
            return _ALL_UNKNOWN
        return Found(values, either(first.unknown, unknown))

    return Operand(BIGINT, of)


def remainder(one: Operand, other: Operand) -> Operand:
    """``one % other`` for integers: it has the sign of the first one."""
    kind = computed_as(one, other)
    a, b = _integers(one), _integers(other)

    def of(rows: pa.Table) -> Found:
        first, (divisor, unknown) = a(rows), _divisor(b(rows))
        # By 1 instead of -1, which has no quotient for the least BIGINT.
        divisor = pc.if_else(pc.equal(divisor, -1), pa.scalar(1, pa.int64()), divisor)
        values = pc.subtract(first.values, pc.multiply(pc.divide(first.values, divisor), divisor))
        return Found(values, either(first.unknown, unknown))

    return Operand(kind, of)


def _integers(one: Operand) -> Callable[[pa.Table], Found]:
    one.as_any(*INTEGER_ROOTS)
    return values_as(one, BIGINT)


def negative(one: Operand) -> Operand:
    """``- one``."""
    return _signed(one, pc.negate_checked)


def absolute(one: Operand) -> Operand:
    """``abs(one)``."""
    return _signed(one, pc.abs_checked)


def _signed(one: Operand, change: Callable[..., Any]) -> Operand:
    kind = one.as_any(*_NUMBERS)
    before = values_as(one, kind)

    def of(rows: pa.Table) -> Found:
        found = before(rows)
        try:
            values = change(found.values)
        except pa.ArrowInvalid:  # of the least BIGINT
            return _ALL_UNKNOWN
        return within(values, kind, found.unknown) if kind.root in INTEGER_ROOTS else Found(values, found.unknown)

    return Operand(kind, of)


def length(one: Operand) -> Operand:
    """The number of characters of a text."""
    return _of_text(one, INT, lambda texts: pc.cast(pc.utf8_length(texts), pa.int64()))


def trimmed(function: str, one: Operand) -> Operand:
    """A text without blanks at its ends, by the function of this name."""
    change = _TRIMMED[function]
    return _of_text(one, STRING, lambda texts: change(texts, characters=_BLANK))


def _of_text(one: Operand, kind: AtomicType, change: Callable[[Any], Any]) -> Operand:
    one.as_any("STRING")
    before = values_as(one, STRING)

    def of(rows: pa.Table) -> Found:
        found = before(rows)
        return Found(change(found.values), found.unknown)

    return Operand(kind, of)


def in_case(one: Operand, *, upper: bool) -> Operand:
    """A text in upper or lower case. Beyond ASCII, languages have rules."""
    one.as_any("STRING")
    before, change = values_as(one, STRING), pc.ascii_upper if upper else pc.ascii_lower

    def of(rows: pa.Table) -> Found:
        found = before(rows)
        beyond = pc.fill_null(pc.invert(pc.string_is_ascii(found.values)), False)
        return Found(change(found.values), either(found.unknown, beyond))

    return Operand(STRING, of)


def joined_texts(one: Operand, other: Operand) -> Operand:
    """``one || other``."""
    one.as_any("STRING")
    other.as_any("STRING")
    a, b = values_as(one, STRING), values_as(other, STRING)

    def of(rows: pa.Table) -> Found:
        first, second = a(rows), b(rows)
        values = pc.binary_join_element_wise(first.values, second.values, "", null_handling="emit_null")
        return Found(values, either(first.unknown, second.unknown))

    return Operand(STRING, of)


def like(one: Operand, pattern: Operand) -> Operand:
    """``one LIKE pattern`` for a constant without a backslash."""
    text = pattern.constant
    if not isinstance(text, str) or "\\" in text:
        raise UncertainError
    return _of_text(one, AtomicType("BOOLEAN"), lambda texts: pc.match_like(texts, text))
