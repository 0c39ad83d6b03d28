"""The protocols of all formats of data files: of writers and readers, and of their arguments.

Invariant: rows go in and come out in the Arrow types of the table (`to_arrow_type`), however a format stores them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from tablestore_engine.operation.statistics.column_stats import ColumnStats
from tablestore_engine.options import CoreOptions

BATCH_ROWS = 65_536
BATCH_BYTES = 16 << 20
ROW_GROUP_ROWS = 1_000_000
ROW_GROUP_BYTES = 64 << 20  # in memory; a fraction of it on disk
_MOST_ROWS = 1 << 26  # of a row group whose size in bytes is set


@dataclass(frozen=True)
class FileLayout:
    """How a data file is written.

    `schema` has the ids of columns. `primary_keys` are sorted. Columns `without_bounds` hold NaN, so nothing may be
    skipped by bounds of theirs.
    """

    schema: pa.Schema
    primary_keys: Sequence[str]
    compression: str
    options: CoreOptions
    without_bounds: Collection[str] = ()

    @property
    def group_bytes(self) -> int:
        """The size in memory at which a row group is closed."""
        return min(self.options.file_block_size or ROW_GROUP_BYTES, self.options.target_file_size)

    @property
    def group_rows(self) -> int:
        """The number of rows at which a row group is closed."""
        return _MOST_ROWS if self.options.file_block_size else ROW_GROUP_ROWS


class FormatWriter(Protocol):
    """Writes one file into a sink, which stays open."""

    def write(self, rows: pa.Table) -> None:
        """Append rows of the schema: a row group, or more."""

    def close(self) -> None:
        """Write what is held, and the footer. Called once, also after a failure."""

    def stats(self, names: Sequence[str], mode_of: Callable[[str], str]) -> dict[str, ColumnStats]:
        """Statistics of columns of the closed file, by name; each as its mode says."""


@dataclass(frozen=True)
class BatchSizes:
    """At most so many rows come at a time, of about so many bytes in memory.

    With `read_ahead_bytes` no more than that of a column is read ahead, else all of a row group.
    """

    rows: int = BATCH_ROWS
    bytes: int = BATCH_BYTES
    read_ahead_bytes: int | None = None


DEFAULT_SIZES = BatchSizes()
