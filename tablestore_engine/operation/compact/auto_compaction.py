"""Compaction right after a write: what the triggers ask for in the buckets that it touched, as a commit of its own.

Invariants: the write has happened, so nothing that goes wrong here is its failure: the next write, or an explicit
COMPACT, tries again; `write-only` tables are left to a job; buckets in which a scheduled compaction is at work are left
to that. Who runs the tasks is an argument: executors, or this process.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Protocol

from tablestore_engine.errors import ConflictError, TableStoreError
from tablestore_engine.metadata.manifest import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.after_commit import warned_of
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.conflicts import NewFiles, fitting
from tablestore_engine.operation.commit.identity import new_identity
from tablestore_engine.operation.compact.compact_plan import plan_compaction
from tablestore_engine.operation.compact.compact_task import CompactTask
from tablestore_engine.operation.compact.schedule import CompactedTable, schedule_after_commit
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.files.data_file_writer import WriteTarget
from tablestore_engine.operation.scan.scan import ScanPlan
from tablestore_engine.operation.write.cleanup import remove_files, remove_written, removed_unless_committed
from tablestore_engine.operation.write.write_job import WriteResult
from tablestore_engine.options import CoreOptions
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.storage.schemas import SchemaStore

LOCAL_BYTES = 32 << 20
"""Bytes of files that are merged where a table is written, and not by Spark: that takes about a second."""

Execute = Callable[[Sequence[CompactTask]], list[ManifestEntry]]


class Compactable(Protocol):
    """What is needed of a table."""

    @property
    def name(self) -> str:
        """Its name, for people."""

    @property
    def options(self) -> CoreOptions:
        """The parsed options."""

    @property
    def schemas(self) -> SchemaStore:
        """All schemas."""

    @property
    def compactions(self) -> CompactedTable:
        """What scheduled compactions need of it."""

    def scan(self) -> ScanPlan:
        """The files of the latest snapshot."""

    def live_files(self) -> list[ManifestEntry]:
        """These as entries."""

    def write_target(self) -> WriteTarget:
        """Where new files are put."""

    def committer(self) -> Committer:
        """What commits."""


def compact_written(table: Compactable, written: Collection[tuple[bytes, int]], execute: Execute) -> Snapshot | None:
    """Merge where runs have piled up past the trigger, or schedule that; `touched` are partitions and bucket numbers.

    Returns the snapshot; None when nothing was merged. Never raises an `Exception`: it warns.
    """
    failure = f"Table {table.name} was written to, but not compacted"
    return warned_of(failure, lambda: _compact(table, written, execute)) if written else None


def _compact(table: Compactable, written: Collection[tuple[bytes, int]], execute: Execute) -> Snapshot | None:
    if table.options.compaction_schedule_enabled:
        schedule_after_commit(table.compactions, now_millis())
        return None
    tasks = [] if table.options.write_only else _due(table, written)
    return run_and_commit(table, tasks, execute) if tasks else None


def compact_small(table: Compactable, written: Collection[tuple[bytes, int]]) -> Snapshot | None:
    """`compact_written` in this process: the smallest merges, `LOCAL_BYTES` in all. What is larger waits for Spark."""

    def execute(tasks: Sequence[CompactTask]) -> list[ManifestEntry]:
        smallest = sorted(tasks, key=size_of)
        totals = accumulate(map(size_of, smallest))
        return execute_here([one for one, total in zip(smallest, totals, strict=True) if total <= LOCAL_BYTES])

    return compact_written(table, written, execute)


def run_and_commit(table: Compactable, tasks: Sequence[CompactTask], execute: Execute) -> Snapshot | None:
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
        return _by_halves(table, tasks, execute)
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
        return _commit_what_fits(table, target, done)


def _by_halves(table: Compactable, tasks: Sequence[CompactTask], execute: Execute) -> Snapshot | None:
    """Carry out tasks of which one has failed, until that one is alone. Raises its error when all others are done."""
    snapshot, failure = None, None
    for half in (tasks[: len(tasks) // 2], tasks[len(tasks) // 2 :]):
        write_id = str(uuid.uuid4())  # by which files of a failure are found
        own = [replace(one, target=replace(one.target, write_id=write_id)) for one in half]
        try:
            snapshot = run_and_commit(table, own, execute) or snapshot
        except TableStoreError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return snapshot


def _commit_what_fits(table: Compactable, target: WriteTarget, done: NewFiles) -> Snapshot:
    committer, identity = table.committer(), new_identity(table.options, "compact")
    while True:
        try:
            return committer.commit(Change("COMPACT", done.added, done.removed), identity)
        except ConflictError:
            left = fitting(committer.schema, table.live_files(), done)
            if not left.removed or len(left.removed) == len(done.removed):
                raise  # nothing of it fits, or this is no matter of single buckets
        kept = {e.identifier for e in left.added}
        remove_written(target, WriteResult([e for e in done.added if e.identifier not in kept]))
        done = left


def size_of(task: CompactTask) -> int:
    """Bytes of the files that a task merges."""
    return sum(f.file_size for f in task.files)


def _due(table: Compactable, written: Collection[tuple[bytes, int]]) -> list[CompactTask]:
    target = table.write_target()
    buckets = [b for b in table.scan().buckets if (b.partition_row, b.bucket) in written]
    tasks = plan_compaction(buckets, target, table.schemas.load, full=False)
    if not tasks:
        return []
    # What a scheduled compaction merges just now would be merged in vain, by the one or the other.
    busy = table.compactions.busy_buckets(now_millis())
    return [one for one in tasks if (one.partition, one.bucket) not in busy]
