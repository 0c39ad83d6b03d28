"""Data files in which keys are looked up, as they are held: the records of some keys, and whole files.

A producer of changelogs looks the keys of every commit up in the files of their buckets. Few keys are read by pages.
Once lookups have read about as many rows of a file as it has, the next one holds it, and later ones read nothing: a
data file never changes, and its rows are sorted by key. A process holds files within one bound of bytes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.files.data_file_reader import FileColumns, StoredFile, read_batches
from tablestore_engine.operation.files.deletion_vectors import DeletedRows
from tablestore_engine.operation.files.lookup_rows import Longs, RowKeys, numbers_of
from tablestore_engine.operation.formats.parquet_file import PAGE_ROWS
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.file_io import FileIO

_COUNTED = 10_000  # files, of which it is known how many rows lookups have read
_NEVER = -(1 << 62)


@dataclass(frozen=True)
class FileRows:
    """All rows of a file with some columns, in the current schema of its table."""

    io: FileIO
    file: StoredFile
    current: TableSchema
    columns: FileColumns

    @property
    def id(self) -> Hashable:
        """The identity of these rows: path, schema, and columns."""
        return (self.file.path, self.current.id, self.current.cast_rules, self.columns)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, some at a time. Raises what `read_batches` raises."""
        return read_batches(self.io, self.file, self.current, self.columns)


@dataclass(frozen=True)
class HeldFile:
    """All rows of a file. `values` are those of its column `sorted_by`, if it is in that order and compares as numbers;
    `differ` says that none occurs twice."""

    rows: pa.RecordBatch
    sorted_by: str
    values: npt.NDArray[Any] | None
    differ: bool

    @classmethod
    def of(cls, rows: pa.RecordBatch, sorted_by: str) -> HeldFile:
        """A file of rows."""
        values = numbers_of(rows.column(sorted_by)) if sorted_by in rows.schema.names else None
        if values is None or (values[1:] < values[:-1]).any():
            return cls(rows, sorted_by, None, differ=False)
        return cls(rows, sorted_by, values, differ=bool((values[1:] > values[:-1]).all()))

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return int(self.rows.nbytes)

    def of_keys(self, keys: RowKeys, deleted: Positions | None) -> pa.RecordBatch:
        """The rows that have the values of a key, without those at deleted positions."""
        positions = self._positions(keys)
        if deleted is not None:
            positions = positions[~np.isin(positions, deleted)]
        return self.rows.take(pa.array(positions))

    def _positions(self, keys: RowKeys) -> Longs:
        sought = keys.sorted_numbers(self.sorted_by) if self.sorted_by in keys.names else None
        if self.values is None or sought is None:
            return keys.positions_in(pa.Table.from_batches([self.rows]))
        first, end = np.searchsorted(sought, self.values[0]), np.searchsorted(sought, self.values[-1], "right")
        sought = sought[first:end]
        low = np.searchsorted(self.values, sought)
        if self.differ:
            counts = (self.values.take(low, mode="clip") == sought).astype(np.int64)
        else:
            counts = np.searchsorted(self.values, sought, "right") - low
        positions: Longs = np.arange(counts.sum()) + np.repeat(low - np.cumsum(counts) + counts, counts)
        if len(keys.names) == 1:
            return positions
        near = self.rows.select(list(keys.names)).take(pa.array(positions))
        return positions[keys.positions_in(pa.Table.from_batches([near]))]


@dataclass
class HeldRecords:
    """The records of some keys by the file that holds them and its deleted rows, for a read of the same columns in
    another state of the table; and how many bytes of whole files the process may hold for lookups of other keys."""

    within: int = 0
    found: dict[tuple[str, DeletedRows | None], list[pa.RecordBatch]] = field(default_factory=dict)


def rows_by_pages(file: DataFileMeta, schema: TableSchema, keys: RowKeys) -> int:
    """About how many rows of a file a lookup reads by pages: a key is in some page, and keys that are near to one
    another are in the same one."""
    spread = int(PAGE_ROWS * keys.values.num_rows)
    first = schema.trimmed_primary_keys[0]
    numbers = keys.sorted_numbers(first) if first in keys.names else None
    if numbers is None or not len(numbers):
        return spread
    kinds = [f.type for f in schema.trimmed_key_fields]
    (low, *_), (high, *_) = decode_row(file.min_key, kinds), decode_row(file.max_key, kinds)
    if not isinstance(low, int) or not isinstance(high, int):
        return spread
    shared = min(high, int(numbers[-1])) - max(low, int(numbers[0])) + 1
    near = int(file.row_count) * max(shared, 0) // (high - low + 1)
    return min(spread, near + 2 * PAGE_ROWS)


def rows_of_many_keys(source: FileRows, keys: RowKeys) -> Iterator[pa.RecordBatch]:
    """The rows of keys in a file that is read whole, and not held. Raises what `read_batches` raises."""
    for batch in source.batches():
        found = HeldFile.of(batch, source.current.trimmed_primary_keys[0]).of_keys(keys, None)
        if found.num_rows:
            yield found


def held_file(source: FileRows, rows: int, by_pages: int, within: int) -> HeldFile | None:
    """A file of so many rows in which keys are looked up, if it is held, or is from now on. `by_pages` is how many rows
    the lookup reads else. Raises what `read_batches` raises."""
    found = _files.get(source.id)
    if found is not None or not within:
        return found
    read = (_read.get(source.id) or 0) + by_pages
    _read.put(source.id, read)
    if read < rows:
        return None
    held, size = [], 0
    for batch in source.batches():
        held.append(batch)
        size += batch.nbytes
        if size > within // 2:
            _read.put(source.id, _NEVER)
            return None
    return _held(source, pa.Table.from_batches(held), within) if held else None


def hold(source: FileRows, rows: pa.Table, within: int) -> None:
    """Hold a file, all of whose rows have been read, if it is not too large."""
    if 0 < rows.nbytes <= within // 2:
        _held(source, rows, within)


def _held(source: FileRows, rows: pa.Table, within: int) -> HeldFile:
    batch = rows.combine_chunks().to_batches()[0]
    found = HeldFile.of(batch, source.current.trimmed_primary_keys[0])
    _files.put(source.id, found, within)
    return found


_files: RecentlyUsed[Hashable, HeldFile] = RecentlyUsed(0, lambda one: one.size)
_read: RecentlyUsed[Hashable, int] = RecentlyUsed(_COUNTED)
