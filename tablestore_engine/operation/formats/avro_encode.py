"""Arrow arrays as the bytes of Avro values, without a loop over rows.

An array of values is encoded as `Values`: the bytes of all of them, one after the other, and how many each has. A
record is the values of its fields in turn (`_interleaved`), a list a count, its items and a zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_Bytes = npt.NDArray[np.uint8]
_Numbers = npt.NDArray[np.int64]
_LONGEST = 10
_DECIMAL_BYTES = 16


class Values(NamedTuple):
    """Encoded values: their bytes, and the number of bytes of each."""

    sizes: _Numbers
    data: _Bytes


def encode_rows(rows: pa.Table) -> Values:
    """Rows as records, each without a union of its own."""
    return _interleaved([_nullable(column, field) for column, field in zip(rows.columns, rows.schema, strict=True)])


def _nullable(array: Any, field: pa.Field) -> Values:
    """Values of a field; of one that may be null, each is a union of null and its type."""
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if not field.nullable:
        return _values(array)
    valid = np.asarray(array.is_valid())
    dense = _values(array.drop_null())
    sizes = np.zeros(len(array), np.int64)
    sizes[valid] = dense.sizes
    branch = np.where(valid, np.uint8(2), np.uint8(0))
    return _interleaved([Values(np.ones(len(array), np.int64), branch), Values(sizes, dense.data)])


def _values(array: Any) -> Values:
    """Values of an array without nulls."""
    kind = array.type
    if pa.types.is_boolean(kind):
        return Values(np.ones(len(array), np.int64), np.asarray(array).astype(np.uint8))
    if pa.types.is_floating(kind):
        data = np.ascontiguousarray(array.to_numpy(zero_copy_only=False)).view(np.uint8)
        return Values(np.full(len(array), kind.bit_width // 8, np.int64), data)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _with_lengths(_texts(array))
    if pa.types.is_decimal(kind):
        return _with_lengths(_decimals(array))
    if pa.types.is_struct(kind):
        return _interleaved([_nullable(array.field(i), kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_list(kind):
        return _lists(array, _nullable(array.flatten(), kind.value_field))
    if pa.types.is_map(kind):
        first, last = _offsets(array)[[0, -1]].tolist()
        keys = _nullable(array.keys[first:last], kind.key_field)
        return _lists(array, _interleaved([keys, _nullable(array.items[first:last], kind.item_field)]))
    numbers = array.view(pa.int32() if kind.bit_width == 32 else pa.int64()) if pa.types.is_temporal(kind) else array
    return varints(numbers.cast(pa.int64()).to_numpy(zero_copy_only=False))


def varints(numbers: _Numbers) -> Values:
    """Numbers as Avro's int and long: zigzag, seven bits to a byte."""
    rest = ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
    sizes = np.ones(len(rest), np.int64)
    for size in range(1, _LONGEST):
        sizes += rest >= np.uint64(1 << (7 * size))
    data = np.empty(int(sizes.sum()), np.uint8)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    for at in range(int(sizes.max(initial=0))):
        has = sizes > at
        data[starts[has] + at] = (rest[has] >> np.uint64(7 * at)).astype(np.uint8) | 0x80
    data[ends - 1] &= 0x7F
    return Values(sizes, data)


def _interleaved(parts: Sequence[Values]) -> Values:
    """For each row its value of the first part, then that of the second, and so on."""
    sizes: _Numbers = np.asarray(np.sum([one.sizes for one in parts], axis=0, dtype=np.int64))
    at = np.cumsum(sizes) - sizes
    data = np.empty(int(sizes.sum()), np.uint8)
    for one in parts:
        # Where each byte goes: as far from the beginning of its value as it is in the part.
        moved = np.repeat(at - (np.cumsum(one.sizes) - one.sizes), one.sizes)
        data[moved + np.arange(len(one.data))] = one.data
        at = at + one.sizes
    return Values(sizes, data)


def _with_lengths(texts: Values) -> Values:
    return _interleaved([varints(texts.sizes), texts])


def _offsets(array: Any) -> npt.NDArray[np.int32]:
    """Where the values of an array of variable width begin, and the last ends."""
    return np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1]


def _texts(array: Any) -> Values:
    if not len(array):
        return Values(np.zeros(0, np.int64), np.zeros(0, np.uint8))
    offsets = _offsets(array).astype(np.int64)
    stored = array.buffers()[2]
    data = np.frombuffer(stored, np.uint8)[offsets[0] : offsets[-1]] if stored else np.zeros(0, np.uint8)
    return Values(np.diff(offsets), data)


def _decimals(array: Any) -> Values:
    """Unscaled numbers as two's complement, big-endian, in as few bytes as hold them."""
    stored = np.frombuffer(array.buffers()[1], np.uint8).reshape(-1, _DECIMAL_BYTES)
    big = stored[array.offset : array.offset + len(array), ::-1]
    negative = big[:, 0] >= 0x80
    filling = np.logical_and.accumulate(big == np.where(negative, 0xFF, 0)[:, None], axis=1).sum(axis=1)
    first = np.minimum(filling, _DECIMAL_BYTES - 1)
    # The first byte that is kept shows the sign.
    shows = (big[np.arange(len(big)), first] >= 0x80) == negative
    first = np.where(shows, first, first - 1)
    kept = np.arange(_DECIMAL_BYTES) >= first[:, None]
    return Values(_DECIMAL_BYTES - first.astype(np.int64), big[kept])


def _lists(array: Any, items: Values) -> Values:
    """Lists, or maps, whose items are encoded: a block with all of them, if there are any, and an empty block."""
    counts = np.diff(_offsets(array)).astype(np.int64) if len(array) else np.zeros(0, np.int64)
    ends = np.concatenate([[0], np.cumsum(items.sizes)])
    borders = ends[np.concatenate([[0], np.cumsum(counts)])]
    filled = counts > 0
    dense = varints(counts[filled])
    heads = np.zeros(len(counts), np.int64)
    heads[filled] = dense.sizes
    tail = Values(np.ones(len(counts), np.int64), np.zeros(len(counts), np.uint8))
    return _interleaved([Values(heads, dense.data), Values(np.diff(borders), items.data), tail])
