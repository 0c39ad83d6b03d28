"""xxHash64 of many strings at once, against published values and the definition, byte by byte."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.metadata.file_index.xxhash import hash_all

M = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261,
)  # fmt: skip


def _rotated(x, by):
    return (x << by | x >> 64 - by) & M


def _round(held, read):
    return _rotated(held + read * P2 & M, 31) * P1 & M


def xxh64(data):
    """As the specification of xxHash says it, with the seed 0."""
    at = 0
    if len(data) >= 32:
        lanes = [(P1 + P2) & M, P2, 0, -P1 & M]
        while at + 32 <= len(data):
            for lane in range(4):
                lanes[lane] = _round(lanes[lane], int.from_bytes(data[at + 8 * lane : at + 8 * lane + 8], "little"))
            at += 32
        h = sum(_rotated(one, by) for one, by in zip(lanes, (1, 7, 12, 18), strict=True)) & M
        for one in lanes:
            h = ((h ^ _round(0, one)) * P1 + P4) & M
    else:
        h = P5
    h = (h + len(data)) & M
    while at + 8 <= len(data):
        h = (_rotated(h ^ _round(0, int.from_bytes(data[at : at + 8], "little")), 27) * P1 + P4) & M
        at += 8
    if at + 4 <= len(data):
        h = (_rotated(h ^ int.from_bytes(data[at : at + 4], "little") * P1 & M, 23) * P2 + P3) & M
        at += 4
    for byte in data[at:]:
        h = _rotated(h ^ byte * P5 & M, 11) * P1 & M
    h = (h ^ h >> 33) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0xEF46DB3751D8E999),
        ("a", 0xD24EC4F1A98C6E5B),
        ("abc", 0x44BC2CF5AD770999),
        ("Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_published_values(text, expected):
    assert int(hash_all(pa.array([text]))[0]) == expected


@given(st.lists(st.binary(max_size=150), max_size=20))
def test_any_lengths_at_once(values):
    assert hash_all(pa.array(values, pa.binary())).tolist() == [xxh64(one) for one in values]


def test_a_part_of_a_larger_array():
    values = pa.array(["x" * n for n in range(70)])
    assert hash_all(values.slice(31, 5)).tolist() == [xxh64(b"x" * n) for n in range(31, 36)]
