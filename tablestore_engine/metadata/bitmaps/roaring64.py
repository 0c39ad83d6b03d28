"""Roaring bitmaps of 64-bit numbers, as Java's Roaring64Bitmap serializes them (not the portable format of 64 bits).

Vocabulary: a *container* has the numbers with the same upper 48 bits, its *key*. The keys are a radix tree, written
from the root on, each node before its children: the node of a key (a *leaf*) names its container, another node has the
bytes that its keys share, its *prefix*, and a child for each next byte. Containers follow the tree.

Of the four sizes of nodes, all are read and the greatest is written: it needs no order of its children.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint64]
NO_NUMBERS: Numbers = np.zeros(0, np.uint64)

# The format's permanent marks.
_EMPTY, _NOT_EMPTY = b"\x00", b"\x01"
_NODE_256, _LEAF = 3, 4
_BODIES = {0: 4, 1: 16, 2: 256, 3: 32}  # bytes that say which children the nodes of each size have
_RUNS, _BITS, _ARRAY = 0, 1, 2
_THERE, _NOT_TRIMMED = b"\x01", b"\xfe"
_ARRAY_MAX = 4096
_KEY_BYTES = 6
_BITMAP_BYTES = 8192


@dataclass
class _Reader:
    """Reads the bytes of one bitmap. Raises ValueError where they end early or are no bitmap."""

    data: bytes
    at: int = 0
    keys: dict[int, int] = field(default_factory=dict)  # by the number of the container

    def take(self, count: int) -> bytes:
        taken = self.data[self.at : self.at + count]
        if len(taken) != count:
            raise ValueError("a bitmap ends early")
        self.at += count
        return taken

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def tree(self) -> None:
        """Read the nodes, and note the keys."""
        self.number(8)  # how many keys there are
        awaited = 1
        while awaited:
            kind, count, prefix = self.number(1), self.number(2), self.number(1)
            self.take(prefix)
            awaited -= 1
            if kind == _LEAF:
                key = int.from_bytes(self.take(_KEY_BYTES), "big")
                self.keys[self.number(8)] = key
            elif kind in _BODIES and count:
                self.take(_BODIES[kind])
                awaited += count
            else:
                raise ValueError(f"a tree of keys has no node of kind {kind}")

    def containers(self) -> Iterator[Numbers]:
        """The numbers of each container, by key."""
        found: dict[int, npt.NDArray[np.int64]] = {}
        for first in range(self.number(4)):
            self.take(1)
            for second in range(self.number(4)):
                if self.take(1) == _THERE:
                    found[first << 32 | second] = self.low()
        for number, key in sorted(self.keys.items(), key=lambda one: one[1]):
            if number not in found:
                raise ValueError(f"container {number} is missing")
            yield np.uint64(key << 16) | found[number].astype(np.uint64)

    def low(self) -> npt.NDArray[np.int64]:
        """The lower 16 bits of the numbers of one container."""
        kind, count = self.number(1), self.number(4)
        if kind == _RUNS:
            runs = np.frombuffer(self.take(4 * self.number(2)), "<u2").astype(np.int64)
            starts, lengths = runs[::2], runs[1::2] + 1
            before = np.cumsum(lengths) - lengths
            return np.arange(int(lengths.sum())) - np.repeat(before - starts, lengths)
        if kind == _BITS:
            bits = np.unpackbits(np.frombuffer(self.take(_BITMAP_BYTES), np.uint8), bitorder="little")
            return np.flatnonzero(bits)
        if kind == _ARRAY:
            return np.frombuffer(self.take(2 * count), "<u2").astype(np.int64)
        raise ValueError(f"there is no container of kind {kind}")


def read_numbers(data: bytes) -> Numbers:
    """The numbers of a bitmap, in order. Raises ValueError: it is none."""
    if data == _EMPTY:
        return NO_NUMBERS
    reader = _Reader(data)
    mark = reader.take(1)
    if mark != _NOT_EMPTY:
        raise ValueError(f"it holds no Roaring bitmap of 64 bits: it begins with {mark[0]}")
    reader.tree()
    parts = list(reader.containers())
    return np.concatenate(parts)


def write_numbers(numbers: Numbers) -> bytes:
    """The bitmap of numbers, which ascend and differ."""
    if not len(numbers):
        return _EMPTY
    upper = numbers >> np.uint64(16)
    firsts = np.flatnonzero(np.append(True, upper[1:] != upper[:-1]))
    keys = [int(one).to_bytes(_KEY_BYTES, "big") for one in upper[firsts].tolist()]
    low = np.split((numbers & np.uint64(0xFFFF)).astype(np.int64), firsts[1:])
    count = len(keys).to_bytes(8, "little")
    parts = [_NOT_EMPTY, count, *_nodes(keys, 0, 0)]
    parts += [(1).to_bytes(4, "little"), _NOT_TRIMMED, len(keys).to_bytes(4, "little")]
    parts += [_THERE + _container(one) for one in low]
    return b"".join([*parts, count, bytes(4), (len(keys) - 1).to_bytes(4, "little")])


def _nodes(keys: list[bytes], first: int, depth: int) -> Iterator[bytes]:
    """The nodes of keys, in order, that share the bytes before `depth`; the container of the first is `first`."""
    if len(keys) == 1:
        yield bytes([_LEAF, 0, 0, 0]) + keys[0] + first.to_bytes(8, "little")
        return
    # Of keys in order, the first and the last share what all of them do.
    shared = next(at for at in range(depth, _KEY_BYTES) if keys[0][at] != keys[-1][at])
    nexts = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), _KEY_BYTES)[:, shared]
    starts = np.flatnonzero(np.append(True, nexts[1:] != nexts[:-1])).tolist()
    mask = np.zeros(256, np.uint8)
    mask[nexts] = 1
    head = bytes([_NODE_256]) + len(starts).to_bytes(2, "little") + bytes([shared - depth]) + keys[0][depth:shared]
    yield head + np.packbits(mask, bitorder="little").tobytes()
    for start, end in zip(starts, [*starts[1:], len(keys)], strict=True):
        yield from _nodes(keys[start:end], first + start, shared + 1)


def _container(low: npt.NDArray[np.int64]) -> bytes:
    """One container, in the form that is smallest."""
    begins = np.flatnonzero(np.append(True, low[1:] != low[:-1] + 1))
    plain = min(2 * len(low), _BITMAP_BYTES)
    if 2 + 4 * len(begins) < plain:
        lengths = np.diff(np.append(begins, len(low))) - 1
        runs = np.column_stack([low[begins], lengths]).astype("<u2")
        return _head(_RUNS, len(low)) + len(begins).to_bytes(2, "little") + runs.tobytes()
    if len(low) <= _ARRAY_MAX:
        return _head(_ARRAY, len(low)) + low.astype("<u2").tobytes()
    bits = np.zeros(_BITMAP_BYTES * 8, np.uint8)
    bits[low] = 1
    return _head(_BITS, len(low)) + np.packbits(bits, bitorder="little").tobytes()


def _head(kind: int, count: int) -> bytes:
    return bytes([kind]) + count.to_bytes(4, "little")
