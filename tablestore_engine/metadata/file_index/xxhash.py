"""xxHash64 of many byte strings at once, with the seed 0: the hash that Paimon's bloom filters take of texts.

Every step is done for all strings that have it: first the stripes of 32 bytes, then what is left in words of eight
bytes, four, and single ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Hashes = npt.NDArray[np.uint64]

# The hash's constants.
_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(one)
    for one in (
        0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
    )
)  # fmt: skip
_LANES = np.array([[0x60EA27EEADC0B5D6], [0xC2B2AE3D27D4EB4F], [0], [0x61C8864E7A143579]], np.uint64)
_STRIPE = 32


def hash_all(values: pa.Array) -> Hashes:
    """The hash of each of some texts or binary values, of which none is null."""
    starts, lengths, data = _bytes_of(values)
    order = np.argsort(-lengths, kind="stable")  # those that have a stripe come before those that do not
    starts, lengths = starts[order], lengths[order]
    words, halves = _unaligned(data, "<u8"), _unaligned(data, "<u4")
    hashes = _stripes(words, starts, lengths // _STRIPE) + lengths.astype(np.uint64)
    at, left = starts + lengths // _STRIPE * _STRIPE, lengths % _STRIPE
    for _ in range(3):
        rows = np.flatnonzero(left >= 8)
        mixed = hashes[rows] ^ _round(np.zeros(len(rows), np.uint64), words[at[rows]])
        hashes[rows] = _rotated(mixed, 27) * _P1 + _P4
        at[rows] += 8
        left[rows] -= 8
    rows = np.flatnonzero(left >= 4)
    mixed = hashes[rows] ^ halves[at[rows]].astype(np.uint64) * _P1
    hashes[rows] = _rotated(mixed, 23) * _P2 + _P3
    at[rows] += 4
    left[rows] -= 4
    for _ in range(3):
        rows = np.flatnonzero(left >= 1)
        mixed = hashes[rows] ^ data[at[rows]].astype(np.uint64) * _P5
        hashes[rows] = _rotated(mixed, 11) * _P1
        at[rows] += 1
        left[rows] -= 1
    found = np.empty_like(hashes)
    found[order] = _avalanche(hashes)
    return found


def _stripes(words: Hashes, starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> Hashes:
    """The hash of the stripes of each string, before its length is added; `counts` are descending."""
    hashes = np.full(len(starts), _P5, np.uint64)
    most = int(counts[0]) if len(counts) else 0
    if not most:
        return hashes
    longs = int(np.searchsorted(-counts, 0))  # so many have a stripe
    lanes = np.repeat(_LANES, longs, axis=1)
    for stripe in range(most):
        having = int(np.searchsorted(-counts, -stripe))
        for lane in range(4):
            read = words[starts[:having] + stripe * _STRIPE + lane * 8]
            lanes[lane, :having] = _round(lanes[lane, :having], read)
    mixed = sum((_rotated(lanes[n], by) for n, by in enumerate((1, 7, 12, 18))), np.zeros(longs, np.uint64))
    for lane in lanes:
        mixed = (mixed ^ _round(np.zeros(longs, np.uint64), lane)) * _P1 + _P4
    hashes[:longs] = mixed
    return hashes


def _round(held: Hashes, read: Hashes) -> Hashes:
    return _rotated(held + read * _P2, 31) * _P1


def _rotated(values: Hashes, by: int) -> Hashes:
    return values << np.uint64(by) | values >> np.uint64(64 - by)


def _avalanche(values: Hashes) -> Hashes:
    values = (values ^ values >> np.uint64(33)) * _P2
    values = (values ^ values >> np.uint64(29)) * _P3
    return values ^ values >> np.uint64(32)


def _bytes_of(values: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Where each value begins, its length, and the bytes of all, with as many behind them as a word has."""
    wide = values.cast(pa.large_binary())
    _, offsets, data = wide.buffers()
    ends = np.frombuffer(offsets, np.int64)[wide.offset : wide.offset + len(wide) + 1]
    held = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return ends[:-1], np.diff(ends), np.append(held, np.zeros(8, np.uint8))


def _unaligned(data: npt.NDArray[np.uint8], kind: str) -> npt.NDArray[Any]:
    """The bytes as numbers of a kind, one beginning at each byte."""
    width = np.dtype(kind).itemsize
    return np.ndarray((len(data) - width + 1,), kind, buffer=data, strides=(1,))
