"""Marks that say to other programs that a partition is complete: `partition.mark-done-action`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from tablestore_engine.errors import OptionError
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.options import LayoutOptions
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.success_file import mark_success
from tablestore_engine.table_state import TableState


def mark_done(state: TableState, partitions: Iterable[bytes], now_millis: int) -> None:
    """Mark partitions of a table as done. Marking one again changes only the time in its success file.

    Raises:
        OptionError: the table, of another writer, wants a mark that needs a service; nothing is marked.
    """
    actions = [_action(name) for name in state.options.partition_mark_done_action]
    partition_format = PartitionFormat(state.schema)
    for partition in partitions:
        folder = state.paths.partition_dir(partition_format.path_of(partition))
        for act in actions:
            act(state.io, folder, now_millis)


def _success_file(io: FileIO, folder: str, now_millis: int) -> None:
    mark_success(io, f"{folder}/_SUCCESS", now_millis)


def _done_partition(io: FileIO, folder: str, now_millis: int) -> None:
    io.mkdirs(f"{folder}.done")


_ACTIONS: Final[dict[str, Callable[[FileIO, str, int], None]]] = {
    "success-file": _success_file,
    "done-partition": _done_partition,
}


def _action(name: str) -> Callable[[FileIO, str, int], None]:
    found = _ACTIONS.get(name)
    if found is None:
        raise OptionError(
            f"Option '{LayoutOptions.partition_mark_done_action.key}' has '{name}', and this engine marks partitions "
            f"by {' and '.join(_ACTIONS)} only.",
            hint="The other actions need a metastore or a service.",
        )
    return found
