"""Committing: turning added and removed files into the next snapshot, atomically and at most once.

Steps of one attempt: (1) read the latest snapshot; (2) for a commit that carries its own identity, check whether
it was made already; (3) let the change *plan* itself against the live files and check conflicts; (4) write the
manifests; (5) create the snapshot file, which is the one atomic step. Losing the race for (5) starts over with
the new latest snapshot, a bounded number of times, with jitter. A failure before (5) removes what (4) wrote. A
failure in (5) whose outcome is unknown removes nothing: it looks for its own snapshot first.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tablestore_engine.errors import (
    CommitOutcomeUnknownError,
    CommitTimeoutError,
    ConflictError,
    StorageError,
)
from tablestore_engine.metadata.manifest_encoding.manifest_entry import (
    FileKind,
    ManifestEntry,
    ManifestFileMeta,
    merge_entries,
)
from tablestore_engine.metadata.snapshot import NO_ROWS, Snapshot
from tablestore_engine.operation.commit.change import (
    READ_SNAPSHOT,
    Change,
    made_changelog,
    properties_of,
    statistics_of,
)
from tablestore_engine.operation.commit.commit_identity import CommitIdentity, applied_before
from tablestore_engine.operation.commit.conflicts import (
    NewFiles,
    check_conflicts,
)
from tablestore_engine.operation.commit.consumed_positions import check_consumed, keeps_rows, with_consumed
from tablestore_engine.operation.commit.index_change import (
    IndexChange,
    check_moved,
    check_vectors,
    next_index,
    restored_index,
)
from tablestore_engine.operation.commit.manifest_merge import is_all_due, merge_all, newest_to_merge, to_change
from tablestore_engine.operation.commit.read_conflicts import check_index, check_merged, check_overtaken, check_read
from tablestore_engine.operation.commit.restore_files import entries_to_restore
from tablestore_engine.operation.files.index_files import index_entries
from tablestore_engine.operation.scan.partition_filter import PartitionFilter
from tablestore_engine.operation.scan.plan_scan import live_entries
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage import clock
from tablestore_engine.storage.metadata_files.manifest_store import ManifestStore
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore
from tablestore_engine.table_state import TableState

__all__ = ["READ_SNAPSHOT", "Change", "CommitIdentity", "Committer"]


@dataclass(frozen=True)
class Committer:
    """Commits to one table. `new_id`, `now_millis`, `sleep` and `jitter` are passed in so that a run replays."""

    state: TableState
    now_millis: Callable[[], int] = clock.now_millis
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    new_id: Callable[[], str] = field(default=lambda: str(uuid.uuid4()))

    @property
    def schema(self) -> TableSchema:
        """The schema to commit with."""
        return self.state.schema

    @property
    def snapshots(self) -> SnapshotStore:
        """The snapshots to add to."""
        return self.state.snapshots

    @property
    def manifests(self) -> ManifestStore:
        """Where the manifests are."""
        return self.state.manifests

    def commit(
        self,
        change: Change,
        identity: CommitIdentity,
        properties: Mapping[str, str] | None = None,
        *,
        new_schema: Callable[[], TableSchema] | None = None,
    ) -> Snapshot:
        """Publish a change. Returns the snapshot that holds it (an earlier one when it was committed before).

        `new_schema` creates the schema version that the snapshot shall carry, right before the snapshot.

        Raises:
            ConflictError: the change no longer fits, or retries are used up; nothing is visible.
            CommitTimeoutError: time is used up; nothing is visible.
            CommitOutcomeUnknownError: the storage failed while publishing; nothing was removed.
        """
        options = self.schema.core_options
        # A new identity can only be found after the snapshot that the first attempt was based on.
        searched = 0
        began = self.now_millis()
        for attempt in range(options.commit_max_retries + 1):
            latest = self.snapshots.latest()
            if latest is not None and (identity.check_duplicate or attempt):
                done = self._done(change, identity, searched)
                if done is not None:
                    return done
            if attempt == 0 and latest is not None and not identity.check_duplicate:
                searched = latest.id
            try:
                created = self._attempt(latest, change, identity, properties, new_schema)
            except StorageError as error:
                if latest is None or not error.missing or self.snapshots.exists(latest.id):
                    raise
                created = None  # others committed for so long that its base snapshot has expired
            if created is not None:
                return created
            timeout = options.commit_timeout_millis
            if timeout is not None and self.now_millis() - began >= timeout:
                raise _races_lost(CommitTimeoutError, attempt + 1, "commit.timeout")
            self.sleep(self._wait_seconds(attempt))
        raise _races_lost(ConflictError, options.commit_max_retries + 1, "commit.max-retries")

    def _done(self, change: Change, identity: CommitIdentity, searched: int) -> Snapshot | None:
        """The snapshot of this commit, if it was made."""
        if identity.check_duplicate:
            return applied_before(self.snapshots, identity)
        return self.snapshots.find_by_identifier(identity.user, identity.identifier, kind=change.kind, after=searched)

    def _wait_seconds(self, attempt: int) -> float:
        options = self.schema.core_options
        ceiling = min(options.commit_max_retry_wait_millis, options.commit_min_retry_wait_millis * 2**attempt)
        return float((0.5 + self.jitter()) * ceiling / 1000)

    def _attempt(
        self,
        latest: Snapshot | None,
        change: Change,
        identity: CommitIdentity,
        properties: Mapping[str, str] | None,
        new_schema: Callable[[], TableSchema] | None,
    ) -> Snapshot | None:
        """One try; None when another commit took the snapshot id."""
        if change.guard is not None:
            change.guard()
        self._check_schema(latest, change, new_schema)
        adds_rows = change.kind == "APPEND" and keeps_rows(self.state.schemas, latest, self.schema)
        check_consumed(self.state.name, latest, change.consumed, adds_rows=adds_rows and not change.restarts)
        entries = self._entries(latest, change)
        with made_changelog(change, latest, entries) as changelog:
            created = self._created(latest, change, identity, properties, (new_schema, entries, changelog))
        if created is None and change.changelog is not None:
            change.changelog.remove(changelog)
        return created

    def _created(
        self,
        latest: Snapshot | None,
        change: Change,
        identity: CommitIdentity,
        properties: Mapping[str, str] | None,
        content: tuple[Callable[[], TableSchema] | None, Sequence[ManifestEntry], Sequence[ManifestEntry]],
    ) -> Snapshot | None:
        """Write the manifests of a commit, and create its schema, if it has a new one, and its snapshot: what creates
        the schema, the entries and the changelog.

        The schema comes last, and is settled once the snapshot is there.
        """
        new_schema, entries, changelog = content
        written: list[str] = []
        try:
            base = self._base(latest, change, written)
            delta = self._write_manifests(entries, written)
            base_list, base_size = self.manifests.write_list(base)
            written.append(base_list)
            delta_list, delta_size = self.manifests.write_list(delta)
            written.append(delta_list)
            index_manifest = self._index_manifest(latest, change, written)
            changelog_list, changelog_size = self._changelog_list(changelog, written)
            self.state.schemas.check_same_table(self.state.name)  # as late as possible
            schema = new_schema() if new_schema else self.schema
        except BaseException:
            self._remove(written)
            raise
        restarts = change.restarts or change.restores is not None
        carries = not restarts and keeps_rows(self.state.schemas, latest, schema)
        added = sum(e.file.row_count for e in entries if e.kind == FileKind.ADD)
        removed = sum(e.file.row_count for e in entries if e.kind == FileKind.DELETE)
        before = latest.total_record_count if latest else 0
        if change.restarts:
            removed = before
        snapshot = Snapshot(
            id=(latest.id if latest else 0) + 1,
            uuid=self.new_id(),
            # A write that began before a column was added must not remove the column again.
            schema_id=max(schema.id, latest.schema_id if latest else 0),
            base_manifest_list=base_list,
            base_manifest_list_size=base_size,
            delta_manifest_list=delta_list,
            delta_manifest_list_size=delta_size,
            changelog_manifest_list=changelog_list,
            changelog_manifest_list_size=changelog_size,
            changelog_record_count=sum(e.file.row_count for e in changelog),
            index_manifest=index_manifest,
            commit_user=identity.user,
            commit_identifier=identity.identifier,
            commit_kind=change.kind,
            time_millis=max(self.now_millis(), latest.time_millis if latest else 0),
            total_record_count=before + added - removed,
            delta_record_count=added - removed,
            watermark=latest.watermark if latest else None,
            # Row ids are never assigned twice.
            next_row_id=latest.next_row_id if latest else None,
            statistics=statistics_of(change, latest, schema),
            properties=with_consumed(
                properties_of(change, properties),
                latest if carries else None,
                change.consumed,
                new_table=change.new_table,
                same_rows=change.kind in NO_ROWS,
            ),
        )
        if self._publish(snapshot):
            self.state.schemas.settle(snapshot.schema_id)
            return snapshot
        self._remove(written)
        return None

    def _publish(self, snapshot: Snapshot) -> bool:
        try:
            return self.snapshots.try_create(snapshot)
        except StorageError as error:
            if self._is_ours(snapshot):
                return True
            raise CommitOutcomeUnknownError(
                f"Storage failed while snapshot {snapshot.id} was published ({error.reason}).",
                hint="Look at the table's snapshots before you try again; no file was removed.",
            ) from error

    def _is_ours(self, snapshot: Snapshot) -> bool:
        try:
            return self.snapshots.load(snapshot.id).uuid == snapshot.uuid
        except Exception:
            return False

    def _check_schema(
        self, latest: Snapshot | None, change: Change, new_schema: Callable[[], TableSchema] | None
    ) -> None:
        """Conflict when the table was replaced, or read without its newest columns, after the schema was loaded."""
        # A new schema was derived from the one that it replaces.
        known = self.schema.id if new_schema is None else int(self.schema.replaces or self.schema.id)
        committed = latest.schema_id if latest else known
        older, newer = sorted((known, committed))
        if not self.state.schemas.descends(newer, older):
            what = "The table was replaced by another one meanwhile."
            if self.state.schemas.are_of_one_table(newer, older):
                what = "The table got another layout, or constraints, meanwhile."
            raise ConflictError(what, hint="Run the statement again.")
        # A compaction records for each of its files which columns it knew.
        reads = change.read_snapshot is not None or (change.removed and change.kind != "COMPACT")
        if reads and committed > known:
            raise ConflictError("The columns of the table were changed meanwhile.", hint="Run the statement again.")

    def _entries(self, latest: Snapshot | None, change: Change) -> list[ManifestEntry]:
        if change.read_snapshot is not None and latest is not None and latest.id != change.read_snapshot:
            check_read(self.state, change, latest)
        if change.restarts:
            return list(change.added)
        if change.index is not None and latest is not None:
            check_index(self.state, change, change.index, latest)
        if change.base_snapshot_id is not None and latest is not None and self.schema.primary_keys:
            check_overtaken(self.state, change, latest)
        # A statement relies on what it read anywhere, where readers leave rows out until they are merged.
        read_all = self.schema.reads_files_alone and change.read_snapshot is not None and change.read_buckets is None
        choice = PartitionFilter.of(self.schema, None if read_all else change.partitions)
        live = live_entries(self.manifests, latest, choice) if latest and self._needs_live(change) else []
        if change.index is not None and change.index.vectors:
            check_vectors(index_entries(self.manifests, latest), live, change.index)
        if change.kind == "COMPACT" and change.removed and not self.schema.primary_keys:
            compaction = NewFiles(change.added, change.removed, change.kind)
            check_moved(index_entries(self.manifests, latest), compaction, change.index)
        if change.restores is not None:
            new_names = frozenset(e.file.file_name for e in change.added)
            return entries_to_restore(live, change.restores, new_names)
        if change.read_snapshot is not None and self.schema.reads_files_alone:
            check_merged(live, change)
        removed = list(change.removed)
        if change.replaces is not None:
            chosen = {e.identifier for e in removed}
            removed += [e.removal for e in live if e.identifier not in chosen and change.replaces(e)]
        added = check_conflicts(self.schema, live, NewFiles(change.added, tuple(removed), change.kind))
        return [*removed, *added]

    def _needs_live(self, change: Change) -> bool:
        # A plain append of level-0 files cannot conflict, except that a bucket count may have changed.
        return bool(
            change.removed
            or change.replaces is not None
            or change.restores is not None
            or self.schema.primary_keys
            or (change.index is not None and change.index.vectors)
            or any(e.file.level or e.total_buckets > 0 for e in change.added)
        )

    def _index_manifest(self, latest: Snapshot | None, change: Change, written: list[str]) -> str | None:
        """The index manifest after a change: the previous one if the content is the same."""
        name = latest.index_manifest if latest else None
        index = change.index or IndexChange()
        changes_index = index.added or index.restores is not None or index.vectors
        if not changes_index and (name is None or change.kind != "OVERWRITE"):
            return name
        before = index_entries(self.manifests, latest)
        if index.restores is not None:
            after = restored_index(before, index)
        else:
            after = next_index(before, index, change.clears)
        if after == before:
            return name
        if not after:
            return None
        written.append(self.manifests.write_index(after))
        return written[-1]

    def _base(self, latest: Snapshot | None, change: Change, written: list[str]) -> list[ManifestFileMeta]:
        """The manifests of everything before this commit."""
        if latest is None or change.restarts:
            return []
        metas = [
            *self.manifests.read_list(latest.base_manifest_list),
            *self.manifests.read_list(latest.delta_manifest_list),
        ]
        options = self.schema.core_options
        changing = to_change(metas, options)
        asked = change.merges_manifests and (len(changing) > 1 or any(one.num_deleted_files for one in changing))
        if asked or is_all_due(metas, options):
            kept, entries = merge_all(metas, options, self._read, partial(PartitionFilter.of, self.schema))
            return [*kept, *self._write_manifests(entries, written)]
        merge = newest_to_merge(metas, options)
        entries = merge_entries(e for m in merge.merged for e in self._read(m))
        return [*merge.before, *self._write_manifests(entries, written), *merge.after]

    def _read(self, meta: ManifestFileMeta) -> list[ManifestEntry]:
        return self.manifests.read_manifest(meta.file_name)

    def _changelog_list(
        self, changelog: Sequence[ManifestEntry], written: list[str]
    ) -> tuple[str, int] | tuple[None, None]:
        if not changelog:
            return None, None
        name, size = self.manifests.write_list(self._write_manifests(changelog, written))
        written.append(name)
        return name, size

    def _write_manifests(self, entries: Sequence[ManifestEntry], written: list[str]) -> list[ManifestFileMeta]:
        metas = []
        target_size = self.schema.core_options.manifest_target_size
        for meta in self.manifests.write_manifests(entries, target_size):
            written.append(meta.file_name)
            metas.append(meta)
        return metas

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            try:
                self.manifests.delete(name)
            except StorageError:
                continue  # an orphan that the orphan cleaner removes


def _races_lost(kind: type[ConflictError], races: int, option: str) -> ConflictError:
    return kind(
        f"The commit lost {races} race{'' if races == 1 else 's'} against other writers of this table.",
        hint=f"Try again, or raise the option '{option}'.",
    )
