"""VALUES whose rows call functions of the warehouse, which Spark does not evaluate there, as a query of SELECTs."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator

from tablestore_engine.sql.query_structure.inline_table import begins_rows
from tablestore_engine.sql.tokens.lexer import Token, tokenize, top_level

Edit = tuple[int, int, str]
_BEHIND_FROM = frozenset(["FROM", "JOIN", ",", "LATERAL"])


def selects_for_values(text: str, calls: Collection[int]) -> Iterator[Edit]:
    """The edits of a text after which rows with one of the calls, by offset, are selected; of rows that are lists in
    parentheses or calls."""
    tokens = tokenize(text)
    for at, token in enumerate(tokens):
        if token.key == "VALUES" and begins_rows(tokens, at + 1):
            rows = _rows(tokens, at + 1)
            if rows and any(tokens[rows[0][0]].start <= one < tokens[rows[-1][1]].end for one in calls):
                yield from _selects(tokens, at, rows)


def _rows(tokens: list[Token], i: int) -> list[tuple[int, int]]:
    """The first and last token of each row; empty where one is another expression."""
    rows = []
    while True:
        first = i
        while tokens[i].is_name and tokens[i + 1].key in (".", "("):
            i += 1 if tokens[i + 1].key == "(" else 2
        if tokens[i].key != "(" or tokens[i].partner <= i:
            return []
        last = tokens[i].partner
        rows.append((first, last))
        if tokens[last + 1].key != ",":
            return rows
        i = last + 2


def _selects(tokens: list[Token], at: int, rows: list[tuple[int, int]]) -> Iterator[Edit]:
    values = tokens[at]
    inside = at > 0 and tokens[at - 1].key in _BEHIND_FROM
    yield values.start, values.end, "(SELECT" if inside else "SELECT * FROM (SELECT"
    for number, (first, last) in enumerate(rows):
        listed = tokens[first].key == "("
        commas = [i for i in top_level(tokens, first + 1, last) if tokens[i].key == ","] if listed else []
        if listed:
            yield tokens[first].start, tokens[first].end, ""
        names = (f" AS col{i}" if not number else "" for i in itertools.count(1))
        for comma, name in zip(commas, names, strict=False):
            yield tokens[comma].start, tokens[comma].end, f"{name},"
        tail = f" AS col{len(commas) + 1}" if not number else ""
        closing = tokens[last]
        if number + 1 < len(rows):
            end = tokens[last + 1].end  # the comma
            yield (closing.start if listed else closing.end), end, f"{tail} UNION ALL SELECT"
        else:
            yield (closing.start if listed else closing.end), closing.end, f"{tail})"
