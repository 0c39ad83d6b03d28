"""One data file that is being written: Arrow batches in, a file and what its metadata needs out.

Memory is one row group, and its pages while it is encoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.operation.formats.file_format import FileLayout
from tablestore_engine.operation.formats.file_formats import open_writer
from tablestore_engine.operation.statistics.column_stats import DEFAULT_MODE, ColumnStats
from tablestore_engine.schema.types.system_columns import COUNT, KEY_PREFIX, SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.storage.file_io import FileIO, storage_errors

_DELETES = pa.array([1, 3], pa.int8())


@dataclass(frozen=True)
class WrittenFile:
    """The facts about a file when it is closed. Keys and sequence numbers are those of its first and last row."""

    name: str
    size: int
    rows: int
    deletes: int
    min_sequence: int
    max_sequence: int
    min_key: tuple[Any, ...]
    max_key: tuple[Any, ...]
    stats: dict[str, ColumnStats]


class OpenFile:
    """A file that is being written."""

    def __init__(self, io: FileIO, path: str, file_format: str, layout: FileLayout, first: pa.Table) -> None:
        self.path = path
        self._layout = layout
        self._schema = layout.schema
        self._keys: list[str] = []
        self._keyed = SEQUENCE_NUMBER.name in self._schema.names
        self._retracts = COUNT.name in self._schema.names
        self._sink = io.open_output(path)
        self._writer = open_writer(file_format, self._sink, layout, first)
        self._held: list[pa.Table] = []
        self._held_rows = 0
        self._held_bytes = 0
        self._rows = 0
        self._deletes = 0
        self._taken = 0
        self._first: tuple[Any, ...] | None = None
        self._last: tuple[Any, ...] = ()
        self._sequence: tuple[int, int] | None = None

    @property
    def row_count(self) -> int:
        return self._rows

    @property
    def bytes_written(self) -> int:
        """The size of the file, without the rows that are held."""
        return int(self._sink.tell())

    def write(self, given: pa.Table) -> pa.Table:
        """Append rows. Returns them in the types of the file."""
        table = given.select(self._schema.names).cast(self._schema)
        if self._keyed:
            if self._first is None:
                copies = [n for n in given.column_names if n.startswith(KEY_PREFIX)]
                # A thin file has only the columns themselves.
                self._keys = [n if n in self._schema.names else n.removeprefix(KEY_PREFIX) for n in copies]
                self._first = tuple(table.column(k)[0].as_py() for k in self._keys)
            self._last = tuple(table.column(k)[-1].as_py() for k in self._keys)
            self._deletes += pc.sum(pc.is_in(table.column(VALUE_KIND.name), value_set=_DELETES)).as_py() or 0
            bounds = pc.min_max(table.column(SEQUENCE_NUMBER.name)).as_py()
            low, high = self._sequence or (bounds["min"], bounds["max"])
            self._sequence = (min(low, bounds["min"]), max(high, bounds["max"]))
        elif self._retracts:
            self._deletes += table.num_rows
            self._taken -= pc.sum(table.column(COUNT.name)).as_py()
        self._rows += table.num_rows
        layout = self._layout
        if layout.options.file_block_size and self._held_bytes + table.nbytes > layout.group_bytes:
            self._write_row_group()
        self._held.append(table)
        self._held_rows += table.num_rows
        self._held_bytes += table.nbytes
        if self._held_rows >= layout.group_rows or self._held_bytes >= layout.group_bytes:
            self._write_row_group()
        return table

    def _write_row_group(self) -> None:
        # Arrow makes a row group of every call, and small ones cost space and time.
        if not self._held:
            return
        rows = pa.concat_tables(self._held)
        self._held, self._held_rows, self._held_bytes = [], 0, 0
        # Arrow writes to the file itself, so a full disk is noticed here and not in the file IO.
        with storage_errors(self.path):
            self._writer.write(rows)

    def close(self) -> WrittenFile:
        """Write what is held, and the footer."""
        self._write_row_group()
        with storage_errors(self.path):
            self._writer.close()
            size = int(self._sink.tell())
            self._sink.close()
        # Without a key, a file takes as many numbers as the number of rows it represents.
        low, high = self._sequence or (0, max((self._taken or self._rows) - 1, 0))
        return WrittenFile(
            name=self.path.rpartition("/")[2],
            size=size,
            rows=self._rows,
            deletes=self._deletes,
            min_sequence=low,
            max_sequence=high,
            min_key=self._first or (),
            max_key=self._last,
            stats=self._stats(),
        )

    def _stats(self) -> dict[str, ColumnStats]:
        # Of keys there are always some: readers skip files by them.
        keys = self._writer.stats(self._keys, lambda name: DEFAULT_MODE)
        return {
            **self._writer.stats(self._schema.names, self._layout.options.stats_mode),
            **{KEY_PREFIX + name.removeprefix(KEY_PREFIX): one for name, one in keys.items()},
        }

    def abandon(self) -> None:
        """Close handles; the content is lost."""
        try:
            self._writer.close()
            self._sink.close()
        except (OSError, pa.ArrowException):
            return
