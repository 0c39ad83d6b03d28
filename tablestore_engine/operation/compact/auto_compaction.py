"""Compaction right after a write: merges the written buckets that reached their triggers, by a separate commit.

Invariants: the write has succeeded, so a failure here is not its failure: the next write, or an explicit COMPACT, tries
again; `write-only` tables are left to a job; buckets of a running scheduled compaction are left to it. An argument
decides where the tasks run: in executors, or in this process.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from tablestore_engine.errors import ConflictError, SnapshotNotFound, TableStoreError
from tablestore_engine.mergetree.compaction.levels import sorted_runs
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.append_deletion_vectors import without_removed
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.commit.conflicts import NewFiles, fitting
from tablestore_engine.operation.commit.index_change import BucketId, IndexChange, vector_conflicts
from tablestore_engine.operation.compact.compact_task import Compacted, CompactTask, Execute
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks
from tablestore_engine.operation.compact.schedule_compaction import schedule_after_commit
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.files.index_files import index_entries
from tablestore_engine.operation.files.rolling_writer import WriteTarget, write_target
from tablestore_engine.operation.scan.partition_filter import PartitionFilter
from tablestore_engine.operation.scan.plan_scan import live_entries, plan_scan, stored_buckets
from tablestore_engine.operation.transaction.transaction import publish_change, with_retry
from tablestore_engine.operation.write.cleanup import remove_files, remove_written, removed_unless_committed
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.operation.write_job.write_job import WriteResult
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.table_state import TableState

LOCAL_BYTES = 32 << 20
"""Bytes of files that the writing process merges itself, without Spark: about a second."""
FULL = "tablestore.full-compaction"
"""Property of the snapshot of a compaction that `full-compaction.delta-commits` asked for."""
_REPLACED = (
    "Files of table {table} that a compaction was to merge are not part of the table any more: another process replaced"
    " them meanwhile. Nothing is lost."
)


def execute_small(tasks: Sequence[CompactTask]) -> Compacted:
    """Run the smallest tasks in this process, up to `LOCAL_BYTES`. Larger ones are left to Spark."""
    smallest = sorted(tasks, key=size_of)
    totals = accumulate(map(size_of, smallest))
    return execute_here([one for one, total in zip(smallest, totals, strict=True) if total <= LOCAL_BYTES])


def compact_written(
    state: TableState, written: Collection[tuple[bytes, int]], execute: Execute = execute_small
) -> Snapshot | None:
    """Merge buckets whose runs exceed the trigger, or schedule that; `written` are partitions and bucket numbers.

    Merges that a write waits for, by the table's options, run in this process, however large they are, where `execute`
    takes small tasks only. Returns the snapshot; None when nothing was merged.

    Raises:
        TableStoreError: see `run_and_commit`.
    """
    whatever_size = execute_here if execute is execute_small else execute
    if not written:
        return None
    if state.schema.reads_files_alone:
        return None if state.options.write_only else merge_unread(state, whatever_size)
    options, now = state.options, now_millis()
    if options.compaction_schedule_enabled:
        schedule_after_commit(state, now)
    elif options.write_only:
        return None
    elif is_full_due(state):
        return _run(state, _due_tasks(state, None, Extent.FULL), whatever_size, {FULL: "true"})
    elif options.force_compact:
        return _run(state, _due_tasks(state, written, Extent.UNMERGED), whatever_size)
    stopped = _stopped(state, written)
    if stopped:
        _run(state, _due_tasks(state, stopped, Extent.UNMERGED), whatever_size)
    left = set(written) - stopped
    return None if options.compaction_schedule_enabled else _run(state, _due_tasks(state, left), execute)


def merge_unread(state: TableState, execute: Execute = execute_here) -> Snapshot | None:
    """Merge what is at level 0 of a table with deletion vectors: its readers leave that out. In other tables nothing.

    Also of a `write-only` table, for statements that must read all of its rows.

    Raises:
        ConflictError: other compactions keep winning.
        TableStoreError: see `run_and_commit`.
    """
    if not state.schema.reads_files_alone:
        return None

    def attempt() -> Snapshot | None:
        if is_full_due(state):
            return _run(state, _due_tasks(state, None, Extent.FULL), execute, {FULL: "true"})
        return _run(state, _due_tasks(state, None), execute)

    return with_retry(attempt)


def _run(
    state: TableState, tasks: Sequence[CompactTask], execute: Execute, properties: Mapping[str, str] | None = None
) -> Snapshot | None:
    return run_and_commit(state, tasks, execute, properties) if tasks else None


def is_full_due(state: TableState) -> bool:
    """Whether the newest write completes the count of `full-compaction.delta-commits`.

    The count begins at the last full compaction that it caused, or at the oldest snapshot.
    """
    every, snapshot, writes = state.options.full_compaction_delta_commits, state.snapshots.latest(), 0
    if every is None or snapshot is None:
        return False
    while FULL not in (snapshot.properties or {}):
        writes += snapshot.commit_kind in ("APPEND", "OVERWRITE")
        if writes >= every or snapshot.id == 1:
            return writes >= every
        try:
            snapshot = state.snapshots.load(snapshot.id - 1)
        except SnapshotNotFound:
            return True  # more than the kept snapshots
    return False


def run_and_commit(
    state: TableState,
    tasks: Sequence[CompactTask],
    execute: Execute,
    properties: Mapping[str, str] | None = None,
) -> Snapshot | None:
    """Run tasks of one write target, and commit their results. On failure their files are removed.

    A bucket that another process compacted first is left as it is, and so is one whose task fails; other buckets are
    not affected. The files that such a process replaced may have expired while a task read them.

    Raises:
        ConflictError: other processes compacted every bucket first.
        TableStoreError: the error of a task or of the commit; other tasks may have been committed.
    """
    target = tasks[0].target
    index = None
    try:
        if target.schema.reads_files_alone:
            made = execute(tasks)
            index = IndexChange(vectors=made.vectors) if made.vectors else None
        else:
            made = execute([one.with_own_deletions() for one in tasks])
            buckets = {bucket_id: some[0].deletions for bucket_id, some in _buckets_of(tasks).items()}
            index = without_removed(target, buckets, made.entries)
    except TableStoreError as error:
        remove_files(target)
        if len(_buckets_of(tasks)) == 1:
            if _are_replaced(state, tasks):
                raise ConflictError(_REPLACED.format(table=state.name)) from error
            raise
        return _by_halves(state, tasks, execute, properties)
    except BaseException:
        remove_files(target)
        raise
    entries = made.entries
    if not entries:
        return None
    done = NewFiles(
        tuple(e for e in entries if e.kind == FileKind.ADD),
        tuple(e for e in entries if e.kind == FileKind.DELETE),
        "COMPACT",
    )
    with removed_unless_committed(target, WriteResult(entries, list(index.written) if index else [])):
        return _commit_what_fits(state, target, done, index, properties)


def _buckets_of(tasks: Sequence[CompactTask]) -> dict[BucketId, list[CompactTask]]:
    """Tasks by bucket. Those of one bucket are committed together: they begin with the same deletion vectors."""
    found: dict[BucketId, list[CompactTask]] = {}
    for one in tasks:
        found.setdefault((one.partition, one.bucket), []).append(one)
    return found


def _are_replaced(state: TableState, tasks: Sequence[CompactTask]) -> bool:
    """Whether the table has a file of tasks no more."""
    named = {one.partition for one in tasks}
    latest = state.snapshots.latest()
    live = {f.file_name for b in stored_buckets(state, latest, named=named) for f in b.files}
    return any(f.file_name not in live for one in tasks for f in one.files)


def _by_halves(
    state: TableState, tasks: Sequence[CompactTask], execute: Execute, properties: Mapping[str, str] | None
) -> Snapshot | None:
    """Run tasks of which one has failed, until only its bucket is left. Raises its error when all others are done."""
    snapshot, failure = None, None
    buckets = list(_buckets_of(tasks).values())
    for half in (buckets[: len(buckets) // 2], buckets[len(buckets) // 2 :]):
        write_id = str(uuid.uuid4())  # by which the files of a failed task are found
        own = [replace(one, target=replace(one.target, write_id=write_id)) for some in half for one in some]
        try:
            snapshot = run_and_commit(state, own, execute, properties) or snapshot
        except TableStoreError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return snapshot


def _commit_what_fits(
    state: TableState,
    target: WriteTarget,
    done: NewFiles,
    index: IndexChange | None,
    properties: Mapping[str, str] | None,
) -> Snapshot:
    intent = WriteIntent(properties=properties, identity=new_identity(state.options, "compact"))
    while True:
        try:
            return publish_change(state, Change("COMPACT", done.added, done.removed, index=index), intent).snapshot
        except ConflictError:
            if state.schema.reads_files_alone:
                raise  # readers wait for every bucket; the caller begins again
            left, left_index = _what_fits(state, done, index)
            if not left.removed or len(left.removed) == len(done.removed):
                raise  # no bucket of it fits, or the conflict is not about single buckets
        kept = {e.identifier for e in left.added}
        in_vain = WriteResult([e for e in done.added if e.identifier not in kept])
        if index is not None and left_index is not None:
            in_vain.index.extend(one for one in index.written if one not in left_index.written)
        remove_written(target, in_vain)
        done, index = left, left_index


def _what_fits(state: TableState, done: NewFiles, index: IndexChange | None) -> tuple[NewFiles, IndexChange | None]:
    """The part of a compaction, and of its vectors, in the buckets that it still fits."""
    latest = state.snapshots.latest()
    named = {e.partition for e in (*done.added, *done.removed)}
    named |= {partition for partition, _ in (index.vectors if index is not None else ())}
    choice = PartitionFilter.of(state.schema, named)
    live = live_entries(state.manifests, latest, choice) if latest else []
    left = fitting(state.schema, live, done)
    if index is None:
        return left, None
    void = vector_conflicts(index_entries(state.manifests, latest), live, index).keys()
    added, removed = (
        tuple(e for e in entries if (e.partition, e.bucket) not in void) for entries in (left.added, left.removed)
    )
    kept = {(e.partition, e.bucket) for e in removed}
    vectors = {bucket_id: one for bucket_id, one in index.vectors.items() if bucket_id in kept}
    return replace(left, added=added, removed=removed), replace(index, vectors=vectors)


def size_of(task: CompactTask) -> int:
    """Bytes of the files that a task merges."""
    return sum(f.file_size for f in task.files)


def _stopped(state: TableState, written: Collection[tuple[bytes, int]]) -> set[tuple[bytes, int]]:
    """The written buckets that have so many runs that a write waits for their compaction."""
    most = state.options.num_sorted_runs_stop_trigger
    if most is None or not state.schema.is_keyed:
        return set()
    buckets = plan_scan(state, state.snapshots.latest(), named={partition for partition, _ in written}).buckets
    crowded = {(b.partition_row, b.bucket) for b in buckets if len(sorted_runs(b.files)) >= most}
    return crowded.intersection(written)


def _due_tasks(
    state: TableState, written: Collection[tuple[bytes, int]] | None, extent: Extent = Extent.DUE
) -> list[CompactTask]:
    """The tasks that are due in the written buckets; None means in all."""
    if written is not None and not written:
        return []
    target = write_target(state)
    named = None if written is None else {partition for partition, _ in written}
    buckets = stored_buckets(state, state.snapshots.latest(), named=named)
    chosen = [b for b in buckets if written is None or (b.partition_row, b.bucket) in written]
    tasks = pick_tasks(chosen, target, state.schemas, extent)
    if not tasks:
        return []
    # One of two compactions of the same bucket would be in vain.
    busy = state.timeline.busy_buckets(now_millis())
    return [one for one in tasks if (one.partition, one.bucket) not in busy]
