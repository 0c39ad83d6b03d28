"""Consumers: readers that have noted, in the table, the next snapshot that they want; it does not expire."""

from __future__ import annotations

import json

from tablestore_engine.errors import CorruptMetadataError, StorageError
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.paths import TablePaths


def consumers(io: FileIO, paths: TablePaths) -> dict[str, int]:
    """The next snapshot of each consumer. Raises CorruptMetadataError."""
    found = {}
    for status in io.list(paths.consumer_dir):
        name = paths.consumer_of(status.name)
        if name is None:
            continue
        try:
            found[name] = int(json.loads(io.read(status.path))["nextSnapshot"])
        except StorageError as error:
            if not error.missing:
                raise
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptMetadataError(status.path, str(error)) from None
    return found
