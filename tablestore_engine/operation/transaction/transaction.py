"""The transaction of every change: begin on a snapshot, write files, publish them as the next snapshot.

`begin` returns the job that all tasks of a write share. `publish` commits their files, with the schema that belongs to
them. If the commit fails, the files of the write are removed, unless the outcome is unknown. A change that writes no
rows, or files that merge others, needs no job: `publish_change`. `with_retry` runs the whole transaction again after a
conflict.

Both return what was `Committed`, which `table_commands.after_commit.follow` takes: a caller that does not call it
leaves the table to the next commit. Only maintenance, which itself follows a commit, may do so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from time import sleep
from typing import TypeVar

from tablestore_engine.errors import CommitTimeoutError, ConflictError, ConsumedElsewhereError
from tablestore_engine.kafka.settings import has_log
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.changelog.changelog_producer import Input, producer_of
from tablestore_engine.operation.changelog.early_log import send_before_commit
from tablestore_engine.operation.changelog.unrecorded_rows import check_recorded
from tablestore_engine.operation.commit.change import RECORDED_OTHERWISE, UNTRACKED
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.commit.consumed_positions import concerning
from tablestore_engine.operation.commit.multiset_enable import Publisher, enables_retractions, schema_to_commit
from tablestore_engine.operation.commit.replace_table import schema_publisher
from tablestore_engine.operation.files.index_files import index_entries
from tablestore_engine.operation.files.rolling_writer import write_target
from tablestore_engine.operation.scan.partition_filter import PartitionFilter
from tablestore_engine.operation.scan.plan_scan import live_entries
from tablestore_engine.operation.transaction.retractions_of_messages import check_retractions
from tablestore_engine.operation.write.cleanup import remove_written, removed_unless_committed
from tablestore_engine.operation.write_job.hash_index_change import index_change
from tablestore_engine.operation.write_job.new_write import new_job
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.operation.write_job.write_job import WriteJob, WriteResult
from tablestore_engine.schema.table.multiset_schema import as_multiset
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.table_state import TableState

T = TypeVar("T")
ATTEMPTS = 10


@dataclass(frozen=True)
class Committed:
    """A commit: the table as it was when the change began, the snapshot, and the buckets (partition, number) that rows
    were added to, or marked as deleted in."""

    state: TableState
    snapshot: Snapshot
    buckets: frozenset[tuple[bytes, int]] = frozenset()


def with_retry(action: Callable[[], T]) -> T:
    """Run a verb that reads and writes again when others changed what it read; bounded, with jitter.

    Raises:
        ConflictError: others won every time, or for as long as the table lets a commit take.
    """
    for attempt in range(ATTEMPTS):
        try:
            return action()
        except (CommitTimeoutError, ConsumedElsewhereError):
            raise
        except ConflictError:
            if attempt + 1 == ATTEMPTS:
                raise
            sleep((0.05 + 0.15 * random.random()) * (attempt + 1))  # noqa: S311 - spreads retries
    raise AssertionError("unreachable")


def begin(
    state: TableState,
    intent: WriteIntent,
    snapshot: Snapshot | None,
    *,
    removes: Callable[[ManifestEntry], bool] | None = None,
    schema: TableSchema | None = None,
    partitions: Collection[bytes] | None = None,
) -> WriteJob:
    """A write job on top of a snapshot (None: the table has none yet, or none that matters).

    Args:
        state: the table.
        intent: what the caller asks for.
        snapshot: the snapshot that the write is based on.
        removes: says which live files the write removes.
        schema: the schema to write with, when it becomes that of the table by this write.
        partitions: those that rows are written to; None where they are not known. Only their files are looked at.

    Raises:
        OptionError: the table has options under which this engine cannot write.
    """
    choice = PartitionFilter.of(state.schema, partitions)
    live = live_entries(state.manifests, snapshot, choice) if snapshot else []
    index = index_entries(state.manifests, snapshot)
    target = write_target(state.with_schema(schema or state.schema))
    intent = replace(intent, describe=None)  # the job travels to tasks, which know nothing of the caller
    return new_job(target, live, index, snapshot.id if snapshot else 0, intent=intent, removes=removes)


def publish(state: TableState, job: WriteJob, result: WriteResult, change: Change) -> Committed:
    """Commit the files of a write as one snapshot.

    Args:
        state: the table as it was when the write began.
        job: the write.
        result: the files of its tasks.
        change: what the commit does besides adding these files.

    Raises:
        ConflictError: the change no longer fits, or others won every time; the files of the write are removed.
        NegativeCountError: messages take away rows of a table without a key that it does not have.
        CommitOutcomeUnknownError: the storage failed while publishing; nothing was removed.
    """
    changelog = Input(tuple(result.changelog)) if result.changelog and change.kind == "APPEND" else None
    whole = replace(
        change,
        added=tuple(result.entries),
        index=index_change(job, result) or change.index,
        changelog=changelog,
        consumed=concerning(state.name, job.intent.consumed),
    )
    with removed_unless_committed(job.target, result):
        before = state.snapshots.latest() if change.kind == "APPEND" else None
        check_retractions(state.with_schema(job.schema), job.intent, result.entries, before)
        schema, publisher = _schema_to_commit(state, job.schema, result.entries)
        if state.evolving:
            whole = replace(whole, guard=_guard_of_recording(state, schema, change.guard))
        sent = send_before_commit(state.with_schema(schema), change.kind, result.entries)
        properties = {**(job.intent.properties or {}), **sent} if sent else job.intent.properties
        intent = replace(job.intent, properties=properties)
        snapshot = _commit(state.with_schema(schema), whole, intent, publisher)
    if job.intent.identity is not None and job.intent.identity.check_duplicate:
        _remove_if_sent_before(state, job, result, snapshot)
    if changelog is None and result.changelog:
        remove_written(job.target, WriteResult(changelog=result.changelog))  # an overwrite records no changes
    # The files of an overwrite are one run in each bucket, unless readers leave them out until they are merged.
    marked = frozenset(change.index.vectors) if change.index is not None else frozenset()
    added = result.entries if change.kind == "APPEND" or schema.reads_files_alone or marked else []
    stored = replace(state, evolving=False) if state.evolving else state
    return Committed(stored, snapshot, marked.union((e.partition, e.bucket) for e in added))


def _remove_if_sent_before(state: TableState, job: WriteJob, result: WriteResult, snapshot: Snapshot) -> None:
    """Remove the files of a write if the snapshot holds another one, which was sent at the same time."""
    if not (result.entries or result.index):
        return
    added = (
        entry.file.file_name
        for meta in state.manifests.read_list(snapshot.delta_manifest_list)
        for entry in state.manifests.read_manifest(meta.file_name)
    )
    if any(job.target.write_id in name for name in added):
        return
    if not any(job.target.write_id in entry.file_name for entry in index_entries(state.manifests, snapshot)):
        remove_written(job.target, result)


def publish_change(
    state: TableState, change: Change, intent: WriteIntent = PLAIN, schema: TableSchema | None = None
) -> Committed:
    """Commit a change that needs no write job. `schema` is that of the table from then on, when it changes.

    Raises:
        ConflictError, CommitOutcomeUnknownError: as `publish`; files are left to the caller.
    """
    schema = schema or state.schema
    publisher = schema_publisher(state.schemas, state.schema, schema)
    change = replace(change, consumed=concerning(state.name, intent.consumed))
    return Committed(state, _commit(state.with_schema(schema), change, intent, publisher))


def _commit(state: TableState, change: Change, intent: WriteIntent, publisher: Publisher | None) -> Snapshot:
    identity = intent.identity or new_identity(state.options)
    if change.changelog is None:
        change = replace(change, changelog=producer_of(state, change, is_new=publisher is not None))
    properties = intent.properties
    if has_log(state.options) and not state.options.change_tracking:
        properties = {**(properties or {}), UNTRACKED: "true"}
    if change.kind == "APPEND" and publisher is None and _records_otherwise(state):
        properties = {**(properties or {}), RECORDED_OTHERWISE: "true"}
    return Committer(state).commit(change, identity, properties, new_schema=publisher)


def _guard_of_recording(
    state: TableState, schema: TableSchema, guard: Callable[[], None] | None
) -> Callable[[], None] | None:
    """The guard of a commit that brings a schema. Rows may have been committed since the schema was made from another
    one."""
    if schema.base is None:
        return guard
    before = state.schemas.load(schema.base)

    def check() -> None:
        if guard is not None:
            guard()
        check_recorded(state, before, schema, state.snapshots.latest())

    return guard if before.recorded_level == schema.recorded_level else check


def _records_otherwise(state: TableState) -> bool:
    """Whether a statement has options of its own by which its changelog may lack changes."""
    if not state.schema.is_keyed:
        return False
    given, stored = state.options, state.schemas.load(state.schema.id).core_options
    ignored = given.row_deduplicate_ignore_fields != stored.row_deduplicate_ignore_fields
    return ignored or given.changelog_producer != stored.changelog_producer


def _schema_to_commit(
    state: TableState, written: TableSchema, added: Sequence[ManifestEntry]
) -> tuple[TableSchema, Publisher | None]:
    """The schema to commit files with, and what publishes the next one right before the snapshot."""
    if written is not state.schema or state.evolving:
        schema = as_multiset(written) if enables_retractions(written, added) else written
        return schema, schema_publisher(state.schemas, None if state.evolving else state.schema, schema)
    if not enables_retractions(written, added):
        return written, None
    latest = state.snapshots.latest()
    return schema_to_commit(state.schemas, written, latest.schema_id if latest else None, added)
