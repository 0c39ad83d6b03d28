"""Decides whether a keyword at a position is a name.

Spark allows almost any keyword as a column name: ``select from, to from mails``. An operator must be followed by an
operand, so a keyword after an operator is a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tablestore_engine.sql.tokens.lexer import SYMBOL, Token

# Without ">", which may close a type: ``x::ARRAY<INT> FROM t``.
_SIGNS: Final = frozenset(
    [*(",", "(", "=", "<", "<=", ">=", "<>", "!=", "==", "<=>", "+", "-", "/", "%"),
     *("||", "|", "&", "^", "~", "!", "->", "=>", "::")]
)  # fmt: skip
_PREFIXES: Final = frozenset(["NOT", "DISTINCT"])
_WORDS: Final = frozenset(
    [*("AND", "OR", "WHERE", "ON", "HAVING", "BY", "WHEN", "THEN", "ELSE"),
     *("BETWEEN", "IN", "LIKE", "RLIKE", "ILIKE", "IS", "AS", "DIV")]
)  # fmt: skip


def needs_operand(tokens: Sequence[Token], i: int) -> bool:
    """Whether the token before ``i`` is an operator, or a keyword, that lacks its right operand."""
    if i < 1:
        return False
    before, key = tokens[i - 1], tokens[i - 1].key
    further = tokens[i - 2].key if i > 1 else ""
    if before.kind == SYMBOL:
        return key in _SIGNS or (key == "*" and further != "." and _ends_operand(tokens, i - 2))
    if further == ".":
        return False
    if key == "SELECT":
        return further == "(" or (further not in _SIGNS and further != "SELECT")
    if key == "ALL":
        return further == "SELECT"
    if key == "CASE":  # without its END it is a name
        return before.partner >= i and tokens[i].key != "WHEN"
    return key in _PREFIXES or (key in _WORDS and not needs_operand(tokens, i - 1))


def _ends_operand(tokens: Sequence[Token], i: int) -> bool:
    """Whether an operand ends with token ``i``, so that a star after it multiplies."""
    return i >= 0 and not needs_operand(tokens, i + 1)
