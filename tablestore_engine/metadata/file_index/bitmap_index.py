"""Bitmap indexes of a column: for each of its values, in which rows of the file it is.

Numbers are big-endian. A value is a number in its width, or a text with its length in front. An *offset* is that of a
bitmap from the first one; -1 - n says that the only row is row n, and there is no bitmap.

    version 1: 1 (1) · rows (4) · values (4) · has nulls (1) [· offset of the nulls (4)] · per value: value · offset (4)
        · the bitmaps, that of the nulls first
    version 2: 2 (1) · rows (4) · values (4) · has nulls (1) [· offset of the nulls (4) · length (4)]
        · number of blocks (4) · per block: its first value · offset from the first block (4) · length of all blocks (4)
        · the blocks · the bitmaps, that of the nulls first
    block: number of values (4) · per value, in order: value · offset (4) · length (4, -1 where there is no bitmap)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.metadata.bitmaps.roaring import NO_POSITIONS, Positions, write_bitmaps
from tablestore_engine.metadata.file_index.index_values import bits_of, index_values, number_width
from tablestore_engine.schema.types.types import AtomicType

NEWEST_VERSION = 2
_COUNT = 4
_LENGTH_OF_ONE = 18  # of the bitmap of one row: Java notes it for a single null, too, though it stores none


class BitmapIndexBuilder:
    """Takes a column's values, batch by batch, and holds the number of its value for each row."""

    def __init__(self, data_type: AtomicType, version: int, block_bytes: int) -> None:
        self._type = data_type
        self._version = version
        self._block_bytes = block_bytes
        self._chunks: list[pa.DictionaryArray] = []

    def add(self, column: pa.ChunkedArray) -> None:
        """Take the next rows."""
        self._chunks += [index_values(chunk, self._type).dictionary_encode() for chunk in column.chunks]

    def close(self) -> bytes:
        """The index's bytes."""
        rows = pa.chunked_array(self._chunks).unify_dictionaries()
        codes = pc.fill_null(pa.chunked_array([one.indices for one in rows.chunks]), -1).to_numpy()
        order = pc.sort_indices(rows.chunk(0).dictionary).to_numpy()
        ranks = np.append(np.argsort(order), -1)  # the last one is for -1
        keys = rows.chunk(0).dictionary.take(pa.array(order))
        return _index(ranks[codes], _entry_keys(keys, self._type), self._version, self._block_bytes)


def _index(numbers: npt.NDArray[np.int64], keys: pa.Array, version: int, block_bytes: int) -> bytes:
    """The index of rows, given by the number of their value (-1: null), of values in order."""
    bitmaps = _bitmaps(numbers, len(keys))
    has_nulls = bitmaps.null_rows > 0
    head = [bytes([version]), _number(len(numbers)), _number(len(keys)), bytes([has_nulls])]
    if version == 1:
        head += [_number(bitmaps.null_offset)] if has_nulls else []
        head.append(_joined(keys, bitmaps.offsets.astype(">i4")).data)
    else:
        head += [_number(bitmaps.null_offset), _number(bitmaps.null_length)] if has_nulls else []
        head += _blocks(keys, bitmaps, block_bytes)
    return b"".join([*head, bitmaps.data])


@dataclass(frozen=True)
class _Bitmaps:
    """The bitmaps of a column's values: their bytes, and where that of each value, and of the nulls, is."""

    data: bytes
    offsets: Positions
    lengths: Positions
    null_offset: int
    null_length: int
    null_rows: int


def _bitmaps(numbers: npt.NDArray[np.int64], values: int) -> _Bitmaps:
    rows = np.argsort(numbers, kind="stable").astype(np.int64)  # the nulls come first
    owners = numbers[rows] + 1
    counts = np.bincount(owners, minlength=values + 1)
    single = counts == 1
    firsts = np.cumsum(counts) - counts
    shared = counts > 1
    chosen = shared[owners]
    data, sizes = b"", NO_POSITIONS
    if chosen.any():
        kept = owners[chosen]
        data, sizes = write_bitmaps(rows[chosen], np.append(True, kept[1:] != kept[:-1]))
    lengths = np.full(values + 1, -1, np.int64)
    lengths[shared] = sizes
    offsets = np.zeros(values + 1, np.int64)
    offsets[shared] = np.cumsum(sizes) - sizes
    offsets[single] = -1 - rows[firsts[single]]
    null_length = int(lengths[0]) if shared[0] else _LENGTH_OF_ONE
    return _Bitmaps(data, offsets[1:], lengths[1:], int(offsets[0]), null_length, int(counts[0]))


@dataclass(frozen=True)
class _Joined:
    """Records of any length in one piece, and where each begins; the last number is the end."""

    data: bytes
    starts: npt.NDArray[np.int64]


def _joined(keys: pa.Array, numbers: npt.NDArray[Any]) -> _Joined:
    """Each value followed by its row of numbers."""
    if not len(keys):
        return _Joined(b"", np.zeros(1, np.int64))
    tails = _fixed(np.ascontiguousarray(numbers).view(np.uint8).reshape(len(keys), -1))
    both = pc.binary_join_element_wise(keys, tails, pa.scalar(b"", pa.large_binary()))
    _, offsets, data = both.buffers()
    starts = np.frombuffer(offsets, np.int64)[both.offset : both.offset + len(both) + 1]
    return _Joined(data.to_pybytes()[int(starts[0]) : int(starts[-1])], starts - starts[0])


def _fixed(rows: npt.NDArray[np.uint8]) -> pa.Array:
    """Rows of bytes as binary values."""
    ends = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(rows))]
    )


def _entry_keys(keys: pa.Array, data_type: AtomicType) -> pa.Array:
    """Values in order as they are written."""
    width = number_width(data_type)
    if width is not None:
        numbers = bits_of(keys.to_numpy(zero_copy_only=False), data_type).astype(f">i{width}")
        return _fixed(numbers.view(np.uint8).reshape(len(keys), width))
    lengths = pc.binary_length(keys).to_numpy(zero_copy_only=False).astype(">i4")
    return pc.binary_join_element_wise(
        _fixed(lengths.view(np.uint8).reshape(len(keys), 4)),
        keys.cast(pa.large_binary()),
        pa.scalar(b"", pa.large_binary()),
    )


def _blocks(keys: pa.Array, bitmaps: _Bitmaps, block_bytes: int) -> list[bytes]:
    """The head of the blocks, and the blocks, each of at most so many bytes unless one value needs more."""
    entries = _joined(keys, np.stack([bitmaps.offsets, bitmaps.lengths], axis=1).astype(">i4"))
    head: list[bytes] = []
    body: list[bytes] = []
    start = written = 0
    while start < len(keys):
        room = entries.starts[start] + block_bytes - _COUNT
        end = max(int(np.searchsorted(entries.starts, room, "right")) - 1, start + 1)
        block = entries.data[entries.starts[start] : entries.starts[end]]
        head += [keys[start].as_py(), _number(written)]
        body += [_number(end - start), block]
        written += _COUNT + len(block)
        start = end
    return [_number(len(body) // 2), *head, _number(written), *body]


def _number(value: int) -> bytes:
    return value.to_bytes(4, "big", signed=True)
