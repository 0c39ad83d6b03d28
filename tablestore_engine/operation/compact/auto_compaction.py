"""Compaction right after a write: what the triggers ask for in the buckets that it wrote to, as a commit of its own.

Invariants: the write has happened, so nothing that goes wrong here is its failure: the next write, or an explicit
COMPACT, tries again; `write-only` tables are left to a job; buckets in which a scheduled compaction is at work are left
to that. Who runs the tasks is an argument: executors, or this process.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import accumulate

from tablestore_engine.errors import ConflictError, TableStoreError
from tablestore_engine.metadata.manifest import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.conflicts import NewFiles, fitting
from tablestore_engine.operation.commit.identity import new_identity
from tablestore_engine.operation.compact.compact_plan import plan_compaction
from tablestore_engine.operation.compact.compact_task import CompactTask
from tablestore_engine.operation.compact.schedule import schedule_after_commit
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.files.data_file_writer import WriteTarget, write_target
from tablestore_engine.operation.scan.scan import live_entries, plan_scan
from tablestore_engine.operation.write.cleanup import remove_files, remove_written, removed_unless_committed
from tablestore_engine.operation.write.write_job import WriteResult
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.table_state import TableState

LOCAL_BYTES = 32 << 20
"""Bytes of files that are merged where a table is written, and not by Spark: that takes about a second."""

Execute = Callable[[Sequence[CompactTask]], list[ManifestEntry]]


def execute_small(tasks: Sequence[CompactTask]) -> list[ManifestEntry]:
    """Run the smallest of some tasks in this process, `LOCAL_BYTES` in all. What is larger waits for Spark."""
    smallest = sorted(tasks, key=size_of)
    totals = accumulate(map(size_of, smallest))
    return execute_here([one for one, total in zip(smallest, totals, strict=True) if total <= LOCAL_BYTES])


def compact_written(
    state: TableState, written: Collection[tuple[bytes, int]], execute: Execute = execute_small
) -> Snapshot | None:
    """Merge where runs have piled up past the trigger, or schedule that; `written` are partitions and bucket numbers.

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
    """Carry out tasks, of one write target, and commit what they did, if anything. On failure their files are removed.

    A bucket in which another process was faster is left as it is, and so is one of which a task fails; the others are
    not held up by it.

    Raises:
        ConflictError: others were faster in every bucket.
        TableStoreError: what went wrong with a task or the commit; other tasks may have been committed.
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
    """Carry out tasks of which one has failed, until that one is alone. Raises its error when all others are done."""
    snapshot, failure = None, None
    for half in (tasks[: len(tasks) // 2], tasks[len(tasks) // 2 :]):
        write_id = str(uuid.uuid4())  # by which files of a failure are found
        own = [replace(one, target=replace(one.target, write_id=write_id)) for one in half]
        try:
            snapshot = run_and_commit(state, own, execute) or snapshot
        except TableStoreError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return snapshot


def _commit_what_fits(state: TableState, target: WriteTarget, done: NewFiles) -> Snapshot:
    committer, identity = Committer(state), new_identity(state.options, "compact")
    while True:
        try:
            return committer.commit(Change("COMPACT", done.added, done.removed), identity)
        except ConflictError:
            latest = state.snapshots.latest()
            left = fitting(state.schema, live_entries(state.manifests, latest) if latest else [], done)
            if not left.removed or len(left.removed) == len(done.removed):
                raise  # nothing of it fits, or this is no matter of single buckets
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
    # What a scheduled compaction merges just now would be merged in vain, by the one or the other.
    busy = state.timeline.busy_buckets(now_millis())
    return [one for one in tasks if (one.partition, one.bucket) not in busy]
