"""The part of a table that a stream reads next, and between two of its positions.

Changes come from one of three sources. *Recorded*: those of a table with a key and a `changelog-producer` are in its
changelog files, each change of each commit; overwrites record none, as in Paimon. *Files*: those of a table without a
key are in the files that its commits add and remove. *States*: those of other tables are found by comparing two states,
so that a batch has what is different after it, and the state before it must still be there.

Invariant: between two positions the pieces are always the same, as long as the snapshots exist, so that a batch that is
read again has the same rows. A batch ends with a unit that began before it, so no key has changes in two units of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from tablestore_engine.errors import ChangesNotFound, SnapshotNotFound
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import NO_ROWS, Snapshot
from tablestore_engine.operation.changelog.change_plan import (
    AllRows,
    ChangePlan,
    ChangeRange,
    changelog_plan,
    commit_entries,
    committed_plan,
    entries_of,
    plan_changes,
    recorded_commit,
    recorded_entries,
)
from tablestore_engine.operation.commit.append_deletion_vectors import keeps_file_vectors
from tablestore_engine.operation.scan.plan_scan import live_entries, plan_scan
from tablestore_engine.operation.stream.pieces import Piece, RecordedChanges, pieces_of
from tablestore_engine.operation.stream.position import StreamPosition
from tablestore_engine.operation.stream.stream_options import Limits, StreamOptions
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.metadata_files.consumer_store import consumer_progress, set_consumer
from tablestore_engine.storage.metadata_files.snapshot_store import newest_until
from tablestore_engine.table_state import TableState

_HINT = (
    "Begin a new stream: with another checkpoint location, and another consumer. A 'consumer-id' keeps the snapshots"
    " that a stream has not read yet."
)


class ChangeSource(Enum):
    """From what the changes of a table are read."""

    RECORDED = "recorded"
    FILES = "files"
    STATES = "states"


@dataclass(frozen=True)
class StreamPlanner:
    """Plans a stream of one table in one schema, that of the rows which it gives."""

    state: TableState

    @cached_property
    def source(self) -> ChangeSource:
        """From what the changes of the table are read."""
        schema = self.state.schema
        if schema.primary_keys and schema.core_options.changelog_producer != "none":
            return ChangeSource.RECORDED
        alone = schema.core_options.deletion_vectors or schema.reads_files_alone
        return ChangeSource.STATES if schema.primary_keys or alone else ChangeSource.FILES

    # -- positions

    def begin(self, options: StreamOptions) -> StreamPosition:
        """Where a new stream begins.

        Raises:
            ChangesNotFound: at a snapshot that is not there.
        """
        if options.consumer is not None and not options.ignore_progress:
            found = consumer_progress(self.state.io, self.state.paths, options.consumer)
            if found is not None:
                return self._of_consumer(*found)
        latest = self.state.snapshots.latest()
        if options.mode == "latest":
            return StreamPosition.after(latest)
        if options.mode == "from-snapshot":
            return self._before(options.snapshot, latest)
        if options.mode == "from-timestamp":
            return self._position_at(options.millis, latest)
        whole = self._last_without_waiting_rows(latest)
        return StreamPosition(0) if whole is None else StreamPosition.within(whole, 0, whole=True)

    def _last_without_waiting_rows(self, latest: Snapshot | None) -> Snapshot | None:
        """The newest snapshot of which all rows can be read whose changes are recorded; None for the empty table.

        With deletion vectors, a commit may record changes (the producer `input`) before a compaction makes their rows
        readable.

        Raises:
            ChangesNotFound: there is none, or commits after it added rows whose changes nobody records.
        """
        if latest is None or not (self.state.schema.reads_files_alone and self.source is ChangeSource.RECORDED):
            return latest
        one: Snapshot | None = latest
        unread = [e for e in live_entries(self.state.manifests, latest) if e.file.level == 0]
        to_come = {e.identifier for e in unread if self.state.schema.records_merged(self._schema_of(e))}
        waiting = {e.identifier for e in unread} - to_come
        while one is not None and waiting:
            if one.commit_kind == "OVERWRITE" or (one.id > 1 and not self.state.snapshots.exists(one.id - 1)):
                raise self._all_wait()
            for entry in entries_of(self.state, [one.delta_manifest_list]):
                merged = entry.file.level == 0 and self._schema_of(entry).records_when_compacted
                if merged or entry.identifier in to_come:
                    continue
                added = entry.kind == FileKind.ADD
                if added and one.commit_kind == "APPEND" and one.changelog_manifest_list is None:
                    raise self._all_wait()
                if added:
                    waiting.discard(entry.identifier)
                elif entry.file.level == 0:
                    waiting.add(entry.identifier)
            one = self.state.snapshots.load(one.id - 1) if one.id > 1 else None
        return one

    def _schema_of(self, entry: ManifestEntry) -> TableSchema:
        """The schema that a file was written with."""
        return self.state.schemas.load(entry.file.schema_id)

    def _all_wait(self) -> ChangesNotFound:
        return ChangesNotFound(
            f"A new stream cannot begin with the rows of table {self.state.name}: no compaction has merged yet all "
            "rows that commits added since the last snapshot from which it could go on.",
            hint=f"Compact it first: CALL sys.compact(table => '{self.state.name}'). Or read only the changes from now "
            "on: 'scan.mode' = 'latest'.",
        )

    def _position_at(self, millis: int, latest: Snapshot | None) -> StreamPosition:
        """The position before the changes that were committed at a time or later, as far as they are kept."""
        kept = self._kept_changelogs()
        earlier = self.state.snapshots.at_or_before(millis - 1)
        earlier = earlier or newest_until(millis - 1, kept, self.state.changelogs.load)
        if earlier is not None:
            return StreamPosition.after(earlier)
        return self._before(kept[0] if kept else self.state.snapshots.earliest_id() or 1, latest)

    def _kept_changelogs(self) -> list[int]:
        """The expired snapshots, up to the oldest that is there, of which no changelog is missing."""
        if self.source is not ChangeSource.RECORDED:
            return []
        kept, oldest = self.state.changelogs.ids(), self.state.snapshots.earliest_id() or 1
        found = oldest
        while found - 1 in kept:
            found -= 1
        return list(range(found, oldest))

    def _of_consumer(self, following: int, position: object) -> StreamPosition:
        if isinstance(position, dict):
            return StreamPosition.from_dict(position)
        return self._before(following, self.state.snapshots.latest())

    def _before(self, snapshot_id: int, latest: Snapshot | None) -> StreamPosition:
        """The position before the changes of a snapshot, which may be the next one to come."""
        following = (latest.id if latest else 0) + 1
        if snapshot_id > following:
            raise self._lost(f"has no snapshot {snapshot_id} to begin with")
        if snapshot_id < following:
            self._load(snapshot_id)
        try:
            return StreamPosition.after(self.state.snapshots.load(snapshot_id - 1) if snapshot_id > 1 else None)
        except SnapshotNotFound:
            return StreamPosition(snapshot_id - 1)

    def keep(self, consumer: str, position: StreamPosition) -> None:
        """Note how far a consumer has read, so that what it needs to go on does not expire."""
        needs = max(self._needs(position), 1)
        set_consumer(self.state.io, self.state.paths, consumer, needs, position.to_dict())

    def _needs(self, position: StreamPosition) -> int:
        """The oldest snapshot that is read after a position."""
        if position.is_within:
            compares = self.source is ChangeSource.STATES and not position.whole
            return position.snapshot - 1 if compares else position.snapshot
        return position.snapshot if self.source is ChangeSource.STATES else position.snapshot + 1

    def following(self, start: StreamPosition, limits: Limits, last: int | None = None) -> StreamPosition:
        """The position after the next batch, at most after the snapshot `last`; the same one when nothing is new.

        Raises:
            ChangesNotFound: snapshots that it needs have expired, or the table was built anew.
        """
        latest = self._latest(start)
        if start.is_within:
            return self._rest(start, limits)
        end = min(latest, last) if last is not None else latest
        new = [one for one in self._commits(start.snapshot, end) if self._has_changes(one)]
        return self._most(start, new, limits) if new else start

    def _rest(self, start: StreamPosition, limits: Limits) -> StreamPosition:
        """The position after the rest of a unit, or after as much of it as the limits hold."""
        snapshot = self._load(start.snapshot, whole=start.whole)
        rest = self._unit(snapshot, start)[start.pieces :]
        taken = limits.first(rest)
        if taken == len(rest):
            return StreamPosition.after(snapshot)
        return replace(start, pieces=start.pieces + taken)

    def _most(self, start: StreamPosition, commits: Sequence[Snapshot], limits: Limits) -> StreamPosition:
        """The position after as many commits as the limits hold; within the first if that is too much already."""
        if limits.unlimited:
            return StreamPosition.after(commits[-1])
        files = rows = 0
        reached: Snapshot | None = None
        for one in commits:
            size = self._size(one)
            files, rows = files + size[0], rows + size[1]
            if not limits.hold(files, rows):
                break
            reached = one
        if reached is not None:
            return StreamPosition.after(reached)
        first = StreamPosition.within(commits[0], 0)
        return self._rest(first, limits)

    # -- pieces

    def pieces(self, start: StreamPosition, end: StreamPosition) -> list[Piece]:
        """The changes between two positions, in order. Raises ChangesNotFound as `following`."""
        self._latest(start)
        if start == end:
            return []
        if start.is_within and start.same_unit(end):
            return self._unit(self._load(start.snapshot, whole=start.whole), start)[start.pieces : end.pieces]
        found: list[Piece] = []
        if start.is_within:
            found += self._unit(self._load(start.snapshot, whole=start.whole), start)[start.pieces :]
        complete = end.snapshot - 1 if end.is_within else end.snapshot
        if complete > start.snapshot:
            found += pieces_of(self._changes(start.snapshot, self._load(complete)))
        if end.is_within:
            found += self._unit(self._load(end.snapshot), end)[: end.pieces]
        return found

    def _unit(self, snapshot: Snapshot, position: StreamPosition) -> list[Piece]:
        """All pieces of a unit."""
        if not position.whole:
            return pieces_of(self._changes(snapshot.id - 1, snapshot))
        plan = plan_scan(self.state, snapshot)
        options = self.state.schema.core_options
        if self.source is ChangeSource.RECORDED and options.changelog_producer == "full-compaction":
            # Rows that are not compacted yet will be recorded when they are.
            top = options.num_levels - 1
            at_top = (replace(one, files=tuple(f for f in one.files if f.level >= top)) for one in plan.buckets)
            plan = replace(plan, buckets=tuple(one for one in at_top if one.files))
        return pieces_of(AllRows(plan))

    def _changes(self, first: int, after: Snapshot) -> ChangePlan | RecordedChanges:
        """The changes after a snapshot, up to and including another one."""
        if self.source is ChangeSource.RECORDED:
            return RecordedChanges(changelog_plan(self.state, self._commits(first, after.id)))
        if self.source is ChangeSource.FILES:
            return committed_plan(self.state, self._commits(first, after.id))
        before = self._load(first) if first else None
        return plan_changes(self.state, ChangeRange(before, after))

    # -- commits

    def _size(self, commit: Snapshot) -> tuple[int, int]:
        """How many files, and rows in them, are read for what a commit changed."""
        if keeps_file_vectors(self.state.schema) and self._marks(commit):
            pieces = pieces_of(self._changes(commit.id - 1, commit))
            return sum(one.files for one in pieces), sum(one.rows for one in pieces)
        of = recorded_entries if self.source is ChangeSource.RECORDED else commit_entries
        entries = of(self.state, [commit])
        return len(entries), sum(entry.file.row_count for entry in entries)

    def _marks(self, commit: Snapshot) -> bool:
        """Whether a commit may mark rows of an append table as deleted, in files that it leaves where they are."""
        before = self._load(commit.id - 1).index_manifest if commit.id > 1 else None
        return commit.index_manifest != before

    def _has_changes(self, commit: Snapshot) -> bool:
        if self.source is ChangeSource.RECORDED:
            return commit.changelog_manifest_list is not None and commit.commit_kind != "OVERWRITE"
        if self.state.schema.reads_files_alone:
            return commit.commit_kind != "ANALYZE"  # rows can be read when a compaction has merged them
        return commit.commit_kind not in NO_ROWS

    def _commits(self, first: int, last: int) -> list[Snapshot]:
        return [self._load(number) for number in range(first + 1, last + 1)]

    def _load(self, snapshot_id: int, *, whole: bool = False) -> Snapshot:
        """A snapshot; of recorded changes, unless all of its rows are wanted, what is kept of it for its changelog."""
        try:
            if self.source is ChangeSource.RECORDED and not whole:
                return recorded_commit(self.state, snapshot_id)
            return self.state.snapshots.load(snapshot_id)
        except SnapshotNotFound:
            raise self._lost(f"has no snapshot {snapshot_id} any more, which a stream was to read") from None

    def _latest(self, position: StreamPosition) -> int:
        """The id of the latest snapshot, if the table is still the one that a position is in, with its columns."""
        latest = self.state.snapshots.latest()
        if (latest.id if latest else 0) < position.snapshot:
            raise self._lost("was built anew since a stream read it")
        if latest is None:
            return 0
        self._check_columns(latest)
        try:
            reached = self.state.snapshots.load(position.snapshot) if position.mark else None
        except SnapshotNotFound:
            reached = None
        if reached is not None and not self._same_table(position, reached, latest):
            raise self._lost("was built anew since a stream read it")
        return latest.id

    def _same_table(self, position: StreamPosition, reached: Snapshot, latest: Snapshot) -> bool:
        return reached.mark == position.mark and self.state.schemas.are_of_one_table(
            reached.schema_id, latest.schema_id
        )

    def _check_columns(self, latest: Snapshot) -> None:
        """Refuse to go on with columns that the table no longer has."""
        schema = self.state.schema
        if latest.schema_id in (schema.id, 0) or latest.schema_id < schema.id:
            return
        now = self.state.schemas.load(latest.schema_id)
        if [(f.id, f.name, f.type) for f in now.fields] != [(f.id, f.name, f.type) for f in schema.fields]:
            raise ChangesNotFound(
                f"The columns of table {self.state.name} were changed while a stream read it.",
                hint="Start the stream again, with the same checkpoint location: it goes on where it was, with the"
                " columns that the table has now.",
            )

    def _lost(self, what: str) -> ChangesNotFound:
        ids = self.state.snapshots.ids()
        there = f"There are snapshots {ids[0]} to {ids[-1]}." if ids else "There are no snapshots."
        return ChangesNotFound(f"Table {self.state.name} {what}. {there}", hint=_HINT)
