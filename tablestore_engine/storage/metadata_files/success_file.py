"""Success files: they say to other programs that something is complete, and since when, as Paimon writes them."""

from __future__ import annotations

import json

from tablestore_engine.errors import StorageError
from tablestore_engine.storage.file_io import FileIO


def mark_success(io: FileIO, path: str, now_millis: int) -> None:
    """Write a success file. One that is there keeps its time of creation, and gets a new one of modification."""
    io.mkdirs(path.rpartition("/")[0])
    times = {"creationTime": _created(io, path) or now_millis, "modificationTime": now_millis}
    io.write(path, json.dumps(times).encode())


def _created(io: FileIO, path: str) -> int | None:
    try:
        return int(json.loads(io.read(path))["creationTime"])
    except StorageError as error:
        if error.missing:
            return None
        raise
    except (ValueError, KeyError, TypeError):
        return None
