"""Unions of Theta sketches of Apache DataSketches, of many groups at once.

Vocabulary: a sketch holds the hashes that are smaller than its *theta*, a number from 0 to 2^63 - 1; as long as it saw
little, theta is the greatest number and all hashes are there. A union has the smallest theta and all hashes below; of
more than 4096, the nominal number of the library and of Spark, it keeps the smallest ones and lowers theta. All layouts
of the versions 3 and 4 are read (hash tables, sorted hashes, differences of these in as few bits as they need); sorted
hashes in version 3 are written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tablestore_engine.errors import ExecutionError
from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, Mask
from tablestore_engine.mergetree.sketch.blobs import Blobs, numbers_at, put_at, spread

NOMINAL = 4096
_COMPACT_FAMILY, _TABLE_FAMILIES = 3, (1, 2)
_PLAIN, _PACKED = 3, 4  # versions
_BIG_ENDIAN, _READ_ONLY, _EMPTY, _COMPACT, _ORDERED, _SINGLE = 1, 2, 4, 8, 16, 32
_GREATEST = np.int64(2**63 - 1)


@dataclass(frozen=True)
class _Sketches:
    """`longs` is the length of the head in 8 bytes; hashes begin at `begins` and take `bits` each."""

    blobs: Blobs
    version: Indices
    empty: Mask
    theta: Indices
    begins: Indices
    bits: Indices
    counts: Indices

    @classmethod
    def of(cls, values: pa.Array) -> _Sketches:
        blobs = Blobs.of(values)
        longs, flags, version = blobs.byte(0) & 63, blobs.byte(5), blobs.byte(1)
        packed, tables = version == _PACKED, blobs.byte(2) != _COMPACT_FAMILY
        empty = (flags & _EMPTY) != 0
        wide = blobs.byte(4)  # of a packed sketch: how many bytes its number of hashes has
        number = np.zeros(len(longs), np.int64)
        for i in range(4):
            number |= np.where(i < wide, blobs.bytes_at(8 * longs + i), 0) << 8 * i
        theta = np.where(
            packed & (longs == 2),
            blobs.number(8, np.int64),
            np.where(~packed & (longs >= 3), blobs.number(16, np.int64), _GREATEST),
        )
        listed = np.where(longs == 1, 1, blobs.number(8, np.uint32).astype(np.int64))
        begins = np.where(packed, 8 * longs + wide, 8 * longs)
        counts = np.where(packed, number, np.where(tables, (blobs.sizes - begins) // 8, listed))
        counts = np.where(empty, 0, counts)
        return cls(blobs, version, empty, theta, begins, np.where(packed, blobs.byte(3), 64), counts)

    def some(self, which: Mask) -> _Sketches:
        blobs = replace(self.blobs, starts=self.blobs.starts[which], ends=self.blobs.ends[which])
        return _Sketches(
            blobs,
            self.version[which],
            self.empty[which],
            self.theta[which],
            self.begins[which],
            self.bits[which],
            self.counts[which],
        )


def are_sketches(values: pa.Array) -> Mask:
    """Which of some values, without nulls, are such sketches."""
    one = _Sketches.of(values)
    longs, family = one.blobs.byte(0) & 63, one.blobs.byte(2)
    compact, packed = family == _COMPACT_FAMILY, one.version == _PACKED
    least = one.begins + (one.counts * one.bits + 7) // 8
    found: Mask = (
        (one.blobs.sizes >= 8)
        & ((one.version == _PLAIN) | (packed & compact & (one.bits >= 1) & (one.bits <= 63)))
        & (compact | (np.isin(family, _TABLE_FAMILIES) & (longs >= 3)))
        & (longs >= 1)
        & (longs <= np.where(packed, 2, 3))
        & (~packed | (one.blobs.byte(4) <= 4))
        & ((one.blobs.byte(5) & _BIG_ENDIAN) == 0)
        & (one.counts >= 0)
        & (one.theta > 0)
        & (one.empty | (one.blobs.sizes >= least))
    )
    return found


def union(values: pa.Array, owners: Indices, count: int) -> pa.Array:
    """The union of each of `count` groups of sketches. `owners` says whose each is, in ascending order; no group is
    empty.

    Raises:
        ExecutionError: sketches of a group were made with different seeds.
    """
    one = _Sketches.of(values)
    firsts = np.searchsorted(owners, np.arange(count))
    empty = np.logical_and.reduceat(one.empty, firsts)
    theta = np.minimum.reduceat(np.where(one.empty, _GREATEST, one.theta), firsts)
    seed = _seeds(one, firsts)
    hashes, of = _hashes(one, owners)
    kept = (hashes > 0) & (hashes < theta[of])
    hashes, of = hashes[kept], of[kept]
    hashes, of = _sorted(hashes, of, count)
    new = np.append(True, (hashes[1:] != hashes[:-1]) | (of[1:] != of[:-1])) if len(of) else np.zeros(0, bool)
    hashes, of = hashes[new], of[new]
    starts = np.searchsorted(of, np.arange(count))
    counts = np.bincount(of, minlength=count)
    many = counts > NOMINAL
    theta[many] = hashes[starts[many] + NOMINAL]
    kept = np.arange(len(of)) - starts[of] < NOMINAL
    return _written(hashes[kept], np.minimum(counts, NOMINAL), theta, seed, empty)


def _sorted(hashes: Indices, of: Indices, count: int) -> tuple[Indices, Indices]:
    """Hashes in the order of their groups, ascending in each. Groups of similar size are the rows of one matrix, whose
    rows NumPy sorts at once: several times faster than a lexical sort of all."""
    if (of[1:] < of[:-1]).any():
        order = np.argsort(of, kind="stable")
        hashes, of = hashes[order], of[order]
    counts = np.bincount(of, minlength=count)
    starts, width = np.cumsum(counts) - counts, 2
    while (larger := np.flatnonzero((counts > width // 2) & (counts <= width))).size or width < counts.max(initial=0):
        columns = np.arange(width)
        filled = columns < counts[larger, None]
        at = (starts[larger, None] + columns)[filled]
        rows = np.full(filled.shape, _GREATEST)
        rows[filled] = hashes[at]
        rows.sort(axis=1)
        hashes[at] = rows[filled]
        width *= 2
    return hashes, of


def _seeds(one: _Sketches, firsts: Indices) -> Indices:
    """The hash of the seed of each group; those of empty sketches do not count."""
    seeds = one.blobs.number(6, np.uint16).astype(np.int64)
    most = np.maximum.reduceat(np.where(one.empty, 0, seeds), firsts)
    least = np.minimum.reduceat(np.where(one.empty, 1 << 16, seeds), firsts)
    if (least < most).any():
        raise ExecutionError("Theta sketches that were made with different seeds have no union.")
    return most


def _hashes(one: _Sketches, owners: Indices) -> tuple[Indices, Indices]:
    """All hashes (of hash tables zeros, too), and whose they are."""
    packed = one.version == _PACKED
    plain = one.some(~packed)
    offsets, of = spread(plain.blobs.starts + plain.begins, plain.counts, 8)
    found = numbers_at(plain.blobs.data, offsets, np.int64)
    deltas, of_packed = _unpacked(one.some(packed))
    return np.append(found, deltas), np.append(owners[~packed][of], owners[packed][of_packed])


def _unpacked(one: _Sketches) -> tuple[Indices, Indices]:
    """The hashes of packed sketches: sums of differences, which follow one another with the highest bit
    first."""
    of = np.repeat(np.arange(len(one.counts)), one.counts)
    within = np.arange(len(of)) - np.repeat(np.cumsum(one.counts) - one.counts, one.counts)
    if not len(of):
        return np.zeros(0, np.int64), of
    bits = one.bits[of]
    first = within * bits
    offsets = (one.blobs.starts + one.begins)[of] + first // 8
    last = len(one.blobs.data) - 1
    window = one.blobs.data[np.minimum(offsets[:, None] + np.arange(9), last)]
    upper = np.ascontiguousarray(window[:, :8]).view(">u8").reshape(len(of)).astype(np.uint64)
    shift = (first % 8).astype(np.uint64)
    number = upper << shift | window[:, 8].astype(np.uint64) >> (np.uint64(8) - shift)
    sums = np.cumsum(number >> (np.uint64(64) - bits.astype(np.uint64)), dtype=np.uint64)
    before = np.append(np.uint64(0), sums)[np.cumsum(one.counts) - one.counts]
    return (sums - before[of]).astype(np.int64), of


def _written(hashes: Indices, counts: Indices, theta: Indices, seed: Indices, empty: Mask) -> pa.Array:
    whole = theta == _GREATEST
    empty = empty | (whole & (counts == 0))
    single = ~empty & whole & (counts == 1)
    longs = np.select([empty | single, whole], [1, 2], 3)
    out = Blobs.of_sizes(8 * longs + 8 * counts)
    every = np.ones(len(counts), bool)
    out.put(every, 0, longs, np.uint8)
    out.put(every, 1, _PLAIN, np.uint8)
    out.put(every, 2, _COMPACT_FAMILY, np.uint8)
    flags = _READ_ONLY | _COMPACT | _ORDERED | np.select([empty, single], [_EMPTY, _SINGLE], 0)
    out.put(every, 5, flags, np.uint8)
    out.put(~empty, 6, seed[~empty], np.uint16)
    out.put(longs > 1, 8, counts[longs > 1], np.uint32)
    out.put(longs > 1, 12, 1.0, np.float32)  # the share of what is sampled: all
    out.put(longs > 2, 16, theta[longs > 2], np.int64)
    offsets, _ = spread(out.starts + 8 * longs, counts, 8)
    put_at(out.data, offsets, hashes, np.int64)
    return out.to_arrow()
