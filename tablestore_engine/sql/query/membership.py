"""Conditions `column IN (query)` and `(column, column) IN (query)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic

from tablestore_engine.sql.query.predicate_reader import Owner, R, conjuncts, read_column
from tablestore_engine.sql.query_structure.query_structure import Span
from tablestore_engine.sql.tokens.lexer import Token, top_level

_BEGINS = ("SELECT", "WITH", "VALUES", "FROM", "TABLE")


@dataclass(frozen=True)
class Membership(Generic[R]):
    """The columns, each with its relation, the tokens of the query, and those of the condition (ends exclusive)."""

    columns: tuple[tuple[R, str], ...]
    query: Span
    span: Span


def read_memberships(tokens: list[Token], start: int, end: int, owner: Owner[R]) -> Iterator[Membership[R]]:
    """The conditions with a query that are true, so that tokens ``start`` to ``end`` (exclusive) are."""
    for first, last in conjuncts(tokens, start, end):
        if tokens[last - 1].key != ")":
            continue
        opens = tokens[last - 1].partner
        if opens - 1 <= first or tokens[opens - 1].key != "IN" or tokens[opens + 1].key not in _BEGINS:
            continue
        columns = _columns(tokens, first, opens - 1, owner)
        if columns:
            yield Membership(columns, (opens + 1, last - 1), (first, last))


def items_between(tokens: list[Token], start: int, end: int) -> list[Span]:
    """The items of a list that commas separate, in tokens ``start`` to ``end`` (exclusive)."""
    commas = [i for i in top_level(tokens, start, end) if tokens[i].key == ","]
    return list(zip([start, *(i + 1 for i in commas)], [*commas, end], strict=True))


def _columns(tokens: list[Token], start: int, end: int, owner: Owner[R]) -> tuple[tuple[R, str], ...]:
    """The columns of `a` or `(a, b)`; none when one is something else."""
    parts = [(start, end)]
    if tokens[start].key == "(" and tokens[start].partner == end - 1:
        parts = items_between(tokens, start + 1, end - 1)
    found = [read_column(tokens, first, last, owner) for first, last in parts]
    return tuple(one for one in found if one is not None) if None not in found else ()
