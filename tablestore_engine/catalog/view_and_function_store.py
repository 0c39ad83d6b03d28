"""The views and functions of a warehouse: one JSON file for each, in a hidden directory of its database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from tablestore_engine.errors import (
    AlreadyExistsError,
    FunctionAlreadyExists,
    FunctionNotFound,
    NotFoundError,
    TableAlreadyExists,
    ViewNotFound,
    did_you_mean,
)
from tablestore_engine.metadata.warehouse.function import Function
from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.storage.paths import WarehousePaths, is_hidden

_ENDING = ".json"


class Record(Protocol):
    """A view or function."""

    def to_json(self) -> bytes: ...


R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class RecordKind(Generic[R]):
    """A kind of record: its word in messages, where it is stored, how it is read, and what is raised."""

    noun: str
    folder: Callable[[WarehousePaths, str], str]
    path: Callable[[WarehousePaths, str, str], str]
    from_json: Callable[[bytes], R]
    not_found: type[NotFoundError]
    already_exists: type[AlreadyExistsError]


VIEWS: Final = RecordKind(
    "View", WarehousePaths.views_dir, WarehousePaths.view, View.from_json, ViewNotFound, TableAlreadyExists
)
FUNCTIONS: Final = RecordKind(
    "Function",
    WarehousePaths.functions_dir,
    WarehousePaths.function,
    Function.from_json,
    FunctionNotFound,
    FunctionAlreadyExists,
)


class RecordStore(Generic[R]):
    """Reads and writes the records of one kind in existing databases. Names are case-insensitive."""

    def __init__(self, kind: RecordKind[R], io: FileIO, paths: WarehousePaths) -> None:
        self._kind = kind
        self._io = io
        self._paths = paths

    def names(self, database: str) -> list[str]:
        """The names of a database's records."""
        listed = self._io.list(self._kind.folder(self._paths, database))
        return [s.name[: -len(_ENDING)] for s in listed if s.name.endswith(_ENDING) and not is_hidden(s.name)]

    def exists(self, database: str, name: str) -> bool:
        """Whether there is a record of that name."""
        return self._io.exists(self._path(database, name))

    def load(self, database: str, name: str) -> R:
        """A record. Raises the kind's NotFoundError, CorruptMetadataError."""
        record = read_record(self._io, self._path(database, name), self._kind.from_json)
        if record is None:
            raise self._not_found(database, name)
        return record

    def create(
        self, database: str, name: str, record: R, *, replace: bool = False, if_not_exists: bool = False
    ) -> None:
        """Store a record. Raises the kind's AlreadyExistsError."""
        path, data = self._path(database, name), record.to_json()
        if replace:
            self._io.write(path, data)
        elif not self._io.create(path, data) and not if_not_exists:
            raise self.already_exists(database, name)

    def drop(self, database: str, name: str, *, if_exists: bool = False) -> None:
        """Remove a record. Raises the kind's NotFoundError unless `if_exists`."""
        if not self._io.delete(self._path(database, name)) and not if_exists:
            raise self._not_found(database, name)

    def already_exists(self, database: str, name: str) -> AlreadyExistsError:
        """The error about a name that is taken."""
        noun = self._kind.noun
        hint = f"Use CREATE OR REPLACE {noun.upper()}."
        return self._kind.already_exists(f"{noun} '{database}.{name}' exists already.", hint=hint)

    def _not_found(self, database: str, name: str) -> NotFoundError:
        hint = did_you_mean(name, self.names(database))
        return self._kind.not_found(f"{self._kind.noun} '{database}.{name}' does not exist.", hint=hint)

    def _path(self, database: str, name: str) -> str:
        return self._kind.path(self._paths, database, name.lower())
