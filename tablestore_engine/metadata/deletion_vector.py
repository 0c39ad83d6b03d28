"""Deletion vectors: which rows of a data file other writers have deleted, or replaced in another file.

Vocabulary: a *position* is the number of a row in its file, from 0; a *deletion vector* is the set of deleted positions
of one file, as a Roaring bitmap in its portable serialization. An index file of type DELETION_VECTORS holds the vectors
of several files, each in a *range* of its bytes: size, magic number, bitmap, checksum. The magic number tells two forms
apart: of 32-bit positions, and of 64-bit ones (a sequence of 32-bit bitmaps with the upper bits of each).

Invariant: positions are ascending, and none comes twice.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]
NO_POSITIONS: Positions = np.zeros(0, np.int64)
WORD_BITS = 6
"""A word says of 2 ** WORD_BITS neighbouring rows which are deleted."""

# The format's permanent marks.
_MAGIC_32 = (1_581_511_376).to_bytes(4, "big")
_MAGIC_64 = (1_681_511_377).to_bytes(4, "little")
_WITH_RUNS, _WITHOUT_RUNS = 12_347, 12_346
_OFFSETS_FROM = 4  # containers; fewer, where there are runs, come without their offsets
_ARRAY_MAX = 4096  # positions; a container of more is a bitmap
_BITMAP_BYTES = 8192


def deleted_positions(data: bytes) -> Positions:
    """The positions in one range of an index file, given with its size in front and its checksum behind.

    Raises:
        ValueError: the bytes are damaged, or of a form that is not known.
    """
    size = int.from_bytes(data[:4], "big")
    body, checksum = data[4 : 4 + size], data[4 + size : 8 + size]
    if len(body) != size or len(checksum) != 4:
        raise ValueError("a deletion vector ends early")
    if zlib.crc32(body) != int.from_bytes(checksum, "big"):
        raise ValueError("the checksum of a deletion vector does not fit")
    magic, cursor = body[:4], _Cursor(body, 4)
    if magic == _MAGIC_32:
        return _bitmap(cursor)
    if magic != _MAGIC_64:
        raise ValueError(f"a deletion vector has the unknown magic number {magic.hex()}")
    parts = []
    for _ in range(cursor.number(8)):
        key = cursor.number(4)
        parts.append(_bitmap(cursor) + (key << 32))
    return np.concatenate(parts) if parts else NO_POSITIONS


def words_of(positions: Positions) -> tuple[Positions, Positions]:
    """Positions as words: the numbers of those words that are not zero, and their bits (bit 63 is the sign)."""
    if not len(positions):
        return NO_POSITIONS, NO_POSITIONS
    numbers = positions >> WORD_BITS
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    bits = np.left_shift(np.uint64(1), (positions & ((1 << WORD_BITS) - 1)).astype(np.uint64))
    return numbers[starts], np.bitwise_or.reduceat(bits, starts).view(np.int64)


class _Cursor:
    """Reads little-endian numbers one after the other."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at

    def number(self, width: int) -> int:
        return int.from_bytes(self._take(width), "little")

    def numbers(self, kind: str, count: int) -> npt.NDArray[Any]:
        return np.frombuffer(self._take(np.dtype(kind).itemsize * count), dtype=kind)

    def _take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) != count:
            raise ValueError("a deletion vector ends early")
        self._at += count
        return taken


def _bitmap(cursor: _Cursor) -> Positions:
    """A 32-bit Roaring bitmap: containers of 65,536 positions, each in the form that is smallest."""
    cookie = cursor.number(4)
    has_run: npt.NDArray[Any]
    if cookie & 0xFFFF == _WITH_RUNS:
        count = (cookie >> 16) + 1
        has_run = np.unpackbits(cursor.numbers("u1", (count + 7) // 8), bitorder="little")
    elif cookie == _WITHOUT_RUNS:
        count = cursor.number(4)
        has_run = np.zeros(count, np.uint8)
    else:
        raise ValueError(f"a deletion vector is no Roaring bitmap: it begins with {cookie}")
    heads = cursor.numbers("<u2", 2 * count).astype(np.int64)
    if cookie == _WITHOUT_RUNS or count >= _OFFSETS_FROM:
        cursor.numbers("<u4", count)  # where containers begin: they follow each other
    parts = [
        _container(cursor, bool(run), int(cardinality) + 1) + (int(key) << 16)
        for key, cardinality, run in zip(heads[::2], heads[1::2], has_run[:count], strict=True)
    ]
    return np.concatenate(parts) if parts else NO_POSITIONS


def _container(cursor: _Cursor, has_run: bool, cardinality: int) -> Positions:
    if has_run:
        runs = cursor.numbers("<u2", 2 * cursor.number(2)).astype(np.int64)
        starts, lengths = runs[::2], runs[1::2] + 1
        ends = np.cumsum(lengths)
        within: Positions = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        return within + np.repeat(starts, lengths)
    if cardinality <= _ARRAY_MAX:
        return cursor.numbers("<u2", cardinality).astype(np.int64)
    bits = np.unpackbits(cursor.numbers("u1", _BITMAP_BYTES), bitorder="little")
    return np.flatnonzero(bits).astype(np.int64)
