"""Quotients and averages: a quotient of integers is an integer in some warehouses, and never in Spark; those of DuckDB
are DOUBLEs, also of decimals, and divisions by zero are infinite there, or no number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.rules.counterparts.clauses import around
from dbt.adapters.tablestore.dialect.rules.counterparts.tried import NEVER_FAILS
from dbt.adapters.tablestore.dialect.rules.numbers.kinds import (
    BIGINT,
    DOUBLE,
    INT,
    MARK,
    NOT_KNOWN,
    has_fraction,
    kind_of,
    value_of,
)

KINDS: Final = "number_kinds"
"""The key in a quotient's `meta` of the kinds of its two sides, as they were before any rule changed them; in that of
an average, of the kind of its values."""
_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")
_AS_DOUBLES: Final = (INT, BIGINT, DOUBLE)
"""Kinds of which Spark's quotients and averages are DOUBLEs."""


def _quotient(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Spark's exact quotient of integers where the types are known; where they are not, Spark finds them out, and the
    type of the whole is that of a fraction."""
    kinds = _kinds(node, dialect)
    if dialect == "duckdb" or (dialect == "trino" and DOUBLE in kinds):
        return _of_doubles(node, kinds)
    given = [node.this, node.expression]
    if not node.args.get("typed") or has_fraction(kinds):
        return None
    unknown = [value for one, value in zip(kinds, given, strict=True) if one is None]
    if not unknown:
        return exp.IntDiv(this=node.this.copy(), expression=node.expression.copy())
    plain = exp.Div(this=node.this.copy(), expression=node.expression.copy())
    tests = [one for value in unknown for one in _tests(value, dialect)]
    made = exp.func("IF", exp.and_(*tests), exp.cast(plain.copy(), "bigint"), plain)
    made.meta[MARK] = NOT_KNOWN
    return made


def _kinds(node: exp.Expr, dialect: str) -> list[str | None]:
    """The kinds of both sides of a quotient."""
    known = node.meta.get(KINDS) or (None, None)
    sides = (node.this, node.expression)
    return [one or kind_of(value, dialect) for one, value in zip(known, sides, strict=True)]


def _of_doubles(node: exp.Expr, kinds: list[str | None]) -> exp.Expr:
    """A quotient that is a DOUBLE, or an interval. Spark's fails of a zero, and TRY_DIVIDE is null there, but a power
    is infinite, with the sign of the zero, and the product with it is what the quotient is to be."""
    left, right = _dividend(node, kinds), node.expression
    if _is_never_zero(right):
        return exp.Div(this=left, expression=right)
    tried = exp.Anonymous(this="TRY_DIVIDE", expressions=[_bare(left), _bare(right)])
    power = exp.Pow(this=_bare(right.copy()), expression=exp.Neg(this=exp.Literal.number(1)))
    made = exp.Coalesce(this=tried, expressions=[exp.Mul(this=left.copy(), expression=power)])
    for one in (made, power):
        one.meta[NEVER_FAILS] = True
    made.meta[MARK] = DOUBLE
    return made


def _dividend(node: exp.Expr, kinds: list[str | None]) -> exp.Expr:
    """The left side, of which the quotient is a DOUBLE. What may be an interval stays one: it is no DOUBLE, but has a
    product with one."""
    left: exp.Expr = node.this
    if DOUBLE in kinds or all(one in _AS_DOUBLES for one in kinds):
        return left
    return _as_double(left, kinds[0])


def _as_double(value: exp.Expr, kind: str | None) -> exp.Expr:
    if kind is None and value.find(exp.Interval, exp.Sub, exp.Anonymous) is not None:
        return exp.Mul(this=exp.paren(_bare(value)), expression=exp.Var(this="1D"))
    return exp.cast(_bare(value), "double")


def _bare(value: exp.Expr) -> exp.Expr:
    return value.unnest() if not isinstance(value.unnest(), exp.Query) else value


def _is_never_zero(value: exp.Expr) -> bool:
    value = value.unnest()
    if isinstance(value, exp.Literal):
        return not value.is_string and float(value.name) != 0
    if isinstance(value, exp.Nullif):
        other = value.expression
        return isinstance(other, exp.Literal) and not other.is_string and float(other.name) == 0
    if isinstance(value, exp.Neg):
        return _is_never_zero(value.this)
    return isinstance(value, exp.Mul) and _is_never_zero(value.this) and _is_never_zero(value.expression)


def _whole_quotient(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """DuckDB's `a // b` is the plain quotient of fractions; it fails of a zero."""
    kinds = _kinds(node, dialect)
    if dialect != "duckdb" or not has_fraction(kinds):
        return None
    return exp.paren(exp.Div(this=_dividend(node, kinds), expression=node.expression), copy=False)


def _average(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """DuckDB's average is a DOUBLE. Spark's of decimals has few digits, so that it is their exact sum by their number;
    an average of intervals is one."""
    [kind] = node.meta.get(KINDS) or [kind_of(value_of(node), dialect)]
    windowed = any(isinstance(one, exp.Window) for one in around(node)[1])
    if dialect != "duckdb" or kind in _AS_DOUBLES or (windowed and isinstance(node.this, exp.Distinct)):
        return None
    total = _as_double(exp.Sum(this=node.this.copy()), kind)
    count = exp.Nullif(this=exp.Count(this=node.this.copy()), expression=exp.Literal.number(0))
    return exp.paren(exp.Div(this=total, expression=count), copy=False)


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


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Div: _quotient,
    exp.IntDiv: _whole_quotient,
    exp.Avg: _average,
}
