"""The statistics files of one table: the results of ANALYZE TABLE, named by snapshots."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from tablestore_engine.metadata.analyze_statistics import Statistics
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.storage.paths import TablePaths


class StatisticsStore:
    """Reads and writes the statistics of the table at ``paths``."""

    def __init__(self, io: FileIO, paths: TablePaths, *, new_uuid: Callable[[], str] = lambda: str(uuid4())) -> None:
        self._io = io
        self._paths = paths
        self._new_uuid = new_uuid

    def write(self, statistics: Statistics) -> str:
        """Write a new file. Returns its name."""
        name = self._paths.new_statistics_name(self._new_uuid())
        self._io.write(self._paths.statistics(name), statistics.to_json().encode())
        return name

    def read(self, name: str) -> Statistics | None:
        """The statistics in a file. None without one: it is not needed to read the table, so others may have removed
        it. Raises CorruptMetadataError, StorageError."""
        return read_record(self._io, self._paths.statistics(name), Statistics.from_json)

    def delete(self, name: str) -> None:
        """Remove a file that no snapshot names."""
        self._io.delete(self._paths.statistics(name))
