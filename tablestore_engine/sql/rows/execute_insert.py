"""Executing INSERT, INSERT OVERWRITE and TRUNCATE."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tablestore_engine.errors import (
    SqlError,
)
from tablestore_engine.metadata.manifest import ManifestEntry
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.spark.verbs.insert_overwrite import (
    insert,
    overwrite,
    truncate,
)
from tablestore_engine.spark.write.align import align, expression
from tablestore_engine.spark.write.writer import Rows
from tablestore_engine.sql.catalog.partition_spec import clause_values, partition_field
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.rows.frames import Frames
from tablestore_engine.sql.rows.partition_pruning import files_of, written_values
from tablestore_engine.sql.statements.row import InsertInto, InsertOverwrite
from tablestore_engine.sql.statements.statement import PartitionSpec
from tablestore_engine.sql.statements.table import Truncate
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import Column


from tablestore_engine.sql.rows.row_context import RowContext, result_of


def execute_insert(statement: InsertInto, context: RowContext) -> StatementResult:
    """INSERT INTO: append rows, or upsert them by key.

    It conflicts only if the table was replaced or rescaled meanwhile; then it runs again.
    """
    return with_retry(lambda: _insert(statement, context))


def _insert(statement: InsertInto, context: RowContext) -> StatementResult:
    table = context.table(statement.table)
    frames = context.frames()
    frame = frames.query(statement.query_sql)
    static = _static_columns(statement.partition, table.schema, frames)
    aligned = align(frame, table.schema, statement.columns, static, by_name=statement.by_name)
    outcome = insert(frames.spark, table, Rows(aligned, frames.input_bytes), context.intent)
    return result_of("UPSERT" if table.schema.primary_keys else "INSERT", outcome)


def execute_overwrite(statement: InsertOverwrite, context: RowContext) -> StatementResult:
    """INSERT OVERWRITE: replace the table, the named partitions, or those of the rows."""
    table = context.table(statement.table)
    schema = table.schema
    if statement.replace_where_sql is not None:
        raise SqlError(
            "INSERT INTO … REPLACE WHERE is not supported.",
            hint="DELETE the rows first, or overwrite whole partitions.",
        )
    frames = context.frames()
    frame = frames.query(statement.query_sql)
    static = _static_columns(statement.partition, schema, frames)
    aligned = align(frame, schema, statement.columns, static, by_name=statement.by_name)
    replaces = None
    if not _by_rows(statement, schema):
        replaces = files_of(written_values(statement.partition, schema, frames), schema)
    if statement.if_not_exists and _is_there(statement, table, replaces):
        return StatementResult("OVERWRITE", 0)
    outcome = overwrite(frames.spark, table, Rows(aligned, frames.input_bytes), replaces, context.intent)
    return result_of("OVERWRITE", outcome)


def _by_rows(statement: InsertOverwrite, schema: TableSchema) -> bool:
    """Whether the partitions of the rows are replaced."""
    if not schema.partition_keys:
        return False
    if statement.partition:
        return any(v.value_sql is None for v in statement.partition)
    return schema.core_options.dynamic_partition_overwrite


def _is_there(statement: InsertOverwrite, table: Table, replaces: Callable[[ManifestEntry], bool] | None) -> bool:
    """Whether the partition of IF NOT EXISTS has files."""
    missing = set(table.schema.partition_keys) - {
        partition_field(v.column, table.schema).name for v in statement.partition
    }
    if replaces is None or missing or not statement.partition:
        raise SqlError("IF NOT EXISTS needs a PARTITION clause with a value for every partition column.")
    return any(replaces(entry) for entry in table.live_files())


def execute_truncate(statement: Truncate, context: RowContext) -> StatementResult:
    """TRUNCATE TABLE [PARTITION]: a metadata change."""
    table = context.table(statement.table)
    chosen = files_of(clause_values(table.schema, statement.partition), table.schema)
    return result_of("TRUNCATE TABLE", truncate(context.spark, table, chosen))


def _static_columns(spec: PartitionSpec, schema: TableSchema, frames: Frames) -> dict[str, Column]:
    columns = {}
    for entry in spec:
        field = partition_field(entry.column, schema)
        if entry.value_sql is not None:
            columns[field.name.lower()] = expression(frames.expression(entry.value_sql, {}))
    return columns
