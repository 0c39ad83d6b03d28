"""Binary values as one array of bytes: reading and writing fields of many of them at once.

Vocabulary: a *blob* is the bytes of one value, an *offset* the number of a byte in the array of all. Numbers in blobs
are little-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices


@dataclass(frozen=True)
class Blobs:
    """Blob i is `data[starts[i]:ends[i]]`."""

    data: npt.NDArray[np.uint8]
    starts: Indices
    ends: Indices

    @classmethod
    def of(cls, values: pa.Array) -> Blobs:
        """The blobs of a binary array without nulls."""
        if not len(values):
            return cls(np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64))
        wide = values.cast(pa.large_binary())
        _, offsets, data = wide.buffers()
        bounds = np.frombuffer(offsets, np.int64)[wide.offset : wide.offset + len(wide) + 1]
        found = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
        return cls(found, bounds[:-1], bounds[1:])

    @classmethod
    def of_sizes(cls, sizes: Indices) -> Blobs:
        """Blobs of zeros."""
        ends = np.cumsum(sizes)
        return cls(np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8), ends - sizes, ends)

    @property
    def sizes(self) -> Indices:
        """How many bytes each has."""
        return self.ends - self.starts

    def byte(self, offset: int) -> Indices:
        """The byte at an offset of each blob; 0 of one that is too short."""
        return self.number(offset, np.uint8).astype(np.int64)

    def bytes_at(self, offsets: Indices) -> Indices:
        """The byte of each blob at an offset of its own; 0 of one that is too short."""
        there = self.sizes > offsets
        found = np.zeros(len(self.starts), np.int64)
        found[there] = self.data[(self.starts + offsets)[there]]
        return found

    def number(self, offset: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """The number at an offset of each blob; 0 of one that is too short."""
        dtype = np.dtype(kind)
        there = self.sizes >= offset + dtype.itemsize
        found = np.zeros(len(self.starts), dtype)
        found[there] = numbers_at(self.data, self.starts[there] + offset, dtype)
        return found

    def put(self, which: npt.NDArray[Any], offset: int, values: Any, kind: npt.DTypeLike) -> None:
        """Write a number at an offset of some blobs, given as numbers or as a mask."""
        put_at(self.data, self.starts[which] + offset, values, kind)

    def to_arrow(self) -> pa.Array:
        """The blobs, which follow one another, as a binary array."""
        offsets = np.append(self.starts, self.ends[-1:] if len(self.ends) else 0).astype(np.int64)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_binary(), len(self.starts), buffers)


def numbers_at(data: npt.NDArray[np.uint8], offsets: Indices, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """The numbers that begin at some offsets."""
    dtype = np.dtype(kind)
    if _aligned(data, offsets, dtype):
        aligned: npt.NDArray[Any] = data[: len(data) // dtype.itemsize * dtype.itemsize].view(dtype.newbyteorder("<"))
        return aligned[offsets // dtype.itemsize].astype(dtype, copy=False)
    found: npt.NDArray[Any] = data[offsets[:, None] + np.arange(dtype.itemsize)].view(dtype.newbyteorder("<"))
    return found.reshape(len(offsets)).astype(dtype)


def _aligned(data: npt.NDArray[np.uint8], offsets: Indices, dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize > 1 and not (offsets % dtype.itemsize).any()


def put_at(data: npt.NDArray[np.uint8], offsets: Indices, values: Any, kind: npt.DTypeLike) -> None:
    """Write numbers at some offsets."""
    dtype = np.dtype(kind).newbyteorder("<")
    numbers = np.broadcast_to(np.asarray(values, dtype), (len(offsets),))
    if _aligned(data, offsets, dtype):
        data[: len(data) // dtype.itemsize * dtype.itemsize].view(dtype)[offsets // dtype.itemsize] = numbers
        return
    shape = len(offsets), dtype.itemsize
    data[offsets[:, None] + np.arange(dtype.itemsize)] = np.ascontiguousarray(numbers).view(np.uint8).reshape(shape)


def spread(starts: Indices, counts: Indices, step: int) -> tuple[Indices, Indices]:
    """The offsets of `counts[i]` items of `step` bytes from each start on, and which start each belongs to."""
    owners = np.repeat(np.arange(len(starts)), counts)
    within = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    return starts[owners] + step * within, owners
