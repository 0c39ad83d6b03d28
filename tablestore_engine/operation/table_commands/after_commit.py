"""The steps after a commit: one list, from the publication of its changes to the expiration of old snapshots.

Invariant: the commit has succeeded, so a failure here is not its failure. It is logged, and the next commit tries
again. Only a table that wants to know (`log.on-failure` = fail) gets an error, after everything else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar

from tablestore_engine.errors import ConflictError, ExecutionError, LogBehindError, TableStoreError
from tablestore_engine.kafka.settings import has_log
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit_identity import CommitIdentity, applied_before
from tablestore_engine.operation.compact.auto_compaction import compact_written, execute_small, merge_unread
from tablestore_engine.operation.compact.compact_task import Execute
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.expiration.changelog_expire import expire_changelogs
from tablestore_engine.operation.expiration.partition_expire import expire_when_due
from tablestore_engine.operation.expiration.snapshot_expire import Retention, changelog_retention, expire_snapshots
from tablestore_engine.operation.history.partition_done import mark_done
from tablestore_engine.operation.tags.automatic_tags import create_automatic_tags
from tablestore_engine.operation.tags.tag_expire import expire_tags
from tablestore_engine.operation.transaction.transaction import Committed
from tablestore_engine.storage import clock
from tablestore_engine.storage.metadata_files.consumer_store import expire_consumers
from tablestore_engine.table_state import TableState

T = TypeVar("T")
_KEPT_TEXTS = 1_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WrittenTable:
    """The input of follow-ups: a table with the schema of its newest commit, and the buckets that got rows by it.

    `execute` runs the compactions that are due in these buckets.
    """

    state: TableState
    buckets: frozenset[tuple[bytes, int]]
    execute: Execute


@dataclass(frozen=True)
class FollowUp:
    """One step after a commit. `failure` is what a warning says when it fails; `{table}` is the table's name."""

    failure: str
    step: Callable[[WrittenTable], object]


def _publish(written: WrittenTable) -> None:
    if has_log(written.state.options):
        from tablestore_engine.operation.log_store.unpublished_snapshots import (
            publish_after_commit,  # only where there is a log
        )

        publish_after_commit(written.state)


def _compact(written: WrittenTable) -> Snapshot | None:
    if not written.state.schema.reads_files_alone:
        return compact_written(written.state, written.buckets, written.execute)
    with _saying_that_rows_are_unread():
        return compact_written(written.state, written.buckets, written.execute)


@contextmanager
def _saying_that_rows_are_unread() -> Iterator[None]:
    """A conflict is no silent try by the next commit where readers leave out what is not compacted."""
    try:
        yield
    except ConflictError as error:
        raise ExecutionError(f"its rows can be read after the next compaction. {error}") from error


def _expire_partitions(written: WrittenTable) -> None:
    if not written.state.options.write_only:
        expire_when_due(written.state, clock.now_millis())


def _mark_partitions(written: WrittenTable) -> None:
    if written.state.options.partition_end_input_to_done and written.state.schema.partition_keys:
        mark_done(written.state, {partition for partition, _ in written.buckets}, clock.now_millis())


def _create_tags(written: WrittenTable) -> None:
    create_automatic_tags(written.state, clock.now_millis())


def _expire_tags(written: WrittenTable) -> None:
    if not written.state.options.write_only and written.state.options.tag_time_expire_enabled:
        expire_tags(written.state, clock.now_millis())


def _expire_consumers(written: WrittenTable) -> None:
    millis = written.state.options.consumer_expiration_time_millis
    if millis is not None and not written.state.options.write_only:
        expire_consumers(written.state.io, written.state.paths, clock.now_millis() - millis)


def _expire_snapshots(written: WrittenTable) -> None:
    state = written.state
    if state.options.write_only:
        return
    if state.options.snapshot_expire_execution_mode == "async":
        _background().submit(warned_of, _NOT_EXPIRED.format(table=state.name), partial(_expire_now, state))
    else:
        _expire_now(state)


def _expire_now(state: TableState) -> int:
    now, retention = clock.now_millis(), Retention.of(state.options)
    expired = expire_snapshots(state, now, retention)
    expire_changelogs(state, now, changelog_retention(state.options, retention))
    return expired


@lru_cache(1)
def _background() -> ThreadPoolExecutor:
    """The thread that expires snapshots; the process ends when its work is done."""
    return ThreadPoolExecutor(1, thread_name_prefix="tablestore-expire")


_NOT_COMPACTED = "Table {table} was written to, but not compacted"
_NOT_EXPIRED = "Old snapshots of table {table} were not removed after a commit"


FOLLOW_UPS = (
    FollowUp("Table {table} was written to, but its log lacks the changes", _publish),
    FollowUp(_NOT_COMPACTED, _compact),
    FollowUp("Old partitions of table {table} were not removed after a commit", _expire_partitions),
    FollowUp("Partitions of table {table} were not marked as done after a write", _mark_partitions),
    FollowUp("Automatic tags of table {table} were not made after a commit", _create_tags),
    FollowUp("Old tags of table {table} were not removed after a commit", _expire_tags),
    FollowUp("Old consumers of table {table} were not removed after a commit", _expire_consumers),
    FollowUp(_NOT_EXPIRED, _expire_snapshots),
)
"""In this order: snapshots expire when their changes are published, and files that a compaction replaces at once."""


def follow(done: Committed, execute: Execute = execute_small) -> Snapshot:
    """Do what follows a commit, with the schema that came with it. Returns the snapshot of the commit; of a table with
    deletion vectors that of the compaction, the first one in which its rows can be read.

    Failures are warnings. A compaction is itself what follows a write, so nothing follows it.

    Args:
        done: the commit.
        execute: runs the compactions that are due; by default in this process, those that are small.

    Raises:
        LogBehindError: the changes are not in the log, and the table has `log.on-failure` = fail.
    """
    if done.snapshot.commit_kind == "COMPACT":
        return done.snapshot
    name = done.state.name
    state = warned_of(f"The maintenance of table {name} after a write did not begin", lambda: _as_committed(done))
    if state is not None:
        written, behind, shown = WrittenTable(state, done.buckets, execute), None, done.snapshot
        for one in FOLLOW_UPS:
            try:
                made = warned_of(one.failure.format(table=name), partial(one.step, written))
                if isinstance(made, Snapshot) and state.schema.reads_files_alone:
                    shown = made
            except LogBehindError as error:
                behind = error
        if behind is not None:
            raise behind
        return shown
    return done.snapshot


def follow_none(state: TableState, execute: Execute = execute_here) -> Snapshot | None:
    """Do what follows a write that adds nothing, because it has no rows or was sent before.

    The process of an earlier one may have ended between its commit and the compaction, before which readers of a table
    with deletion vectors leave its rows out. Returns the snapshot of that compaction; None when nothing was left. A
    failure is a warning.
    """

    def step() -> Snapshot | None:
        latest = state.snapshots.latest()
        if latest is None:
            return None
        with _saying_that_rows_are_unread():
            return merge_unread(_as_committed(Committed(state, latest)), execute)

    if not state.schema.reads_files_alone or state.options.write_only:
        return None
    return warned_of(_NOT_COMPACTED.format(table=state.name), step)


def sent_before(state: TableState, identity: CommitIdentity | None, execute: Execute = execute_here) -> Snapshot | None:
    """The first snapshot with the rows of a write that was sent before under its identity; None for a new write.

    Raises CommitIdentityError when that is not known.
    """
    done = applied_before(state.snapshots, identity)
    return None if done is None else follow_none(state, execute) or done


def _as_committed(done: Committed) -> TableState:
    state, schema_id = done.state, done.snapshot.schema_id
    return state if schema_id == state.schema.id else state.with_schema(state.schemas.load(schema_id))


def warned_of(failure: str, step: Callable[[], T]) -> T | None:
    """Run a step that never fails its caller; None when it failed. Errors are logged, with `failure` as what was not
    done.

    A LogBehindError is no warning. A process logs the same warning once. Conflicts are not logged: the next commit
    tries again.
    """
    try:
        return step()
    except LogBehindError:
        raise
    except Exception as error:
        if isinstance(error, TableStoreError) and error.retryable:
            _log.info("%s: %s", failure, error)
        else:
            _warn_once(f"{failure}: {error}")
        return None


@lru_cache(_KEPT_TEXTS)
def _warn_once(text: str) -> None:
    _log.warning("%s", text)
