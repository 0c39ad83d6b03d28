"""Deletion vectors in all the forms that Roaring bitmaps have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.deletion_vectors import vector

from tablestore_engine.metadata.bitmaps.deletion_vector import deleted_positions, encode_positions, words_of

# Written by the Roaring library: {0, 7, 299} and 1000 … 1999 in one container of runs; then five containers, of which
# the last one is a run, so that offsets come too.
RUNS = bytes.fromhex("0000001f5e43f2d03b300000010000ea03040000000000070000002b010000e803e7035d63bf1d")
MANY = bytes.fromhex(
    "000000435e43f2d03b3004001000000000010000000200000003000000040050002d0000002f00000031000000330000"
    "003500000000000000000000000200000000000a004f008d0d0d9d"
)

positions = st.sets(
    st.one_of(st.integers(0, 300), st.integers(65_500, 65_600), st.integers(0, 2**31 - 1)), max_size=200
)


def test_runs():
    assert deleted_positions(RUNS).tolist() == [0, 7, 299, *range(1000, 2000)]
    assert deleted_positions(MANY).tolist() == [
        *range(0, 5 << 16, 1 << 16),
        *range((4 << 16) + 10, (4 << 16) + 90),
    ]


@given(positions, st.booleans())
def test_arrays(found, wide):
    assert deleted_positions(vector(found, wide=wide)).tolist() == sorted(found)


@pytest.mark.parametrize("wide", [False, True])
def test_bitmaps(wide):
    found = [*range(0, 20_000, 3), *range(70_000, 140_000, 2)]
    assert deleted_positions(vector(found, wide=wide)).tolist() == found


def test_beyond_four_billion():
    found = [5, 2**32 + 1, 2**33, 2**33 + 70_000]
    assert deleted_positions(vector(found, wide=True)).tolist() == found
    written = encode_positions(np.array(found, np.int64), wide=True)
    assert deleted_positions(written).tolist() == found
    assert written == vector(found, wide=True)


@given(positions)
def test_words(found):
    ordered = np.array(sorted(found), np.int64)
    numbers, bits = words_of(ordered)
    assert sorted(set(numbers.tolist())) == numbers.tolist()
    positions_of_bits = [
        int(n) * 64 + b for n, word in zip(numbers, bits, strict=True) for b in range(64) if int(word) >> b & 1
    ]
    assert positions_of_bits == ordered.tolist()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1], "ends early"),
        (lambda data: b"", "ends early"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "checksum"),
        (lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:], "checksum"),
    ],
)
def test_damage(damage, message):
    with pytest.raises(ValueError, match=message):
        deleted_positions(damage(vector([1, 2, 3])))
