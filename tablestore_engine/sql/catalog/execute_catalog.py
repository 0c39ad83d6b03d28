"""Executes the statements that only need the catalog: one function per kind of statement.

The functions are in the other `execute_*` modules, by topic; this module lists them. Invariant: all of them work
without a JVM, and each statement is one atomic step of the catalog or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from tablestore_engine.operation.table_commands.failed_changes import naming
from tablestore_engine.sql.catalog import (
    execute_alter,
    execute_columns,
    execute_partitions,
    execute_schema,
    execute_table,
    execute_tags,
)
from tablestore_engine.sql.catalog.execute_context import CatalogContext
from tablestore_engine.sql.catalog.show import execute_describe, execute_show, execute_show_create
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements import partition as partition_statements
from tablestore_engine.sql.statements.columns import AlterColumns
from tablestore_engine.sql.statements.schema import (
    AlterSchema,
    CreateSchema,
    DescribeSchema,
    DropSchema,
    ShowSchemas,
)
from tablestore_engine.sql.statements.show import (
    Describe,
    ShowColumns,
    ShowCreateTable,
    ShowPartitions,
    ShowTablePartition,
    ShowTables,
    ShowTblProperties,
    ShowViews,
)
from tablestore_engine.sql.statements.statement import Statement
from tablestore_engine.sql.statements.table import (
    AlterUnsupported,
    CommentOn,
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    DropConstraint,
    DropTable,
    ForeignStatement,
    RefreshTable,
    RenameTable,
    SetTableProperties,
    UnsetTableProperties,
)
from tablestore_engine.sql.statements.tag import CreateTag, DeleteTag, RenameTag, ShowTags
from tablestore_engine.sql.statements.view import DropView, SetViewMode

_EXECUTORS: Final[Mapping[type[Statement], Callable[[Any, CatalogContext], StatementResult | None]]] = {
    CreateSchema: execute_schema.create_schema,
    DropSchema: execute_schema.drop_schema,
    AlterSchema: execute_schema.alter_schema,
    DescribeSchema: execute_schema.describe_schema,
    ShowSchemas: execute_schema.show_schemas,
    CreateTable: execute_table.create_table,
    CreateTableLike: execute_table.create_table_like,
    DropTable: execute_table.drop_table,
    DropView: execute_table.drop_view,
    RenameTable: execute_table.rename,
    RefreshTable: execute_table.refresh,
    AlterColumns: execute_columns.alter_columns,
    SetTableProperties: execute_alter.set_properties,
    UnsetTableProperties: execute_alter.unset_properties,
    SetViewMode: execute_alter.set_view_mode,
    CommentOn: execute_alter.comment_on,
    DropConstraint: execute_alter.drop_constraint,
    AlterUnsupported: execute_alter.unsupported,
    partition_statements.DropPartitions: execute_partitions.drop_partitions,
    ShowTables: execute_show.show_tables,
    ShowTablePartition: execute_describe.show_partition,
    ShowViews: execute_show.show_views,
    ShowTblProperties: execute_show.show_properties,
    ShowColumns: execute_show.show_columns,
    ShowPartitions: execute_show.show_partitions,
    ShowCreateTable: execute_show_create.show_create_table,
    Describe: execute_describe.describe,
    CreateTag: execute_tags.create_tag,
    DeleteTag: execute_tags.delete_tag,
    RenameTag: execute_tags.rename_tag,
    ShowTags: execute_tags.show_tags,
    ForeignStatement: execute_table.foreign,
}

_ALTER = "ALTER TABLE"
_OPENINGS: dict[type[Statement], str] = {
    CreateTable: "CREATE TABLE",
    CreateTableAs: "CREATE TABLE",
    CreateTableLike: "CREATE TABLE",
    AlterColumns: _ALTER,
    SetTableProperties: _ALTER,
    UnsetTableProperties: _ALTER,
    DropConstraint: _ALTER,
    AlterUnsupported: _ALTER,
    partition_statements.DropPartitions: _ALTER,
    CreateTag: _ALTER,
    RenameTag: _ALTER,
    Describe: "DESCRIBE",
}


def execute(statement: Statement, context: CatalogContext) -> StatementResult | None:
    """Execute a statement; None when it is not one that the catalog alone can answer.

    Raises:
        UserError: the request is not possible; nothing has changed.
        ConflictError: another process changed the same object meanwhile.
        StorageError: the warehouse cannot be read or written.
    """
    executor = _EXECUTORS.get(type(statement))
    if executor is None:
        return None
    with named(statement, context):
        return executor(statement, context)


def named(statement: Statement, context: CatalogContext) -> AbstractContextManager[None]:
    """Errors about what a definition asks for, with the statement and its table in front."""
    words, table = _OPENINGS.get(type(statement)), getattr(statement, "table", None)
    return (
        nullcontext() if words is None or table is None else naming(words, lambda: ".".join(context.identifier(table)))
    )


__all__ = ["CatalogContext", "execute", "named"]
