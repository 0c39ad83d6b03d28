"""The columns of a MERGE's source that its clauses take for the target, which a schema that evolves gets.

As in Spark, `SET *` and `INSERT *` take all, and `c = s.c` and `c.f = s.c.f` take a column and a field. An expression
widens nothing, and what no clause assigns is not added. A new column or field may be given an expression, too: it gets
the type that the source's of the same name has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tablestore_engine.schema.alter.merge_schema import Column, Path
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.types import DataField, DataType, RowType
from tablestore_engine.sql.query.predicate_reader import read_column
from tablestore_engine.sql.statements.row import Merge
from tablestore_engine.sql.tokens.default_clause import is_default
from tablestore_engine.sql.tokens.lexer import tokenize


def assigned_columns(statement: Merge, source: Sequence[str]) -> list[str]:
    """The columns of the source that have the name of one that a clause assigns, all under a star."""
    if _has_star(statement):
        return list(source)
    named = Names(path[0] for path, _ in _assigned(statement))
    return [name for name in source if name in named]


def taken_columns(statement: Merge, schema: TableSchema, source: Sequence[Column]) -> list[Column]:
    """The columns of the source that the clauses take, with only the fields that they take."""
    if _has_star(statement):
        return list(source)
    own = {field.name: field.type for field in schema.fields}
    given = {name: kind for name, kind, _ in source}
    taken = [
        path
        for path, value in _assigned(statement)
        if _kind_at(path, own) is None or _lowered(path) == _of_source(value, statement, Names(given))
    ]
    found: list[Column] = []
    for name, kind, comment in source:
        names = Names([name])
        paths = [path[1:] for path in taken if path[0] in names]
        if (part := _part(kind, paths)) is not None:
            found.append((name, part, comment))
    return found


def _has_star(statement: Merge) -> bool:
    return any(clause.star for clause in (*statement.matched, *statement.not_matched))


def _assigned(statement: Merge) -> list[tuple[Path, str]]:
    """The columns and fields that clauses which see the source assign, with their values."""
    found = [((a.column, *a.path), a.value_sql) for clause in statement.matched for a in clause.assignments]
    for clause in statement.not_matched:
        found += [((name,), value) for name, value in zip(clause.columns, clause.values_sql, strict=False)]
    return [(path, value) for path, value in found if not is_default(value)]


def _of_source(value: str, statement: Merge, source: Names) -> Path | None:
    """The column or field of the source that a value reads, in lower case; None for any other value."""
    tokens = tokenize(value)
    read = read_column(tokens, 0, len(tokens) - 1, lambda parts: (parts, ""))
    if read is None:
        return None
    parts = _lowered(read[0])
    alias, name = statement.source_alias, statement.unaliased_source
    called: list[Path] = [] if alias is None else [(alias.lower(),)]
    if name is not None and name.database is not None:
        called.append((name.database.lower(), name.name.lower()))
    for one in called:
        if parts[: len(one)] == one and len(parts) > len(one) and parts[len(one)] in source:
            return parts[len(one) :]
    return parts


def _lowered(path: Iterable[str]) -> Path:
    return tuple(name.lower() for name in path)


def _kind_at(path: Path, kinds: dict[str, DataType]) -> DataType | None:
    """The type at a path below columns or fields; None where there is none."""
    name = Names(kinds).find(path[0])
    if name is None or len(path) == 1:
        return None if name is None else kinds[name]
    kind = kinds[name]
    return _kind_at(path[1:], {one.name: one.type for one in kind.fields}) if isinstance(kind, RowType) else None


def _part(kind: DataType, paths: Sequence[Path]) -> DataType | None:
    """A type with only the fields at some paths, all of them at the empty path; None without any."""
    if () in paths:
        return kind
    if not isinstance(kind, RowType):
        return None
    fields: list[DataField] = []
    for one in kind.fields:
        names = Names([one.name])
        part = _part(one.type, [path[1:] for path in paths if path[0] in names])
        if part is not None:
            fields.append(replace(one, type=part))
    return replace(kind, fields=tuple(fields)) if fields else None
