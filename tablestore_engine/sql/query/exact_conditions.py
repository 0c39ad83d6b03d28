"""Reads a condition as a predicate that is true, false and null for the same rows: ``NOT a = 5`` → a < 5 OR a > 5.

`predicate_reader`, which this extends, leaves out what it does not understand; here such a part makes the whole
condition unreadable. Invariant: a predicate on a null is null, and AND and OR follow SQL's logic of three values.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.schema.table.predicate import (
    And,
    Compare,
    IsNotNull,
    IsNull,
    Predicate,
    conjunction,
    disjunction,
    negated,
)
from tablestore_engine.schema.types.names import Names
from tablestore_engine.sql.query.predicate_reader import ConditionReader
from tablestore_engine.sql.tokens.constants import constant_at
from tablestore_engine.sql.tokens.lexer import tokenize


def exact_predicate(condition_sql: str, columns: Sequence[str]) -> Predicate | None:
    """The predicate that is equivalent to a condition on some columns; None when it is not certain that there is one.

    Whether each constant compares with its column as in Spark is for the caller, who knows the types.
    """
    tokens = tokenize(condition_sql)
    names = Names(columns)

    def owner(parts: tuple[str, ...]) -> tuple[str, str] | None:
        found = names.find(parts[0]) if len(parts) == 1 else None
        return None if found is None else ("", found)

    try:
        return _ExactReader(tokens, owner).exact(0, len(tokens) - 1)
    except RecursionError:
        return None


class _ExactReader(ConditionReader[str]):
    def exact(self, start: int, end: int) -> Predicate | None:
        """The predicate that tokens ``start`` to ``end`` (exclusive) are; None when they may be another condition."""
        for operator, join in (("OR", disjunction), ("AND", conjunction)):
            parts = self.split(start, end, operator)
            if len(parts) != 1:
                read = [one for one in (self.exact(*part) for part in parts) if one is not None]
                return join(read) if read and len(read) == len(parts) else None
        if start < end and self.tokens[start].key in ("NOT", "!"):
            inside = self.exact(start + 1, end)
            return None if inside is None else negated(inside)
        if self.in_parentheses(start, end):
            return self.exact(start + 1, end - 1)
        column = self.column(start) if start < end else None
        if column is None:
            return self._column_last(start, end)
        (_, name), i = column
        if i >= end:
            return Compare(name, "=", True) if i == end else None
        return self._behind_column(name, i, end)

    def _column_last(self, start: int, end: int) -> Predicate | None:
        """``5 < a``; for a null, ``5 <=> a`` is another condition."""
        if any(one.key == "<=>" for one in self.tokens[start:end]):
            return None
        found = self.comparison(start, end)
        return None if found is None else found[1]

    def _behind_column(self, name: str, i: int, end: int) -> Predicate | None:
        key, after = self.tokens[i].key, self.tokens[i + 1]
        if key == "<=>" and after.key == "NULL":
            return IsNull(name) if i + 2 == end else None
        if key == "NOT" and after.key in ("IN", "BETWEEN"):
            inside = self._behind_column(name, i + 1, end)
            return None if inside is None else negated(inside)
        if key in ("<>", "!=", "<=>"):
            found = constant_at(self.tokens, i + 1)
            if found is None or found[1] != end:
                return None
            equal = Compare(name, "=", found[0])
            return And((IsNotNull(name), equal)) if key == "<=>" else negated(equal)
        # A list with a null is never false.
        nulls = key == "IN" and any(one.key == "NULL" for one in self.tokens[i:end])
        return None if nulls else self.predicate(name, i, end)
