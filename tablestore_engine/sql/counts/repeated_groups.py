"""Selects of values that several rows have: `SELECT a, count(*) AS n FROM t GROUP BY a HAVING count(*) > 1`."""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.sql.counts.counted import items_of, read_count
from tablestore_engine.sql.query.pushdown import Column, Output, find_column
from tablestore_engine.sql.query_structure.query_structure import Select
from tablestore_engine.sql.tokens.lexer import Token


def grouping_columns(select: Select, tokens: list[Token]) -> frozenset[Column] | None:
    """The columns by which a select of such values groups its rows, if it picks no others, next to counts.

    It is the only select of the text with groups, and in the form of `plain_query`. None where a column is not certain.
    """
    start = next(i for i, token in enumerate(tokens) if token.key == "GROUP") + len(("GROUP", "BY"))
    end = next(i for i in range(start, len(tokens)) if tokens[i].key == "HAVING")
    names = [tokens[first:last] for first, last in items_of(tokens, start, end)]
    columns = frozenset(_column(select, name) for name in names)
    picked = [tokens[first:last] for first, last in items_of(tokens, *(select.items or (0, 0)))]
    counts = [one for one in picked if read_count(one) is not None]
    output = Output(select, tokens)
    others = [column for column in output.plain.values() if column is not None]
    if output.stars or len(others) + len(counts) != len(picked) or not columns.issuperset(others):
        return None
    known = frozenset(column for column in columns if column is not None)
    return known if len(known) == len(columns) else None


def _column(select: Select, name: Sequence[Token]) -> Column | None:
    parts = tuple(token.name for token in name if token.key != ".")
    return find_column(select, parts) if "*" not in parts else None
