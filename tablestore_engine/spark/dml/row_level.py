"""Applying a set of changed rows: the common part of DELETE, UPDATE and MERGE.

A *changed row* is a row with the table's columns and `ACTION_COLUMN`: 0 puts the row, 3 removes it. On an append
table, `FILE_COLUMN` and `POSITION_COLUMN` identify the row that it replaces (null for a new one), on a multiset table
`OLD_COLUMN` does (see `multiset_row_level`). Where removed rows of an append table are only marked as deleted, the rows
of a DELETE have no columns of the table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.append_deletion_vectors import keeps_file_vectors, mark_deleted
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.index_change import IndexChange
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.operation.transaction.transaction import begin
from tablestore_engine.operation.write.align_columns import table_rows
from tablestore_engine.operation.write.bucket_assignment import partitions_of
from tablestore_engine.operation.write.cleanup import removed_unless_committed
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN, WriteJob, WriteResult
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.dml.deletion_vectors import marked_rows
from tablestore_engine.spark.dml.insert_overwrite import WriteOutcome, finish, write_files
from tablestore_engine.spark.dml.multiset_row_level import (
    OLD_COLUMN,
    as_records,
    count_changed_rows,
    several_rows,
)
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.spark.queries.kept_rows import kept
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITION_COLUMN
from tablestore_engine.spark.scan.file_scan import read_positions
from tablestore_engine.spark.write.check_constraints import checked
from tablestore_engine.spark.write.writer import Rows, write_held
from tablestore_engine.table import Table

ACTION_COLUMN = "__tablestore_action"


@dataclass(frozen=True)
class Read:
    """The source of the changed rows: a table at a snapshot, and the bytes of all inputs (None: unknown).

    `unread`: no row of the table was read, so the rows are right for any later snapshot too. `is_small`: what computes
    the changed rows certainly reads little.
    """

    table: Table
    snapshot: Snapshot | None
    plan: ScanPlan
    input_bytes: int | None
    intent: WriteIntent = PLAIN
    unread: bool = False
    is_small: bool = False

    @property
    def snapshot_id(self) -> int:
        """The snapshot's id; 0 for a table that had none."""
        return self.snapshot.id if self.snapshot else 0


def write_changed_rows(spark: SparkSession, read: Read, changed: DataFrame) -> WriteOutcome:
    """Write changed rows as one commit, which conflicts when the table changed since it was read.

    Raises:
        ConflictError: run the statement again.
        ConstraintError: a row violates a CHECK constraint.
        PrimaryKeyError, SqlError: a row of the target is changed twice.
    """
    if read.table.state.own_schema is not None:
        read, changed = _under_own_names(read, changed)
    if _puts(read, changed):
        changed = checked(changed, read.table.schema, f"{ACTION_COLUMN} = 0")
    if read.table.schema.primary_keys:
        return _upsert(spark, read, changed)
    if not _puts(read, changed):
        return _mark(spark, read, changed)
    with kept(changed) as rows:
        if OLD_COLUMN in changed.columns:
            return _retract(spark, read, rows)
        if keeps_file_vectors(read.table.schema):
            return _mark(spark, read, rows)
        return _rewrite_files(spark, read, rows)


def _under_own_names(read: Read, changed: DataFrame) -> tuple[Read, DataFrame]:
    """A read through a view and its changed rows, under the names that the columns have in the table."""
    table, shown = read.table.under_own_names(), read.table.schema.field_names
    names = list(zip(shown, table.schema.field_names, strict=True))
    columns = [F.col(quoted_name(name)).alias(own) for name, own in names if name in changed.columns]
    for other in (one for one in changed.columns if one not in shown):
        column = F.col(other)
        if other == OLD_COLUMN:
            old = F.struct(*[column.getField(name).alias(own) for name, own in names])
            column = F.when(column.isNotNull(), old).alias(other)
        columns.append(column)
    plan = ScanPlan(read.plan.snapshot, table.schema, read.plan.buckets)
    return replace(read, table=table, plan=plan), changed.select(*columns)


def _columns(read: Read) -> list[str]:
    return [quoted_name(n) for n in read.table.schema.field_names]


def write_held_rows(spark: SparkSession, read: Read, rows: pa.Table) -> WriteOutcome:
    """Write changed rows of a keyed table that are in memory, with `ROW_KIND_COLUMN`, as `write_changed_rows` does.

    No key crosses partitions, and no CHECK constraint is to be checked.

    Raises:
        ConflictError: run the statement again.
        PrimaryKeyError, SqlError: a row of the target is changed twice.
    """
    schema = read.table.schema
    job = _row_level_job(read, partitions_of(table_rows(rows, schema), schema))
    return _upserted(spark, read, job, write_held(job, rows))


def _upsert(spark: SparkSession, read: Read, changed: DataFrame) -> WriteOutcome:
    kind = F.col(ACTION_COLUMN).cast("tinyint").alias(ROW_KIND_COLUMN)
    job = _row_level_job(read)
    rows = Rows(changed.select(*_columns(read), kind), read.input_bytes, read.is_small)
    return _upserted(spark, read, job, write_files(spark, read.table, read.snapshot, job, rows))


def _row_level_job(read: Read, partitions: frozenset[bytes] | None = None) -> WriteJob:
    return replace(begin(read.table.state, read.intent, read.snapshot, partitions=partitions), row_level=True)


def _upserted(spark: SparkSession, read: Read, job: WriteJob, result: WriteResult) -> WriteOutcome:
    # Keys of other partitions were located in the snapshot.
    reads = not read.unread or read.table.schema.crosses_partitions
    read_snapshot = read.snapshot_id if reads else None
    change = Change("APPEND", base_snapshot_id=job.base_snapshot_id, read_snapshot=read_snapshot)
    return finish(spark, read.table, job, result, change)


def _retract(spark: SparkSession, read: Read, changed: DataFrame) -> WriteOutcome:
    total = count_changed_rows(changed)
    if not total and read.intent.commits_nothing:
        return WriteOutcome(None, 0)
    job = _row_level_job(read)
    frame = as_records(changed, read.table.schema, F.col(ACTION_COLUMN) == 0)
    result = write_files(spark, read.table, read.snapshot, job, Rows(frame, read.input_bytes))
    return finish(spark, read.table, job, result, Change("APPEND", read_snapshot=read.snapshot_id), total)


def _mark(spark: SparkSession, read: Read, changed: DataFrame) -> WriteOutcome:
    rows = marked_rows(changed, read.plan)
    if not rows.changed and read.intent.commits_nothing:
        return WriteOutcome(None, 0)
    if rows.repeated:
        raise several_rows()
    job = begin(read.table.state, read.intent, read.snapshot)
    result = WriteResult()
    with removed_unless_committed(job.target):
        if _puts(read, changed):
            frame = changed.where(F.col(ACTION_COLUMN) == 0).select(*_columns(read))
            put = Rows(frame, read.input_bytes, read.is_small)
            result = write_files(spark, read.table, read.snapshot, job, put)
        marked = mark_deleted(job.target, read.plan, rows.positions)
    index = IndexChange(vectors=marked.vectors) if marked.vectors else None
    result.index.extend(index.written if index else ())
    change = Change(
        "OVERWRITE" if index else "APPEND",
        removed=tuple(entry for bucket in marked.emptied for entry in bucket.removals),
        read_snapshot=read.snapshot_id,
        index=index,
    )
    return finish(spark, read.table, job, result, change, rows.changed)


def _puts(read: Read, changed: DataFrame) -> bool:
    """Whether changed rows have the columns of the table, so that some may be put."""
    return set(read.table.schema.field_names) <= set(changed.columns)


def _rewrite_files(spark: SparkSession, read: Read, changed: DataFrame) -> WriteOutcome:
    positions = F.count_distinct(POSITION_COLUMN).alias("positions")
    by_file = changed.groupBy(FILE_COLUMN).agg(F.count(F.lit(1)).alias("rows"), positions)
    changed_files = collect_arrow(by_file).to_pylist()
    total = sum(one["rows"] for one in changed_files)
    if not total and read.intent.commits_nothing:
        return WriteOutcome(None, 0)
    if any(one[FILE_COLUMN] is not None and one["rows"] != one["positions"] for one in changed_files):
        raise several_rows()
    names = {one[FILE_COLUMN].rsplit("/", 1)[-1] for one in changed_files if one[FILE_COLUMN] is not None}
    kept = ((b, tuple(f for f in b.files if f.file_name in names)) for b in read.plan.buckets)
    buckets = tuple(replace(b, files=files) for b, files in kept if files)
    frame = changed.where(F.col(ACTION_COLUMN) == 0).select(*_columns(read))
    rewritten = ScanPlan(read.snapshot, read.table.schema, buckets)
    if buckets:
        replaced_rows = changed.where(F.col(FILE_COLUMN).isNotNull()).select(FILE_COLUMN, POSITION_COLUMN)
        rest = read_positions(spark, read.table, rewritten)
        rest = rest.join(replaced_rows, [FILE_COLUMN, POSITION_COLUMN], "left_anti")
        frame = rest.select(*_columns(read)).unionAll(frame)
    job = begin(read.table.state, read.intent, read.snapshot)
    known = None if read.input_bytes is None else rewritten.input_bytes + read.input_bytes
    result = write_files(spark, read.table, read.snapshot, job, Rows(frame, known))
    removed = tuple(entry for b in buckets for entry in b.removals)
    kind = "OVERWRITE" if removed else "APPEND"
    change = Change(kind, removed=removed, read_snapshot=read.snapshot_id)
    return finish(spark, read.table, job, result, change, total)
