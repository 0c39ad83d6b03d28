"""VALUES behind FROM: rows, or a table or column of that name, as Spark decides."""

from __future__ import annotations

from typing import Final

from tablestore_engine.sql.tokens.lexer import NUMBER, STRING, Token

AFTER_OPERAND: Final = frozenset(["AND", "OR", "IS", "IN", "LIKE", "BETWEEN", "NOT", "DIV", "RLIKE", "COLLATE"])
"""Keywords that continue an expression."""
_FIRST: Final = frozenset(["(", "-", "+", "~", "!", "?", ":"])
_NEVER_BEHIND_ALIAS: Final = frozenset([".", "+", "-", "*", "/", "%", "||", "DIV", "WHEN"])


def begins_rows(tokens: list[Token], i: int) -> bool:
    """Whether the tokens from ``i``, which follow VALUES, are its rows.

    Spark takes VALUES for a name where the rest can be read so: ``values v`` is a table with an alias, also ``values
    v(a, b)``; ``values f(1)`` and ``values date'2026-01-01'`` are rows.
    """
    token = tokens[i]
    if token.kind in (NUMBER, STRING) or token.key in _FIRST:
        return True
    if not token.is_name or token.key in AFTER_OPERAND:
        return False
    after = tokens[i + 1]
    if after.key == "(":
        return not _is_list_of_names(tokens, i + 2)
    return after.kind in (NUMBER, STRING) or after.key in _NEVER_BEHIND_ALIAS


def _is_list_of_names(tokens: list[Token], i: int) -> bool:
    """Whether names, separated by commas, and a closing parenthesis come at ``i``."""
    while tokens[i].is_name and tokens[i + 1].key == ",":
        i += 2
    return tokens[i].is_name and tokens[i + 1].key == ")"
