"""Removing the files of a failed write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tablestore_engine.errors import (
    CommitOutcomeUnknownError,
    TableStoreError,
)
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind
from tablestore_engine.operation.files.entry_paths import EntryPaths
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.operation.write_job.write_job import WriteResult


@contextmanager
def removed_unless_committed(target: WriteTarget, written: WriteResult | None = None) -> Iterator[None]:
    """Remove the files of a write when it or its commit fails, but never what a snapshot may name.

    `written` is the result of the write, if known; otherwise its files are searched.
    """
    try:
        yield
    except CommitOutcomeUnknownError:
        raise  # the snapshot may be there, and then it names the files
    except TableStoreError:
        if written is None:
            remove_files(target)
        else:
            remove_written(target, written)
        raise


def remove_written(target: WriteTarget, written: WriteResult) -> None:
    """Remove the files in the result of a write. Files of tasks that Spark ran twice are orphans."""
    files = EntryPaths(target.paths, target.schema)
    paths = [
        path
        for one in (*written.entries, *written.changelog)
        for path in files.all_files(one)
        # A file that was only moved to another level, or got another index, does not belong to this write.
        if one.kind == FileKind.ADD and target.write_id in path.rpartition("/")[2]
    ]
    paths += [index_path(target.paths, target.schema, one) for one in written.index if target.write_id in one.file_name]
    for path in paths:
        with suppress(TableStoreError):  # orphans are harmless; the original failure matters more
            target.io.delete(path)


def remove_files(target: WriteTarget) -> None:
    """Remove every file of a write that failed, also those of tasks whose result was lost: lists every bucket."""
    try:
        _remove_below(target, target.paths.root, depth=len(target.schema.partition_keys) + 1)
    except TableStoreError:
        return  # orphans are harmless; the original failure matters more


def _remove_below(target: WriteTarget, directory: str, depth: int) -> None:
    for status in target.io.list(directory):
        if status.is_dir and depth and status.name not in ("schema", "snapshot", "manifest", "tablestore"):
            _remove_below(target, status.path, depth - 1)
        elif not status.is_dir and target.write_id in status.name:
            target.io.delete(status.path)
