"""Roaring bitmaps that are written many at once, read back and compared with those of the Roaring library."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.metadata.bitmaps.roaring import Cursor, read_bitmap, write_bitmaps

# Written by the Roaring library.
RUNS = bytes.fromhex("3b300000010000ea03040000000000070000002b010000e803e703")
MANY = bytes.fromhex(
    "3b3004001000000000010000000200000003000000040050002d0000002f00000031000000330000003500000000000000"
    "000000000200000000000a004f00"
)
parts = st.one_of(
    st.sets(st.integers(0, 300_000), min_size=1, max_size=50),
    st.builds(
        lambda start, count, step: set(range(start, start + count * step, step)),
        st.integers(0, 200_000), st.integers(1, 30_000), st.integers(1, 7),
    ),
)  # fmt: skip
sets = st.builds(lambda some: set().union(*some), st.lists(parts, min_size=1, max_size=3))


def written(bitmaps):
    begins = np.zeros(sum(map(len, bitmaps)), bool)
    begins[np.cumsum([0, *(len(one) for one in bitmaps[:-1])])] = True
    data, sizes = write_bitmaps(np.array([p for one in bitmaps for p in sorted(one)], np.int64), begins)
    ends = np.cumsum(sizes)
    assert len(data) == ends[-1]
    return [data[end - size : end] for end, size in zip(ends, sizes, strict=True)]


@given(st.lists(sets, min_size=1, max_size=5))
def test_written_bitmaps_are_read(bitmaps):
    assert [read_bitmap(Cursor(data)).tolist() for data in written(bitmaps)] == [sorted(one) for one in bitmaps]


def test_the_library_writes_the_same_bytes():
    runs = {0, 7, 299, *range(1000, 2000)}
    many = {*range(0, 5 << 16, 1 << 16), *range((4 << 16) + 10, (4 << 16) + 90)}
    assert written([runs, many]) == [RUNS, MANY]


def test_bits():
    even = set(range(0, 20_000, 2))
    (data,) = written([even])
    assert len(data) == 8 + 4 + 4 + 8192, "10,000 positions in one container are bits"
    assert read_bitmap(Cursor(data)).tolist() == sorted(even)
