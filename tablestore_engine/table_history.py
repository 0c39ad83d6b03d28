"""The snapshots and tags of one table: which there are, naming, restoring and expiring them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from tablestore_engine.errors import SnapshotNotFound
from tablestore_engine.metadata.analyze_statistics import Statistics
from tablestore_engine.metadata.snapshot import NO_ROWS, Snapshot
from tablestore_engine.metadata.tag_lifetime import Lifetime
from tablestore_engine.operation.expiration.dead_tags import load_living
from tablestore_engine.operation.expiration.snapshot_expire import Retention, expire_snapshots
from tablestore_engine.operation.tags.tags import create_tag, delete_tag
from tablestore_engine.storage import clock
from tablestore_engine.table_state import TableState


@dataclass(frozen=True)
class TableHistory:
    """The part of a `Table` that is about its snapshots."""

    state: TableState

    def latest_snapshot(self) -> Snapshot | None:
        """The newest snapshot; None for a table that was never written. Raises CorruptMetadataError: its schema is
        lost."""
        found = self.state.snapshots.latest()
        if found is not None and found.schema_id > self.state.schema.id:
            self.state.schemas.load(found.schema_id)
        return found

    def snapshots(self) -> list[Snapshot]:
        """All snapshots, oldest first. Raises CorruptMetadataError: the newest is lost."""
        self.state.snapshots.latest_id()
        return list(self.state.snapshots.iter())

    def snapshot(self, snapshot_id: int) -> Snapshot:
        """One snapshot. Raises SnapshotNotFound, whose message lists the existing ones."""
        return self.state.snapshots.load(snapshot_id)

    def snapshot_at(self, time_millis: int) -> Snapshot:
        """The newest snapshot committed at or before a time (milliseconds since 1970).

        Raises:
            SnapshotNotFound: all snapshots are later; the message says when the oldest was committed.
        """
        found = self.state.snapshots.at_or_before(time_millis)
        if found is not None:
            return found
        first = next(self.state.snapshots.iter(), None)
        when = "it has no snapshots yet" if first is None else f"the oldest is of {_utc(first.time_millis)}"
        raise SnapshotNotFound(f"Table {self.state.name} has no snapshot at or before {_utc(time_millis)}: {when}.")

    def version(self, version: str | int) -> Snapshot:
        """A snapshot by its id or by its tag. Raises SnapshotNotFound, TagNotFound."""
        text = str(version).strip()
        return self.snapshot(int(text)) if self.state.tags.names_snapshot(text) else load_living(self.state, text)

    def last_modified_millis(self, latest: Snapshot | None = None) -> int | None:
        """Time of the newest snapshot that is not a compaction; None before the first."""
        snapshot = latest or self.latest_snapshot()
        if snapshot is None:
            return None
        while snapshot.commit_kind in NO_ROWS and snapshot.id > 1:
            try:
                snapshot = self.state.snapshots.load(snapshot.id - 1)
            except SnapshotNotFound:
                break
        return snapshot.time_millis

    def properties_of(self, snapshot: Snapshot) -> Mapping[str, str]:
        """The properties that the committer stored with a snapshot."""
        return snapshot.properties or {}

    def statistics_of(self, snapshot: Snapshot | None) -> Statistics | None:
        """The statistics of ANALYZE TABLE for a snapshot or an earlier one; None if it was never run."""
        if snapshot is None or snapshot.statistics is None:
            return None
        return self.state.statistics.read(snapshot.statistics)

    def create_tag(self, name: str, snapshot_id: int | None = None, retained_millis: int | None = None) -> Snapshot:
        """Name a snapshot (default: the latest), so that it does not expire, for a time or until it is deleted.

        `retained_millis` is that time; the option `tag.default-time-retained` when it is not given.

        Raises:
            SnapshotNotFound, TagAlreadyExists
            UserError: a name that is a number or cannot be one of a file.
        """
        snapshot = self.latest_snapshot() if snapshot_id is None else self.snapshot(snapshot_id)
        if snapshot is None:
            raise SnapshotNotFound(f"Table {self.state.name} has no snapshots yet, so there is nothing to tag.")
        if create_tag(self.state, name, snapshot, self.tag_lifetime(retained_millis)):
            return snapshot
        return self.create_tag(name, snapshot_id, retained_millis)

    def tag_lifetime(self, retained_millis: int | None = None) -> Lifetime | None:
        """The time to live of a new tag; None: until it is deleted."""
        kept = self.state.options.tag_default_time_retained_millis if retained_millis is None else retained_millis
        return None if kept is None else Lifetime(clock.now_millis(), kept)

    def delete_tag(self, name: str) -> None:
        """Remove a tag, and the files that only it kept. Raises TagNotFound."""
        delete_tag(self.state, name)

    def roll_back(self, version: str | int) -> Snapshot | None:
        """Restore the rows of a snapshot or tag as a new snapshot; None when the table has them already.

        Raises:
            SnapshotNotFound, TagNotFound
            ConflictError: others keep changing the table.
        """
        from tablestore_engine.operation.history.rollback import roll_back
        from tablestore_engine.operation.table_commands.after_commit import follow
        from tablestore_engine.operation.transaction.transaction import with_retry

        done = with_retry(lambda: roll_back(self.state, self.version(version)))
        return None if done is None else follow(done)

    def expire_snapshots(self, retention: Retention | None = None, now_millis: int | None = None) -> int:
        """Remove old snapshots, by default as the table's options define. Returns their number."""
        now = clock.now_millis() if now_millis is None else now_millis
        return expire_snapshots(self.state, now, retention or Retention.of(self.state.options))


def _utc(millis: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(millis / 1000))
