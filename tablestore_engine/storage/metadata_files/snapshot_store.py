"""The snapshots of one table.

A snapshot exists when its file exists. The *hint files* LATEST and EARLIEST spare a listing; they may be missing, stale
or wrong, and no answer relies on them. A LATEST that is little ahead of all snapshots shows that snapshots were lost.
Ids grow by one; the oldest may have expired.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from tablestore_engine.errors import CorruptMetadataError, SnapshotNotFound, StorageError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.storage.paths import TablePaths, snapshot_id_of

# A hint that is older than this many snapshots is worth a listing.
_STEPS_FROM_HINT = 4
# A snapshot may expire between finding its id and reading it, but not many times in a row.
_ATTEMPTS = 5


class SnapshotStore:
    """Finds, reads and creates the snapshots of the table at ``paths``."""

    def __init__(self, io: FileIO, paths: TablePaths) -> None:
        self._io = io
        self._paths = paths

    def ids(self) -> list[int]:
        """The ids of all snapshots, in order."""
        found = (snapshot_id_of(one.name) for one in self._io.list(self._paths.snapshot_dir))
        return sorted(one for one in found if one is not None)

    def exists(self, snapshot_id: int) -> bool:
        """Whether there is a snapshot of that id."""
        return self._io.exists(self._paths.snapshot(snapshot_id))

    def latest_id(self) -> int | None:
        """The newest id, None before the first commit.

        Raises:
            CorruptMetadataError: the newest snapshot is lost: without it, others would be overwritten by the next one.
        """
        hint = self._hint(self._paths.latest_hint)
        # Without its predecessor it may be one that a late writer is about to remove.
        if hint is not None and self.exists(hint) and (hint == 1 or self.exists(hint - 1)):
            for candidate in range(hint, hint + _STEPS_FROM_HINT):
                if not self.exists(candidate + 1):
                    return candidate
        ids = self.ids()
        newest = ids[-1] if ids else 0
        if hint is not None and newest < hint <= newest + _STEPS_FROM_HINT:
            self._check_lost(hint, newest)
        return newest or None

    def _check_lost(self, hint: int, newest: int) -> None:
        """Refuse a hint at a snapshot that was there and is not: it is written after the snapshot, and is changed
        before a rollback of another writer removes snapshots."""
        if self._hint(self._paths.latest_hint) == hint and not self.exists(hint):
            reader = f"the table is then as of snapshot {newest}" if newest else "the table is then empty"
            raise CorruptMetadataError(
                self._paths.snapshot(hint),
                "it does not exist, though the file LATEST next to it names it",
                hint=f"Restore the file from a copy of the table. If it is lost, delete LATEST: {reader}.",
            )

    def earliest_id(self) -> int | None:
        """The oldest id that has not expired, None before the first commit."""
        hint = self._hint(self._paths.earliest_hint)
        if hint is not None and self.exists(hint) and not self.exists(hint - 1):
            return hint
        ids = self.ids()
        return ids[0] if ids else None

    def _hint(self, path: str) -> int | None:
        try:
            hint = int(self._io.read(path))
        except (StorageError, ValueError):
            return None
        return hint if hint > 0 else None

    def load(self, snapshot_id: int) -> Snapshot:
        """One snapshot.

        Raises:
            SnapshotNotFound: there is none of that id; the message says which there are.
            CorruptMetadataError: its file is damaged.
        """
        path = self._paths.snapshot(snapshot_id)
        snapshot = read_record(self._io, path, Snapshot.from_json)
        if snapshot is None:
            raise self._not_found(snapshot_id)
        if snapshot.id != snapshot_id:
            raise CorruptMetadataError(path, f"it says that it is snapshot {snapshot.id}")
        return snapshot

    def _not_found(self, snapshot_id: int) -> SnapshotNotFound:
        ids, which = self.ids(), f"Snapshot {snapshot_id} of table {self._paths.table_name}"
        if not ids:
            return SnapshotNotFound(f"{which} does not exist: the table has no snapshots yet.")
        known = f"{ids[0]} to {ids[-1]}" if len(ids) > 1 else f"only {ids[0]}"
        expired = snapshot_id < ids[0]
        hint = "It has expired; tags and the option 'snapshot.time-retained' keep snapshots." if expired else None
        return SnapshotNotFound(f"{which} does not exist; there are {known}.", hint=hint)

    def latest(self) -> Snapshot | None:
        """The newest snapshot, None before the first commit."""
        for _ in range(_ATTEMPTS):
            snapshot_id = self.latest_id()
            if snapshot_id is None:
                return None
            try:
                return self.load(snapshot_id)
            except SnapshotNotFound:
                continue
        raise SnapshotNotFound(f"The newest snapshot of table {self._paths.table_name} vanishes while it is read.")

    def iter(self, *, newest_first: bool = False) -> Iterator[Snapshot]:
        """All snapshots by id; those that expire meanwhile are left out."""
        ids = self.ids()
        for snapshot_id in reversed(ids) if newest_first else ids:
            try:
                yield self.load(snapshot_id)
            except SnapshotNotFound:
                continue

    def __iter__(self) -> Iterator[Snapshot]:
        return self.iter()

    def try_create(self, snapshot: Snapshot) -> bool:
        """Publish a snapshot: one atomic create. False when its id is taken, and nothing has happened.

        Raises:
            StorageError: the storage failed; the snapshot may or may not be there.
        """
        if not self._io.create(self._paths.snapshot(snapshot.id), snapshot.to_json().encode()):
            return False
        if self._is_late(snapshot.id):
            self._io.delete(self._paths.snapshot(snapshot.id))
            return False
        self._write_hint(self._paths.latest_hint, snapshot.id)
        if snapshot.id == 1:
            self._write_hint(self._paths.earliest_hint, snapshot.id)
        return True

    def _is_late(self, snapshot_id: int) -> bool:
        """Whether an id was free because its snapshot has expired: a writer that was suspended for long comes too
        late."""
        # The one before it is there, unless it has expired, and the newest never does.
        if snapshot_id > 1 and self.exists(snapshot_id - 1):
            return False
        after = [one for one in self.ids() if one > snapshot_id]
        if not after:
            return False
        earliest = self._hint(self._paths.earliest_hint) or 1
        if earliest > snapshot_id or snapshot_id + 1 not in after:
            return True
        # The ones after it are made on top of it when it is itself the oldest, as when many begin a table at once.
        return earliest < snapshot_id

    def write_earliest_hint(self, snapshot_id: int) -> None:
        """Note the oldest snapshot that stays, before an expiration: so a late writer learns that it is late.

        Raises:
            StorageError: it cannot be written; nothing may expire.
        """
        self._io.write(self._paths.earliest_hint, str(snapshot_id).encode())

    def renew_hints(self) -> None:
        """Write the hints anew that are wrong. Raises StorageError."""
        ids = self.ids()
        # After a killed expiration, the hint is right and some older snapshots are left.
        if ids and self._hint(self._paths.earliest_hint) not in ids:
            self._io.write(self._paths.earliest_hint, str(ids[0]).encode())
        if ids and self._hint(self._paths.latest_hint) != ids[-1]:
            self._io.write(self._paths.latest_hint, str(ids[-1]).encode())

    def _write_hint(self, path: str, snapshot_id: int) -> None:
        # The snapshot is published whatever happens here; a missing or stale hint costs a listing.
        with contextlib.suppress(StorageError):
            self._io.write(path, str(snapshot_id).encode())

    def at_or_before(self, time_millis: int) -> Snapshot | None:
        """The newest snapshot that was committed at or before a time, None when all are later."""
        latest = self.latest()
        if latest is None or latest.time_millis <= time_millis:
            return latest
        return newest_until(time_millis, [one for one in self.ids() if one < latest.id], self._load_if_there)

    def _load_if_there(self, snapshot_id: int) -> Snapshot | None:
        try:
            return self.load(snapshot_id)
        except SnapshotNotFound:
            return None

    def find_by_identifier(
        self, commit_user: str, identifier: int, *, kind: str | None = None, after: int = 0
    ) -> Snapshot | None:
        """The newest snapshot that a commit of that user and identifier made, None when there is none.

        Args:
            commit_user: as in the snapshot.
            identifier: as in the snapshot.
            kind: only a snapshot of this commit kind.
            after: look only at greater ids.
        """
        for snapshot_id in reversed(self.ids()):
            if snapshot_id <= after:
                break
            try:
                one = self.load(snapshot_id)
            except SnapshotNotFound:
                continue
            if (one.commit_user, one.commit_identifier) == (commit_user, identifier) and kind in (
                None,
                one.commit_kind,
            ):
                return one
        return None


def newest_until(time_millis: int, ids: Sequence[int], load: Callable[[int], Snapshot | None]) -> Snapshot | None:
    """The newest of some snapshots, given in order, that was committed at or before a time; None when all are later.

    `load` returns None for one that expired meanwhile, as all before it have.
    """
    found: Snapshot | None = None
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        snapshot = load(ids[middle])
        if snapshot is None:
            low = middle + 1
        elif snapshot.time_millis <= time_millis:
            found, low = snapshot, middle + 1
        else:
            high = middle
    return found
