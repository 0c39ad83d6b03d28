"""Conditions `column IN (SELECT …)` that every row of a WHERE clause fulfils."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tablestore_engine.sql.query import membership as read
from tablestore_engine.sql.query.membership import read_memberships
from tablestore_engine.sql.tokens.lexer import Token, tokenize

Owner = Callable[[tuple[str, ...]], "str | None"]


@dataclass(frozen=True)
class Membership:
    """`columns IN (query)`: the columns of the table, the text of the query, and the rest of the clause, in which the
    condition is `true`."""

    columns: tuple[str, ...]
    query_sql: str
    rest_sql: str


def memberships(condition_sql: str, owner: Owner) -> list[Membership]:
    """The conditions with a subquery that AND joins. `owner` says which column of the table a dotted name is, or
    None."""
    tokens = tokenize(condition_sql)
    found = read_memberships(tokens, 0, len(tokens) - 1, lambda name: _owned(owner, name))
    return [_membership(condition_sql, tokens, one) for one in found]


def is_true(condition_sql: str) -> bool:
    """Whether a condition is `true`, in parentheses or not, as the rest of a clause with one condition is."""
    return [token.key for token in tokenize(condition_sql)[:-1] if token.key not in ("(", ")")] == ["TRUE"]


def _membership(sql: str, tokens: list[Token], found: read.Membership[str]) -> Membership:
    (start, end), (first, last) = found.span, found.query
    query = sql[tokens[first - 1].end : tokens[last].start]
    rest = f"{sql[: tokens[start].start]}true{sql[tokens[end - 1].end :]}"
    return Membership(tuple(column for _, column in found.columns), query, rest)


def _owned(owner: Owner, name: tuple[str, ...]) -> tuple[str, str] | None:
    column = owner(name)
    return None if column is None else ("", column)
