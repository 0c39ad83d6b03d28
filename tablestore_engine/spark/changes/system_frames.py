"""System tables as DataFrames: the rows of `system.system_tables`, and the system tables whose rows are data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.spark.changes.audit_log import audit_log
from tablestore_engine.spark.read.reader import TableReader
from tablestore_engine.system.system_tables import system_rows
from tablestore_engine.table import Table


def read_optimized(spark: SparkSession, table: Table, snapshot: Snapshot | None) -> DataFrame:
    """The rows as of the last full compaction of each bucket: only files of the top level are read, so nothing is
    merged. All rows of a table without a key."""
    plan = table.scan(snapshot)
    if plan.schema.primary_keys:
        top = plan.schema.core_options.num_levels - 1
        at_top = (replace(b, files=tuple(f for f in b.files if f.level >= top)) for b in plan.buckets)
        plan = replace(plan, buckets=tuple(b for b in at_top if b.files))
    return TableReader(spark, table, plan, None).frame()


FRAME_TABLES: dict[str, Callable[[SparkSession, Table, Snapshot | None], DataFrame]] = {
    "audit_log": audit_log,
    "ro": read_optimized,
    "read_optimized": read_optimized,
}


def system_table(
    spark: SparkSession, table: Table, name: str, snapshot: Snapshot | None, *, travels: bool = False
) -> DataFrame:
    """The rows of `table$name` at a snapshot; `travels` says that the query asks for this one.

    Raises:
        TableNotFound: there is no such system table; the message says which there are.
        SqlError: an earlier snapshot of what belongs to the whole table.
    """
    if name in FRAME_TABLES:
        if travels and snapshot is not None:
            table = table.with_schema(table.schema_of(snapshot))
        return FRAME_TABLES[name](spark, table, snapshot)
    schema, rows = system_rows(table, name, snapshot, travels=travels)
    return spark.createDataFrame(rows, schema)
