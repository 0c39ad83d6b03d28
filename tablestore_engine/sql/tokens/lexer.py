"""Spark SQL text cut into tokens that know their offsets and their brackets.

A *token* is a word, a backquoted name, a string, a number or a symbol, with its character offsets in
the text; comments and hints are skipped. Invariant: ``text[token.start:token.end]`` is exactly what the
user wrote, so an edit can replace one token and leave every other character alone.

A token that opens or closes a *group* (parentheses, square brackets, CASE … END) has the index of its partner.
``behind`` steps over a group, and ``top_level`` lists the tokens of one level, so no other module counts brackets
(`split_statements` counts blocks BEGIN … END: that a word opens one depends on the statement before it). The angle
brackets of types have no partners, because ``<`` may be an operator: ``behind_type_part`` steps over them where the
text is a type.

The rules are Spark's own lexer rules where they matter to finding names: nested block comments, a line
comment continued by a backslash, doubled backquotes, raw strings, double quotes around strings (not
names), dollar-quoted strings, and names that begin with a digit. A character that Spark would not accept
becomes a symbol, and Spark reports it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

WORD: Final = "word"
QUOTED: Final = "quoted"
STRING: Final = "string"
NUMBER: Final = "number"
SYMBOL: Final = "symbol"
BAD: Final = "bad"  # a string, quoted name or comment without an end
END: Final = "end"  # follows the last token


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
        """Whether Spark accepts the token as an identifier."""
        return self.kind in (WORD, QUOTED)

    @property
    def name(self) -> str:
        """The identifier without its backquotes."""
        if self.kind == QUOTED:
            return self.text[1:-1].replace("``", "`")
        return self.text


_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<line>--(?:[^\r\n\\]|\\\n|\\)*)
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
_BEFORE_OPERANDS: Final = frozenset(["NOT", "!", "-", "+", "~"])
_OPENING: Final = {")": "(", "]": "["}
_GROUP_KEYS: Final = frozenset(["(", ")", "[", "]", "CASE", "END", ";"])
# These end the item, the select or the branch that contains the word CASE, so no WHEN of that CASE follows them.
_CASE_KEYS: Final = _GROUP_KEYS | frozenset(
    [*("WHEN", "THEN", "ELSE", ",", "FROM", "WHERE", "ON", "USING"),
     *("UNION", "INTERSECT", "EXCEPT", "MINUS", "SETMINUS")]
)  # fmt: skip
# ``a.case``, an alias called case, and the END CASE of a script.
_NEVER_BEFORE_CASE: Final = frozenset([".", "AS", ")", "]", "END"])
_NEVER_BEHIND_CASE: Final = frozenset(
    [*(".", ",", ")", "]", ";", "=", "==", "<", "<=", ">", ">=", "<>", "!=", "<=>", "*", "/", "%"),
     *("||", "|>", "|", "&", "^", "::", "->", "=>", ":=")]
)  # fmt: skip
_BEHIND_OPERAND: Final = frozenset(["WHEN", "IS", "LIKE", "RLIKE", "ILIKE", "IN", "BETWEEN", "NOT", "AND", "OR", "DIV"])
_QUERY: Final = frozenset(["SELECT", "WITH", "FROM", "VALUES", "TABLE"])
_KINDS = {"raw": STRING, "string": STRING, "dollar": STRING, "quoted": QUOTED, "number": NUMBER, "bad": BAD}


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, without comments, and an ``END`` sentinel behind them.

    Raises no error: a quote or block comment without an end becomes one ``BAD`` token up to the end of the text.
    """
    # A statement is parsed first, and then its query is bound, which often has the same text.
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

    CASE and END may also be names. They are a group only within one pair of parentheses, and only with a WHEN
    between them. ``cases`` holds the index of each CASE of the level, or the complement of the index if no WHEN has
    followed yet. Only then the words are checked that show the CASE to be a name.
    """
    opened: dict[str, list[int]] = {"(": [], "[": []}
    cases: list[int] = []
    cases_outside: list[list[int]] = []
    watched = _GROUP_KEYS
    for i, token in enumerate(tokens):
        key = token.key
        if key not in watched:
            continue
        first = -1
        if key in opened:
            opened[key].append(i)
            if key == "(":
                cases_outside.append(cases)
                cases, watched = [], _GROUP_KEYS
            continue
        if key in _OPENING:
            waiting = opened[_OPENING[key]]
            first = waiting.pop() if waiting else -1
            if key == ")" and first >= 0:
                cases = cases_outside.pop()
        elif key == ";":  # a group ends with its statement
            opened, cases, cases_outside = {"(": [], "[": []}, [], []
        elif key == "END":
            first = -1 if tokens[i - 1].key == "." else _closed_case(cases)
        else:
            _follow_case(tokens, i, cases)
        if first >= 0:
            tokens[first] = Token(*tokens[first][:-1], i)
            tokens[i] = Token(*token[:-1], first)
        watched = _CASE_KEYS if cases and cases[-1] < 0 else _GROUP_KEYS


def _closed_case(cases: list[int]) -> int:
    """Removes the innermost CASE that has a WHEN, and returns its index; -1 if there is none, so that END is a name."""
    waiting = cases[-1:]
    while cases:
        inner = cases.pop()
        if inner >= 0:
            return inner
    cases += waiting  # CASE end WHEN …
    return -1


def _follow_case(tokens: list[Token], i: int, cases: list[int]) -> None:
    """Updates ``cases`` for token ``i``, which may be a CASE, the WHEN of the last CASE, or a word that shows the last
    CASE to be a name."""
    key, before = tokens[i].key, tokens[i - 1]
    if key == "CASE":
        behind_operand = before.kind in (QUOTED, STRING, NUMBER) or before.key in _NEVER_BEFORE_CASE
        if not behind_operand and tokens[i + 1].key not in _NEVER_BEHIND_CASE:
            cases.append(~i)
    elif before.key == ".":
        pass
    elif key == "WHEN":
        cases[-1] = ~cases[-1]
    elif not _is_operand(tokens, i):
        while cases and cases[-1] < 0:
            cases.pop()


def _is_operand(tokens: list[Token], i: int) -> bool:
    """Whether a keyword after CASE is a column (``CASE from WHEN``) or part of an operator (IS DISTINCT FROM)."""
    key, after = tokens[i].key, tokens[i + 1]
    if key == "FROM" and tokens[i - 1].key == "DISTINCT":
        return True
    if key in (",", "THEN", "ELSE"):
        return False
    if after.key == ".":  # ``from.column``, but FROM .table names a table
        return after.start == tokens[i].end
    return after.key in _BEHIND_OPERAND or (after.kind == SYMBOL and after.key != "(")


def behind(tokens: Sequence[Token], i: int) -> int:
    """The index after token ``i``, or after the whole group if it opens one."""
    return max(tokens[i].partner, i) + 1


def nests_deeper(tokens: Sequence[Token], levels: int) -> bool:
    """Whether a token is inside of more than so many groups and operators before operands, such as NOT NOT and - -."""
    depth = operators = 0
    opened: list[int] = []
    for i, token in enumerate(tokens):
        if token.partner > i:
            opened.append(operators + 1)
            depth += operators + 1
            operators = 0
        elif token.partner >= 0:
            depth -= opened.pop()
        elif token.key in _BEFORE_OPERANDS:
            # One alone may be between two operands.
            operators += i > 0 and tokens[i - 1].key in _BEFORE_OPERANDS
        elif tokens[min(i + 1, len(tokens) - 1)].key != "(":
            operators = 0
        if depth + operators > levels:
            return True
    return False


def behind_type_part(tokens: Sequence[Token], i: int) -> int:
    """`behind` within the text of a type, where ``<`` and ``>`` are brackets, too."""
    opened = 0
    while tokens[i].kind != END:
        opened += (tokens[i].key == "<") - (tokens[i].key == ">")
        i = behind(tokens, i)
        if opened <= 0:
            break
    return i


def outside_queries(tokens: Sequence[Token]) -> Iterator[int]:
    """The indexes of the tokens of an expression that are in none of its subqueries."""
    i = 0
    while i < len(tokens) - 1:
        if tokens[i].key == "(" and tokens[i + 1].key in _QUERY:
            i = behind(tokens, i)
        else:
            yield i
            i += 1


def top_level(tokens: Sequence[Token], start: int, end: int) -> Iterator[int]:
    """The indexes of the tokens from ``start`` to ``end`` (exclusive), without the contents of groups. Of each group
    only the opening token is included."""
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
    """The offset after the block comment that starts at ``start``; -1 if it is not closed."""
    depth, position = 1, start + 2
    while depth:
        edge = _COMMENT_EDGE.search(text, position)
        if edge is None:
            return -1
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
    return position


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text after edits (start, end, replacement), which must be in order."""
    pieces, position = [], 0
    for start, end, replacement in edits:
        pieces += [text[position:start], replacement]
        position = end
    return "".join([*pieces, text[position:]])


def position_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1
