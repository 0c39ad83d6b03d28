"""Which bucket a row belongs to: Murmur3 over the BinaryRow of its bucket key, the same in every reader and writer.

``bucket = |hash(row bytes without the arity, by 4-byte words, seed 42) % buckets|``, with the remainder of signed
32-bit integers that truncates towards zero.

The vectorised form never builds a row. It walks the words that a row would have: first those of the fixed part,
which all rows have, then those of each field's tail, for the rows that still have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.metadata.binary_row import MAX_INLINE, encode_row, is_compact, null_bits_size
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    STRING_ROOTS,
    TIMESTAMP_ROOTS,
    AtomicType,
    DataType,
)

SEED = 42
MASK = 0xFFFFFFFF
C1, C2, N = 0xCC9E2D51, 0x1B873593, 0xE6546B64
F1, F2 = 0x85EBCA6B, 0xC2B2AE35

# Keeps the words of a row inside the processor's cache, whatever the size of the batch.
_ROWS_AT_ONCE = 1 << 16
# Masks for a 4-byte word of which only the first n bytes belong to the value.
_KEEP = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF], dtype=np.uint32)
_UNITS_PER_MILLI = {"ms": 1, "us": 1_000, "ns": 1_000_000}

Words = np.ndarray[Any, np.dtype[np.uint32]]
Longs = np.ndarray[Any, np.dtype[np.int64]]


def hash_words(data: bytes) -> int:
    """The signed 32-bit Murmur3 hash of bytes whose number is a multiple of 4."""
    h = SEED
    for start in range(0, len(data), 4):
        k = int.from_bytes(data[start : start + 4], "little") * C1 & MASK
        k = (k << 15 | k >> 17) & MASK
        h ^= k * C2 & MASK
        h = (h << 13 | h >> 19) & MASK
        h = h * 5 + N & MASK
    h ^= len(data)
    h = (h ^ h >> 16) * F1 & MASK
    h = (h ^ h >> 13) * F2 & MASK
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def bucket_of(values: Sequence[Any], types: Sequence[DataType], num_buckets: int) -> int:
    """The bucket of one bucket key, given as Python values (see ``binary_row``)."""
    hashed = hash_words(encode_row(values, types)[4:])
    return abs(hashed) % num_buckets  # |h % n| with a truncating remainder


def bucket_ids(
    arrays: Sequence[pa.Array | pa.ChunkedArray], types: Sequence[DataType], num_buckets: int
) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The bucket of each row, as int32 of the arrays' length.

    Args:
        arrays: the bucket key columns, of equal length, in bucket key order.
        types: the table's types of those columns; all atomic.
        num_buckets: at least 1.
    """
    if num_buckets == 1:
        return np.zeros(len(arrays[0]) if arrays else 0, dtype=np.int32)
    hashes = row_hashes(arrays, types).astype(np.int64)
    buckets: np.ndarray[Any, np.dtype[np.int32]] = (np.abs(hashes) % num_buckets).astype(np.int32)
    return buckets


def row_hashes(
    arrays: Sequence[pa.Array | pa.ChunkedArray], types: Sequence[DataType]
) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The signed 32-bit hash of each row's BinaryRow."""
    table = pa.table([_plain(one) for one in arrays], names=[str(i) for i in range(len(arrays))])
    parts = [_hash_batch(batch, types) for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


def _plain(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return array.cast(array.type.value_type) if pa.types.is_dictionary(array.type) else array


class _Rows:
    """The words of many rows: those of the fixed part, and for each field that has them, those of its tail."""

    def __init__(self, rows: int, arity: int) -> None:
        self.rows = rows
        self.start = null_bits_size(arity) // 4
        self.words: list[Words | None] = [None] * (self.start + 2 * arity)
        self.size: Longs = np.full(rows, 4 * len(self.words), dtype=np.int64)
        self.tails: list[tuple[Longs, Any]] = []

    def set_null(self, position: int, nulls: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Set the null bit of the field at ``position`` where ``nulls`` is true."""
        index, bit = divmod(position + 8, 32)
        bits = np.where(nulls, np.uint32(1 << bit), np.uint32(0))
        before = self.words[index]
        self.words[index] = bits if before is None else before | bits

    def set_slot(self, position: int, low: Words | None, high: Words | None) -> None:
        """Set the two words of a field's slot; None is zero."""
        self.words[self.start + 2 * position] = low
        self.words[self.start + 2 * position + 1] = high

    def add_tail(self, counts: Longs, word_at: Any) -> Words:
        """Append ``counts[i]`` words to row i; ``word_at(rows, w)`` gives word w of some rows. Returns the offsets."""
        offsets = self.size.astype(np.uint32)
        self.size = self.size + 4 * counts
        self.tails.append((counts, word_at))
        return offsets

    def hashes(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Murmur3 of each row."""
        h: Words = np.full(self.rows, SEED, dtype=np.uint32)
        zeros: Words = np.zeros(self.rows, dtype=np.uint32)
        for word in self.words:
            h = _mix(h, zeros if word is None else word)
        for counts, word_at in self.tails:
            longest = int(counts.max()) if len(counts) else 0
            rows = np.flatnonzero(counts)
            for w in range(longest):
                rows = rows[counts[rows] > w]
                h[rows] = _mix(h[rows], word_at(rows, w))
        h ^= self.size.astype(np.uint32)
        h = (h ^ h >> np.uint32(16)) * np.uint32(F1)
        h = (h ^ h >> np.uint32(13)) * np.uint32(F2)
        return (h ^ h >> np.uint32(16)).view(np.int32)


def _mix(h: Words, k: Words) -> Words:
    k = k * np.uint32(C1)
    k = (k << np.uint32(15) | k >> np.uint32(17)) * np.uint32(C2)
    h = h ^ k
    h = h << np.uint32(13) | h >> np.uint32(19)
    return h * np.uint32(5) + np.uint32(N)


def _hash_batch(batch: pa.RecordBatch, types: Sequence[DataType]) -> np.ndarray[Any, np.dtype[np.int32]]:
    rows = _Rows(batch.num_rows, len(types))
    for position, (array, data_type) in enumerate(zip(batch.columns, types, strict=True)):
        if not isinstance(data_type, AtomicType):
            raise TypeError(f"a column of type {data_type} cannot be part of a bucket key")
        valid = None
        if array.null_count:
            valid = pc.is_valid(array).to_numpy(zero_copy_only=False)
            rows.set_null(position, ~valid)
        if data_type.root in STRING_ROOTS or data_type.root in BINARY_ROOTS:
            _add_bytes(rows, position, array, valid)
        elif data_type.root == "DECIMAL":
            _add_decimal(rows, position, array, data_type, valid)
        elif data_type.root in TIMESTAMP_ROOTS:
            _add_timestamp(rows, position, array, data_type, valid)
        else:
            _add_fixed(rows, position, array, data_type, valid)
    return rows.hashes()


def _add_fixed(rows: _Rows, position: int, array: pa.Array, data_type: AtomicType, valid: Any) -> None:
    wanted = to_arrow_type(data_type)
    if array.type != wanted:
        array = array.cast(wanted)
    if data_type.root in ("DATE", "TIME"):
        array = array.view(pa.int32())
    elif data_type.root == "BOOLEAN":
        array = array.cast(pa.uint8())
    values = (array.fill_null(0) if valid is not None else array).to_numpy(zero_copy_only=False)
    width = values.dtype.itemsize
    if width == 8:
        _set_long(rows, position, np.ascontiguousarray(values).view(np.int64))
    else:
        unsigned = np.ascontiguousarray(values).view({1: np.uint8, 2: np.uint16, 4: np.uint32}[width])
        rows.set_slot(position, unsigned.astype(np.uint32), None)


def _set_long(rows: _Rows, position: int, values: Longs) -> None:
    words = values.view(np.uint32).reshape(-1, 2)
    rows.set_slot(position, words[:, 0], words[:, 1])


def _add_timestamp(rows: _Rows, position: int, array: pa.Array, data_type: AtomicType, valid: Any) -> None:
    unit = array.type.unit
    if unit == "s":
        array, unit = array.cast(pa.timestamp("ms", array.type.tz)), "ms"
    array = array.view(pa.int64())
    values = (array.fill_null(0) if valid is not None else array).to_numpy(zero_copy_only=False)
    per_milli = _UNITS_PER_MILLI[unit]
    millis = np.floor_divide(values, per_milli)
    if is_compact(data_type):
        _set_long(rows, position, np.ascontiguousarray(millis))
        return
    nanos = ((values - millis * per_milli) * (1_000_000 // per_milli)).astype(np.uint32)
    words = np.ascontiguousarray(millis).view(np.uint32).reshape(-1, 2)
    counts: Longs = np.full(rows.rows, 2, dtype=np.int64)
    rows.set_slot(position, nanos, rows.add_tail(counts, lambda some, w: words[some, w]))


def _add_decimal(rows: _Rows, position: int, array: pa.Array, data_type: AtomicType, valid: Any) -> None:
    wanted = to_arrow_type(data_type)
    if array.type != wanted:
        array = array.cast(wanted)
    raw = np.frombuffer(array.buffers()[1], dtype=np.uint8)[16 * array.offset : 16 * (array.offset + len(array))]
    stored = raw.reshape(-1, 16)
    if valid is not None:
        stored = np.where(valid[:, None], stored, np.uint8(0))
    if is_compact(data_type):
        _set_long(rows, position, np.ascontiguousarray(stored[:, :8]).view(np.int64).ravel())
        return
    big = stored[:, ::-1]
    # A leading byte that only repeats the sign of the next one is not written.
    sign = np.where(big[:, 0] & 0x80, np.uint8(0xFF), np.uint8(0))
    redundant = (big[:, :-1] == sign[:, None]) & ((big[:, 1:] & 0x80) == (sign[:, None] & 0x80))
    skipped = np.logical_and.accumulate(redundant, axis=1).sum(axis=1)
    source = skipped[:, None] + np.arange(16)
    moved = np.where(source < 16, np.take_along_axis(big, np.minimum(source, 15), axis=1), np.uint8(0))
    words = np.ascontiguousarray(moved).view(np.uint32)
    lengths = (16 - skipped).astype(np.uint32)
    if valid is not None:
        lengths = np.where(valid, lengths, np.uint32(0))
    counts: Longs = np.full(rows.rows, 4, dtype=np.int64)
    rows.set_slot(position, lengths, rows.add_tail(counts, lambda some, w: words[some, w]))


def _add_bytes(rows: _Rows, position: int, array: pa.Array, valid: Any) -> None:
    if pa.types.is_fixed_size_binary(array.type) or not _has_offsets(array.type):
        array = array.cast(pa.large_binary())
    _, offset_buffer, data_buffer = array.buffers()
    wide = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    stored = np.frombuffer(offset_buffer, dtype=np.int64 if wide else np.int32)
    ends: Longs = stored[array.offset : array.offset + len(array) + 1].astype(np.int64)
    starts: Longs = ends[:-1]
    lengths: Longs = ends[1:] - ends[:-1]
    if valid is not None:
        lengths = lengths * valid
    word_at = _word_reader(data_buffer, starts, lengths)
    everyone = np.arange(rows.rows)
    inline = lengths <= MAX_INLINE
    counts = np.where(inline, 0, (lengths + 7) // 8 * 2)
    # In its slot: the bytes, then 0x80 | length. In the tail: the length, then the offset.
    mark = (np.uint32(0x80) | lengths.astype(np.uint32)) << np.uint32(24)
    if valid is not None:
        mark = np.where(valid, mark, np.uint32(0))
    offsets = rows.add_tail(counts, word_at)
    low = np.where(inline, word_at(everyone, 0), lengths.astype(np.uint32))
    high = np.where(inline, word_at(everyone, 1) | mark, offsets)
    rows.set_slot(position, low, high)


def _has_offsets(arrow: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(arrow) or pa.types.is_binary(arrow)
        or pa.types.is_large_string(arrow) or pa.types.is_large_binary(arrow)
    )  # fmt: skip


def _word_reader(data: pa.Buffer | None, starts: Longs, lengths: Longs) -> Any:
    """A function ``(rows, w)`` that gives the w-th 4-byte word of each row's value, zero beyond its end."""
    size = data.size if data is not None else 0
    if size < 4:
        padded: Any = bytes(data or b"").ljust(4, b"\0")
        size = 4
    else:
        padded = data
    # One word at every byte: overlapping, and read without a copy.
    everywhere: Words = np.ndarray((size - 3,), dtype="<u4", buffer=padded, strides=(1,))

    def word_at(rows: Longs, w: int) -> Words:
        left = np.clip(lengths[rows] - 4 * w, 0, 4)
        at = starts[rows] + 4 * w
        # The last bytes of the buffer have no word of their own: read an earlier one and shift it down.
        early = np.clip(at - (size - 4), 0, 4)
        words = everywhere[np.clip(at - early, 0, size - 4)].astype(np.uint64) >> (8 * early).astype(np.uint64)
        kept: Words = words.astype(np.uint32) & _KEEP[left]
        return kept

    return word_at
