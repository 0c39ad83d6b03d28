"""32-bit Roaring bitmaps in their portable serialization, which Java's and C's libraries share.

Vocabulary: a *position* is the number of a row in its file, from 0. A bitmap consists of *containers*, each with the
positions that have the same upper 16 bits, in the form that is smallest: a sorted array, 65,536 bits, or *runs* of
neighbouring positions.

Invariant: positions are ascending, and none comes twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]
NO_POSITIONS: Positions = np.zeros(0, np.int64)

# The format's permanent marks.
_WITH_RUNS, _WITHOUT_RUNS = 12_347, 12_346
_OFFSETS_FROM = 4  # containers; fewer, where there are runs, come without their offsets
_ARRAY_MAX = 4096  # positions; a container of more is a bitmap
_BITMAP_BYTES = 8192
_Bytes = npt.NDArray[np.uint8]


class Cursor:
    """Reads little-endian numbers one after the other. Raises ValueError where the bytes end early."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self._at = at

    def number(self, width: int) -> int:
        """A number of so many bytes."""
        return int.from_bytes(self._take(width), "little")

    def numbers(self, kind: str, count: int) -> npt.NDArray[Any]:
        """So many numbers of a numpy type."""
        return np.frombuffer(self._take(np.dtype(kind).itemsize * count), dtype=kind)

    def _take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) != count:
            raise ValueError("a bitmap ends early")
        self._at += count
        return taken


def read_bitmap(cursor: Cursor) -> Positions:
    """The positions of one bitmap. Raises ValueError: the bytes are damaged."""
    cookie = cursor.number(4)
    has_run: npt.NDArray[Any]
    if cookie & 0xFFFF == _WITH_RUNS:
        count = (cookie >> 16) + 1
        has_run = np.unpackbits(cursor.numbers("u1", (count + 7) // 8), bitorder="little")
    elif cookie == _WITHOUT_RUNS:
        count = cursor.number(4)
        has_run = np.zeros(count, np.uint8)
    else:
        raise ValueError(f"it holds no Roaring bitmap: it begins with {cookie}")
    heads = cursor.numbers("<u2", 2 * count).astype(np.int64)
    if cookie == _WITHOUT_RUNS or count >= _OFFSETS_FROM:
        cursor.numbers("<u4", count)  # where containers begin: they follow each other
    parts = [
        _container(cursor, bool(run), int(cardinality) + 1) + (int(key) << 16)
        for key, cardinality, run in zip(heads[::2], heads[1::2], has_run[:count], strict=True)
    ]
    return np.concatenate(parts) if parts else NO_POSITIONS


def _container(cursor: Cursor, has_run: bool, cardinality: int) -> Positions:
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


@dataclass(frozen=True)
class _Groups:
    """Consecutive items in groups: the group of each item, the first item of each group, and how many it has."""

    of: Positions
    firsts: Positions
    counts: Positions

    @classmethod
    def starting(cls, begins: npt.NDArray[np.bool_]) -> _Groups:
        """Groups that begin where the mask says so, which is at the first item for certain."""
        firsts = np.flatnonzero(begins).astype(np.int64)
        return cls(np.cumsum(begins) - 1, firsts, np.diff(np.append(firsts, len(begins))))

    @property
    def ranks(self) -> Positions:
        """The number of each item in its group."""
        return np.arange(len(self.of)) - self.firsts[self.of]


def write_bitmaps(positions: Positions, begins: npt.NDArray[np.bool_]) -> tuple[bytes, Positions]:
    """Many bitmaps at once, one after the other, and the size of each. None is empty.

    `begins` says at which positions a bitmap begins. All of it is array arithmetic: an index has a bitmap for each of
    up to millions of values.
    """
    high, low = positions >> 16, positions & 0xFFFF
    new_container = begins.copy()
    new_container[1:] |= high[1:] != high[:-1]
    new_run = new_container.copy()
    new_run[1:] |= positions[1:] != positions[:-1] + 1
    containers = _Groups.starting(new_container)
    bitmaps = _Groups.starting(begins[containers.firsts])  # of containers
    runs = np.add.reduceat(new_run.astype(np.int64), containers.firsts)
    plain = np.where(containers.counts <= _ARRAY_MAX, 2 * containers.counts, _BITMAP_BYTES)
    is_run = 2 + 4 * runs < plain
    layout = _layout(bitmaps, is_run, np.where(is_run, 2 + 4 * runs, plain))
    out = np.zeros(int(layout.sizes.sum()) + 3, np.uint8)  # so that every byte begins a word of four
    _write_heads(out, layout, bitmaps, high[containers.firsts], containers.counts)
    in_array = ~is_run & (containers.counts <= _ARRAY_MAX)
    _write_arrays(out, layout.at, containers, low, in_array[containers.of])
    _write_bits(out, layout.at, containers, low, (~is_run & ~in_array)[containers.of])
    _write_runs(out, layout.at, containers, low, new_run, is_run)
    return out[:-3].tobytes(), layout.sizes


@dataclass(frozen=True)
class _Layout:
    """Where everything is: per bitmap its start, size, and first byte of its containers' heads; per container its
    start, and whether it holds runs."""

    starts: Positions
    sizes: Positions
    heads: Positions
    at: Positions
    is_run: npt.NDArray[np.bool_]
    with_runs: npt.NDArray[np.bool_]  # per bitmap
    with_offsets: npt.NDArray[np.bool_]  # per bitmap


def _layout(bitmaps: _Groups, is_run: npt.NDArray[np.bool_], container_sizes: Positions) -> _Layout:
    counts = bitmaps.counts
    with_runs = np.logical_or.reduceat(is_run, bitmaps.firsts)
    with_offsets = ~with_runs | (counts >= _OFFSETS_FROM)
    before_heads = np.where(with_runs, 4 + (counts + 7) // 8, 8)
    before = before_heads + 4 * counts + np.where(with_offsets, 4 * counts, 0)
    sizes = before + np.add.reduceat(container_sizes, bitmaps.firsts)
    starts = np.cumsum(sizes) - sizes
    so_far = np.cumsum(container_sizes) - container_sizes
    at = (starts + before - so_far[bitmaps.firsts])[bitmaps.of] + so_far
    return _Layout(starts, sizes, starts + before_heads, at, is_run, with_runs, with_offsets)


def _write_heads(out: _Bytes, layout: _Layout, bitmaps: _Groups, keys: Positions, cardinalities: Positions) -> None:
    shorts, words, ranks, counts = _unaligned(out, "<u2"), _unaligned(out, "<u4"), bitmaps.ranks, bitmaps.counts
    words[layout.starts] = np.where(layout.with_runs, _WITH_RUNS | (counts - 1) << 16, _WITHOUT_RUNS)
    words[layout.starts[~layout.with_runs] + 4] = counts[~layout.with_runs]
    flags = np.flatnonzero(layout.is_run)
    np.bitwise_or.at(
        out,
        layout.starts[bitmaps.of[flags]] + 4 + (ranks[flags] >> 3),
        np.left_shift(1, ranks[flags] & 7).astype(np.uint8),
    )
    heads = layout.heads[bitmaps.of] + 4 * ranks
    shorts[heads] = keys
    shorts[heads + 2] = cardinalities - 1
    named = np.flatnonzero(layout.with_offsets[bitmaps.of])
    owner = bitmaps.of[named]
    words[layout.heads[owner] + 4 * counts[owner] + 4 * ranks[named]] = layout.at[named] - layout.starts[owner]


def _write_arrays(
    out: _Bytes, at: Positions, containers: _Groups, low: Positions, chosen: npt.NDArray[np.bool_]
) -> None:
    rows = np.flatnonzero(chosen)
    _unaligned(out, "<u2")[at[containers.of[rows]] + 2 * containers.ranks[rows]] = low[rows]


def _write_bits(out: _Bytes, at: Positions, containers: _Groups, low: Positions, chosen: npt.NDArray[np.bool_]) -> None:
    rows = np.flatnonzero(chosen)
    byte_offsets = at[containers.of[rows]] + (low[rows] >> 3)
    np.bitwise_or.at(out, byte_offsets, np.left_shift(1, low[rows] & 7).astype(np.uint8))


def _write_runs(
    out: _Bytes,
    at: Positions,
    containers: _Groups,
    low: Positions,
    new_run: npt.NDArray[np.bool_],
    is_run: npt.NDArray[np.bool_],
) -> None:
    chosen = np.flatnonzero(new_run & is_run[containers.of])
    if not len(chosen):
        return
    shorts = _unaligned(out, "<u2")
    firsts = np.flatnonzero(new_run)
    lengths = np.diff(np.append(firsts, len(new_run)))[np.searchsorted(firsts, chosen)]
    owner = containers.of[chosen]
    groups = _Groups.starting(np.append(True, owner[1:] != owner[:-1]))
    shorts[at[owner[groups.firsts]]] = groups.counts
    byte_offsets = at[owner] + 2 + 4 * groups.ranks
    shorts[byte_offsets] = low[chosen]
    shorts[byte_offsets + 2] = lengths - 1


def _unaligned(out: _Bytes, kind: str) -> npt.NDArray[Any]:
    """The bytes as numbers of a kind, one beginning at each byte."""
    width = np.dtype(kind).itemsize
    return np.ndarray((len(out) - width + 1,), kind, buffer=out, strides=(1,))
