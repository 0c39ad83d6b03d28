"""The records of tables that are being filled under their own names: small files in a hidden folder of the warehouse.

Besides a record there may be a *heartbeat*, when its owner was last seen, and a *revocation*, after which the owner may
not commit. All but the heartbeat are created once, atomically.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from tablestore_engine.errors import StorageError, TableStoreError
from tablestore_engine.metadata.warehouse.build_record import BuildRecord
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.storage.paths import WarehousePaths

_log = logging.getLogger(__name__)

RECORD, HEARTBEAT, REVOKED = "json", "heartbeat", "revoked"


class BuildRecordStore:
    """Reads and writes the records of the warehouse at `paths`."""

    def __init__(self, io: FileIO, paths: WarehousePaths) -> None:
        self._io = io
        self._paths = paths

    def all(self) -> Iterator[BuildRecord]:
        """All records; those that cannot be read are left out with a warning. Notes without a record are removed."""
        names = [one.name for one in self._io.list(self._paths.builds_dir)]
        records = {name.rpartition(".")[0] for name in names if name.endswith(f".{RECORD}")}
        for name in names:
            if name.rpartition(".")[0] not in records and not name.startswith("."):
                self._io.delete(f"{self._paths.builds_dir}/{name}")
        for build_id in sorted(records):
            record = self._load(build_id)
            if record is not None:
                yield record

    def _load(self, build_id: str) -> BuildRecord | None:
        try:
            return read_record(self._io, self._paths.build_note(build_id, RECORD), BuildRecord.from_json)
        except TableStoreError as error:
            _log.warning("%s A table that was not filled completely may be left; drop it, and remove this file.", error)
            return None

    def add(self, record: BuildRecord) -> None:
        """Write a record down."""
        self._io.create(self._paths.build_note(record.id, RECORD), record.to_json())

    def beat(self, build_id: str, now_millis: int) -> None:
        """Renew the lease of a build."""
        self._io.write(self._paths.build_note(build_id, HEARTBEAT), str(now_millis).encode())

    def seen_millis(self, build_id: str) -> int | None:
        """The last heartbeat; None before the first."""
        data = self._read(build_id, HEARTBEAT)
        return int(data) if data and data.isdigit() else None

    def revoke(self, build_id: str) -> None:
        """Take the right to commit from a build."""
        self._io.create(self._paths.build_note(build_id, REVOKED), b"{}")

    def may_commit(self, build_id: str) -> bool:
        """Whether a build is neither revoked nor settled."""
        noted = self._paths.build_note
        return self._io.exists(noted(build_id, RECORD)) and not self._io.exists(noted(build_id, REVOKED))

    def remove(self, build_id: str) -> None:
        """Remove a record, and then its notes."""
        for note in (RECORD, HEARTBEAT, REVOKED):
            self._io.delete(self._paths.build_note(build_id, note))

    def _read(self, build_id: str, note: str) -> bytes | None:
        try:
            return self._io.read(self._paths.build_note(build_id, note))
        except StorageError as error:
            if error.missing:
                return None
            raise
