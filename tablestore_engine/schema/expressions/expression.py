"""An expression over the columns of one table, as a tree: columns, constants, and calls of operators and functions.

Operators are calls by their symbol or keyword: ``a < b`` is ``Call("<", (a, b))``; ``<>``, NOT IN, NOT LIKE and IS NOT
NULL are the call of NOT. Functions are called by their names in upper case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from tablestore_engine.schema.types.types import AtomicType

_OPERATORS: Final = frozenset(
    (*("=", "<", "<=", ">", ">=", "<=>", "+", "-", "*", "/", "%", "DIV", "||"),
     *("AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS NULL"))
)  # fmt: skip

Value = bool | int | Decimal | float | str | date | datetime


@dataclass(frozen=True)
class ColumnValue:
    """The value of a column, under its name in the table."""

    name: str


@dataclass(frozen=True)
class Literal:
    """A constant with the type that Spark gives it; both are None for NULL."""

    value: Value | None
    type: AtomicType | None


@dataclass(frozen=True)
class Call:
    """An operator or function and its arguments."""

    name: str
    arguments: tuple[Expression, ...]


Expression = ColumnValue | Literal | Call


def calls_functions(expression: Expression) -> bool:
    """Whether it calls a function: a session may give its name to another one, which it cannot with an operator."""
    if not isinstance(expression, Call):
        return False
    return expression.name not in _OPERATORS or any(map(calls_functions, expression.arguments))


ReadExpression = Callable[[str, Sequence[str]], Expression | None]
"""Reads the SQL of an expression on some columns; None for one that has other parts than these."""
