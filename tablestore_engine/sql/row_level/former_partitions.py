"""Statements about a partition whose rows are in one of before, together with rows of others.

The hour 1 of `dt=a`, if it was written before `hr` became a partition column: such statements become changes of rows,
so the files are written anew without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.sql.catalog.execute_context import CatalogContext
from tablestore_engine.sql.catalog.execute_partitions import drop_partitions
from tablestore_engine.sql.catalog.partition_spec import clause_values, static_values
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.row_level.execute_update_delete import execute_delete
from tablestore_engine.sql.row_level.replace_where import execute_replace_where
from tablestore_engine.sql.statements.partition import DropPartitions
from tablestore_engine.sql.statements.row import Delete, InsertOverwrite
from tablestore_engine.sql.statements.table import Truncate
from tablestore_engine.sql.write_statements.execute_insert import (
    by_rows,
    execute_overwrite,
    execute_truncate,
    written_values,
)
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table


def overwrite_partition(statement: InsertOverwrite, context: RowContext) -> StatementResult:
    """INSERT OVERWRITE, whose PARTITION clause may name some rows of a partition of before."""
    table = context.table(statement.table)
    if _had_others(table) and statement.partition and not statement.if_not_exists:
        frames = context.frames()
        if not by_rows(statement, table.schema, frames.spark):
            wanted = written_values(statement.partition, table.schema, frames)
            if _splits(table, wanted):
                where = partition_condition(table.schema, wanted)
                return execute_replace_where(replace(statement, replace_where_sql=where), context)
    return execute_overwrite(statement, context)


def truncate_partition(statement: Truncate, context: RowContext) -> StatementResult:
    """TRUNCATE TABLE [PARTITION]."""
    table = context.table(statement.table)
    if _had_others(table):
        wanted = clause_values(table.schema, statement.partition, context.resolver)
        if _splits(table, wanted):
            where = partition_condition(table.schema, wanted)
            done = execute_delete(Delete(sql=statement.sql, table=statement.table, where_sql=where), context)
            return replace(done, kind="TRUNCATE TABLE")
    return execute_truncate(statement, context)


def drop_partitions_or_rows(statement: DropPartitions, context: RowContext) -> StatementResult:
    """ALTER TABLE … DROP PARTITION: of whole partitions, where these are all."""
    names = CatalogContext(context.catalog, context.database, resolver=context.resolver)
    return drop_partitions(statement, names, context.intent) or _drop_rows(statement, context)


def _drop_rows(statement: DropPartitions, context: RowContext) -> StatementResult:
    schema = context.table(statement.table).schema
    specs = [partition_condition(schema, static_values(schema, one)) for one in statement.partitions]
    where = " OR ".join(f"({one})" for one in specs)
    execute_delete(Delete(sql=statement.sql, table=statement.table, where_sql=where), context)
    return StatementResult("DROP PARTITION")


def partition_condition(schema: TableSchema, wanted: Mapping[str, Any]) -> str:
    """SQL that is true for the rows with these values of partition columns."""
    parts = (
        f"{quoted_name(name)} IS NULL"
        if value is None
        else f"{quoted_name(name)} = {literal(value, schema.field(name).type)}"
        for name, value in wanted.items()
    )
    return " AND ".join(parts)


def _had_others(table: Table) -> bool:
    """Whether files may have other partition columns than new ones."""
    return len(table.schema.partition_layouts) > 1


def _splits(table: Table, wanted: Mapping[str, Any]) -> bool:
    """Whether some, and perhaps not all, rows of a partition have these values."""
    partition_format = PartitionFormat(table.schema)
    by_index = {table.schema.partition_keys.index(name): value for name, value in wanted.items()}
    return any(partition_format.splits(by_index, row) for row in {entry.partition for entry in table.live_files()})
