"""The views of a warehouse: one JSON file for each, in the hidden `.views` directory of its database."""

from __future__ import annotations

from tablestore_engine.errors import CorruptMetadataError, StorageError, TableAlreadyExists, ViewNotFound
from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.paths import WarehousePaths, is_hidden

_ENDING = ".json"


class ViewStore:
    """Reads and writes the views of existing databases. Names are case-insensitive."""

    def __init__(self, io: FileIO, paths: WarehousePaths) -> None:
        self._io = io
        self._paths = paths

    def names(self, database: str) -> list[str]:
        """The names of a database's views."""
        listed = self._io.list(self._paths.views_dir(database))
        return [s.name[: -len(_ENDING)] for s in listed if s.name.endswith(_ENDING) and not is_hidden(s.name)]

    def exists(self, database: str, name: str) -> bool:
        """Whether there is a view of that name."""
        return self._io.exists(self._paths.view(database, name.lower()))

    def load(self, database: str, name: str) -> View:
        """A view. Raises ViewNotFound, CorruptMetadataError."""
        path = self._paths.view(database, name.lower())
        try:
            return View.from_json(self._io.read(path))
        except StorageError as error:
            if error.missing:
                raise ViewNotFound(f"View '{database}.{name}' does not exist.") from None
            raise
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptMetadataError(path, str(error)) from None

    def create(
        self, database: str, name: str, view: View, *, replace: bool = False, if_not_exists: bool = False
    ) -> None:
        """Store a view. Raises TableAlreadyExists."""
        path, data = self._paths.view(database, name.lower()), view.to_json().encode()
        if replace:
            self._io.write(path, data)
        elif not self._io.create(path, data) and not if_not_exists:
            raise TableAlreadyExists(f"View '{database}.{name}' exists already.", hint="Use CREATE OR REPLACE VIEW.")

    def drop(self, database: str, name: str, *, if_exists: bool = False) -> None:
        """Remove a view. Raises ViewNotFound unless `if_exists`."""
        if not self._io.delete(self._paths.view(database, name.lower())) and not if_exists:
            raise ViewNotFound(f"View '{database}.{name}' does not exist.")
