"""Whether a keyword is a name where it stands.

Spark lets almost any keyword be the name of a column: ``select from, to from mails``. Behind an operator an
operand must follow, so a keyword there is a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tablestore_engine.sql.text.lexer import SYMBOL, Token

_SIGNS: Final = frozenset(
    [*(",", "(", "=", "<", ">", "<=", ">=", "<>", "!=", "==", "<=>", "+", "-", "/", "%"),
     *("||", "|", "&", "^", "~", "!", "->", "=>", "::")]
)  # fmt: skip
_TYPES: Final = frozenset(["ARRAY", "MAP", "STRUCT"])
_PREFIXES: Final = frozenset(["NOT", "CASE", "DISTINCT"])
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
        if key == ">" and _closes_type(tokens, i - 1):
            return False
        return key in _SIGNS or (key == "*" and further != "." and _ends_operand(tokens, i - 2))
    if further == ".":
        return False
    if key == "SELECT":
        return further == "(" or (further not in _SIGNS and further != "SELECT")
    if key == "ALL":
        return further == "SELECT"
    return key in _PREFIXES or (key in _WORDS and not needs_operand(tokens, i - 1))


def _closes_type(tokens: Sequence[Token], i: int) -> bool:
    """Whether the angle at ``i`` is the end of ``ARRAY<…>``, ``MAP<…>`` or ``STRUCT<…>``."""
    depth = 0
    for at in range(i, 0, -1):
        key = tokens[at].key
        depth += 1 if key == ">" else -1 if key == "<" else -2 if key == "<>" and at < i else 0
        if depth <= 0:
            return tokens[at - 1].key in _TYPES
    return False


def _ends_operand(tokens: Sequence[Token], i: int) -> bool:
    """Whether an operand ends with token ``i``, so that a star behind it multiplies."""
    return i >= 0 and not needs_operand(tokens, i + 1)
