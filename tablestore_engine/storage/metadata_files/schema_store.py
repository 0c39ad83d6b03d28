"""The schemas of one table: one file per version, whose content never changes once it exists.

A schema that *replaces* the table (CREATE OR REPLACE … AS) is written before the new rows are. It counts as the
latest only once a snapshot has been committed with it or a later one; after a build that failed, the old schema stays
the latest. Other engines do not know that rule: until then the file is *staged*, with options that make them follow
it, and once the snapshot is there it is *settled*, written anew without them.
"""

from __future__ import annotations

from collections.abc import Mapping

from tablestore_engine.errors import CorruptMetadataError, StorageError, TableNotFound
from tablestore_engine.schema.table.table_schema import STAGED_OPTIONS, TableSchema
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.storage.paths import TablePaths, schema_id_of


class SchemaStore:
    """Finds, reads and creates the schemas of the table at ``paths``."""

    def __init__(self, io: FileIO, paths: TablePaths) -> None:
        self._io = io
        self._paths = paths
        self._loaded: dict[int, TableSchema] = {}
        self._staged: set[int] = set()
        self._first: TableSchema | None = None

    def list_ids(self) -> list[int]:
        """The ids of all schemas, in order."""
        found = (schema_id_of(one.name) for one in self._io.list(self._paths.schema_dir))
        return sorted(one for one in found if one is not None)

    def load(self, schema_id: int) -> TableSchema:
        """One schema; read once.

        Raises:
            CorruptMetadataError: its file is damaged, or lost.
            UnsupportedTypeError: it has a column of a type that this engine cannot hold.
        """
        schema = self._loaded.get(schema_id)
        if schema is None:
            schema = self._loaded[schema_id] = self._read(schema_id)
            self._first = self._first or schema
        return schema

    def knowing(self, schema: TableSchema) -> SchemaStore:
        """The same schemas, and one that a commit is about to write."""
        if schema.id in self._loaded:
            return self
        found = SchemaStore(self._io, self._paths)
        found._loaded = {**self._loaded, schema.id: schema}
        found._first = self._first
        return found

    def check_same_table(self, name: str) -> None:
        """Raise TableNotFound when others dropped or renamed the table after its schema was read. Another one that has
        its name now may have other columns. Reads one file."""
        if self._first is None:
            return
        found = read_record(self._io, self._paths.schema(self._first.id), _with_stage)
        if found is None or found[0] != self._first:
            raise TableNotFound(
                f"Others dropped or renamed {name} meanwhile. Nothing was written.",
                hint="Run the statement again if the table is to be written under its name.",
            )

    def _read(self, schema_id: int) -> TableSchema:
        path = self._paths.schema(schema_id)
        found = read_record(self._io, path, _with_stage)
        if found is None:
            raise CorruptMetadataError(path, "it does not exist")
        schema, staged = found
        if schema.id != schema_id:
            raise CorruptMetadataError(path, f"it says that it is schema {schema.id}")
        if staged:
            self._staged.add(schema_id)
        return schema

    def latest(self, snapshot_schema_id: int | None = None) -> TableSchema | None:
        """The schema that counts now, None when the table has none.

        Args:
            snapshot_schema_id: schema id of the latest snapshot, None before the first commit. A schema that
                replaces the table and is newer than this does not count yet.
        """
        committed = -1 if snapshot_schema_id is None else snapshot_schema_id
        for schema_id in reversed(self.list_ids()):
            schema = self.load(schema_id)
            if schema_id <= committed or (schema.replaces is None and self.descends(schema_id, committed)):
                return schema
        return None

    def descends(self, schema_id: int, ancestor: int) -> bool:
        """Whether a schema came from an older one (-1: from nothing) by changes alone, without a replacement.

        A change that was made while a replacement was under way does not descend from the replacement, nor do the
        changes that follow it: should the replacement be committed, they are void.
        """
        while schema_id > ancestor:
            schema = self.load(schema_id)
            if schema.replaces is not None and schema.base is None:
                return ancestor < 0
            schema_id = schema_id - 1 if schema.base is None else schema.base
        return schema_id == ancestor

    def are_of_one_table(self, one: int, other: int) -> bool:
        """Whether changes lead from the rows of one schema to those of the other: between them, the table was not
        replaced by another one, and got no primary key.

        Unlike `descends`, it passes over constraints and layouts that rows were checked for, or written anew in: a
        writer that began before these must not go on, but its rows are still those of the table.
        """
        return one == other or bool(self.between(*sorted((one, other))))

    def between(self, past: int, now: int) -> list[TableSchema]:
        """The schemas through which changes lead from one to a later one, both included; none when they do not."""
        found: list[TableSchema] = []
        schema_id = now
        while schema_id > past:
            schema = self.load(schema_id)
            replaced = schema.replaced_id if schema.base is None else schema.base
            replaces = schema.replaces is not None and schema.base is None
            if replaces and (replaced is None or not schema.goes_on_from(self.load(replaced))):
                return []
            found.append(schema)
            schema_id = schema_id - 1 if replaced is None else replaced
        return [self.load(past), *reversed(found)] if schema_id == past else []

    def try_create(self, schema: TableSchema, for_others: Mapping[str, str] | None = None) -> bool:
        """Write a new schema: one atomic create. False when its id is taken, and nothing has happened.

        With `for_others`, it is staged: other engines see these options until it is settled.
        """
        if not self._io.create(self._paths.schema(schema.id), schema.to_json(for_others).encode()):
            return False
        self._loaded[schema.id] = schema
        if for_others is not None:
            self._staged.add(schema.id)
        return True

    def settle(self, schema_id: int) -> None:
        """Write a staged schema as other engines shall see it from now on, because a snapshot has been committed with
        it: one atomic write. Where storage fails, the next commit does it."""
        if schema_id not in self._staged:
            return
        path = self._paths.schema(schema_id)
        try:
            found = read_record(self._io, path, _with_stage)
            if found == (self._loaded[schema_id], True):
                self._io.write(path, self._loaded[schema_id].to_json().encode())
        except (StorageError, CorruptMetadataError):
            return
        self._staged.discard(schema_id)


def _with_stage(text: bytes) -> tuple[TableSchema, bool]:
    """A schema, and whether its file is staged."""
    schema = TableSchema.from_json(text)
    return schema, f'"{STAGED_OPTIONS}"'.encode() in text
