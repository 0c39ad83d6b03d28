"""Conditions `column IN (SELECT …)` that every row of a WHERE clause fulfils."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tablestore_engine.sql.query.predicate_reader import conjuncts, read_column
from tablestore_engine.sql.tokens.lexer import Token, tokenize, top_level

Owner = Callable[[tuple[str, ...]], "str | None"]
_BEGINS = ("SELECT", "WITH", "VALUES", "FROM", "TABLE")


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
    found = (
        _membership(condition_sql, tokens, start, end, owner) for start, end in conjuncts(tokens, 0, len(tokens) - 1)
    )
    return [one for one in found if one is not None]


def is_true(condition_sql: str) -> bool:
    """Whether a condition is `true`, in parentheses or not, as the rest of a clause with one condition is."""
    return [token.key for token in tokenize(condition_sql)[:-1] if token.key not in ("(", ")")] == ["TRUE"]


def _membership(sql: str, tokens: list[Token], start: int, end: int, owner: Owner) -> Membership | None:
    if tokens[end - 1].key != ")":
        return None
    opens = tokens[end - 1].partner
    if opens - 1 <= start or tokens[opens - 1].key != "IN" or tokens[opens + 1].key not in _BEGINS:
        return None
    columns = _columns(tokens, start, opens - 1, owner)
    if not columns:
        return None
    query = sql[tokens[opens].end : tokens[end - 1].start]
    return Membership(columns, query, f"{sql[: tokens[start].start]}true{sql[tokens[end - 1].end :]}")


def _columns(tokens: list[Token], start: int, end: int, owner: Owner) -> tuple[str, ...]:
    """The columns of `a` or `(a, b)`; none when one is something else."""
    parts = [(start, end)]
    if tokens[start].key == "(" and tokens[start].partner == end - 1:
        commas = [i for i in top_level(tokens, start + 1, end - 1) if tokens[i].key == ","]
        parts = list(zip([start + 1, *(i + 1 for i in commas)], [*commas, end - 1], strict=True))
    found = [read_column(tokens, first, last, lambda name: _owned(owner, name)) for first, last in parts]
    return tuple(one[1] for one in found if one is not None) if None not in found else ()


def _owned(owner: Owner, name: tuple[str, ...]) -> tuple[str, str] | None:
    column = owner(name)
    return None if column is None else ("", column)
