"""The folders of a warehouse: `<database>.db/<table>/` is a table when it has a schema.

A folder whose name begins with a dot is being built or removed, and is never listed. Names are case-insensitive; those
of folders that others made may have upper-case letters.
"""

from __future__ import annotations

from dataclasses import replace

from tablestore_engine.errors import CorruptMetadataError, NotAManagedTableError
from tablestore_engine.schema.expressions.expression import ReadExpression
from tablestore_engine.storage.file_io import FileIO, LocalFileIO
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore
from tablestore_engine.storage.paths import TablePaths, WarehousePaths, is_hidden
from tablestore_engine.table import Table
from tablestore_engine.table_state import TableState

DEFAULT_DATABASE = "default"


class Folders:
    """Finds the databases and tables of a warehouse. Changes nothing."""

    def __init__(self, io: FileIO, paths: WarehousePaths, read_expression: ReadExpression | None = None) -> None:
        self._io = io
        self._read_expression = read_expression
        self._paths = paths

    def databases(self) -> list[str]:
        """All databases; `default` exists always."""
        found = {self._paths.database_of(s.name) for s in self._io.list(self._paths.root) if s.is_dir}
        return sorted({DEFAULT_DATABASE, *(name for name in found if name)})

    def database(self, name: str) -> str | None:
        """The stored name of a database; None if there is none."""
        lowered = name.lower()
        if lowered == DEFAULT_DATABASE or self._io.exists(self._paths.database_dir(lowered)):
            return lowered
        return next((one for one in self.databases() if one.lower() == lowered), None)

    def tables(self, database: str) -> list[str]:
        """The names of an existing database's tables."""
        return [
            s.name
            for s in self._io.list(self._paths.database_dir(database))
            if s.is_dir and not is_hidden(s.name) and self._io.exists(TablePaths(s.path).schema_dir)
        ]

    def table(self, database: str, name: str) -> str | None:
        """The folder with a table's name, which may be another program's; None if there is none."""
        found = self.database(database)
        if found is None:
            return None
        lowered = name.lower()
        if self.is_taken(found, lowered):
            return self._paths.table_dir(found, lowered)
        for status in self._io.list(self._paths.database_dir(found)):
            if status.is_dir and status.name.lower() == lowered:
                return status.path
        return None

    def is_taken(self, database: str, name: str) -> bool:
        """Whether a folder of an existing database has the very name, in lower case."""
        return self._io.exists(self._paths.table_dir(database, name))

    def strange_files(self, database: str) -> list[str]:
        """Paths of files in the folder of a database without tables; empty folders are ignored."""
        return self._files_below(self._paths.database_dir(database))

    def _files_below(self, folder: str) -> list[str]:
        found: list[str] = []
        for one in self._io.list(folder):
            if is_hidden(one.name):
                continue
            found += self._files_below(one.path) if one.is_dir else [one.path]
        return found

    def open(self, path: str, identifier: tuple[str, str]) -> Table:
        """The table of a folder, with the newest of its schemas that counts.

        Raises:
            NotAManagedTableError: the folder is something else. CorruptMetadataError: its schemas are lost.
        """
        paths = TablePaths(path)
        io = replace(self._io, root=path) if type(self._io) is LocalFileIO else self._io
        schemas = SchemaStore(io, paths)
        snapshots = SnapshotStore(io, paths)
        ids = schemas.list_ids()
        if not ids and snapshots.ids():
            raise CorruptMetadataError(paths.schema(0), "it does not exist, though the table has snapshots")
        if not ids:
            raise NotAManagedTableError(
                f"The directory {path} has no schema, so it is not a managed table.",
                hint="Another program made it; move it away or choose another name.",
            )
        schema = schemas.load(ids[-1])
        if schema.replaces is not None or schema.base is not None:
            latest = snapshots.latest()
            counts = schemas.latest(latest.schema_id if latest else None)
            if counts is None:
                raise CorruptMetadataError(paths.schema(ids[0]), "no schema of this table counts")
            schema = counts
        state = TableState(identifier, io, paths, schema, schemas, snapshots, read_expression=self._read_expression)
        return Table(state)
