"""System tables as DataFrames: the rows of `system.system_tables`, and the system tables whose rows are data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.errors import OptionError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.spark.changelog.audit_log import ROW_KIND_COLUMN, audit_log
from tablestore_engine.spark.changelog.binlog import binlog_between, single_rows
from tablestore_engine.spark.changelog.read_changes import READ_OPTIONS, asked_range, read_changes
from tablestore_engine.spark.read.merge_on_read import TableReader
from tablestore_engine.system.system_tables import system_rows
from tablestore_engine.table import Table

_NO_OPTIONS: Final[Mapping[str, str]] = MappingProxyType({})


def read_optimized(spark: SparkSession, table: Table, snapshot: Snapshot | None) -> DataFrame:
    """The rows as of the last full compaction of each bucket: only files of the top level are read, so nothing is
    merged. All rows of a table without a key."""
    plan = table.scan(snapshot)
    if plan.schema.primary_keys:
        top = plan.schema.core_options.num_levels - 1
        at_top = (replace(b, files=tuple(f for f in b.files if f.level >= top)) for b in plan.buckets)
        plan = replace(plan, buckets=tuple(b for b in at_top if b.files))
    return TableReader(spark, table, plan, None).frame()


def binlog(spark: SparkSession, table: Table, snapshot: Snapshot | None) -> DataFrame:
    """The rows of the audit log, each column as a list."""
    return single_rows(audit_log(spark, table, snapshot))


FRAME_TABLES: dict[str, Callable[[SparkSession, Table, Snapshot | None], DataFrame]] = {
    "audit_log": audit_log,
    "binlog": binlog,
    "ro": read_optimized,
    "read_optimized": read_optimized,
}


def _changes_between(spark: SparkSession, table: Table, name: str, options: Mapping[str, str]) -> DataFrame:
    other = next((key for key in options if key not in READ_OPTIONS), None)
    if other is not None or name not in ("audit_log", "binlog"):
        raise OptionError(
            f"Option '{other or next(iter(options))}' has no effect on the system table '{table.name}${name}'.",
            hint=f"audit_log and binlog take: {', '.join(READ_OPTIONS)}.",
        )
    auto = "auto" if table.options.changelog_producer == "none" else "changelog"
    between, mode = asked_range(table, options, auto=auto)
    if name == "binlog":
        return binlog_between(spark, table, between, mode)
    return read_changes(spark, table, between, mode=mode).withColumnRenamed(ROW_KIND, ROW_KIND_COLUMN)


def system_table(
    spark: SparkSession,
    table: Table,
    name: str,
    snapshot: Snapshot | None,
    *,
    travels: bool = False,
    options: Mapping[str, str] = _NO_OPTIONS,
) -> DataFrame:
    """The rows of `table$name` at a snapshot; `travels` says that the query asks for this one.

    `options` are those of the query's hint: a range of snapshots makes `audit_log` and `binlog` show its changes.

    Raises:
        TableNotFound: there is no such system table; the message says which there are.
        SqlError: an earlier snapshot of what belongs to the whole table.
        OptionError: options that the system table does not have.
    """
    if options:
        return _changes_between(spark, table, name, options)
    if name in FRAME_TABLES:
        if travels and snapshot is not None:
            table = table.with_schema(table.schema_of(snapshot))
        return FRAME_TABLES[name](spark, table, snapshot)
    schema, rows = system_rows(table, name, snapshot, travels=travels)
    return spark.createDataFrame(rows, schema)
