"""The descriptions of a model as comments of its table: those that differ, as changes of the schema.

A table, and each column that the model lists, has the description as its comment, or none where that is empty. Columns
that the model does not list keep theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from dbt.adapters.tablestore.relation.column_paths import ColumnPath, column_paths
from tablestore_engine.schema.table.schema_changes import AddColumn, ColumnChange, SetColumnComment, SetComment
from tablestore_engine.schema.table.table_schema import TableSchema


def with_docs(
    schema: TableSchema, model: Mapping[str, Any], changes: Sequence[ColumnChange]
) -> list[ColumnChange | SetComment]:
    """The changes of columns together with the comments that the model's `persist_docs` asks for.

    Columns that exist get theirs before the changes, new ones afterwards. A column that is renamed now keeps its own.
    """
    persisted = (model.get("config") or {}).get("persist_docs") or {}
    found: list[ColumnChange | SetComment] = []
    description = model.get("description") or None
    if persisted.get("relation") and description != (schema.comment or None):
        found.append(SetComment(description))
    if not persisted.get("columns"):
        return [*found, *changes]
    described = list((model.get("columns") or {}).values())
    new = [ColumnPath((str(one.name),), None, (str(one.name),)) for one in changes if isinstance(one, AddColumn)]
    return [*found, *_comments(column_paths(schema.fields), described), *changes, *_comments(new, described)]


def column_comments(paths: Sequence[ColumnPath], comments: Mapping[str, str]) -> list[SetColumnComment]:
    """The changes to these comments, by lower-case path; an empty one removes the comment."""
    found = []
    for one in paths:
        wanted = [comments[name] for name in one.names if name in comments]
        text = next((one for one in wanted if one), None)
        if wanted and text != (one.comment or None):
            found.append(SetColumnComment(one.path, text))
    return found


def _comments(paths: Sequence[ColumnPath], described: Sequence[Mapping[str, Any]]) -> list[SetColumnComment]:
    """The comments of the columns that descriptions are about."""
    return column_comments(paths, descriptions(described, [name for path in paths for name in path.shown]))


def descriptions(described: Iterable[Mapping[str, Any]], names: Collection[str]) -> dict[str, str]:
    """Descriptions by lower-case name. The name of a quoted column must match exactly."""
    named = ((str(one["name"]), one) for one in described)
    found = ((name, one) for name, one in named if not one.get("quote") or name in names)
    return {name.lower(): str(one.get("description") or "") for name, one in found}
