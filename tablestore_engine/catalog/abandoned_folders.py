"""Hidden folders that a killed process left: tables that CREATE TABLE AS was filling, and what DROP was removing.

Nobody lists them, so they do no harm but take space. Those of recorded builds are left to `builds`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tablestore_engine.storage.file_io import FileIO, FileStatus
from tablestore_engine.storage.metadata_files.build_record_store import BuildRecordStore
from tablestore_engine.storage.paths import WarehousePaths, hidden_folder


def abandoned_folders(
    io: FileIO, paths: WarehousePaths, database: str, table: str | None, older_than_millis: int
) -> list[str]:
    """Paths of the abandoned folders of a table's name; without `table`, of all tables of a database and of databases.

    Nothing in them was changed since a time (milliseconds since 1970): younger ones may belong to a running statement.
    """
    builds = {record.id for record in BuildRecordStore(io, paths).all()}
    parents = [paths.database_dir(database), *([] if table else [paths.root])]
    found = []
    for one in (status for parent in parents for status in io.list(parent) if status.is_dir):
        named = hidden_folder(one.name)
        if named is None or named[1] in builds or (table is not None and named[0] != table.lower()):
            continue
        if all(each.mtime_millis < older_than_millis for each in _with_content(io, one)):
            found.append(one.path)
    return sorted(found)


def _with_content(io: FileIO, folder: FileStatus) -> Iterator[FileStatus]:
    yield folder
    for one in io.list(folder.path):
        if one.is_dir:
            yield from _with_content(io, one)
        else:
            yield one
