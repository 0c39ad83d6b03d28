"""Which rows may violate a condition, as a predicate by which a scan leaves out files.

A condition is *violated* where it is false; as in SQL, null is allowed. The negation is moved inwards, so that it only
remains at comparisons: ``a > 0 AND b IS NOT NULL`` is false where ``a <= 0 OR b IS NULL``.
"""

from __future__ import annotations

from tablestore_engine.schema.expressions.expression import Call, ColumnValue, Expression, Literal
from tablestore_engine.schema.table.predicate import (
    FLIPPED,
    OPPOSITES,
    Compare,
    IsNotNull,
    IsNull,
    Predicate,
    conjunction,
    disjunction,
)


def violating_rows(condition: Expression | None) -> Predicate | None:
    """A predicate that is true for every row for which a condition is false. None: that may be any row."""
    return None if condition is None else _where(condition, truth=False)


def _where(condition: Expression, *, truth: bool) -> Predicate | None:
    """A predicate that is true for every row for which a condition is true, or false. None where nothing is known."""
    if isinstance(condition, ColumnValue):
        return Compare(condition.name, "=", truth)
    if not isinstance(condition, Call):
        return None
    name, arguments = condition.name, condition.arguments
    if name == "NOT":
        return _where(arguments[0], truth=not truth)
    if name in ("AND", "OR"):
        parts = [_where(one, truth=truth) for one in arguments]
        known = [one for one in parts if one is not None]
        if (name == "AND") == truth:
            return conjunction(known)
        return disjunction(known) if len(known) == len(parts) else None
    if name == "IS NULL" and isinstance(arguments[0], ColumnValue):
        return IsNull(arguments[0].name) if truth else IsNotNull(arguments[0].name)
    if name == "BETWEEN":
        value, low, high = arguments
        return _where(Call("AND", (Call(">=", (value, low)), Call("<=", (value, high)))), truth=truth)
    return _compared(name, *arguments, truth=truth) if name in FLIPPED else None


def _compared(operator: str, left: Expression, right: Expression, *, truth: bool) -> Predicate | None:
    """The same for a comparison, which only says something of a column and a constant."""
    if isinstance(left, Literal):
        left, right, operator = right, left, FLIPPED[operator]
    if not isinstance(left, ColumnValue) or not isinstance(right, Literal) or right.value is None:
        return None
    column, value = left.name, right.value
    if truth:
        return Compare(column, operator, value)
    if operator == "=":
        return disjunction([Compare(column, "<", value), Compare(column, ">", value)])
    return Compare(column, OPPOSITES[operator], value)
