"""Quotients: one of integers is an integer in some warehouses, and never in Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.rules.numbers.kinds import FRACTION, MARK, NOT_KNOWN, kind_of

KINDS: Final = "number_kinds"
"""The key in a quotient's `meta` of the kinds of its two sides, as they were before any rule changed them."""
_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")


def _quotient(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Spark's exact quotient of integers where the types are known; where they are not, Spark finds them out, and the
    type of the whole is that of a fraction."""
    if not node.args.get("typed"):
        return None
    given = [node.this, node.expression]
    known = node.meta.get(KINDS) or (None, None)
    kinds = [one or kind_of(value, dialect) for one, value in zip(known, given, strict=True)]
    if FRACTION in kinds:
        return None
    unknown = [value for one, value in zip(kinds, given, strict=True) if one is None]
    if not unknown:
        return exp.IntDiv(this=node.this.copy(), expression=node.expression.copy())
    plain = exp.Div(this=node.this.copy(), expression=node.expression.copy())
    tests = [one for value in unknown for one in _tests(value, dialect)]
    made = exp.func("IF", exp.and_(*tests), exp.cast(plain.copy(), "bigint"), plain)
    made.meta[MARK] = NOT_KNOWN
    return made


def _tests(value: exp.Expr, dialect: str) -> Iterator[exp.Expr]:
    """Conditions under which a value is an integer in its dialect: FLOOR of a fraction is one only in Spark, and a
    quotient that had to be tested is never one there."""
    value = value.unnest()
    if kind_of(value, dialect) is not None:
        return
    if isinstance(value, exp.If) and value.this.find(exp.Typeof) is not None:
        yield value.this.copy()
    elif isinstance(value, (exp.Add, exp.Sub, exp.Mul, exp.Mod)):
        yield from (one for side in (value.this, value.expression) for one in _tests(side, dialect))
    elif isinstance(value, (exp.Neg, exp.Floor, exp.Ceil)):
        yield from _tests(value.this, dialect)
    else:
        kinds = [exp.Literal.string(one) for one in _INTEGERS]
        yield exp.In(this=exp.func("TYPEOF", value.copy()), expressions=kinds)


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {exp.Div: _quotient}
