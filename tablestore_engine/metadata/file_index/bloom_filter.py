"""Bloom filters of a column: a value that a file holds is always found, any other one rarely.

Bytes: the number of hash functions (4, big-endian), then the bits, of which the lowest of a byte comes first. Numbers
are hashed by Thomas Wang's function for 64 bits, texts by xxHash64. The functions of a value are `low + i * high` for
i from 1, of the two halves of its hash, in 32 bits; the complement where that is negative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.metadata.file_index.byte_source import ByteSource
from tablestore_engine.metadata.file_index.container import IndexRange
from tablestore_engine.metadata.file_index.index_values import bits_of, index_values
from tablestore_engine.metadata.file_index.xxhash import hash_all
from tablestore_engine.schema.types.types import AtomicType

_HEAD = 4


def bits_for(items: int, fpp: float) -> int:
    """The size of a filter for so many values, of which others are found with a probability of `fpp`."""
    needed = int(-items * math.log(fpp) / math.log(2) ** 2)
    return needed + 8 - needed % 8


class BloomFilterBuilder:
    """Takes a column's values, batch by batch."""

    def __init__(self, data_type: AtomicType, items: int, fpp: float) -> None:
        self._type = data_type
        self._bits = np.zeros(bits_for(items, fpp) // 8, np.uint8)
        self._functions = max(1, math.floor(bits_for(items, fpp) / items * math.log(2) + 0.5))

    def add(self, column: pa.ChunkedArray) -> None:
        """Take values; nulls do not count."""
        for chunk in column.chunks:
            distinct = pc.unique(index_values(chunk, self._type)).drop_null()
            if not len(distinct):
                continue
            for bits in _bit_indices(_hashes(distinct, self._type), self._functions, 8 * len(self._bits)):
                np.bitwise_or.at(self._bits, bits >> 3, np.left_shift(1, bits & 7).astype(np.uint8))

    def close(self) -> bytes:
        """The filter's bytes."""
        return self._functions.to_bytes(_HEAD, "big") + self._bits.tobytes()


def bloom_filter_finds(source: ByteSource, where: IndexRange, value: Any, data_type: AtomicType) -> bool:
    """Whether a file may hold a value, as `index_value` gives it. Raises ValueError: the filter is damaged."""
    if where.length <= _HEAD:
        raise ValueError("its bloom filter ends early")
    functions = int.from_bytes(source.read_at(where.start, _HEAD), "big")
    kept = index_values_of_one(value)
    for bits in _bit_indices(_hashes(kept, data_type), functions, 8 * (where.length - _HEAD)):
        bit = int(bits[0])
        byte = source.read_at(where.start + _HEAD + (bit >> 3), 1)
        if len(byte) != 1:
            raise ValueError("its bloom filter ends early")
        if not byte[0] >> (bit & 7) & 1:
            return False
    return True


def index_values_of_one(value: Any) -> pa.Array:
    """An array of one number or byte string."""
    return pa.array([value], pa.binary() if isinstance(value, bytes) else pa.int64())


def _hashes(values: pa.Array, data_type: AtomicType) -> npt.NDArray[np.int64]:
    if pa.types.is_binary(values.type):
        return hash_all(values).view(np.int64)
    kind = pa.int32() if data_type.root == "FLOAT" else values.type
    numbers = bits_of(values.cast(kind).to_numpy(zero_copy_only=False), data_type)
    return _hash_of_numbers(numbers.astype(np.int64))


def _hash_of_numbers(key: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    key = ~key + (key << 21)
    key = key ^ key >> 24
    key = key + (key << 3) + (key << 8)
    key = key ^ key >> 14
    key = key + (key << 2) + (key << 4)
    key = key ^ key >> 28
    return key + (key << 31)


def _bit_indices(hashes: npt.NDArray[np.int64], functions: int, bits: int) -> list[npt.NDArray[np.int64]]:
    """The indices of the bits of some values, by hash function."""
    low, high = hashes.astype(np.int32), (hashes >> 32).astype(np.int32)
    found = []
    for _ in range(functions):
        low = low + high
        found.append(np.where(low < 0, ~low, low).astype(np.int64) % bits)
    return found
