"""Thrift's compact protocol: what is written is read again, one struct at a time and many at once."""

from __future__ import annotations

import random

import pytest

from tablestore_engine.operation.pages.thrift_compact import (
    BINARY,
    I32,
    I64,
    LIST,
    SPAN,
    STRUCT,
    ThriftReader,
    list_of,
    plain_structs,
    struct_bytes,
)


def read(data):
    found = ThriftReader(data).struct()
    assert found.pop(SPAN) == (0, len(data))
    return found


def test_structs():
    inner = struct_bytes([(1, I32, -7)])
    fields = [(1, I64, 2**62), (4, BINARY, b"\x00x"), (5, LIST, list_of(I32, range(-20, 20))), (9, STRUCT, inner)]
    found = read(struct_bytes(fields))
    start, end = found[9].pop(SPAN)
    assert end - start == len(inner)
    assert found == {1: 2**62, 4: b"\x00x", 5: list(range(-20, 20)), 9: {1: -7}}


@pytest.mark.parametrize("count", [0, 1, 14, 15, 300])
def test_many_structs_at_once(count):
    chance = random.Random(count)
    rows = [
        tuple(chance.choice([0, 1, -1, 127, 128, 2**31 - 1, 2**62, -(2**63)]) for _ in range(3)) for _ in range(count)
    ]
    items = [struct_bytes([(1, I64, a), (2, I64, b), (3, I64, c)]) for a, b, c in rows]
    data = struct_bytes([(1, LIST, list_of(STRUCT, items)), (2, I32, 5)])
    reader = ThriftReader(data)
    assert reader.list_size(1, STRUCT) == count
    found = plain_structs(data, reader.at, count, (I64, I64, I64))
    assert [tuple(row) for row in found.tolist()] == rows
    assert [(one[1], one[2], one[3]) for one in ThriftReader(data).struct()[1]] == rows


def test_structs_of_another_shape_are_not_read_at_once():
    items = [struct_bytes([(1, I64, 5), (3, I64, 6)]), struct_bytes([(1, I64, 5), (2, I64, 6)])]
    data = struct_bytes([(1, LIST, list_of(STRUCT, items))])
    reader = ThriftReader(data)
    assert reader.list_size(2, STRUCT) is None
    assert reader.list_size(1, STRUCT) == 2
    assert plain_structs(data, reader.at, 2, (I64, I64)) is None
    assert plain_structs(data, reader.at, 99, (I64, I64)) is None
