"""File indexes: the container, bloom filters and bitmap indexes, against naive forms of what Paimon defines."""

from __future__ import annotations

import math
import struct
from datetime import date, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.metadata.file_index.bitmap_index import BitmapIndexBuilder
from tablestore_engine.metadata.file_index.bitmap_lookup import BitmapLookup
from tablestore_engine.metadata.file_index.bloom_filter import BloomFilterBuilder, bits_for, bloom_filter_finds
from tablestore_engine.metadata.file_index.byte_source import BytesInMemory
from tablestore_engine.metadata.file_index.container import IndexRange, read_heads, write_container
from tablestore_engine.metadata.file_index.index_values import index_value
from tablestore_engine.schema.table.indexed_columns import BITMAP_BLOCK_BYTES
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import parse_type

BITMAP_TYPES = (
    ("TINYINT", st.integers(-128, 127)), ("SMALLINT", st.integers(-(2**15), 2**15 - 1)), ("INT", st.integers(-9, 9)),
    ("BIGINT", st.integers(-(2**63), 2**63 - 1)), ("BOOLEAN", st.booleans()), ("STRING", st.text(max_size=5)),
    ("DATE", st.dates()), ("TIMESTAMP(3)", st.datetimes().map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000))),  # noqa: E501
    ("TIMESTAMP(6)", st.datetimes()), ("FLOAT", st.floats(width=32)), ("DOUBLE", st.floats()),
)  # fmt: skip
columns = st.sampled_from(BITMAP_TYPES).flatmap(
    lambda one: st.tuples(st.just(one[0]), st.lists(st.one_of(st.none(), one[1]), min_size=1, max_size=60))
)


def column_of(kind, values):
    middle = len(values) // 2
    arrow = to_arrow_type(parse_type(kind))
    return pa.chunked_array([pa.array(values[:middle], arrow), pa.array(values[middle:], arrow)])


def bitmap(kind, values, version=2, block_bytes=BITMAP_BLOCK_BYTES):
    builder = BitmapIndexBuilder(parse_type(kind), version, block_bytes)
    builder.add(column_of(kind, values))
    return builder.close()


def lookup(data, kind):
    return BitmapLookup(BytesInMemory(b"before" + data), IndexRange(6, len(data)), parse_type(kind))


def bloom(kind, values, items=1_000, fpp=0.01):
    builder = BloomFilterBuilder(parse_type(kind), items, fpp)
    builder.add(column_of(kind, values))
    return builder.close()


def finds(data, kind, value):
    where, of_type = IndexRange(6, len(data)), parse_type(kind)
    return bloom_filter_finds(BytesInMemory(b"before" + data), where, index_value(value, of_type), of_type)


def same(one, other):
    """As Java compares values: NaN is one value, and -0.0 another one than 0.0."""
    if isinstance(one, float) and isinstance(other, float):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or (one == other and math.copysign(1, one) == math.copysign(1, other))
    return one == other


# -- the container


def test_a_container():
    indexes = {"a": {"bloom-filter": b"123", "bitmap": b""}, "m[ß\0😀]": {"bitmap": b"45"}}
    data = write_container(indexes)
    heads = read_heads(BytesInMemory(data))
    found = {
        name: {kind: data[one.start : one.start + one.length] for kind, one in kinds.items()}
        for name, kinds in heads.items()
    }
    assert found == indexes


def test_the_bytes_of_a_container():
    # By hand, from the definition.
    head = struct.pack(">qiii", 1493475289347502, 1, 44, 1) + b"\0\x01k" + struct.pack(">i", 1)
    expected = head + b"\0\x06bitmap" + struct.pack(">iii", 47, 2, 0) + b"xy"
    expected = expected.replace(struct.pack(">i", 44), struct.pack(">i", 47), 1)
    assert write_container({"k": {"bitmap": b"xy"}}) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "ends early"), (b"x" * 100, "not a file index"), (write_container({"a": {"bitmap": b""}})[:20], "ends")],
)
def test_damaged_containers(data, message):
    with pytest.raises(ValueError, match=message):
        read_heads(BytesInMemory(data))


# -- bitmap indexes


@given(columns, st.sampled_from([1, 2]), st.sampled_from([40, BITMAP_BLOCK_BYTES]))
def test_bitmaps_have_the_rows_of_every_value(column, version, block_bytes):
    kind, values = column
    index = lookup(bitmap(kind, values, version, block_bytes), kind)
    assert index.row_count == len(values)
    assert index.null_rows().tolist() == [n for n, one in enumerate(values) if one is None]
    for value in values:
        if value is not None:
            rows = [n for n, one in enumerate(values) if one is not None and same(one, value)]
            assert index.rows_of(index_value(value, parse_type(kind))).tolist() == rows


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("kind", "values", "absent"),
    [("INT", [1, 5, 5, None], (-7, 0, 3, 9)), ("STRING", ["b", "d", "d"], ("", "a", "c", "e")), ("INT", [None], (0,))],
)
def test_values_that_are_not_there(version, kind, values, absent):
    index = lookup(bitmap(kind, values, version, block_bytes=12), kind)
    for value in absent:
        assert not len(index.rows_of(index_value(value, parse_type(kind))))


def test_the_bytes_of_a_bitmap_index():
    # By hand, from the definition: 3 comes once, 7 twice, and there is one null.
    two = struct.pack("<IIHHIHH", 12346, 1, 0, 1, 16, 0, 2)
    blocks = struct.pack(">i", 2) + struct.pack(">iii", 3, -2, -1) + struct.pack(">iii", 7, 0, len(two))
    head = struct.pack(">biibii", 2, 4, 2, 1, -4, 18) + struct.pack(">iiii", 1, 3, 0, len(blocks))
    assert bitmap("INT", [7, 3, 7, None]) == head + blocks + two


def test_blocks_keep_their_size():
    index = bitmap("BIGINT", list(range(5_000)))
    assert struct.unpack(">i", index[10:14]) == (math.ceil(5_000 / ((BITMAP_BLOCK_BYTES - 4) // 16)),)


def test_a_later_version():
    with pytest.raises(ValueError, match="version 3"):
        lookup(b"\x03" + bitmap("INT", [1])[1:], "INT")


# -- bloom filters

BLOOM_TYPES = tuple(one for one in BITMAP_TYPES if one[0] != "BOOLEAN")
bloom_columns = st.sampled_from(BLOOM_TYPES).flatmap(
    lambda one: st.tuples(st.just(one[0]), st.lists(st.one_of(st.none(), one[1]), max_size=60))
)


@given(bloom_columns)
def test_a_bloom_filter_finds_what_is_there(column):
    kind, values = column
    data = bloom(kind, values)
    assert all(finds(data, kind, one) for one in values if one is not None)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("BIGINT", lambda n: n * 1_000_003),
        ("STRING", lambda n: f"name {n}" * (n % 7)),
        ("DATE", lambda n: date.fromordinal(700_000 + n)),
        ("TIMESTAMP(6)", lambda n: datetime(2024, 1, 1, 0, n // 60 % 60, n % 60, n)),
    ],
)
def test_a_bloom_filter_finds_little_else(kind, make):
    data = bloom(kind, [make(n) for n in range(1, 500)])
    others = [make(n) for n in range(500, 2_500) if make(n) not in {make(k) for k in range(1, 500)}]
    assert sum(finds(data, kind, one) for one in others) < 0.03 * len(others)


def test_the_size_and_functions_of_a_bloom_filter():
    # -1,000,000 · ln 0.1 / (ln 2)² is 4,792,529.2 bits; 4,792,536 / 1,000,000 · ln 2 is 3.3 functions.
    assert bits_for(1_000_000, 0.1) == 4_792_536
    data = bloom("INT", [], items=1_000_000, fpp=0.1)
    assert data == struct.pack(">i", 3) + bytes(4_792_536 // 8)


def test_the_bits_of_a_number():
    """By hand: Thomas Wang's function of 1, and its two halves."""
    mask = (1 << 64) - 1
    key = 1
    key = (~key + (key << 21)) & mask
    key = (key ^ (key - (1 << 64) if key >> 63 else key) >> 24) & mask
    key = (key + (key << 3) + (key << 8)) & mask
    key = (key ^ (key - (1 << 64) if key >> 63 else key) >> 14) & mask
    key = (key + (key << 2) + (key << 4)) & mask
    key = (key ^ (key - (1 << 64) if key >> 63 else key) >> 28) & mask
    key = (key + (key << 31)) & mask
    data = bloom("INT", [1], items=100, fpp=0.1)
    bits, functions = 8 * (len(data) - 4), data[3]
    expected = bytearray(len(data) - 4)
    for n in range(1, functions + 1):
        combined = (key + n * (key >> 32)) & 0xFFFFFFFF
        combined = ~combined & 0xFFFFFFFF if combined >> 31 else combined
        expected[combined % bits >> 3] |= 1 << (combined % bits & 7)
    assert data[4:] == bytes(expected)
