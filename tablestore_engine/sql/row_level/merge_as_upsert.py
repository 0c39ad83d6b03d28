"""The columns of a MERGE's target that ON makes equal to columns of its source, and whether the MERGE is an upsert."""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.schema.types.names import ANY_CASE, Names, Resolver
from tablestore_engine.sql.query.predicate_reader import conjuncts, read_column, read_equalities
from tablestore_engine.sql.statements.row import Merge, MergeClause
from tablestore_engine.sql.tokens.default_clause import is_default
from tablestore_engine.sql.tokens.lexer import tokenize

Pairs = list[tuple[str, str]]
"""A column of the target and one of the source, in lower case."""


def equal_columns(
    statement: Merge,
    target: Sequence[str],
    source: Sequence[str],
    resolver: Resolver = ANY_CASE,
) -> Pairs:
    """Pairs of a column of the target and one of the source, in lower case, that are equal in all rows that match.

    `target` and `source` are the names of all columns; a name that is not certain is left out. So is one in another
    spelling that the session distinguishes.
    """
    tokens = tokenize(statement.on_sql)
    owner = _Owner(statement, target, source, resolver)
    pairs = [dict(pair) for pair in read_equalities(tokens, 0, len(tokens) - 1, owner)]
    return [(pair["target"], pair["source"]) for pair in pairs if len(pair) == 2]


def upsert_keys(
    statement: Merge,
    key: Sequence[str],
    target: Sequence[str],
    source: Sequence[str],
    resolver: Resolver = ANY_CASE,
) -> Pairs | None:
    """The pairs of the key's columns if the MERGE does what an upsert of its source does; None if it may not.

    It does where ON says that the key's columns are equal and nothing else, and where a row of the source becomes the
    same row whether it matches or not. Then no row of the target has to be read. A name that the session may not know
    (`equal_columns`) makes it no upsert: the query of the general case refuses it.
    """
    if len(statement.matched) != 1 or len(statement.not_matched) != 1 or statement.not_matched_by_source:
        return None
    update, insert = statement.matched[0], statement.not_matched[0]
    if update.action != "UPDATE" or update.condition_sql is not None or insert.condition_sql is not None:
        return None
    if Names(target).alike or Names(source).alike:
        return None
    tokens = tokenize(statement.on_sql)
    pairs = equal_columns(statement, target, source, resolver)
    own = [name.lower() for name in key]
    if sorted(own) != sorted(name for name, _ in pairs) or len(conjuncts(tokens, 0, len(tokens) - 1)) != len(pairs):
        return None
    if update.star and insert.star:
        return pairs if all(name == column for name, column in pairs) else None
    owner = _Owner(statement, target, source, resolver)
    only_source = _Owner(statement, (), source, resolver)
    return pairs if _same_values(statement, pairs, target, owner, only_source) else None


def _same_values(statement: Merge, pairs: Pairs, target: Sequence[str], owner: _Owner, only_source: _Owner) -> bool:
    """Whether both clauses give every column the value of the same column of the source."""
    columns = [name.lower() for name in target]
    inserted = _inserted(statement.not_matched[0], columns, only_source)
    updated = dict(pairs)
    if statement.matched[0].star:
        updated |= {name: name for name in columns}
    for assignment in statement.matched[0].assignments:
        value = _source_column(assignment.value_sql, owner)
        if value is None or assignment.path or not owner.is_spelled(assignment.column, target):
            return False
        updated[assignment.column.lower()] = value
    return inserted == updated and set(updated) == set(columns)


def _inserted(clause: MergeClause, columns: Sequence[str], owner: _Owner) -> dict[str, str | None]:
    """The column of the source that each column of the target is given by INSERT; None for another value."""
    if clause.star:
        return {name: name for name in columns}
    values = (_source_column(value, owner) for value in clause.values_sql)
    return dict(zip((name.lower() for name in clause.columns), values, strict=False))


def _source_column(sql: str, owner: _Owner) -> str | None:
    """The column of the source that an expression is, None for any other expression."""
    tokens = tokenize(sql)
    owned = None if is_default(sql) else read_column(tokens, 0, len(tokens) - 1, owner)
    return owned[1] if owned is not None and owned[0] == "source" else None


class _Owner:
    """Whose column a name is: a side, "target" or "source", and the column in lower case; None where it is not
    certain."""

    def __init__(
        self,
        statement: Merge,
        target: Sequence[str],
        source: Sequence[str],
        resolver: Resolver,
    ) -> None:
        self._names = {side: _qualifiers(statement, side) for side in ("target", "source")}
        self._stored = {"target": target, "source": source}
        self._columns = {side: [name.lower() for name in names] for side, names in self._stored.items()}
        self._resolver = resolver

    def __call__(self, parts: tuple[str, ...]) -> tuple[str, str] | None:
        *qualifier, column = (part.lower() for part in parts)
        sides = [side for side, columns in self._columns.items() if column in columns]
        sides = [side for side in sides if not qualifier or qualifier in _lowered(self._names[side])]
        if len(sides) != 1 or any(columns.count(column) > 1 for columns in self._columns.values()):
            return None
        return (sides[0], column) if self._are_spelled(parts, sides[0]) else None

    def is_spelled(self, name: str, columns: Sequence[str]) -> bool:
        """Whether a name of one of the columns means it in this session."""
        return name in columns or not self._resolver.distinguishes

    def _are_spelled(self, parts: tuple[str, ...], side: str) -> bool:
        *qualifier, column = parts
        known = not qualifier or qualifier in self._names[side]
        return (known or not self._resolver.distinguishes) and self.is_spelled(column, self._stored[side])


def _lowered(names: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[part.lower() for part in parts] for parts in names]


def _qualifiers(statement: Merge, side: str) -> list[list[str]]:
    """The names by which columns of the target, or of the source, may be qualified."""
    alias, name = statement.source_alias, statement.unaliased_source
    if side == "target":
        alias = statement.target_alias or statement.table.name
        name = None if statement.target_alias else statement.table
    called = [[alias]] if alias else []
    if name is not None and name.database is not None:
        called.append([name.database, name.name])
    return called
