"""Splitting a text into statements.

Semicolons separate statements, except inside a *script* (``BEGIN … END``), which is one statement. BEGIN starts a
transaction, not a script, if a semicolon, TRANSACTION or the end of the text follows.

Invariant: the statements are slices of the text. All commands and files are split by this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tablestore_engine.sql.tokens.lexer import END, Token, behind, tokenize, top_level

TRANSACTION_WORDS: Final = frozenset(["BEGIN", "START", "COMMIT", "ROLLBACK", "END"])
_TRANSACTION_REST: Final = frozenset(["TRANSACTION", "WORK", "READ", "ONLY", "WRITE"])
_BLOCKS: Final = frozenset(["IF", "CASE", "WHILE", "REPEAT", "LOOP", "FOR"])  # their END is followed by the word
_BEFORE_NAME_OF_CODE: Final = frozenset(["FUNCTION", "PROCEDURE", "EXISTS", "."])
_BEFORE_BLOCK: Final = frozenset([":", "BEGIN", "ATOMIC", "THEN", "ELSE", "DO", "LOOP", "REPEAT"])


def split(text: str) -> list[str]:
    """The statements of a text in order, without their semicolons. Empty ones are left out, and BEGIN, COMMIT and
    the like, because each statement is its own transaction."""
    tokens = tokenize(text)
    statements = []
    for start, end, first in _slices(tokens):
        own = [token for token in tokens if start <= token.start < end]
        if first is not None and not is_transaction(own):
            statements.append(text[start:end].strip())
    return statements


def second_statement(tokens: Sequence[Token]) -> Token | None:
    """The first token of the second statement; None if there is only one statement."""
    starts = [first for _, _, first in _slices(tokens) if first is not None]
    return starts[1] if len(starts) > 1 else None


def is_transaction(tokens: Sequence[Token]) -> bool:
    """Whether the tokens are only BEGIN, START TRANSACTION, COMMIT or ROLLBACK."""
    words = [token for token in tokens if token.kind != END]
    return bool(words) and words[0].key in TRANSACTION_WORDS and all(one.key in _TRANSACTION_REST for one in words[1:])


def is_script(tokens: Sequence[Token], i: int = 0) -> bool:
    """Whether a script begins at token ``i``."""
    after = tokens[i + 1] if i + 1 < len(tokens) else tokens[i]
    return tokens[i].key == "BEGIN" and after.kind != END and after.key not in (";", *_TRANSACTION_REST)


def _slices(tokens: Sequence[Token]) -> Iterator[tuple[int, int, Token | None]]:
    """Start and end of each statement in characters, and its first token."""
    tokens = _with_blocks(tokens)
    start, first = 0, None
    for i in top_level(tokens, 0, len(tokens)):
        token = tokens[i]
        if token.kind == END or token.key == ";":
            yield start, token.start, first
            start, first = token.end, None
        else:
            first = first or token


def _with_blocks(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens, in which BEGIN and END of a block are partners, as parentheses are.

    The last token of the text is the partner of a BEGIN without END.
    """
    if not any(token.key == "BEGIN" for token in tokens):
        return tokens
    paired, last = list(tokens), len(tokens) - 2
    opened: list[int] = []
    first, body = 0, _body_of_code(tokens, 0)
    for i in top_level(tokens, 0, len(tokens) - 1):
        key, before = tokens[i].key, tokens[i - 1].key if i > first else ""
        if key == ";" and not opened:
            first, body = i + 1, _body_of_code(tokens, i + 1)
        elif key == "HANDLER" and opened:
            body = _body_of_handler(tokens, i)
        elif key == "BEGIN" and (i == body or _opens_block(tokens, i, first, before, inside=bool(opened))):
            opened.append(i)
        elif key == "END" and opened and before in (";", "BEGIN", "ATOMIC") and _next(tokens, i) not in _BLOCKS:
            begin = opened.pop()
            paired[begin] = paired[begin]._replace(partner=i)
    for begin in opened:
        paired[begin] = paired[begin]._replace(partner=last)
    return paired


def _opens_block(tokens: Sequence[Token], i: int, first: int, before: str, *, inside: bool) -> bool:
    if i == first:
        return is_script(tokens, i)
    return inside and before in (";", *_BEFORE_BLOCK)


def _next(tokens: Sequence[Token], i: int) -> str:
    return tokens[i + 1].key if i + 1 < len(tokens) else ""


def _body_of_code(tokens: Sequence[Token], i: int) -> int:
    """The index of the BEGIN of the body, if the CREATE at ``i`` creates a function or procedure; else -1."""
    if tokens[i].key != "CREATE":
        return -1
    i += 3 if _next(tokens, i) == "OR" else 1
    i += 1 if tokens[min(i, len(tokens) - 1)].key in ("TEMPORARY", "TEMP") else 0
    if i >= len(tokens) or tokens[i].key not in ("FUNCTION", "PROCEDURE"):
        return -1
    while tokens[i].kind != END and tokens[i].key not in (";", "RETURN"):
        before = tokens[i - 1].key
        if tokens[i].key == "BEGIN" and before not in _BEFORE_NAME_OF_CODE:
            return i if is_script(tokens, i) else -1
        if before == "AS":
            return -1
        i = behind(tokens, i)
    return -1


def _body_of_handler(tokens: Sequence[Token], i: int) -> int:
    """The index of the BEGIN of a handler's body, given the index of the word HANDLER; -1 if it has none."""
    if "DECLARE" not in (tokens[i - 1].key, tokens[i - 2].key) or _next(tokens, i) != "FOR":
        return -1
    last = len(tokens) - 1
    i += 1
    while i < last and tokens[i].key in ("FOR", ","):
        key = tokens[i + 1].key
        if key == "SQLSTATE":
            i += 4 if _next(tokens, i + 1) == "VALUE" else 3
        else:
            i += 3 if key == "NOT" and _next(tokens, i + 1) == "FOUND" else 2
    return i if i < last and is_script(tokens, i) else -1
