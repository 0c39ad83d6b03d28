"""The verbs on a table's rows: insert, overwrite, truncate, and the last step of every other verb (`finish`).

Every verb writes files first and publishes them by one commit (`operation.transaction.transaction`). A verb that read
the table before it wrote (delete, update, merge) conflicts with others that changed what it read; `with_retry` runs it
again on the new state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from pyspark.sql import SparkSession

from tablestore_engine.errors import UserError
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.replace_table import everything
from tablestore_engine.operation.table_commands.after_commit import follow, follow_none
from tablestore_engine.operation.transaction.transaction import begin, publish, publish_change
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.operation.write_job.write_job import WriteJob, WriteResult
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.spark.compact.compactor import execute_tasks
from tablestore_engine.spark.read.merge_on_read import read_plan
from tablestore_engine.spark.write.check_constraints import checked
from tablestore_engine.spark.write.cross_partition_joins import write_routed
from tablestore_engine.spark.write.writer import Rows, write_rows
from tablestore_engine.table import Table


@dataclass(frozen=True)
class WriteOutcome:
    """The result of a verb: the snapshot it made (None when nothing changed) and the rows it wrote or changed."""

    snapshot: Snapshot | None
    rows: int


def insert(spark: SparkSession, table: Table, rows: Rows, intent: WriteIntent = PLAIN) -> WriteOutcome:
    """Append rows, or upsert them by key. It reads nothing of the table, so it rarely conflicts.

    Raises:
        ConflictError: the table was replaced, or a row-level change was committed first; run it again.
    """
    snapshot = table.latest_snapshot()
    job = begin(table.state, intent, snapshot)
    result = write_files(spark, table, snapshot, job, _checked(rows, table))
    base = job.base_snapshot_id
    read_snapshot = base if table.schema.crosses_partitions else None
    return finish(spark, table, job, result, Change("APPEND", base_snapshot_id=base, read_snapshot=read_snapshot))


def _checked(rows: Rows, table: Table) -> Rows:
    return replace(rows, frame=checked(rows.frame, table.schema))


def write_files(spark: SparkSession, table: Table, snapshot: Snapshot | None, job: WriteJob, rows: Rows) -> WriteResult:
    """Write rows into files. Those whose key may be in another partition are routed first.

    Keys are located in `snapshot`; None when the write replaces the whole table.
    """
    if job.schema.crosses_partitions:
        return write_routed(spark, table, snapshot, job, rows)
    return write_rows(spark, job, rows)


def finish(
    spark: SparkSession, table: Table, job: WriteJob, result: WriteResult, change: Change, rows: int | None = None
) -> WriteOutcome:
    """Publish the files of a write, if there are any. `rows` is the reported number of rows, by default of those
    given."""
    counted = result.rows_in if rows is None else rows
    removes = change.removed or change.restarts or change.replaces is not None or change.index is not None
    execute = partial(execute_tasks, lambda: spark)
    empty = not result.entries and not removes
    snapshot = None
    if not (empty and job.intent.commits_nothing):
        snapshot = follow(publish(table.state, job, result, change), execute)
    if empty:
        follow_none(table.state, execute)
    return WriteOutcome(snapshot, counted)


def overwrite(
    spark: SparkSession,
    table: Table,
    rows: Rows,
    replaces: Callable[[ManifestEntry], bool] | None,
    intent: WriteIntent = PLAIN,
) -> WriteOutcome:
    """Replace files by rows. `replaces` None: those of the partitions of the rows."""
    snapshot = table.latest_snapshot()
    _check_overwrite(table, snapshot, replaces)
    job = begin(table.state, intent, snapshot, removes=replaces or everything)
    result = write_files(spark, table, None, job, _checked(rows, table))
    if replaces is None:
        written = {e.partition for e in result.entries}
        if not written and intent.commits_nothing:
            return finish(spark, table, job, result, Change("OVERWRITE"), 0)
        replaces = _overwritten(table.schema, written)
    return finish(spark, table, job, result, Change("OVERWRITE", replaces=replaces))


def _overwritten(schema: TableSchema, written: set[bytes]) -> Callable[[ManifestEntry], bool]:
    """Chooses the files of written partitions, also of those that were written with other partition columns."""
    partition_format = PartitionFormat(schema)
    values = [dict(enumerate(partition_format.decode(row))) for row in written]

    def chosen(entry: ManifestEntry) -> bool:
        if partition_format.is_current(entry.partition):
            return entry.partition in written
        return any(partition_format.covers(one, entry.partition) for one in values)

    return chosen


def _check_overwrite(table: Table, snapshot: Snapshot | None, replaces: Callable[[ManifestEntry], bool] | None) -> None:
    """Refuse keys across partitions: they may be in a partition that is kept."""
    if not table.schema.crosses_partitions or snapshot is None:
        return
    if replaces is None or not all(replaces(entry) for entry in table.live_files(snapshot)):
        raise UserError(
            "Single partitions cannot be overwritten under a primary key that leaves partition columns out: their new "
            "rows may have keys of other partitions.",
            hint="Overwrite the whole table ('dynamic-partition-overwrite' = 'false'), or DELETE and INSERT the rows.",
        )


def truncate(
    spark: Callable[[], SparkSession],
    table: Table,
    chosen: Callable[[ManifestEntry], bool],
    intent: WriteIntent = PLAIN,
) -> WriteOutcome:
    """Remove the chosen files: a metadata change. Spark only counts their rows, if many have to merge."""
    live = [e for e in table.live_files() if chosen(e)]
    if not live and intent.commits_nothing:
        return WriteOutcome(None, 0)
    counted = table.count_rows(live)
    rows = counted.rows
    if not counted.exact:
        rows = read_plan(spark(), table, table.plan_of(live)).count()
    change = Change("OVERWRITE", replaces=chosen)
    return WriteOutcome(follow(publish_change(table.state, change, intent)), rows)
