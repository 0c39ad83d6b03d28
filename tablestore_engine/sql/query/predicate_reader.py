"""Reads a condition as predicates on single relations: ``a.x > 5 AND b.y = a.x AND …`` → a: x > 5.

``read_condition`` returns *necessary* conditions only: a part that it does not understand counts as true. So does
``read_equalities``, which returns equalities between columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from decimal import Decimal
from typing import Final, Generic, TypeVar

from tablestore_engine.errors import TableStoreError
from tablestore_engine.schema.table.predicate import (
    COMPARISONS,
    FLIPPED,
    And,
    Compare,
    Constant,
    In,
    IsNotNull,
    IsNull,
    OfCast,
    Or,
    Predicate,
    conjunction,
    digits_of,
    disjunction,
)
from tablestore_engine.schema.types.types import MOST_DIGITS, DataType
from tablestore_engine.sql.tokens.constants import constant_at
from tablestore_engine.sql.tokens.lexer import QUOTED, WORD, Token, top_level
from tablestore_engine.sql.types.types import parse_sql_type

R = TypeVar("R", bound=Hashable)
Owner = Callable[[tuple[str, ...]], "tuple[R, str] | None"]
Facts = dict[R, list[Predicate]]

_BRACKETS: Final = frozenset(["(", ")", "[", "]", "CASE", "END"])
NOT_COLUMNS: Final = frozenset(
    [
        "NULL",
        "TRUE",
        "FALSE",
        "CURRENT_DATE",
        "CURRENT_TIMESTAMP",
        "CURRENT_TIME",
        "CURRENT_USER",
        "USER",
        "SESSION_USER",
        "LOCALTIMESTAMP",
        "NOT",
        "CASE",
        "EXISTS",
        "INTERVAL",
        "DATE",
        "TIMESTAMP",
        "DEFAULT",
    ]
)


def read_condition(tokens: list[Token], start: int, end: int, owner: Owner[R]) -> Facts[R]:
    """The facts that hold for every row on which tokens ``start`` to ``end`` (exclusive) are true.

    ``owner`` resolves a dotted name to a relation and the column's name in it, or None.
    """
    return ConditionReader(tokens, owner).condition(start, end)


def read_equalities(
    tokens: list[Token], start: int, end: int, owner: Owner[R]
) -> list[tuple[tuple[R, str], tuple[R, str]]]:
    """Pairs of columns that are equal, and not null, in every row on which tokens ``start`` to ``end`` (exclusive) are
    true."""
    return ConditionReader(tokens, owner).equalities(start, end)


def read_column(tokens: list[Token], start: int, end: int, owner: Owner[R]) -> tuple[R, str] | None:
    """The column that tokens ``start`` to ``end`` (exclusive) are; None for any other expression."""
    found = ConditionReader(tokens, owner).column(start)
    return found[0] if found is not None and found[1] == end else None


def conjuncts(tokens: list[Token], start: int, end: int) -> list[tuple[int, int]]:
    """The conditions that AND joins in tokens ``start`` to ``end`` (exclusive): where each begins, and its end."""
    nobody: Owner[str] = lambda parts: None  # noqa: E731
    return ConditionReader(tokens, nobody).conjuncts(start, end)


def _have_exact_type(constants: list[Constant]) -> bool:
    """Whether the type of a list holds all digits of its numbers: Spark rounds them otherwise."""
    digits = [digits_of(one) for one in constants if isinstance(one, (int, Decimal)) and not isinstance(one, bool)]
    before, after = (max((one[i] for one in digits), default=0) for i in (0, 1))
    return before + after <= MOST_DIGITS


def translate(predicate: Predicate, owner: Callable[[str], tuple[R, str] | None]) -> Facts[R]:
    """A predicate on the output of a query as facts about the relations of the query."""
    if isinstance(predicate, And):
        return _all([translate(child, owner) for child in predicate.children])
    if isinstance(predicate, Or):
        return _any([translate(child, owner) for child in predicate.children])
    found = owner(predicate.column)
    if found is None:
        return {}
    relation, column = found
    if isinstance(predicate, OfCast):
        return {relation: [replace(predicate, inner=replace(predicate.inner, column=column))]}
    return {relation: [replace(predicate, column=column)]}


def _all(parts: list[Facts[R]]) -> Facts[R]:
    facts: Facts[R] = {}
    for part in parts:
        for relation, predicates in part.items():
            facts.setdefault(relation, []).extend(predicates)
    return facts


def _any(parts: list[Facts[R]]) -> Facts[R]:
    """The facts of an OR: a relation has one only if every branch has a fact about it."""
    facts: Facts[R] = {}
    for relation in parts[0]:
        branches = [conjunction(part[relation]) for part in parts if relation in part]
        known = [branch for branch in branches if branch is not None]
        joined = disjunction(known) if len(known) == len(parts) else None
        if joined is not None:
            facts[relation] = [joined]
    return facts


def _of_cast(predicate: Predicate, kind: DataType | None) -> Predicate:
    """A predicate on a cast of its column to a type; on the column itself for None."""
    if isinstance(predicate, (And, Or)):
        return type(predicate)(tuple(_of_cast(child, kind) for child in predicate.children))
    return predicate if kind is None or isinstance(predicate, OfCast) else OfCast(predicate, kind)


def _type_in(tokens: list[Token]) -> DataType | None:
    """The type that tokens are, if tables have it."""
    try:
        return parse_sql_type(" ".join(token.text for token in tokens))
    except TableStoreError:
        return None


class ConditionReader(Generic[R]):
    """Reads a boolean expression from tokens, top down: OR, AND, then one comparison."""

    def __init__(self, tokens: list[Token], owner: Owner[R]) -> None:
        self.tokens = tokens
        self.owner = owner

    def condition(self, start: int, end: int) -> Facts[R]:
        """See `read_condition`."""
        branches = self.split(start, end, "OR")
        if not branches:
            return {}
        if len(branches) > 1:
            return _any([self.condition(*branch) for branch in branches])
        terms = self.split(start, end, "AND")
        if len(terms) > 1:
            return _all([self.condition(*term) for term in terms])
        if self.in_parentheses(start, end):
            return self.condition(start + 1, end - 1)
        fact = self.comparison(start, end)
        return {} if fact is None else {fact[0]: [fact[1]]}

    def equalities(self, start: int, end: int) -> list[tuple[tuple[R, str], tuple[R, str]]]:
        """See `read_equalities`."""
        if len(self.split(start, end, "OR")) != 1:
            return []
        terms = self.split(start, end, "AND")
        if len(terms) > 1:
            return [pair for term in terms for pair in self.equalities(*term)]
        if self.in_parentheses(start, end):
            return self.equalities(start + 1, end - 1)
        left = self.column(start)
        if left is None or self.tokens[left[1]].key not in ("=", "=="):
            return []
        right = self.column(left[1] + 1)
        return [(left[0], right[0])] if right is not None and right[1] == end else []

    def conjuncts(self, start: int, end: int) -> list[tuple[int, int]]:
        """See the function `conjuncts`."""
        if len(self.split(start, end, "OR")) != 1:
            return [(start, end)]
        terms = self.split(start, end, "AND")
        if len(terms) > 1:
            return [one for term in terms for one in self.conjuncts(*term)]
        return self.conjuncts(start + 1, end - 1) if self.in_parentheses(start, end) else [(start, end)]

    def split(self, start: int, end: int, operator: str) -> list[tuple[int, int]]:
        """The operands of ``operator`` at this level: one operand when the operator does not occur; none when the
        parentheses do not match (a column may be called ``end``), or with a variable of Spark's, which may be any text:
        ``${condition}``."""
        parts, first, between = [], start, 0
        for i in top_level(self.tokens, start, end):
            token = self.tokens[i]
            if self.tokens[i - 1].key == ".":
                continue
            if (token.key in _BRACKETS and not i < token.partner < end) or token.key == "$":
                return []
            if token.key == "BETWEEN":
                between += 1
            elif token.key == "AND" and between:
                between -= 1
            elif token.key == operator:
                parts.append((first, i))
                first = i + 1
        parts.append((first, end))
        return parts

    def in_parentheses(self, start: int, end: int) -> bool:
        """Whether the tokens are one group in parentheses."""
        return end - start > 2 and self.tokens[start].key == "(" and self.tokens[start].partner == end - 1

    def comparison(self, start: int, end: int) -> tuple[R, Predicate] | None:
        """The predicate of one comparison of a column with constants, in either order."""
        if end - start < 3:
            return None
        operand = self.operand(start)
        if operand is None:
            return self._constant_first(start, end)
        (relation, name), kind, i = operand
        predicate = self.predicate(name, i, end)
        return None if predicate is None else (relation, _of_cast(predicate, kind))

    def _constant_first(self, start: int, end: int) -> tuple[R, Predicate] | None:
        """``5 < a``."""
        found = constant_at(self.tokens, start)
        if found is None:
            return None
        value, i = found
        op = self._operator(i)
        operand = self.operand(i + 1) if op in FLIPPED else None
        if op is None or operand is None or operand[2] != end:
            return None
        (relation, name), kind, _ = operand
        return relation, _of_cast(Compare(name, FLIPPED[op], value), kind)

    def predicate(self, name: str, i: int, end: int) -> Predicate | None:
        """The predicate after a column; it must consist of all tokens up to ``end``."""
        tokens = self.tokens
        key = tokens[i].key
        if key == "IS":
            if tokens[i + 1].key == "NULL" and i + 2 == end:
                return IsNull(name)
            if tokens[i + 1].key == "NOT" and tokens[i + 2].key == "NULL" and i + 3 == end:
                return IsNotNull(name)
            return None
        if key == "BETWEEN":
            low = constant_at(tokens, i + 1)
            if low is None or tokens[low[1]].key != "AND":
                return None
            high = constant_at(tokens, low[1] + 1)
            if high is None or high[1] != end:
                return None
            return And((Compare(name, ">=", low[0]), Compare(name, "<=", high[0])))
        if key == "IN" and tokens[i + 1].key == "(":
            return self._in_list(name, i + 2, end)
        op = self._operator(i)
        if op is None:
            return None
        if tokens[i + 1].key == "NULL" and key == "<=>" and i + 2 == end:
            return IsNull(name)
        found = constant_at(tokens, i + 1)
        return Compare(name, op, found[0]) if found is not None and found[1] == end else None

    def _in_list(self, name: str, i: int, end: int) -> Predicate | None:
        values: list[Constant] = []
        while True:
            if self.tokens[i].key == "NULL":
                i += 1
            else:
                found = constant_at(self.tokens, i)
                if found is None:
                    return None
                values.append(found[0])
                i = found[1]
            if self.tokens[i].key != ",":
                break
            i += 1
        if self.tokens[i].key != ")" or i + 1 != end or not values or not _have_exact_type(values):
            return None
        return In(name, tuple(values))

    def _operator(self, i: int) -> str | None:
        key = self.tokens[i].key
        if key in ("==", "<=>"):
            return "="
        return key if key in COMPARISONS else None

    def operand(self, i: int) -> tuple[tuple[R, str], DataType | None, int] | None:
        """A column at ``i``, or a cast of one: its relation and name, the type of the cast, and the index after it."""
        tokens = self.tokens
        if tokens[i].key in ("CAST", "TRY_CAST") and tokens[i + 1].key == "(":
            cast, end = self.column(i + 2), tokens[i + 1].partner
            if cast is None or tokens[cast[1]].key != "AS":
                return None
            kind = _type_in(tokens[cast[1] + 1 : end])
            return None if kind is None else (cast[0], kind, end + 1)
        found = self.column(i)
        if found is None or tokens[found[1]].key != "::":
            return None if found is None else (found[0], None, found[1])
        end = found[1] + 2
        end = tokens[end].partner + 1 if tokens[end].key == "(" else end
        kind = _type_in(tokens[found[1] + 1 : end])
        return None if kind is None else (found[0], kind, end)

    def column(self, i: int) -> tuple[tuple[R, str], int] | None:
        """A column name at ``i``: its relation and name, and the index after it."""
        tokens = self.tokens
        if tokens[i].kind != QUOTED and (tokens[i].kind != WORD or tokens[i].key in NOT_COLUMNS):
            return None
        parts = [tokens[i].name]
        i += 1
        while tokens[i].key == "." and tokens[i + 1].is_name:
            parts.append(tokens[i + 1].name)
            i += 2
        owned = self.owner(tuple(parts))
        return None if owned is None else (owned, i)
