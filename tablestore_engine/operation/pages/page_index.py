"""The footer and the page index of a Parquet file: where the pages of its columns are, and what values they may hold.

Rows are numbered from 0 in each row group.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.operation.pages.thrift_compact import I32, I64, SPAN, STRUCT, ThriftReader, plain_structs

Longs = npt.NDArray[np.int64]
MAGIC = b"PAR1"
_TAIL_BYTES = 1 << 16
_INTEGERS: dict[int, np.dtype[Any]] = {
    1: np.dtype("<i4"),
    2: np.dtype("<i8"),
}  # by physical type
_BYTE_ARRAY = 6
_REPEATED = 2
_SCALE, _LOGICAL_TYPE, _TIMESTAMP = 7, 10, 8  # fields of Parquet's SchemaElement and LogicalType
_ENCODING_STATS = 13  # of ColumnMetaData
_DICTIONARY_PAGE, _DICTIONARY_ENCODINGS = 2, (2, 8)
_UNITS = {"ms": 1, "us": 2, "ns": 3}


@dataclass(frozen=True)
class Pages:
    """Where the pages of a column are in one row group: the first row of each, and of the row group after it."""

    first: Longs
    offsets: Longs
    sizes: Longs


@dataclass(frozen=True)
class PageBounds:
    """The least and the greatest value of each page, and whether it has only nulls, and so no such values."""

    lows: list[bytes]
    highs: list[bytes]
    empty: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Sought:
    """Values that a column is searched for, sorted, as Parquet's bounds have them: numbers, or bytes in Arrow."""

    values: Any

    def admitted_by(self, pages: PageBounds) -> npt.NDArray[np.bool_]:
        """For each page whether its bounds admit one of the values."""
        if isinstance(self.values, pa.Array):
            values, bounds = _InPlace(self.values), zip(pages.lows, pages.highs, strict=True)
            found = [bisect_left(values, low) < bisect_right(values, high) for low, high in bounds]
            admitted: npt.NDArray[np.bool_] = np.array(found, np.bool_)
        else:
            kind = self.values.dtype
            low, high = (
                np.frombuffer(b"".join(one or bytes(kind.itemsize) for one in ends), kind)
                for ends in (pages.lows, pages.highs)
            )
            admitted = np.searchsorted(self.values, low, "left") < np.searchsorted(self.values, high, "right")
        return admitted & ~pages.empty


@dataclass(frozen=True)
class _InPlace:
    """Bytes of an Arrow array, of which only those are taken out that a search looks at."""

    array: pa.Array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, number: int) -> bytes:
        found: bytes = self.array[number].as_py()
        return found


class PageIndex:
    """The footer and the page index of a file, which are read as they are needed."""

    def __init__(self, handle: pa.NativeFile) -> None:
        footer = _footer(handle)
        meta = ThriftReader(footer).struct()
        self.created_by = meta.get(6, b"")
        self._groups = [(group[3], {_path(one): one for one in group[1]}) for group in meta[4]]
        self.group_bytes: list[int] = [group[2] for group in meta[4]]
        """The size of each row group before compression."""
        root, *elements = meta[2]
        self.root_name = root[4]
        # Plain columns: those with fields of their own, or repeated values, are read otherwise.
        plain = [one for one in _top_level(elements) if 5 not in one and one.get(3) != _REPEATED]
        self.elements = {one[4].decode(): (one, footer[slice(*one[SPAN])]) for one in plain}
        self._pages: dict[tuple[int, str], Pages | None] = {}
        self._bounds: dict[tuple[int, str], PageBounds | None] = {}

    @property
    def group_rows(self) -> list[int]:
        """The number of rows of each row group."""
        return [rows for rows, _ in self._groups]

    def chunk(self, group: int, column: str) -> dict[int, Any]:
        """Parquet's ColumnMetaData."""
        found: dict[int, Any] = self._groups[group][1][column][3]
        return found

    def is_dictionary(self, group: int, column: str) -> bool:
        """Whether a column of texts is stored as numbers of a dictionary, in all of its pages."""
        chunk = self.chunk(group, column)
        data = [one for one in chunk.get(_ENCODING_STATS, ()) if one.get(1) != _DICTIONARY_PAGE]
        return chunk[1] == _BYTE_ARRAY and bool(data) and all(one.get(2) in _DICTIONARY_ENCODINGS for one in data)

    def pages(self, handle: pa.NativeFile, group: int, column: str) -> Pages | None:
        """The pages of a column; None where that is not known."""
        key = (group, column)
        if key not in self._pages:
            self._pages[key] = self._read_pages(handle, group, column)
        return self._pages[key]

    def _read_pages(self, handle: pa.NativeFile, group: int, column: str) -> Pages | None:
        rows, chunks = self._groups[group]
        chunk = chunks.get(column)
        if chunk is None or column not in self.elements or not chunk.get(5):
            return None
        locations = _locations(exactly(handle, chunk[4], chunk[5]))
        first = np.append(locations[:, 2], rows)
        return Pages(first, locations[:, 0], locations[:, 1]) if len(locations) and first[0] == 0 else None

    def bounds(self, handle: pa.NativeFile, group: int, column: str) -> PageBounds | None:
        """The least and the greatest values of the pages of a column; None where they are not known."""
        key = (group, column)
        if key not in self._bounds:
            chunk = self._groups[group][1][column]
            index = ThriftReader(exactly(handle, chunk[6], chunk[7])).struct() if chunk.get(7) else None
            self._bounds[key] = PageBounds(index[2], index[3], np.array(index[1], np.bool_)) if index else None
        return self._bounds[key]

    def sought(self, column: str, values: pa.Array) -> Sought | None:
        """Values (no nulls, in rising order) of the column's type as its bounds have them; None where bounds are not
        compared."""
        element = self.elements[column][0] if column in self.elements else {}
        kind = element.get(1)
        if kind == _BYTE_ARRAY and (pa.types.is_string(values.type) or pa.types.is_binary(values.type)):
            return Sought(values.cast(pa.binary()))
        stored = None if kind is None else _INTEGERS.get(kind)
        numbers = None if stored is None else _numbers(values, element)
        return None if numbers is None else Sought(numbers.astype(stored))


def _numbers(values: pa.Array, element: Mapping[int, Any]) -> Longs | None:
    """Values as the integers in which a column stores them; None where it may store them otherwise."""
    kind = values.type
    if pa.types.is_decimal128(kind):
        if element.get(_SCALE, 0) != kind.scale:
            return None
        words: Longs = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)
        return words[values.offset : values.offset + len(values), 0]
    if pa.types.is_timestamp(kind):
        unit = element.get(_LOGICAL_TYPE, {}).get(_TIMESTAMP, {}).get(2, {})
        same = _UNITS.get(kind.unit) in unit
        values = values.cast(pa.int64()) if same else None
    elif pa.types.is_date32(kind):
        values = values.cast(pa.int32())
    elif not pa.types.is_signed_integer(kind):
        return None
    return None if values is None else values.to_numpy(zero_copy_only=False).astype(np.int64)


def _top_level(elements: list[dict[int, Any]]) -> Iterator[dict[int, Any]]:
    """The elements of a schema that are columns; the fields of each follow it."""
    at = 0
    while at < len(elements):
        yield elements[at]
        waiting = 1
        while waiting and at < len(elements):
            waiting += elements[at].get(5, 0) - 1
            at += 1


def _locations(offset_index: bytes) -> Longs:
    """Offset, size and first row of each page."""
    reader = ThriftReader(offset_index)
    size = reader.list_size(1, STRUCT)
    if size is not None:
        found = plain_structs(offset_index, reader.at, size, (I64, I32, I64))
        if found is not None:
            return found
    locations = ThriftReader(offset_index).struct()[1]
    return np.array([(one[1], one[2], one[3]) for one in locations], np.int64).reshape(-1, 3)


def _footer(handle: pa.NativeFile) -> bytes:
    size = handle.size()
    tail = exactly(handle, max(size - _TAIL_BYTES, 0), min(_TAIL_BYTES, size))
    length = int.from_bytes(tail[-8:-4], "little")
    if tail[-4:] != MAGIC or length + 8 > size:
        raise pa.ArrowInvalid("it has no footer")
    return tail[-length - 8 : -8] if length + 8 <= len(tail) else exactly(handle, size - length - 8, length)


def exactly(handle: pa.NativeFile, offset: int, size: int) -> bytes:
    """Bytes of a file. Raises ArrowInvalid where it has fewer."""
    found: bytes = handle.read_at(size, offset)
    if len(found) != size:
        raise pa.ArrowInvalid(f"it ends before byte {offset + size}")
    return found


def _path(chunk: Mapping[int, Any]) -> str:
    return ".".join(part.decode() for part in chunk[3][3])
