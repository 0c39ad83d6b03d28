"""Looking values up in a bitmap index (`bitmap_index` has its form); only the parts that are needed are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tablestore_engine.metadata.bitmaps.roaring import NO_POSITIONS, Cursor, Positions, read_bitmap
from tablestore_engine.metadata.file_index.bitmap_index import NEWEST_VERSION
from tablestore_engine.metadata.file_index.byte_source import BigEndianCursor, ByteSource
from tablestore_engine.metadata.file_index.container import IndexRange
from tablestore_engine.metadata.file_index.index_values import number_width, sortable_number
from tablestore_engine.schema.types.types import AtomicType


class BitmapLookup:
    """The rows of values in one file. Methods raise ValueError: the index is damaged, or of a later version."""

    def __init__(self, source: ByteSource, where: IndexRange, data_type: AtomicType) -> None:
        self._source = source
        self._end = where.start + where.length
        self._width = number_width(data_type)
        self._to_number: Callable[[int], int] = lambda bits: sortable_number(bits, data_type)
        cursor = BigEndianCursor(source, where.start)
        self._version = cursor.number(1)
        if not 1 <= self._version <= NEWEST_VERSION:
            raise ValueError(f"it has a bitmap index of version {self._version}, and only 1 and 2 are known")
        self.row_count = cursor.number()
        self._values = cursor.number()
        self._nulls: tuple[int, int] | None = None
        if cursor.number(1):
            self._nulls = cursor.number(), cursor.number() if self._version > 1 else -1
        self._cursor = cursor  # at the values, or at the head of the blocks

    def rows_of(self, value: Any) -> Positions:
        """The rows that hold a value, as `index_value` gives it."""
        entry, body = self._entry_in_list(value) if self._version == 1 else self._entry_in_block(value)
        return NO_POSITIONS if entry is None else self._read(entry, body)

    def null_rows(self) -> Positions:
        """The rows that hold null."""
        if self._nulls is None:
            return NO_POSITIONS
        if self._nulls[0] < 0:
            return np.array([-1 - self._nulls[0]], np.int64)
        _, body = self._entry_in_list(None) if self._version == 1 else self._entry_in_block(None)
        return self._read(self._nulls, body)

    def _entry_in_list(self, value: Any) -> tuple[tuple[int, int] | None, int]:
        cursor = BigEndianCursor(self._source, self._cursor.at)
        found = None
        for _ in range(self._values):
            if self._value(cursor) == value:
                found = cursor.number(), -1
            else:
                cursor.number()
        return found, cursor.at

    def _entry_in_block(self, value: Any) -> tuple[tuple[int, int] | None, int]:
        """Offset and length of a value's bitmap, None where it is not there; and where the bitmaps begin."""
        cursor = BigEndianCursor(self._source, self._cursor.at)
        chosen = None
        for _ in range(cursor.number()):
            first, offset = self._value(cursor), cursor.number()
            if value is not None and first <= value:
                chosen = offset
        size, start = cursor.number(), cursor.at
        found = None
        if chosen is not None:
            block = BigEndianCursor(self._source, start + chosen)
            for _ in range(block.number()):
                one, entry = self._value(block), (block.number(), block.number())
                if one == value:
                    found = entry
        return found, start + size

    def _value(self, cursor: BigEndianCursor) -> Any:
        if self._width is None:
            return cursor.take(cursor.number())
        return self._to_number(cursor.number(self._width))

    def _read(self, entry: tuple[int, int], body: int) -> Positions:
        offset, length = entry
        if offset < 0:
            return np.array([-1 - offset], np.int64)
        start = body + offset
        return read_bitmap(Cursor(self._source.read_at(start, length if length >= 0 else self._end - start)))
