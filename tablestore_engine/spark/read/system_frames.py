"""System tables as DataFrames: the rows of `system.system_tables`, and the system tables whose rows are data."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.spark.read.audit_log import audit_log
from tablestore_engine.system.system_tables import system_rows
from tablestore_engine.table import Table

FRAME_TABLES: dict[str, Callable[[SparkSession, Table, Snapshot | None], DataFrame]] = {"audit_log": audit_log}


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
