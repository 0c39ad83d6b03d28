"""Splits a text into its statements.

Semicolons separate statements, except inside of a *script* (``BEGIN … END``), which is one statement. BEGIN before a
semicolon, before TRANSACTION or at the end begins a transaction, not a script.

Invariant: the statements are slices of the text. All commands and files are split here, by one rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tablestore_engine.sql.text.lexer import END, Token, behind, tokenize

TRANSACTION_WORDS: Final = frozenset(["BEGIN", "START", "COMMIT", "ROLLBACK", "END"])
_TRANSACTION_REST: Final = frozenset(["TRANSACTION", "WORK", "READ", "ONLY", "WRITE"])
_BLOCKS: Final = frozenset(["IF", "CASE", "WHILE", "REPEAT", "LOOP", "FOR"])  # their END is followed by the same word
_BEFORE_BLOCK: Final = frozenset([":", "BEGIN", "ATOMIC", "THEN", "ELSE", "DO", "LOOP", "REPEAT"])


def split(text: str) -> list[str]:
    """The statements of a text in order, without their semicolons. Empty statements and transaction statements are
    left out, because each statement is its own transaction."""
    tokens = tokenize(text)
    statements = []
    for start, end, first in _slices(text, tokens):
        own = [token for token in tokens if start <= token.start < end]
        if first is not None and not is_transaction(own):
            statements.append(text[start:end].strip())
    return statements


def second_statement(tokens: Sequence[Token]) -> Token | None:
    """The first token of the second statement; None when there is no second statement."""
    starts = [first for _, _, first in _slices("", tokens) if first is not None]
    return starts[1] if len(starts) > 1 else None


def is_transaction(tokens: Sequence[Token]) -> bool:
    """Whether tokens consist of BEGIN, START TRANSACTION, COMMIT or ROLLBACK only."""
    words = [token for token in tokens if token.kind != END]
    return bool(words) and words[0].key in TRANSACTION_WORDS and all(one.key in _TRANSACTION_REST for one in words[1:])


def is_script(tokens: Sequence[Token], i: int = 0) -> bool:
    """Whether a script begins at token ``i``."""
    after = tokens[i + 1] if i + 1 < len(tokens) else tokens[i]
    return tokens[i].key == "BEGIN" and after.kind != END and after.key not in (";", *_TRANSACTION_REST)


def _slices(text: str, tokens: Sequence[Token]) -> Iterator[tuple[int, int, Token | None]]:
    """Start and end of each statement in characters, and its first token."""
    start, i = 0, 0
    while i < len(tokens):
        first = tokens[i] if tokens[i].kind != END and tokens[i].key != ";" else None
        i = _behind_statement(tokens, i)
        yield start, tokens[i].start, first
        start, i = tokens[i].end, i + 1


def _behind_statement(tokens: Sequence[Token], i: int) -> int:
    """The index of the semicolon after the statement that begins at ``i``, or of the end."""
    first, defines_code = i, _defines_code(tokens, i)
    depth = 0
    handler = False
    while tokens[i].kind != END:
        key, before = tokens[i].key, tokens[i - 1].key if i > first else ""
        if key == ";":
            if not depth:
                break
            handler = False
        elif key == "HANDLER":
            handler = True
        elif key == "BEGIN" and _opens_block(tokens, i, first, before, handler or defines_code):
            depth += 1
        elif key == "END" and depth and before in (";", "BEGIN", "ATOMIC") and _next(tokens, i) not in _BLOCKS:
            depth -= 1
        i = behind(tokens, i)
    return i


def _opens_block(tokens: Sequence[Token], i: int, first: int, before: str, anywhere: bool) -> bool:
    if i == first:
        return is_script(tokens, i)
    inside = tokens[first].key == "BEGIN"
    return anywhere or (inside and before in (";", *_BEFORE_BLOCK))


def _next(tokens: Sequence[Token], i: int) -> str:
    return tokens[i + 1].key if i + 1 < len(tokens) else ""


def _defines_code(tokens: Sequence[Token], i: int) -> bool:
    keys = {token.key for token in tokens[i : i + 6]}
    return tokens[i].key == "CREATE" and not keys.isdisjoint(("PROCEDURE", "FUNCTION"))
