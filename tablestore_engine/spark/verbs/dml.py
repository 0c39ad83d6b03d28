"""The verbs on a table's rows: insert, overwrite, delete, update, merge, and compaction after a write.

Every verb writes files first and publishes them by one commit. A verb that read the table before it wrote (delete,
update, merge) conflicts with others that changed what it read; `retrying` runs it again on the new state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pyspark.sql import SparkSession

from tablestore_engine.errors import UserError
from tablestore_engine.metadata.manifest import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.identity import CommitIdentity, new_identity
from tablestore_engine.operation.commit.multiset_enable import schema_to_commit
from tablestore_engine.operation.write.cleanup import removed_unless_committed
from tablestore_engine.operation.write.index_change import index_change
from tablestore_engine.operation.write.new_write import new_job as start_job
from tablestore_engine.operation.write.write_job import WriteJob, WriteResult
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.spark.compact.compactor import compact_after_write
from tablestore_engine.spark.read.reader import read_plan
from tablestore_engine.spark.write.cross_partition import write_routed
from tablestore_engine.spark.write.writer import Rows
from tablestore_engine.table import Table

T = TypeVar("T")


@dataclass(frozen=True)
class WriteOutcome:
    """What a verb did: the snapshot it made (None when nothing changed) and the rows it wrote or changed."""

    snapshot: Snapshot | None
    rows: int
    metrics: Mapping[str, int] = field(default_factory=dict)


def new_job(
    table: Table,
    snapshot: Snapshot | None,
    *,
    schema: TableSchema | None = None,
    into_empty: Callable[[ManifestEntry], bool] | None = None,
    refuse_duplicates: bool = False,
) -> WriteJob:
    """A write job on top of a snapshot. `into_empty` says which live files this write removes."""
    live = table.live_files(snapshot) if snapshot else []
    index = table.index_files(snapshot) if snapshot else []
    target = table.write_target(schema)
    return start_job(
        target, live, index, snapshot.id if snapshot else 0, into_empty=into_empty, refuse_duplicates=refuse_duplicates
    )


def insert(
    spark: SparkSession,
    table: Table,
    rows: Rows,
    *,
    refuse_duplicates: bool = False,
    properties: Mapping[str, str] | None = None,
    identity: CommitIdentity | None = None,
) -> WriteOutcome:
    """Append rows, or upsert them by key. Blind: it reads nothing of the table, so it hardly ever conflicts.

    Raises:
        ConflictError: the table was replaced, or a row-level change overtook this write; run it again.
    """
    snapshot = table.latest_snapshot()
    job = new_job(table, snapshot, refuse_duplicates=refuse_duplicates)
    result = write_routed(spark, table, snapshot, job, rows)
    base_snapshot_id = snapshot.id if snapshot else 0
    return finish(
        spark,
        table,
        job,
        result,
        "APPEND",
        base_snapshot_id=base_snapshot_id,
        read_snapshot=base_snapshot_id if table.schema.crosses_partitions else None,
        properties=properties,
        identity=identity,
    )


def finish(
    spark: SparkSession,
    table: Table,
    job: WriteJob,
    result: WriteResult,
    kind: str,
    *,
    removed: tuple[ManifestEntry, ...] = (),
    replaces: Callable[[ManifestEntry], bool] | None = None,
    restarts: bool = False,
    base_snapshot_id: int | None = None,
    read_snapshot: int | None = None,
    read_buckets: frozenset[tuple[bytes, int]] | None = None,
    new_schema: Callable[[], TableSchema] | None = None,
    properties: Mapping[str, str] | None = None,
    identity: CommitIdentity | None = None,
    rows: int | None = None,
    metrics: Mapping[str, int] | None = None,
) -> WriteOutcome:
    """Commit what a write produced, then compact what is due. For the arguments see `Change`."""
    changed = result.rows_in if rows is None else rows
    if not result.entries and not removed and replaces is None and properties is None:
        return WriteOutcome(None, changed, metrics or {})
    change = Change(
        kind,
        tuple(result.entries),
        removed,
        replaces,
        read_snapshot=read_snapshot,
        read_buckets=read_buckets,
        base_snapshot_id=base_snapshot_id,
        restarts=restarts,
        index=index_change(job, result),
    )
    schema, publisher = job.schema, new_schema
    with removed_unless_committed(job.target, result):
        if publisher is None:
            latest = table.latest_snapshot()
            committed = latest.schema_id if latest else None
            schema, publisher = schema_to_commit(table.schemas, job.schema, committed, result.entries)
        snapshot = table.committer(schema).commit(
            change, identity or new_identity(job.schema.core_options), properties, new_schema=publisher
        )
    if kind == "APPEND" and publisher is None:
        compact_after_write(spark, table, {(e.partition, e.bucket) for e in result.entries})
    if publisher is None:
        table.expire_after_commit()
    return WriteOutcome(snapshot, changed, metrics or {})


def overwrite(
    spark: SparkSession,
    table: Table,
    rows: Rows,
    *,
    replaces: Callable[[ManifestEntry], bool] | None,
    refuse_duplicates: bool = False,
    properties: Mapping[str, str] | None = None,
) -> WriteOutcome:
    """Replace files by rows. `replaces` None: those of the partitions that the rows fall into."""
    snapshot = table.latest_snapshot()
    into_empty = replaces or (lambda entry: True)
    _check_overwrite(table, snapshot, replaces)
    job = new_job(table, snapshot, into_empty=into_empty, refuse_duplicates=refuse_duplicates)
    result = write_routed(spark, table, None, job, rows)
    if replaces is None:
        touched = {e.partition for e in result.entries}
        replaces = lambda entry: entry.partition in touched  # noqa: E731
        if not touched:
            return WriteOutcome(None, 0)
    return finish(spark, table, job, result, "OVERWRITE", replaces=replaces, properties=properties)


def _check_overwrite(table: Table, snapshot: Snapshot | None, replaces: Callable[[ManifestEntry], bool] | None) -> None:
    """Keys that cross partitions may be in those that stay."""
    if not table.schema.crosses_partitions or snapshot is None:
        return
    if replaces is None or not all(replaces(entry) for entry in table.live_files(snapshot)):
        raise UserError(
            "Single partitions cannot be overwritten under a primary key that leaves partition columns out: their new "
            "rows may have keys of other partitions.",
            hint="Overwrite the whole table ('dynamic-partition-overwrite' = 'false'), or DELETE and INSERT the rows.",
        )


def truncate(spark: Callable[[], SparkSession], table: Table, chosen: Callable[[ManifestEntry], bool]) -> WriteOutcome:
    """Remove the chosen files: a metadata change. Spark only counts their rows, where many have to merge."""
    live = [e for e in table.live_files() if chosen(e)]
    if not live:
        return WriteOutcome(None, 0)
    counted = table.count_rows(live)
    rows = counted.rows
    if not counted.exact:
        rows = read_plan(spark(), table, table.plan_of(live)).count()
    snapshot = table.committer().commit(Change("OVERWRITE", replaces=chosen), new_identity(table.options))
    return WriteOutcome(snapshot, rows)
