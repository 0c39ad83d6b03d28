"""Long-lived changelogs, which outlive their snapshots: what is kept of an expired snapshot, as Paimon keeps it.

Each is a copy of the snapshot's file, of which only the changelog's manifest list is there still. One is kept of every
snapshot that expires, also of those without a changelog, so that readers find no gap. The hints LATEST and EARLIEST are
for other readers.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.storage.paths import TablePaths, changelog_id_of


class ChangelogStore:
    """Finds, keeps and removes the changelogs of the table at ``paths`` that outlive their snapshots."""

    def __init__(self, io: FileIO, paths: TablePaths) -> None:
        self._io = io
        self._paths = paths

    def ids(self) -> list[int]:
        """The ids of their snapshots, in order."""
        found = (changelog_id_of(one.name) for one in self._io.list(self._paths.changelog_dir))
        return sorted(one for one in found if one is not None)

    def load(self, snapshot_id: int) -> Snapshot | None:
        """The kept record of a snapshot; None where there is none. Raises CorruptMetadataError."""
        return read_record(self._io, self._paths.changelog(snapshot_id), Snapshot.from_json)

    def keep(self, snapshots: Iterable[Snapshot]) -> None:
        """Keep the changelogs of snapshots, in order, which are about to expire."""
        for one in snapshots:
            self._io.write(self._paths.changelog(one.id), one.to_json().encode())
            self._io.write(self._paths.latest_changelog_hint, str(one.id).encode())

    def remove(self, ids: Iterable[int], earliest: int) -> None:
        """Remove changelogs, but for their files; `earliest` is the oldest one that stays."""
        self._io.write(self._paths.earliest_changelog_hint, str(earliest).encode())
        for one in ids:
            self._io.delete(self._paths.changelog(one))
