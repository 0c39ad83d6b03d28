"""Strings of bits, which are numbers here: Postgres' `('x' || hex)::bit(64)::bigint`, the usual integer of a hash."""

from __future__ import annotations

from functools import reduce
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.json_parts import call

_OF_DIGIT: Final = 4
_OF_INT: Final = 32
_OF_BIGINT: Final = 64


def refuse_bits(node: exp.Expr) -> None:
    """Raise Untranslatable for a cast to BIT(n) that is not between hexadecimal digits and an integer."""
    outer = node.parent
    while isinstance(outer, exp.Paren):
        outer = outer.parent
    if outer is None or integer_of_bits(outer) is None:
        raise Untranslatable("the type BIT(n), except in ('x' || hex)::bit(64)::bigint (write spark__conv)")


def integer_of_bits(node: exp.Expr) -> exp.Expr | None:
    """The integer of a cast of BIT(n) that is made of hexadecimal digits; None for another expression. The digits are
    cut off at the length, or filled up with zeros, and the integer is signed where it has as many bits."""
    if not isinstance(node, exp.Cast) or not node.to.is_type("int", "bigint"):
        return None
    bits = node.this.unnest()
    size = _size(bits.to) if isinstance(bits, exp.Cast) else None
    digits = _digits(bits.this.unnest()) if size is not None else None
    if size is None or digits is None:
        return None
    text = call("RPAD", digits.copy(), exp.Literal.number(size // _OF_DIGIT), exp.Literal.string("0"))
    signed = call("CONV", text, exp.Literal.number(16), exp.Neg(this=exp.Literal.number(10)))
    number = exp.cast(signed, "bigint")
    if node.to.is_type("int"):
        count = exp.Literal.number(_OF_INT)
        made = call("SHIFTRIGHT", call("SHIFTLEFT", number, count), count.copy()) if size == _OF_INT else number
        return exp.cast(made, "int")
    return number


def _size(kind: exp.Expr) -> int | None:
    given = kind.expressions[0].this if kind.is_type("bit") and kind.expressions else None
    size = int(given.name) if isinstance(given, exp.Literal) and given.is_int else 0
    return size if 0 < size <= _OF_BIGINT and not size % _OF_DIGIT else None


def _digits(text: exp.Expr) -> exp.Expr | None:
    """The hexadecimal digits behind the 'x' of a text; None for another text."""
    parts = list(text.flatten()) if isinstance(text, exp.DPipe) else list(text.expressions) or [text]
    first = parts[0]
    if not first.is_string or first.name[:1] not in ("x", "X"):
        return None
    rest = parts[1:] if len(first.name) == 1 else [exp.Literal.string(first.name[1:]), *parts[1:]]
    if not rest or (len(parts) > 1 and not isinstance(text, (exp.DPipe, exp.Concat))):
        return None
    return reduce(lambda one, other: exp.DPipe(this=one.copy(), expression=other.copy()), rest)
