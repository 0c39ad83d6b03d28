"""Queries that return no rows: a program that sends one asks for its columns."""

from __future__ import annotations

from tablestore_engine.sql.tokens.lexer import Token, tokenize, top_level

_COMBINES = frozenset(["UNION", "EXCEPT", "MINUS", "INTERSECT", "|>"])
_NEVER = (["FALSE"], ["1", "=", "0"], ["0", "=", "1"])


def returns_nothing(query_sql: str) -> bool:
    """Whether a query is `SELECT * … WHERE false` or `WHERE 1 = 0`, or ends in `LIMIT 0`, so that it certainly returns
    no row. An aggregate of no rows is one."""
    tokens = tokenize(query_sql)[:-1]
    if [token.text.upper() for token in tokens[-2:]] == ["LIMIT", "0"]:
        return True
    outer = [tokens[i] for i in top_level(tokens, 0, len(tokens))]
    keys = [token.key for token in outer]
    if "WHERE" not in keys or not _COMBINES.isdisjoint(keys) or not _selects_all(keys):
        return False
    return _is_never(outer[len(keys) - keys[::-1].index("WHERE") :])


def _selects_all(keys: list[str]) -> bool:
    begin = keys.index("SELECT") if "SELECT" in keys else len(keys)
    return keys[begin + 1 : begin + 3] == ["*", "FROM"]


def _is_never(tokens: list[Token]) -> bool:
    """Whether a condition is never true; LIMIT may follow it."""
    words = [token.text.upper() for token in tokens]
    return any(words[: len(one)] == one and words[len(one) : len(one) + 1] in ([], ["LIMIT"]) for one in _NEVER)
