"""Statements that only need the catalog, executed: one function per kind of statement.

The functions live by topic in the other `execute_*` modules; this is the list of them and the way in. Invariant:
all of it works without a JVM, and each statement is one atomic step of the catalog or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tablestore_engine.sql import (
    execute_alter,
    execute_describe,
    execute_partitions,
    execute_schema,
    execute_show,
    execute_show_create,
    execute_table,
    partition_statements,
    statements,
)
from tablestore_engine.sql.execute_context import CatalogContext
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements import Statement

_EXECUTORS: Final[Mapping[type[Statement], Callable[[Any, CatalogContext], StatementResult]]] = {
    statements.CreateSchema: execute_schema.create_schema,
    statements.DropSchema: execute_schema.drop_schema,
    statements.DescribeSchema: execute_schema.describe_schema,
    statements.ShowSchemas: execute_schema.show_schemas,
    statements.CreateTable: execute_table.create_table,
    statements.CreateTableLike: execute_table.create_table_like,
    statements.DropTable: execute_table.drop_table,
    statements.DropView: execute_table.drop_view,
    statements.RenameTable: execute_table.rename,
    statements.RefreshTable: execute_table.refresh,
    statements.AddColumns: execute_alter.add_columns,
    statements.SetTableProperties: execute_alter.set_properties,
    statements.UnsetTableProperties: execute_alter.unset_properties,
    statements.CommentOn: execute_alter.comment_on,
    statements.DropColumns: execute_alter.drop_columns,
    statements.RenameColumn: execute_alter.rename_column,
    statements.AlterColumn: execute_alter.alter_column,
    statements.AlterUnsupported: execute_alter.unsupported,
    partition_statements.DropPartitions: execute_partitions.drop_partitions,
    statements.ShowTables: execute_show.show_tables,
    statements.ShowViews: execute_show.show_views,
    statements.ShowTblProperties: execute_show.show_properties,
    statements.ShowColumns: execute_show.show_columns,
    statements.ShowPartitions: execute_show.show_partitions,
    statements.ShowCreateTable: execute_show_create.show_create_table,
    statements.Describe: execute_describe.describe,
}


def execute(statement: Statement, context: CatalogContext) -> StatementResult | None:
    """Execute a statement; None when it is not one that the catalog alone can answer.

    Raises:
        UserError: what was asked is not possible; nothing has changed.
        ConflictError: somebody else changed the same thing meanwhile.
        StorageError: the warehouse cannot be read or written.
    """
    executor = _EXECUTORS.get(type(statement))
    return None if executor is None else executor(statement, context)


__all__ = ["CatalogContext", "execute"]
