"""Compaction right after a write: merges the written buckets that reached their triggers, by a separate commit.

Invariants: the write has succeeded, so a failure here is not its failure: the next write, or an explicit COMPACT, tries
again; `write-only` tables are left to a job; buckets of a running scheduled compaction are left to it. An argument
decides where the tasks run: in executors, or in this process.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate

from tablestore_engine.errors import ConflictError, TableStoreError
from tablestore_engine.metadata.manifest import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.conflicts import NewFiles, fitting
from tablestore_engine.operation.commit.identity import new_identity
from tablestore_engine.operation.compact.compact_plan import plan_compaction
from tablestore_engine.operation.compact.compact_task import CompactTask, Execute
from tablestore_engine.operation.compact.schedule import schedule_after_commit
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.files.data_file_writer import WriteTarget, write_target
from tablestore_engine.operation.job.write_intent import WriteIntent
from tablestore_engine.operation.job.write_job import WriteResult
from tablestore_engine.operation.scan.scan import live_entries, plan_scan
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.operation.write.cleanup import remove_files, remove_written, removed_unless_committed
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.table_state import TableState

LOCAL_BYTES = 32 << 20
"""Bytes of files that the writing process merges itself, without Spark: about a second."""


def execute_small(tasks: Sequence[CompactTask]) -> list[ManifestEntry]:
    """Run the smallest tasks in this process, up to `LOCAL_BYTES`. Larger ones are left to Spark."""
    smallest = sorted(tasks, key=size_of)
    totals = accumulate(map(size_of, smallest))
    return execute_here([one for one, total in zip(smallest, totals, strict=True) if total <= LOCAL_BYTES])


def compact_written(
    state: TableState, written: Collection[tuple[bytes, int]], execute: Execute = execute_small
) -> Snapshot | None:
    """Merge buckets whose runs exceed the trigger, or schedule that; `written` are partitions and bucket numbers.

    Returns the snapshot; None when nothing was merged.

    Raises:
        TableStoreError: see `run_and_commit`.
    """
    if not written:
        return None
    if state.options.compaction_schedule_enabled:
        schedule_after_commit(state, now_millis())
        return None
    tasks = [] if state.options.write_only else _due(state, written)
    return run_and_commit(state, tasks, execute) if tasks else None


def run_and_commit(state: TableState, tasks: Sequence[CompactTask], execute: Execute) -> Snapshot | None:
    """Run tasks of one write target, and commit their results. On failure their files are removed.

    A bucket that another process compacted first is left as it is, and so is one whose task fails; other buckets are
    not affected.

    Raises:
        ConflictError: other processes compacted every bucket first.
        TableStoreError: the error of a task or of the commit; other tasks may have been committed.
    """
    target = tasks[0].target
    try:
        entries = execute(tasks)
    except TableStoreError:
        remove_files(target)
        if len(tasks) == 1:
            raise
        return _by_halves(state, tasks, execute)
    except BaseException:
        remove_files(target)
        raise
    if not entries:
        return None
    done = NewFiles(
        tuple(e for e in entries if e.kind == FileKind.ADD),
        tuple(e for e in entries if e.kind == FileKind.DELETE),
        "COMPACT",
    )
    with removed_unless_committed(target, WriteResult(entries)):
        return _commit_what_fits(state, target, done)


def _by_halves(state: TableState, tasks: Sequence[CompactTask], execute: Execute) -> Snapshot | None:
    """Run tasks of which one has failed, until only that one is left. Raises its error when all others are done."""
    snapshot, failure = None, None
    for half in (tasks[: len(tasks) // 2], tasks[len(tasks) // 2 :]):
        write_id = str(uuid.uuid4())  # by which the files of a failed task are found
        own = [replace(one, target=replace(one.target, write_id=write_id)) for one in half]
        try:
            snapshot = run_and_commit(state, own, execute) or snapshot
        except TableStoreError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return snapshot


def _commit_what_fits(state: TableState, target: WriteTarget, done: NewFiles) -> Snapshot:
    intent = WriteIntent(identity=new_identity(state.options, "compact"))
    while True:
        try:
            return publish_change(state, Change("COMPACT", done.added, done.removed), intent).snapshot
        except ConflictError:
            latest = state.snapshots.latest()
            left = fitting(state.schema, live_entries(state.manifests, latest) if latest else [], done)
            if not left.removed or len(left.removed) == len(done.removed):
                raise  # no bucket of it fits, or the conflict is not about single buckets
        kept = {e.identifier for e in left.added}
        remove_written(target, WriteResult([e for e in done.added if e.identifier not in kept]))
        done = left


def size_of(task: CompactTask) -> int:
    """Bytes of the files that a task merges."""
    return sum(f.file_size for f in task.files)


def _due(state: TableState, written: Collection[tuple[bytes, int]]) -> list[CompactTask]:
    target = write_target(state)
    buckets = [b for b in plan_scan(state, state.snapshots.latest()).buckets if (b.partition_row, b.bucket) in written]
    tasks = plan_compaction(buckets, target, state.schemas.load, full=False)
    if not tasks:
        return []
    # One of two compactions of the same bucket would be in vain.
    busy = state.timeline.busy_buckets(now_millis())
    return [one for one in tasks if (one.partition, one.bucket) not in busy]
