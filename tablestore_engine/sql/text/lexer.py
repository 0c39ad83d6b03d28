"""Spark SQL text cut into tokens that know where they stand.

A *token* is a word, a backquoted name, a string, a number or a symbol, with its character offsets in
the text; comments and hints are skipped. Invariant: ``text[token.start:token.end]`` is exactly what the
user wrote, so whoever edits a text can replace one token and leave every other character alone.

The rules are Spark's own lexer rules where they matter to finding names: nested block comments, a line
comment continued by a backslash, doubled backquotes, raw strings, double quotes around strings (not
names), dollar-quoted strings, and names that begin with a digit. A character that Spark would not accept
becomes a symbol: judging the text stays with Spark.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

WORD: Final = "word"
QUOTED: Final = "quoted"
STRING: Final = "string"
NUMBER: Final = "number"
SYMBOL: Final = "symbol"
BAD: Final = "bad"  # a string, quoted name or comment that never ends
END: Final = "end"  # the sentinel behind the last token


class Token(NamedTuple):
    """One token. ``key`` is the upper-cased word or the symbol itself, and empty for names in backquotes,
    strings and numbers, so that ``token.key == "SELECT"`` can only be the keyword."""

    kind: str
    key: str
    start: int
    end: int
    text: str

    @property
    def is_name(self) -> bool:
        """Whether the token can stand where Spark expects an identifier."""
        return self.kind in (WORD, QUOTED)

    @property
    def name(self) -> str:
        """The identifier that the token spells, without its backquotes."""
        if self.kind == QUOTED:
            return self.text[1:-1].replace("``", "`")
        return self.text


_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<line>--(?:[^\r\n\\]|\\\r?\n|\\)*)
    | (?P<block>/\*)
    | (?P<number>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[dDfF]|[bB][dD])?(?!\w)
               | \d+[eE][+-]?\d+(?:[dDfF]|[bB][dD])?(?!\w)
               | \d+(?:[lLsSyYdDfF]|[bB][dD])?(?!\w))
    | (?P<raw>[rR](?:'[^']*'|"[^"]*"))
    | (?P<word>\w+(?:\$\w+)*)
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<string>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
    | (?P<dollar>\$(?P<tag>[A-Za-z]*)\$.*?\$(?P=tag)\$)
    | (?P<bad>['"`].*)
    | (?P<symbol><=>|<=|>=|<>|!=|==|\|\||\|>|->|=>|::|:=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_KINDS = {"raw": STRING, "string": STRING, "dollar": STRING, "quoted": QUOTED, "number": NUMBER, "bad": BAD}


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, without comments, and an ``END`` sentinel behind them.

    Never fails: what has no end (a quote, a block comment) becomes one ``BAD`` token up to the end.
    """
    tokens: list[Token] = []
    append = tokens.append
    match = _TOKEN.match
    position, length = 0, len(text)
    while position < length:
        found = match(text, position)
        if found is None:  # pragma: no cover - the last alternative takes any character
            raise AssertionError(f"no token at {position}")
        group = found.lastgroup
        end = found.end()
        if group == "word":
            piece = found.group()
            append(Token(WORD, piece.upper(), position, end, piece))
        elif group == "symbol":
            piece = found.group()
            append(Token(SYMBOL, piece, position, end, piece))
        elif group == "block":
            end = _end_of_comment(text, position)
            if end < 0:
                append(Token(BAD, "", position, length, text[position:]))
                end = length
        elif group not in ("space", "line"):
            # ``tag`` is nested in ``dollar`` and is closed first, so lastgroup still names the alternative.
            append(Token(_KINDS[group or "bad"], "", position, end, found.group()))
        position = end
    append(Token(END, "", length, length, ""))
    return tokens


def _end_of_comment(text: str, start: int) -> int:
    """The offset behind the block comment that starts at ``start``; -1 when it is never closed."""
    depth, position = 1, start + 2
    while depth:
        edge = _COMMENT_EDGE.search(text, position)
        if edge is None:
            return -1
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
    return position


def position_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1
