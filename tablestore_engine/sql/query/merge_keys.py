"""The columns of a MERGE's target that ON makes equal to columns of its source."""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.sql.query.predicate_reader import read_equalities
from tablestore_engine.sql.statements.row import Merge
from tablestore_engine.sql.text.lexer import tokenize


def equal_columns(statement: Merge, target: Sequence[str], source: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of a column of the target and one of the source, in lower case, that are equal in all rows that match.

    `target` and `source` are the names of all columns; a name that is not certain is left out.
    """
    own, given = [name.lower() for name in target], [name.lower() for name in source]

    def owner(parts: tuple[str, ...]) -> tuple[str, str] | None:
        *qualifier, column = (part.lower() for part in parts)
        sides = [side for side, columns in (("target", own), ("source", given)) if column in columns]
        sides = [side for side in sides if not qualifier or qualifier in _qualifiers(statement, side)]
        return (sides[0], column) if len(sides) == 1 and given.count(column) < 2 else None

    tokens = tokenize(statement.on_sql)
    pairs = [dict(pair) for pair in read_equalities(tokens, 0, len(tokens) - 1, owner)]
    return [(pair["target"], pair["source"]) for pair in pairs if len(pair) == 2]


def _qualifiers(statement: Merge, side: str) -> list[list[str]]:
    """The names by which columns of the target, or of the source, may be qualified, in lower case."""
    alias, name = statement.source_alias, statement.unaliased_source
    if side == "target":
        alias = statement.target_alias or statement.table.name
        name = None if statement.target_alias else statement.table
    called = [[alias]] if alias else []
    if name is not None and name.database is not None:
        called.append([name.database, name.name])
    return [[part.lower() for part in parts] for parts in called]
