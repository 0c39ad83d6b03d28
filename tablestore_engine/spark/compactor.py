"""Running compaction tasks: in executors, one task per bucket, or in this process when there is little to do."""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from tablestore_engine.errors import ConflictError, TableStoreError
from tablestore_engine.metadata.manifest import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit import Change
from tablestore_engine.operation.compact import CompactTask, run_compaction
from tablestore_engine.operation.compact_plan import plan_compaction
from tablestore_engine.operation.new_write import new_identity
from tablestore_engine.operation.scan import PartitionFilter
from tablestore_engine.spark.run import collect_arrow
from tablestore_engine.table import Table

LOCAL_BYTES = 32 << 20
_ATTEMPTS = 5


def compact_table(
    spark: Callable[[], SparkSession], table: Table, partition_filter: PartitionFilter | None = None
) -> Snapshot | None:
    """Merge every bucket into one sorted run. Returns the snapshot, None when there was nothing to do.

    Raises:
        ConflictError: other compactions keep winning.
    """
    for attempt in range(_ATTEMPTS):
        target = table.write_target()
        plan = table.scan(partition_filter=partition_filter)
        tasks = plan_compaction(plan.buckets, target, table.schemas.load, full=True)
        if not tasks:
            return None
        try:
            return _run_and_commit(spark, table, tasks)
        except ConflictError:
            if attempt + 1 == _ATTEMPTS:
                raise
    return None


def compact_after_write(
    spark: SparkSession, table: Table, touched: Collection[tuple[bytes, int]]
) -> Snapshot | None:
    """Merge where runs have piled up past the trigger. Never fails the write that came before it."""
    if table.options.write_only or not touched:
        return None
    try:
        plan = table.scan()
        due = [b for b in plan.buckets if (b.partition_row, b.bucket) in touched]
        tasks = plan_compaction(due, table.write_target(), table.schemas.load, full=False)
        return _run_and_commit(lambda: spark, table, tasks) if tasks else None
    except TableStoreError:
        return None  # the next write, or an explicit COMPACT, tries again


def _run_and_commit(
    spark: Callable[[], SparkSession], table: Table, tasks: list[CompactTask]
) -> Snapshot | None:
    size = sum(f.file_size for t in tasks for f in t.files)
    outcomes = _run_local(tasks) if size <= LOCAL_BYTES else _run_in_executors(spark(), tasks)
    entries: list[ManifestEntry] = []
    errors = [one for one in outcomes if isinstance(one, TableStoreError)]
    for outcome in outcomes:
        if not isinstance(outcome, TableStoreError):
            entries.extend(outcome)
    if errors:
        _remove_new(table, tasks, entries)
        raise errors[0]
    if not entries:
        return None
    try:
        change = Change(
            "COMPACT",
            added=tuple(e for e in entries if e.kind == FileKind.ADD),
            removed=tuple(e for e in entries if e.kind == FileKind.DELETE),
        )
        return table.committer().commit(change, new_identity(table.options, "compact"))
    except ConflictError:
        _remove_new(table, tasks, entries)
        raise


def _remove_new(table: Table, tasks: list[CompactTask], entries: list[ManifestEntry]) -> None:
    """Remove the files that a compaction wrote and that will not be committed."""
    places = {(t.partition, t.bucket): t for t in tasks}
    kept = {f.file_name for t in tasks for f in t.files}
    for entry in entries:
        if entry.kind == FileKind.ADD and entry.file.file_name not in kept:
            task = places[entry.partition, entry.bucket]
            directory = table.paths.bucket_dir(task.partition_path, task.bucket)
            table.io.delete(f"{directory}/{entry.file.file_name}")


def _run_local(tasks: list[CompactTask]) -> list[Any]:
    return [_run_one(task) for task in tasks]


def _run_one(task: CompactTask) -> Any:
    try:
        return run_compaction(task, f"c{uuid.uuid4().hex[:8]}-")
    except TableStoreError as error:
        return error


def _run_in_executors(spark: SparkSession, tasks: list[CompactTask]) -> list[Any]:
    rows = [(bytearray(pickle.dumps(task)),) for task in sorted(tasks, key=_size, reverse=True)]
    frame = spark.createDataFrame(rows, "task binary").repartition(len(rows))
    payloads = collect_arrow(frame.mapInArrow(_execute, "payload binary"))
    return [pickle.loads(p) for p in payloads.column("payload").to_pylist()]  # noqa: S301 - our own


def _size(task: CompactTask) -> int:
    return sum(f.file_size for f in task.files)


def _execute(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for pickled in batch.column("task").to_pylist():
            outcome = _run_one(pickle.loads(pickled))  # noqa: S301 - our own
            data = pa.array([pickle.dumps(outcome)], pa.binary())
            yield pa.RecordBatch.from_arrays([data], names=["payload"])
