"""Query hints: comments that begin with a plus sign, ``SELECT /*+ BROADCAST(t) */ …``.

Spark reads them directly after SELECT only. They are no tokens; the functions here read them from the text between two
tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from tablestore_engine.errors import ParseError, SqlError
from tablestore_engine.sql.tokens.cursor import Cursor, error_at, properties
from tablestore_engine.sql.tokens.lexer import SYMBOL, Token, comments, tokenize

_MARK: Final = "/*+"
_BEFORE_QUERY: Final = ("(", "AS", "ALL", "DISTINCT", "UNION", "EXCEPT", "MINUS", "INTERSECT", "EXPLAIN")
Spans = tuple[tuple[int, int], ...]


def hint_before(text: str, tokens: Sequence[Token], i: int) -> tuple[int, str] | None:
    """Offset and content of the hint between the token ``i`` and the one before it."""
    start = tokens[i - 1].end if i else 0
    if text.find(_MARK, start, tokens[i].start) < 0:
        return None
    found = (one for one in comments(text, start, tokens[i].start) if one[1].startswith(_MARK))
    at = next(found, None)
    return None if at is None else (at[0], at[1][len(_MARK) : -2])


def option_hint(text: str, tokens: Sequence[Token], i: int) -> tuple[int, int, dict[str, str]] | None:
    """The hint OPTIONS between the token ``i`` and the one before it: its span, and its options."""
    found = hint_before(text, tokens, i)
    if found is None:
        return None
    inner = Cursor(found[1])
    if not inner.accept("OPTIONS"):
        return None
    options = properties(inner)
    inner.expect_end()
    return found[0], found[0] + len(_MARK) + len(found[1]) + 2, options


def options_clause(text: str, tokens: Sequence[Token], i: int) -> tuple[int, int, dict[str, str]] | None:
    """The clause ``WITH ('k' = 'v', …)`` at the token ``i``: its span, and its options. Spark would drop those of a
    managed table without a word; it refuses a clause of another form."""
    if tokens[i].key != "WITH" or tokens[i + 1].key != "(":
        return None
    inner = Cursor(text[tokens[i + 1].start :])
    try:
        options = properties(inner)
    except ParseError:
        return None
    return tokens[i].start, tokens[i + 1].start + inner.tokens[inner.i - 1].end, options


def refuse_unread(text: str, tokens: Sequence[Token], read: Collection[int] = ()) -> None:
    """Raises SqlError for a hint that neither Spark nor the engine would apply: OPTIONS, and any hint that does not
    follow SELECT. Those at the offsets ``read`` are applied."""
    if _MARK not in text:
        return
    for i, start, content in _hints(text, tokens):
        before = tokens[i - 1].key if i else ""
        if start in read or (_follows_table(tokens, i) and _is_options(content)):
            continue
        token = Token(SYMBOL, _MARK, start, start + len(_MARK), text[start : start + 40])
        if _is_options(content):
            raise error_at(
                text,
                token,
                "The hint OPTIONS is not read here",
                kind=SqlError,
                hint="It follows the table that a statement changes, INSERT INTO t /*+ OPTIONS(…) */ SELECT …, or a "
                "table that is read: FROM t /*+ OPTIONS(…) */. " + _instead(tokens),
            )
        if before != "SELECT":
            raise error_at(
                text, token, "A hint is not read here", kind=SqlError, hint="Write it directly after SELECT."
            )


def _instead(tokens: Sequence[Token]) -> str:
    """The way to set an option for good."""
    words = [one.key for one in tokens[:4]]
    if words[0] in ("CREATE", "REPLACE") and "TABLE" in words:
        return (
            "Options of a new table are its TBLPROPERTIES: CREATE TABLE t TBLPROPERTIES ('key' = 'value') AS SELECT …."
        )
    return "Set options for all reads by ALTER TABLE … SET TBLPROPERTIES ('key' = 'value')."


def _is_options(content: str) -> bool:
    return any(one.key == "OPTIONS" for one in tokenize(content[len(_MARK) : -2]))


def _follows_table(tokens: Sequence[Token], i: int) -> bool:
    """Whether the name before the token ``i`` is that of a table in a FROM list, or of the query ``TABLE t``."""
    at = i - 1
    while at > 1 and tokens[at].is_name and tokens[at - 1].key == "." and tokens[at - 2].is_name:
        at -= 2
    if at == 0 or not tokens[at].is_name:
        return False
    if tokens[at - 1].key == "TABLE":  # elsewhere a keyword of the statement: TRUNCATE TABLE t
        return at == 1 or tokens[at - 2].key in _BEFORE_QUERY
    return tokens[at - 1].key in ("FROM", "JOIN", ",")


def names_in_hints(text: str, start: int, end: int) -> Iterator[tuple[tuple[str, ...], Spans]]:
    """The dotted names, with their spans in the text, that are arguments of the hints between two offsets."""
    if text.find(_MARK, start, end) < 0:
        return
    for at, content in comments(text, start, end):
        if not content.startswith(_MARK):
            continue
        offset = at + len(_MARK)
        tokens = tokenize(content[len(_MARK) : -2])
        for opening, token in enumerate(tokens):
            if token.key == "(" and token.partner > opening:
                yield from _names(tokens[opening + 1 : token.partner], offset)


def _names(tokens: Sequence[Token], offset: int) -> Iterator[tuple[tuple[str, ...], Spans]]:
    """The dotted names among the arguments of one hint."""
    i = 0
    while i < len(tokens):
        first = i
        while tokens[i].is_name and i + 2 < len(tokens) and tokens[i + 1].key == "." and tokens[i + 2].is_name:
            i += 2
        if tokens[first].is_name:
            parts = tokens[first : i + 1 : 2]
            yield tuple(p.name for p in parts), tuple((p.start + offset, p.end + offset) for p in parts)
        i += 1


def _hints(text: str, tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """The index of the token after each hint, the offset of the hint, and its text."""
    position = 0
    for i, token in enumerate(tokens):
        for start, content in comments(text, position, token.start):
            if content.startswith(_MARK):
                yield i, start, content
        position = token.end
