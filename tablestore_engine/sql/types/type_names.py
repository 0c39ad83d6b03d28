"""Names of types in other warehouses, which become Spark's where a text can only name a type.

That is after AS in a cast, after ``::``, and in column definitions: ``cast(x as varchar)``, ``x::int64``. Elsewhere
these words are names of columns and functions, and stay as they are.
"""

from __future__ import annotations

import re
from typing import Final

from tablestore_engine.schema.types.foreign_types import EXACT_NUMBERS, SYNONYMS, UNSIZED
from tablestore_engine.sql.tokens.lexer import WORD, Token, tokenize

_Edit = tuple[int, int, str]

_NAMED: Final = re.compile(
    rf"\b(?:{'|'.join(sorted({*SYNONYMS, *EXACT_NUMBERS, *UNSIZED, 'PRECISION', 'VARYING', 'ZONE'}))})\b", re.IGNORECASE
)
_CASTS: Final = ("CAST", "TRY_CAST")


def with_spark_types(text: str) -> str:
    """A statement in which the types of casts have Spark's names."""
    if _NAMED.search(text) is None:
        return text
    tokens = tokenize(text)
    edits: list[_Edit] = []
    for index, token in enumerate(tokens):
        if token.key == "::":
            _type(tokens, index + 1, edits)
        elif token.key in _CASTS and tokens[index + 1].key == "(":
            at = _type_of_cast(tokens, index + 1)
            if at is not None:
                _type(tokens, at, edits)
    return _edited(text, edits)


def spark_type(text: str) -> str:
    """The text of a type, with Spark's names."""
    if _NAMED.search(text) is None:
        return text
    edits: list[_Edit] = []
    _type(tokenize(text), 0, edits)
    return _edited(text, edits)


def _edited(text: str, edits: list[_Edit]) -> str:
    pieces, position = [], 0
    for start, end, replacement in sorted(edits):
        pieces += [text[position:start], replacement]
        position = end
    return "".join([*pieces, text[position:]]) if edits else text


def _type_of_cast(tokens: list[Token], opening: int) -> int | None:
    """The index of the type in ``(value AS type)``: behind the last AS of this level."""
    closing = tokens[opening].partner
    found, index = None, opening + 1
    while 0 <= index < closing:
        if tokens[index].key == "AS":
            found = index + 1
        partner = tokens[index].partner
        index = partner + 1 if partner > index else index + 1
    return found


def _type(tokens: list[Token], index: int, edits: list[_Edit]) -> int:
    """Notes the edits of the type that begins at a token, and returns the index behind it."""
    token = tokens[index]
    if token.kind != WORD:
        return index + 1
    if token.key in ("ARRAY", "MAP", "STRUCT") and tokens[index + 1].key == "<":
        return _nested(tokens, index + 2, token.key == "STRUCT", edits)
    words, behind = _words(tokens, index)
    arguments = tokens[behind].key == "(" and tokens[behind].partner > behind
    end = tokens[behind].partner + 1 if arguments else behind
    given = _arguments(tokens, behind, end) if arguments else ""
    new = _spark_name(words, given)
    if new is not None:
        edits.append((token.start, tokens[end - 1].end, new))
    return end


def _nested(tokens: list[Token], index: int, named: bool, edits: list[_Edit]) -> int:
    """The types between angles; a struct has a name before each."""
    while tokens[index].kind != "end":
        if named:
            index += 2 if tokens[index + 1].key == ":" else 1
        index = _type(tokens, index, edits)
        while tokens[index].key not in (",", ">", ")", ";") and tokens[index].kind != "end":
            index += 1  # NOT NULL, COMMENT
        if tokens[index].key != ",":
            return index + 1
        index += 1
    return index


def _words(tokens: list[Token], index: int) -> tuple[str, int]:
    """The words of a type, and the index behind them."""
    first, second = tokens[index].key, tokens[index + 1].key
    if (first, second) in (("DOUBLE", "PRECISION"), ("CHARACTER", "VARYING")):
        return f"{first} {second}", index + 2
    for zone in ("WITH TIME ZONE", "WITHOUT TIME ZONE", "WITH LOCAL TIME ZONE") if first == "TIMESTAMP" else ():
        words = zone.split()
        if [one.key for one in tokens[index + 1 : index + 1 + len(words)]] == words:
            return f"{first} {zone}", index + 1 + len(words)
    return first, index + 1


def _arguments(tokens: list[Token], opening: int, end: int) -> str:
    return "".join(one.text for one in tokens[opening:end])


def _spark_name(name: str, arguments: str) -> str | None:
    """Spark's name; None for a type that Spark knows by this one, and for one that nobody knows."""
    if name in UNSIZED:
        kind = UNSIZED[name]
        return f"{kind}{arguments}" if arguments and kind != name else None if arguments else "STRING"
    if name in EXACT_NUMBERS:
        return f"DECIMAL{arguments or EXACT_NUMBERS[name]}"
    return SYNONYMS.get(name)
