"""Compacting tables: in executors, a task per bucket or more, or in this process when there is little to do.

All tasks of a compaction share one write id, which is part of the names of its files: on any failure they are
found and removed by it, also those of tasks whose result was lost.
"""

from __future__ import annotations

import os
import pickle
import socket
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from tablestore_engine.errors import ConflictError, TableStoreError
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.compact.auto_compaction import (
    LOCAL_BYTES,
    run_and_commit,
    size_of,
)
from tablestore_engine.operation.compact.compact_bucket import run_compaction
from tablestore_engine.operation.compact.compact_task import Compacted, CompactTask
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks
from tablestore_engine.operation.compact.rewrite_file_index import plan_rewrite, rewrite_index
from tablestore_engine.operation.compact.scheduled_run import PlanResult, run_next
from tablestore_engine.operation.scan.partition_filter import PartitionValuesFilter
from tablestore_engine.operation.scan.plan_scan import stored_buckets
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.table import Table

_ATTEMPTS = 5
Run = Callable[[CompactTask, str], Compacted]
"""Executes one task; the text is unique in the names of its files."""


def compact_table(
    spark: Callable[[], SparkSession],
    table: Table,
    partition_filter: PartitionValuesFilter | None = None,
    *,
    extent: Extent = Extent.FULL,
    skip: Collection[tuple[bytes, int]] = (),
) -> Snapshot | None:
    """Merge every bucket into one sorted run, or less.

    Buckets (by partition and number) in `skip` are left alone. Returns the snapshot, None when there was nothing to do.

    Raises:
        ConflictError: other compactions keep winning.
    """
    done: Snapshot | None = None
    skipped = set(skip)
    for attempt in range(_ATTEMPTS):
        target = table.write_target()
        stored = stored_buckets(table.state, table.latest_snapshot(), partition_filter)
        buckets = [b for b in stored if (b.partition_row, b.bucket) not in skipped]
        tasks = pick_tasks(buckets, target, table.schemas, extent)
        if not tasks:
            return done
        try:
            snapshot = run_and_commit(table.state, tasks, lambda chosen: execute_tasks(spark, chosen))
        except ConflictError:
            if attempt + 1 == _ATTEMPTS and done is None:
                raise
            continue
        if snapshot is None:
            return done
        done = snapshot
        skipped |= _bucket_ids(table, snapshot)
        if all((one.partition, one.bucket) in skipped for one in tasks):
            return done
    return done


def rewrite_indexes(
    spark: Callable[[], SparkSession], table: Table, partition_filter: PartitionValuesFilter | None = None
) -> list[ManifestEntry]:
    """Make the file indexes of all files, or those of some partitions, anew. Returns the ADD entries of those that
    changed.

    Raises:
        ConflictError: other compactions keep winning.
    """
    done: list[ManifestEntry] = []

    def execute(tasks: Sequence[CompactTask]) -> Compacted:
        made = execute_tasks(spark, tasks, rewrite_index)
        done.extend(e for e in made.entries if e.kind == FileKind.ADD)
        return made

    def attempt() -> None:
        done.clear()
        tasks = plan_rewrite(table.scan(partition_filter=partition_filter).buckets, table.write_target(), table.schemas)
        if tasks:
            run_and_commit(table.state, tasks, execute)

    with_retry(attempt)
    return done


def _bucket_ids(table: Table, snapshot: Snapshot) -> set[tuple[bytes, int]]:
    """The partitions and buckets that a snapshot changed."""
    metas = table.manifests.read_list(snapshot.delta_manifest_list)
    return {(e.partition, e.bucket) for meta in metas for e in table.manifests.read_manifest(meta.file_name)}


def run_scheduled(spark: Callable[[], SparkSession], table: Table) -> PlanResult | None:
    """Execute the oldest unclaimed scheduled compaction. None when there is none.

    Raises:
        TableStoreError: it failed and was rolled back.
    """
    return run_next(table.state, owner(), now_millis, lambda chosen: execute_tasks(spark, chosen))


def owner() -> str:
    """The name of this process as owner of a compaction, shown in the timeline."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def execute_tasks(spark: Callable[[], SparkSession], tasks: Sequence[CompactTask], run: Run | None = None) -> Compacted:
    """Run tasks, in executors unless they are small: those of a compaction by default.

    Raises:
        TableStoreError: the first failure; files of other tasks may be left.
    """
    small = sum(map(size_of, tasks)) <= LOCAL_BYTES
    run = run or run_compaction
    outcomes = [_run_one(task, run) for task in tasks] if small else _run_in_executors(spark(), tasks, run)
    for outcome in outcomes:
        if isinstance(outcome, TableStoreError):
            raise outcome
    return Compacted.of(outcomes)


def _run_one(task: CompactTask, run: Run) -> Any:
    try:
        return run(task, f"c{uuid.uuid4().hex[:8]}-")
    except TableStoreError as error:
        return error


def _run_in_executors(spark: SparkSession, tasks: Sequence[CompactTask], run: Run) -> list[Any]:
    """One Spark task for each, the largest first; each gets its number from its range."""
    pickled = [pickle.dumps(task) for task in sorted(tasks, key=size_of, reverse=True)]

    def run_all(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                outcome = _run_one(pickle.loads(pickled[number]), run)  # noqa: S301 - our own
                data = pa.array([pickle.dumps(outcome)], pa.binary())
                yield pa.RecordBatch.from_arrays([data], names=["payload"])

    numbers = spark.range(0, len(pickled), 1, numPartitions=len(pickled))
    payloads = collect_arrow(numbers.mapInArrow(run_all, "payload binary"))
    return [pickle.loads(p) for p in payloads.column("payload").to_pylist()]  # noqa: S301 - our own
