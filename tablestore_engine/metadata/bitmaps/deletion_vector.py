"""Deletion vectors: which rows of a data file are deleted, or replaced in another file.

Vocabulary: a *position* is the number of a row in its file, from 0; a *deletion vector* is the set of deleted positions
of one file, as a Roaring bitmap in its portable serialization. An index file of type DELETION_VECTORS holds the vectors
of several files, each in a *range* of its bytes: size, magic number, bitmap, checksum. There are two
forms with different magic numbers: 32-bit positions, and 64-bit ones (32-bit bitmaps with the upper bits of each).

Invariant: positions are ascending, and none comes twice.
"""

from __future__ import annotations

import zlib
from itertools import chain

import numpy as np

from tablestore_engine.metadata.bitmaps.roaring import NO_POSITIONS, Cursor, Positions, read_bitmap, write_bitmaps

WORD_BITS = 6
"""A word says of 2 ** WORD_BITS neighbouring rows which are deleted."""

# The format's permanent marks.
_MAGIC_32 = (1_581_511_376).to_bytes(4, "big")
_MAGIC_64 = (1_681_511_377).to_bytes(4, "little")


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
    magic, cursor = body[:4], Cursor(body, 4)
    if magic == _MAGIC_32:
        return read_bitmap(cursor)
    if magic != _MAGIC_64:
        raise ValueError(f"a deletion vector has the unknown magic number {magic.hex()}")
    parts = []
    for _ in range(cursor.number(8)):
        key = cursor.number(4)
        parts.append(read_bitmap(cursor) + (key << 32))
    return np.concatenate(parts) if parts else NO_POSITIONS


def encode_positions(positions: Positions, *, wide: bool = False) -> bytes:
    """The range of an index file that holds positions, at least one: in the 32-bit form, or the 64-bit one (`wide`)."""
    upper = positions >> 32
    begins = np.append(True, upper[1:] != upper[:-1])
    bitmaps, sizes = write_bitmaps(positions & 0xFFFF_FFFF, begins)
    if wide:
        ends = np.cumsum(sizes)
        parts = [bitmaps[end - size : end] for end, size in zip(ends, sizes, strict=True)]
        keys = [int(key).to_bytes(4, "little") for key in upper[begins]]
        body = (
            _MAGIC_64 + len(keys).to_bytes(8, "little") + b"".join(chain.from_iterable(zip(keys, parts, strict=True)))
        )
    else:
        body = _MAGIC_32 + bitmaps
    return len(body).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")


def words_of(positions: Positions) -> tuple[Positions, Positions]:
    """Positions as words: the numbers of those words that are not zero, and their bits (bit 63 is the sign)."""
    if not len(positions):
        return NO_POSITIONS, NO_POSITIONS
    numbers = positions >> WORD_BITS
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    bits = np.left_shift(np.uint64(1), (positions & ((1 << WORD_BITS) - 1)).astype(np.uint64))
    return numbers[starts], np.bitwise_or.reduceat(bits, starts).view(np.int64)


def positions_of(numbers: Positions, bits: Positions) -> Positions:
    """The positions that words hold; these are in any order, and none comes twice."""
    order = np.argsort(numbers)
    as_bytes = bits[order].astype("<i8").view(np.uint8).reshape(-1, 8)
    rows, bit = np.nonzero(np.unpackbits(as_bytes, axis=1, bitorder="little"))
    positions: Positions = (numbers[order][rows] << WORD_BITS) | bit
    return positions
