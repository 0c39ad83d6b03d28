"""The lexer: splits Spark SQL text into tokens with their offsets and bracket partners.

A *token* is a word, a backquoted name, a string, a number or a symbol, with its character offsets in
the text; comments and hints are skipped. Invariant: ``text[token.start:token.end]`` is exactly what the
user wrote, so an edit can replace one token and leave all other characters unchanged.

A token that opens or closes a *group* (parentheses, square brackets, CASE … END) has the index of its
partner. So no caller counts nesting levels: ``behind`` steps over a group, ``top_level`` lists the tokens of
one level.

The rules are those of Spark's lexer as far as they matter for finding names: nested block comments, a line
comment continued by a backslash, doubled backquotes, raw strings, double quotes around strings (not
names), dollar-quoted strings, and names that begin with a digit. A character that Spark would not accept
becomes a symbol: Spark checks the syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

WORD: Final = "word"
QUOTED: Final = "quoted"
STRING: Final = "string"
NUMBER: Final = "number"
SYMBOL: Final = "symbol"
BAD: Final = "bad"  # a string, quoted name or comment that never ends
END: Final = "end"  # the sentinel after the last token


class Token(NamedTuple):
    """One token. ``key`` is the upper-cased word or the symbol itself, and empty for names in backquotes,
    strings and numbers, so that ``token.key == "SELECT"`` can only be the keyword. ``partner`` is the index
    of the token that closes or opens the same group; -1 for none."""

    kind: str
    key: str
    start: int
    end: int
    text: str
    partner: int = -1

    @property
    def is_name(self) -> bool:
        """Whether the token can be an identifier in Spark."""
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
_CACHED_LENGTH: Final = 10_000
_OPENING: Final = {")": "(", "]": "[", "END": "CASE"}
_GROUP_KEYS: Final = frozenset(["(", ")", "[", "]", "CASE", "END", ";"])
_KINDS = {"raw": STRING, "string": STRING, "dollar": STRING, "quoted": QUOTED, "number": NUMBER, "bad": BAD}


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, without comments, and an ``END`` sentinel after them.

    Raises no error: an unclosed quote or block comment becomes one ``BAD`` token up to the end.
    """
    # A statement is parsed, and then its query is bound: often the text is the same.
    return list(_cached(text)) if len(text) <= _CACHED_LENGTH else _tokenize(text)


@lru_cache(maxsize=64)
def _cached(text: str) -> tuple[Token, ...]:
    return tuple(_tokenize(text))


def _tokenize(text: str) -> list[Token]:
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
    _pair(tokens)
    return tokens


def _pair(tokens: list[Token]) -> None:
    """Gives each token that opens or closes a group its partner.

    CASE and END are words that may also be names: they are a group only within one pair of parentheses, and not
    after a dot.
    """
    opened: dict[str, list[int]] = {"(": [], "[": [], "CASE": []}
    cases_outside: list[list[int]] = []
    for i, token in enumerate(tokens):
        key = token.key
        if key not in _GROUP_KEYS:
            continue
        if key == ";":  # a group does not reach from one statement into the next
            opened, cases_outside = {"(": [], "[": [], "CASE": []}, []
            continue
        if key in ("CASE", "END") and i and tokens[i - 1].key in (".", "END" if key == "CASE" else "."):
            continue  # ``a.end``, and the END CASE of a script
        if key in opened:
            opened[key].append(i)
            if key == "(":
                cases_outside.append(opened["CASE"])
                opened["CASE"] = []
            continue
        waiting = opened[_OPENING[key]]
        if not waiting:
            continue
        first = waiting.pop()
        tokens[first] = Token(*tokens[first][:-1], i)
        tokens[i] = Token(*token[:-1], first)
        if key == ")":
            opened["CASE"] = cases_outside.pop()


def behind(tokens: Sequence[Token], i: int) -> int:
    """The index after token ``i``, or after the whole group when the token opens one."""
    return max(tokens[i].partner, i) + 1


def top_level(tokens: Sequence[Token], start: int, end: int) -> Iterator[int]:
    """The indexes of the tokens from ``start`` to ``end`` (exclusive) outside of groups that open there. The token
    that opens a group is included, the rest of the group is not."""
    i = start
    while i < end:
        yield i
        i = behind(tokens, i)


def comments(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Offset and text of each block comment between two tokens."""
    while start < end:
        found = _TOKEN.match(text, start)
        behind_it = found.end() if found else end
        if found is not None and found.lastgroup == "block":
            behind_it = _end_of_comment(text, start)
            yield start, text[start:behind_it]
        start = behind_it


def _end_of_comment(text: str, start: int) -> int:
    """The offset after the block comment that starts at ``start``; -1 when it is not closed."""
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
