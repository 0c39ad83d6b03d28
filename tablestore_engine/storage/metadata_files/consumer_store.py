"""Consumers: readers that store in the table the next snapshot they want, which then does not expire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.storage.paths import TablePaths, check_name

_POSITION = "position"


def consumers(io: FileIO, paths: TablePaths) -> dict[str, int]:
    """The next snapshot of each consumer. Raises CorruptMetadataError."""
    found = {}
    for status in io.list(paths.consumer_dir):
        name = paths.consumer_of(status.name)
        if name is None:
            continue
        progress = read_record(io, status.path, _progress_of)
        if progress is not None:
            found[name] = progress[0]
    return found


def _progress_of(text: bytes) -> tuple[int, Any]:
    data = json.loads(text)
    return int(data["nextSnapshot"]), data.get(_POSITION)


def expire_consumers(io: FileIO, paths: TablePaths, before_millis: int) -> list[str]:
    """Forget the consumers without progress since a time (milliseconds since 1970). Returns their names."""
    found = [(paths.consumer_of(one.name), one) for one in io.list(paths.consumer_dir)]
    old = [(name, one.path) for name, one in found if name is not None and one.mtime_millis < before_millis]
    return [name for name, path in old if io.delete(path)]


def consumer_progress(io: FileIO, paths: TablePaths, name: str) -> tuple[int, Any] | None:
    """The next snapshot of a consumer, and its position if a stream of this engine noted one; None for a new consumer.

    Raises CorruptMetadataError.
    """
    return read_record(io, paths.consumer(check_name("consumer", name)), _progress_of)


def set_consumer(
    io: FileIO, paths: TablePaths, name: str, next_snapshot: int, position: Mapping[str, Any] | None = None
) -> None:
    """Note which snapshot a consumer wants next, and the exact position of a stream, which other readers ignore.

    Raises UserError for a name that cannot be one of a file.
    """
    path = paths.consumer(check_name("consumer", name))
    noted = {"nextSnapshot": next_snapshot, **({} if position is None else {_POSITION: position})}
    io.write(path, json.dumps(noted).encode())


def delete_consumer(io: FileIO, paths: TablePaths, name: str) -> bool:
    """Forget a consumer; False when there was none of that name."""
    return io.delete(paths.consumer(check_name("consumer", name)))
