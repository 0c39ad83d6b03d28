"""Executing ALTER TABLE … CLUSTERED INTO n BUCKETS and ADD PRIMARY KEY."""

from __future__ import annotations

from tablestore_engine.spark.dml.rewrite import add_primary_key, rescale
from tablestore_engine.sql.catalog.partition_spec import clause_values, partition_filter
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.layout import AddPrimaryKey, ClusterTable
from tablestore_engine.sql.write_statements.execute_create_as import BYTES_PER_BUCKET, MAX_DEFAULT_BUCKETS
from tablestore_engine.sql.write_statements.statement_context import RowContext, result_of


def execute_cluster(statement: ClusterTable, context: RowContext) -> StatementResult:
    """Rewrite the table, or some of its partitions, into another number of buckets."""
    table = context.table(statement.table)
    wanted = clause_values(table.schema, statement.partition, context.resolver)
    chosen = partition_filter(table.schema, wanted)
    outcome = rescale(
        context.spark,
        lambda: context.table(statement.table),
        statement.buckets,
        chosen,
        now_millis=context.now_millis,
    )
    return result_of("ALTER TABLE", outcome)


def execute_add_primary_key(statement: AddPrimaryKey, context: RowContext) -> StatementResult:
    """Rewrite a table without a key under a primary key."""
    outcome = add_primary_key(
        context.spark,
        lambda: context.table(statement.table),
        statement.columns,
        BYTES_PER_BUCKET,
        MAX_DEFAULT_BUCKETS,
        now_millis=context.now_millis,
    )
    return result_of("ALTER TABLE", outcome)
