"""The catalog: the warehouse directory itself.

Tables are folders (`folders`); a view is a JSON file in the database's hidden `.views` directory. Creating a table
fills a hidden directory and renames it, dropping renames and then removes: each is one atomic step whose leftovers can
be removed. Names are case-insensitive, as in Spark; new ones are lower-cased.
"""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from tablestore_engine.catalog.builds import Workshop, begin, completed_or_dropped, settle_abandoned
from tablestore_engine.catalog.folders import DEFAULT_DATABASE, Folders
from tablestore_engine.catalog.log_topics import begin_log, drop_log_of, new_log, with_topic
from tablestore_engine.catalog.view_and_function_store import FUNCTIONS, VIEWS, RecordStore
from tablestore_engine.errors import (
    DatabaseAlreadyExists,
    DatabaseNotFound,
    DependencyError,
    NotAManagedTableError,
    StorageError,
    TableAlreadyExists,
    TableNotFound,
    TableStoreError,
    did_you_mean,
    nearest,
)
from tablestore_engine.metadata.warehouse.function import Function
from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.schema.expressions.expression import ReadExpression
from tablestore_engine.schema.table.schema_changes import SchemaChange
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage import clock
from tablestore_engine.storage.file_io import FileIO, LocalFileIO
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore
from tablestore_engine.storage.paths import TablePaths, WarehousePaths, check_name, local_folder
from tablestore_engine.table import Table

__all__ = ["DEFAULT_DATABASE", "Catalog", "View"]

T = TypeVar("T")
Guard = Callable[[], None] | None
_MOST_NAMED = 5
_MOST_SCHEMAS = 200


class _NameTaken(Exception):
    """Another process made a table of the name meanwhile."""


class Catalog:
    """Databases, tables and views of one warehouse. Safe for many threads and processes."""

    def __init__(
        self,
        warehouse: str | os.PathLike[str],
        io: FileIO | None = None,
        *,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        now_millis: Callable[[], int] = clock.now_millis,
        read_expression: ReadExpression | None = None,
    ) -> None:
        root = os.path.abspath(local_folder(os.fspath(warehouse))).rstrip("/")
        self.paths = WarehousePaths(root)
        self.io = io or LocalFileIO()
        self._new_id = new_id
        self._now_millis = now_millis
        self._read_expression = read_expression
        settle_abandoned(self._workshop)

    @property
    def warehouse(self) -> str:
        """Absolute path of the warehouse directory."""
        return self.paths.root

    @property
    def functions(self) -> RecordStore[Function]:
        """The functions of all databases."""
        return RecordStore(FUNCTIONS, self.io, self.paths)

    @property
    def _folders(self) -> Folders:
        return Folders(self.io, self.paths, self._read_expression)

    @property
    def _views(self) -> RecordStore[View]:
        return RecordStore(VIEWS, self.io, self.paths)

    # -- databases -------------------------------------------------------------------------------------

    def list_databases(self) -> list[str]:
        """All databases; `default` exists always."""
        return self._folders.databases()

    def database_exists(self, name: str) -> bool:
        """Whether there is a database of that name."""
        return self._folders.database(name) is not None

    def require_database(self, name: str) -> str:
        """The stored name. Raises DatabaseNotFound, whose message lists the existing ones."""
        found = self._folders.database(name)
        if found is None:
            raise DatabaseNotFound(
                f"Schema '{name}' does not exist in {self.warehouse}.",
                hint=did_you_mean(name, self.list_databases()),
            )
        return found

    def create_database(self, name: str, if_not_exists: bool = False) -> None:
        """Create a database. Raises DatabaseAlreadyExists, StorageError when the warehouse is not writable."""
        check_name("schema", name)
        if self.database_exists(name):
            if not if_not_exists:
                raise DatabaseAlreadyExists(f"Schema '{name}' exists already.")
            return
        self.io.mkdirs(self.paths.database_dir(name.lower()))

    def drop_database(self, name: str, cascade: bool = False, if_exists: bool = False) -> None:
        """Remove a database; with `cascade` also its content.

        Raises:
            DatabaseNotFound: it does not exist, unless `if_exists`.
            DependencyError: it is not empty, or its folder has other files, and `cascade` is not set.
        """
        found = self._folders.database(name)
        if found is None:
            if if_exists:
                return
            self.require_database(name)
        assert found is not None
        if not cascade:
            inside = [*self.list_tables(found), *self.list_views(found), *self.functions.names(found)]
            if inside:
                raise DependencyError(
                    f"Schema '{found}' is not empty: it holds {', '.join(inside[:10])}.",
                    hint="Drop them first, or use DROP SCHEMA … CASCADE.",
                )
            strange = self._folders.strange_files(found)
            if strange:
                raise DependencyError(
                    f"The folder of schema '{found}' has files that belong to no table: {', '.join(strange[:10])}.",
                    hint="Move them away, or remove them too by DROP SCHEMA … CASCADE.",
                )
        removed = self.paths.hidden_database_dir(found, self._new_id())
        directory = self.paths.database_dir(found)
        for one in self.list_tables(found):
            self._drop_log(found, one)
        if self.io.exists(directory) and self.io.rename(directory, removed):
            self.io.delete_tree(removed)

    # -- tables ----------------------------------------------------------------------------------------

    def list_tables(self, database: str) -> list[str]:
        """Names of the tables of a database. Raises DatabaseNotFound."""
        return self._folders.tables(self.require_database(database))

    def tables(self) -> Iterator[Table]:
        """All tables that can be loaded."""
        for database, name in [(one, name) for one in self.list_databases() for name in self.list_tables(one)]:
            with suppress(TableStoreError):
                yield self.load_table(database, name)

    def table_exists(self, database: str, name: str) -> bool:
        """Whether there is a table of that name."""
        path = self._folders.table(database, name)
        return path is not None and self.io.exists(TablePaths(path).schema_dir)

    def load_table(self, database: str, name: str) -> Table:
        """A table with its current schema.

        Raises:
            DatabaseNotFound, TableNotFound: it does not exist.
            NotAManagedTableError: the directory is something else.
        """
        path = self._folders.table(database, name)
        if path is None:
            self._missing(database, name)
        assert path is not None
        stored = (self.require_database(database), os.path.basename(path))
        return self._folders.open(path, stored)

    def _missing(self, database: str, name: str) -> None:
        found = self.require_database(database)
        tables = [*self.list_tables(found), *self.list_views(found)]
        if self.view_exists(found, name):
            raise TableNotFound(f"'{found}.{name}' is a view, not a table.")
        near = nearest(name, tables)
        hints = [f"Did you mean '{near}'?"] if near else []
        named = [f"'{one}.{name}'" for one in self._schemas_with(name)]
        if named:
            among = ", ".join(named[:_MOST_NAMED]) + (", …" if len(named) > _MOST_NAMED else "")
            hints.append(f"Other schemas have one of that name; name its schema, too: {among}.")
        raise TableNotFound(f"Table '{found}.{name}' does not exist.", hint=" ".join(hints) or None)

    def _schemas_with(self, name: str) -> list[str]:
        """Some of the schemas that have a table or view of a name; in a large warehouse not all are looked at."""
        some = itertools.islice(self.list_databases(), _MOST_SCHEMAS)
        return list(itertools.islice((one for one in some if self.object_kind(one, name)), _MOST_NAMED + 1))

    def create_table(self, database: str, name: str, schema: TableSchema, if_not_exists: bool = False) -> Table:
        """Create an empty table.

        Raises:
            DatabaseNotFound, TableAlreadyExists
            NotAManagedTableError: a directory of another program has the name.
        """
        found = self.require_database(database)
        if self._is_taken(found, name, if_not_exists):
            return self.load_table(found, name)
        schema = with_topic(schema, (found, name.lower()))
        try:
            with new_log(schema, lambda: self.table_exists(found, name), self.tables):
                staged = self.stage_table(found, name, schema)
                if not self.publish(staged, found, name):
                    self.io.delete_tree(staged.path)
                    raise TableAlreadyExists(f"Table '{found}.{name}' exists already.")
        except TableAlreadyExists:
            if not if_not_exists:
                raise
        return self.load_table(found, name)

    def _is_taken(self, database: str, name: str, if_not_exists: bool) -> bool:
        # Checked before its kind is read, because another process may create the table in between.
        directory = self._folders.table(database, name)
        kind = self.object_kind(database, name)
        if kind == "table" and if_not_exists:
            return True
        if kind is not None:
            raise TableAlreadyExists(
                f"{kind.capitalize()} '{database}.{name}' exists already.",
                hint="Use CREATE OR REPLACE TABLE, or drop it first." if kind == "table" else "Drop the view first.",
            )
        if directory is not None and self.io.exists(directory) and self.object_kind(database, name) is None:
            raise NotAManagedTableError(
                f"The directory {directory} exists, but it is not a managed table.",
                hint="Move it away or choose another name.",
            )
        return False

    def stage_table(self, database: str, name: str, schema: TableSchema) -> Table:
        """Create a table in a hidden directory, to be filled and then published."""
        return self._stage(
            self.paths.hidden_table_dir(database, name.lower(), self._new_id()), (database, name.lower()), schema
        )

    def _stage(self, path: str, stored: tuple[str, str], schema: TableSchema) -> Table:
        SchemaStore(self.io, TablePaths(path)).try_create(schema)
        staged = self._folders.open(path, stored)
        begin_log(staged.state)
        return staged

    @property
    def _workshop(self) -> Workshop:
        return Workshop(self.io, self.paths, self._now_millis, self._folders.open)

    def create_filled(
        self, database: str, name: str, schema: TableSchema, identity: CommitIdentity, fill: Callable[[Table, Guard], T]
    ) -> T | None:
        """Create a table and fill it, at the level that its option `ctas.atomicity` says. None when the name is taken.

        Args:
            database: an existing database.
            name: the table's name.
            schema: its first schema.
            identity: that of the commit by which it is filled.
            fill: writes and commits the rows; the commit calls the guard.
        """
        stored = (self.require_database(database), name.lower())
        schema = with_topic(schema, stored)
        try:
            with new_log(schema, lambda: self.table_exists(*stored), self.tables):
                return self._create_filled(stored, schema, identity, fill)
        except _NameTaken:
            return None

    def _create_filled(
        self, stored: tuple[str, str], schema: TableSchema, identity: CommitIdentity, fill: Callable[[Table, Guard], T]
    ) -> T:
        level = schema.core_options.ctas_atomicity
        if level == "rollback":
            build = begin(self._workshop, stored, identity, lambda path: self._stage(path, stored, schema))
            if build is None:
                raise _NameTaken
            with completed_or_dropped(build):
                return fill(build.table, build.check)
        staged = self.stage_table(*stored, schema)
        try:
            if level == "atomic":
                filled = fill(staged, None)
            shown = self.publish(staged, *stored)
        except BaseException:
            self.io.delete_tree(staged.path)
            raise
        if not shown:
            self.io.delete_tree(staged.path)
            raise _NameTaken
        return filled if level == "atomic" else fill(self.load_table(*stored), None)

    def publish(self, staged: Table, database: str, name: str) -> bool:
        """Give a staged table its name, in one atomic step. False when the name is taken."""
        return self.io.rename(staged.path, self.paths.table_dir(database, name.lower()))

    def drop_table(self, database: str, name: str, if_exists: bool = False) -> None:
        """Remove a table with its data. Raises TableNotFound unless `if_exists`."""
        if not self.table_exists(database, name):
            if if_exists and not self.view_exists(database, name):
                return
            self.load_table(database, name)
        path = self._folders.table(database, name)
        assert path is not None
        found = self.require_database(database)
        self._drop_log(found, name)
        removed = self.paths.hidden_table_dir(found, os.path.basename(path), self._new_id())
        try:
            moved = self.io.rename(path, removed)
        except StorageError as error:
            if error.missing:
                return  # another process dropped it
            raise
        if moved:
            self.io.delete_tree(removed)

    def _drop_log(self, database: str, name: str) -> None:
        """Delete the topic of a table; nothing for one that cannot be read, and that may be dropped."""
        with suppress(TableStoreError):
            drop_log_of(self.load_table(database, name).state)

    def rename_table(self, database: str, name: str, new_database: str, new_name: str) -> None:
        """Rename a table or view. Raises TableNotFound, TableAlreadyExists, DatabaseNotFound."""
        target = self.require_database(new_database)
        check_name("table", new_name)
        if self.object_kind(target, new_name) is not None:
            raise TableAlreadyExists(f"'{target}.{new_name}' exists already.")
        if self.view_exists(database, name):
            view = self.load_view(database, name)
            self.create_view(target, new_name, view)
            self.drop_view(database, name)
            return
        path = self.load_table(database, name).path
        if not self.io.rename(path, self.paths.table_dir(target, new_name.lower())):
            raise TableAlreadyExists(f"'{target}.{new_name}' exists already.")

    def alter_table(self, database: str, name: str, changes: Sequence[SchemaChange]) -> Table:
        """Apply schema changes as one new schema, all or none (see `schema.table.schema_changes`).

        Raises:
            SchemaError, OptionError: a change is not possible.
            ConflictError: others keep changing the schema.
        """
        # Code that only reads metadata does not import Arrow.
        from tablestore_engine.operation.table_commands.alter_table import alter_table

        return Table(alter_table(self.load_table(database, name).state, changes, self._now_millis()))

    # -- views -----------------------------------------------------------------------------------------

    def list_views(self, database: str) -> list[str]:
        """Names of the views of a database. Raises DatabaseNotFound."""
        return self._views.names(self.require_database(database))

    def view_exists(self, database: str, name: str) -> bool:
        """Whether there is a view of that name."""
        found = self._folders.database(database)
        return found is not None and self._views.exists(found, name)

    def load_view(self, database: str, name: str) -> View:
        """A view. Raises DatabaseNotFound, ViewNotFound, CorruptMetadataError."""
        return self._views.load(self.require_database(database), name)

    def create_view(
        self, database: str, name: str, view: View, replace: bool = False, if_not_exists: bool = False
    ) -> None:
        """Store a view. Raises TableAlreadyExists."""
        found = self.require_database(database)
        if self.table_exists(found, name):
            raise TableAlreadyExists(
                f"'{found}.{name}' is a table, so it cannot become a view.", hint="Drop the table first."
            )
        self._views.create(found, name, view, replace=replace, if_not_exists=if_not_exists)

    def drop_view(self, database: str, name: str, if_exists: bool = False) -> None:
        """Remove a view. Raises ViewNotFound unless `if_exists`."""
        if if_exists and not self.view_exists(database, name):
            return
        self._views.drop(self.require_database(database), name, if_exists=if_exists)

    def object_kind(self, database: str, name: str) -> str | None:
        """`table`, `view` or None."""
        # All folders are listed to find a table that another program named in upper-case letters.
        is_view = self.view_exists(database, name)
        if is_view and not self._folders.is_taken(self.require_database(database), name.lower()):
            return "view"
        return "table" if self.table_exists(database, name) else "view" if is_view else None
