"""Trying a write again when others won, and removing what a failed one left."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tablestore_engine.errors import CommitOutcomeUnknownError, ConflictError, TableStoreError
from tablestore_engine.operation.data_file_writer import WriteTarget

T = TypeVar("T")
ATTEMPTS = 10


def retrying(action: Callable[[], T]) -> T:
    """Run a verb that reads and writes again when others changed what it read; bounded, with jitter.

    Raises:
        ConflictError: others won every time.
    """
    for attempt in range(ATTEMPTS):
        try:
            return action()
        except ConflictError:
            if attempt + 1 == ATTEMPTS:
                raise
            time.sleep((0.05 + 0.15 * random.random()) * (attempt + 1))  # noqa: S311 - spreads retries
    raise AssertionError("unreachable")


@contextmanager
def removed_unless_committed(target: WriteTarget) -> Iterator[None]:
    """Remove the files of a write when its commit fails, but never what a snapshot may name."""
    try:
        yield
    except CommitOutcomeUnknownError:
        raise  # the snapshot may be there, and then it names the files
    except TableStoreError:
        remove_files(target)
        raise


def remove_files(target: WriteTarget) -> None:
    """Remove every file of a write that failed, also those of tasks whose answer was lost."""
    try:
        _remove_below(target, target.paths.root, depth=len(target.schema.partition_keys) + 1)
    except TableStoreError:
        return  # orphans are harmless; the failure that led here matters more


def _remove_below(target: WriteTarget, directory: str, depth: int) -> None:
    for status in target.io.list(directory):
        if status.is_dir and depth and status.name not in ("schema", "snapshot", "manifest", "tablestore"):
            _remove_below(target, status.path, depth - 1)
        elif not status.is_dir and target.write_id in status.name:
            target.io.delete(status.path)
