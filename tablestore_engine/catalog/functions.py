"""The functions of a warehouse: one JSON file for each, in the hidden `.functions` directory of its database."""

from __future__ import annotations

from tablestore_engine.errors import (
    CorruptMetadataError,
    FunctionAlreadyExists,
    FunctionNotFound,
    StorageError,
    did_you_mean,
)
from tablestore_engine.metadata.warehouse.function import Function
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.paths import WarehousePaths, is_hidden

_ENDING = ".json"


class FunctionStore:
    """Reads and writes the functions of existing databases. Names are case-insensitive."""

    def __init__(self, io: FileIO, paths: WarehousePaths) -> None:
        self._io = io
        self._paths = paths

    def names(self, database: str) -> list[str]:
        """The names of a database's functions."""
        listed = self._io.list(self._paths.functions_dir(database))
        return [s.name[: -len(_ENDING)] for s in listed if s.name.endswith(_ENDING) and not is_hidden(s.name)]

    def exists(self, database: str, name: str) -> bool:
        """Whether there is a function of that name."""
        return self._io.exists(self._paths.function(database, name.lower()))

    def load(self, database: str, name: str) -> Function:
        """A function. Raises FunctionNotFound, CorruptMetadataError."""
        path = self._paths.function(database, name.lower())
        try:
            return Function.from_json(self._io.read(path))
        except StorageError as error:
            if error.missing:
                hint = did_you_mean(name, self.names(database))
                raise FunctionNotFound(f"Function '{database}.{name}' does not exist.", hint=hint) from None
            raise
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptMetadataError(path, str(error)) from None

    def create(self, function: Function, *, replace: bool = False, if_not_exists: bool = False) -> None:
        """Store a function. Raises FunctionAlreadyExists."""
        path = self._paths.function(function.database, function.name)
        if replace:
            self._io.write(path, function.to_json())
        elif not self._io.create(path, function.to_json()) and not if_not_exists:
            raise FunctionAlreadyExists(
                f"Function '{function.full_name}' exists already.", hint="Use CREATE OR REPLACE FUNCTION."
            )

    def drop(self, database: str, name: str, *, if_exists: bool = False) -> None:
        """Remove a function. Raises FunctionNotFound unless `if_exists`."""
        if not self._io.delete(self._paths.function(database, name.lower())) and not if_exists:
            self.load(database, name)
