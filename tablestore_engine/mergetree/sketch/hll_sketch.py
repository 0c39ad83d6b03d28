"""Unions of HyperLogLog sketches of Apache DataSketches, of many groups at once.

Vocabulary: a sketch of 2^lgK *registers* holds in each the greatest value that was seen for its slot. As long as it saw
little it lists *coupons* instead: slot (lower 26 bits) and value (upper 6) of each item. The union holds the greatest
value of each slot, or all coupons; of sketches of several sizes it has the smallest one. All layouts of the library are
read (lists, hash sets, registers of 4, 6 and 8 bits, compact or not); coupons and registers of 8 bits are written.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, Mask
from tablestore_engine.mergetree.sketch.blobs import Blobs, numbers_at, put_at, spread

LIST, SET, REGISTERS = 0, 1, 2
HLL_4, HLL_6, HLL_8 = 0, 1, 2
_FAMILY, _VERSION = 7, 1
_PREAMBLE_INTS = np.array([2, 3, 10, -1])  # by mode
_DATA = np.array([8, 12, 40, 0])  # by mode: where coupons or registers begin
_LEAST_LG_K, _MOST_LG_K = 4, 21
_COMPACT, _OUT_OF_ORDER, _EMPTY = 8, 16, 4
_LISTED = 8  # coupons of a list, of which one stays free
_LEAST_SET_LG_K, _LEAST_SET = 8, 32
_SLOT_BITS = 26
_ELSEWHERE = 15  # of registers of 4 bits: the value follows all registers
_AT_ONCE = 1 << 20  # registers
_INVERSE_POWERS = np.ldexp(1.0, -np.arange(64))

Registers = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class _Sketches:
    blobs: Blobs
    mode: Indices
    kind: Indices
    lg_k: Indices
    least: Indices  # the value that is added to registers of 4 bits

    @classmethod
    def of(cls, values: pa.Array) -> _Sketches:
        blobs = Blobs.of(values)
        modes = blobs.byte(7)
        return cls(blobs, modes & 3, (modes >> 2) & 3, blobs.byte(3), blobs.byte(6))


def are_sketches(values: pa.Array) -> Mask:
    """Which of some values, without nulls, are such sketches."""
    one = _Sketches.of(values)
    size = 1 << np.clip(one.lg_k, 0, _MOST_LG_K)
    registers = np.select([one.kind == HLL_4, one.kind == HLL_6], [size // 2, size * 3 // 4 + 1], size)
    least = _DATA[one.mode] + np.where(one.mode == REGISTERS, registers, 0)
    found: Mask = (
        (one.blobs.byte(1) == _VERSION)
        & (one.blobs.byte(2) == _FAMILY)
        & (one.blobs.byte(0) == _PREAMBLE_INTS[one.mode])
        & (one.lg_k >= _LEAST_LG_K)
        & (one.lg_k <= _MOST_LG_K)
        & (one.kind <= HLL_8)
        & (one.blobs.sizes >= np.maximum(least, 8))
    )
    return found


def union(values: pa.Array, owners: Indices, count: int) -> pa.Array:
    """The union of each of `count` groups of sketches. `owners` says whose each is, in ascending order; no group is
    empty."""
    one = _Sketches.of(values)
    lg_k = np.minimum.reduceat(one.lg_k, np.searchsorted(owners, np.arange(count)))
    coupons, of = _coupons(one, owners)
    seen = np.bincount(of, minlength=count)
    most = np.where(lg_k >= _LEAST_SET_LG_K, 3 * (1 << np.maximum(lg_k - 5, 0)), _LISTED - 1)
    registers = np.bincount(owners[one.mode == REGISTERS], minlength=count) > 0
    registers |= seen > np.maximum(most, _LISTED - 1)
    listed = ~registers & (seen < _LISTED)
    sizes = np.select([registers, listed], [40 + (1 << lg_k), 8 + 4 * _LISTED], 12 + 4 * seen)
    out = Blobs.of_sizes(sizes)
    _put_coupons(out, lg_k, coupons, of, seen, registers, listed)
    index_of = np.full(count, -1)
    for lg in np.unique(lg_k[registers]):
        numbers = np.flatnonzero(registers & (lg_k == lg))
        for at in range(0, len(numbers), max(1, _AT_ONCE >> lg)):
            chosen = numbers[at : at + max(1, _AT_ONCE >> lg)]
            index_of[:] = -1
            index_of[chosen] = np.arange(len(chosen))
            found = _united(one, owners, index_of, int(lg), len(chosen))
            here = index_of[of] >= 0
            slots, heights = _of_coupons(coupons[here], int(lg))
            np.maximum.at(found, (index_of[of[here]], slots), heights)
            _put_registers(out, chosen, int(lg), found)
    return out.to_arrow()


def _coupons(one: _Sketches, owners: Indices) -> tuple[npt.NDArray[np.uint32], Indices]:
    """The coupons of lists and sets, each once in a group, and whose they are."""
    rows = np.flatnonzero(one.mode != REGISTERS)
    begins = one.blobs.starts[rows] + _DATA[one.mode[rows]]
    offsets, of = spread(begins, np.maximum(one.blobs.ends[rows] - begins, 0) // 4, 4)
    found = numbers_at(one.blobs.data, offsets, np.uint32)
    both = np.sort((owners[rows][of] << 32 | found)[found != 0])  # np.unique hashes, which takes five times as long
    both = both[np.append(True, both[1:] != both[:-1])] if len(both) else both
    return (both & 0xFFFFFFFF).astype(np.uint32), both >> 32


def _of_coupons(coupons: npt.NDArray[np.uint32], lg_k: int) -> tuple[Indices, Registers]:
    slots = (coupons & np.uint32((1 << lg_k) - 1)).astype(np.int64)
    return slots, (coupons >> np.uint32(_SLOT_BITS)).astype(np.uint8)


def _united(one: _Sketches, owners: Indices, index_of: Indices, lg_k: int, count: int) -> Registers:
    """The greatest registers of the groups that have an index, from those of their sketches that hold registers."""
    found = np.zeros((count, 1 << lg_k), np.uint8)
    rows = np.flatnonzero((one.mode == REGISTERS) & (index_of[owners] >= 0))
    for kind, lg in np.unique(np.column_stack([one.kind[rows], one.lg_k[rows]]), axis=0):
        alike = rows[(one.kind[rows] == kind) & (one.lg_k[rows] == lg)]
        for at in range(0, len(alike), max(1, _AT_ONCE >> lg)):
            some = alike[at : at + max(1, _AT_ONCE >> lg)]
            given = _registers(one, some, int(kind), int(lg))
            # Slots of a larger sketch that differ only in higher bits are one slot of a smaller one.
            given = given.reshape(len(some), -1, 1 << lg_k).max(axis=1)
            of = index_of[owners[some]]
            starts = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
            found[of[starts]] = np.maximum(found[of[starts]], np.maximum.reduceat(given, starts, axis=0))
    return found


def _registers(one: _Sketches, rows: Indices, kind: int, lg_k: int) -> Registers:
    """The registers of some sketches of one layout, a row of 2^lgK for each."""
    data, slots = one.blobs.data, np.arange(1 << lg_k)
    begins = one.blobs.starts[rows] + _DATA[REGISTERS]
    found: Registers
    if kind == HLL_8:
        found = data[begins[:, None] + slots]
        return found
    if kind == HLL_6:
        offsets = begins[:, None] + slots * 6 // 8
        both = data[offsets].astype(np.uint16) | data[offsets + 1].astype(np.uint16) << 8
        found = (both >> (slots * 6 % 8).astype(np.uint16) & 63).astype(np.uint8)
        return found
    halves = data[begins[:, None] + slots // 2] >> (slots % 2 * 4).astype(np.uint8) & 15
    found = (halves + one.least[rows][:, None].astype(np.uint8)).astype(np.uint8)
    found[halves == _ELSEWHERE] = 0
    rest = begins + (1 << lg_k) // 2
    offsets, of = spread(rest, (one.blobs.ends[rows] - rest) // 4, 4)
    coupons = numbers_at(data, offsets, np.uint32)
    at, heights = _of_coupons(coupons, lg_k)
    found[of[coupons != 0], at[coupons != 0]] = heights[coupons != 0]
    return found


def _put_coupons(
    out: Blobs,
    lg_k: Indices,
    coupons: npt.NDArray[np.uint32],
    of: Indices,
    seen: Indices,
    registers: Mask,
    listed: Mask,
) -> None:
    sets = ~registers & ~listed
    for which, mode in ((registers, REGISTERS), (listed, LIST), (sets, SET)):
        head = [_PREAMBLE_INTS[mode], _VERSION, _FAMILY]
        for offset, number in enumerate(head):
            out.put(which, offset, number, np.uint8)
        out.put(which, 3, lg_k[which], np.uint8)
        out.put(which, 7, HLL_8 << 2 | mode, np.uint8)
    out.put(listed, 4, 3, np.uint8)
    out.put(listed, 5, np.where(seen[listed] == 0, _EMPTY, 0), np.uint8)
    out.put(listed, 6, seen[listed], np.uint8)
    # A hash set that is more than three quarters full would be twice as large.
    capacity = np.maximum(_LEAST_SET, -(-seen[sets] * 4 // 3))
    out.put(sets, 4, np.ceil(np.log2(capacity)), np.uint8)
    out.put(sets, 5, _COMPACT, np.uint8)
    out.put(sets, 8, seen[sets], np.uint32)
    begins = out.starts + np.where(listed, _DATA[LIST], _DATA[SET])
    offsets, _ = spread(begins, np.where(registers, 0, seen), 4)
    put_at(out.data, offsets, coupons[~registers[of]], np.uint32)
    out.put(registers, 5, _OUT_OF_ORDER, np.uint8)


def _put_registers(out: Blobs, which: Indices, lg_k: int, registers: Registers) -> None:
    powers = _INVERSE_POWERS[registers & 63]
    high = registers >= 32
    out.put(which, 16, np.where(high, 0.0, powers).sum(axis=1), np.float64)
    out.put(which, 24, np.where(high, powers, 0.0).sum(axis=1), np.float64)
    out.put(which, 32, (registers == 0).sum(axis=1), np.uint32)
    out.data[(out.starts[which] + _DATA[REGISTERS])[:, None] + np.arange(1 << lg_k)] = registers
