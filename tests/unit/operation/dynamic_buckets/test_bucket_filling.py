"""Which buckets take new keys, as readable scenarios, and what holds of all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.errors import OptionError
from tablestore_engine.operation.dynamic_buckets.bucket_filling import MOST_BUCKETS, FillRule, evenly, shares

TEN = FillRule(target_rows=10)


@pytest.mark.parametrize(
    ("rows", "new", "rule", "expected"),
    [
        # A partition begins with one bucket, and opens another when it is full.
        ({}, 4, TEN, [(0, 4)]),
        ({}, 25, TEN, [(0, 10), (1, 10), (2, 5)]),
        # Buckets that have room are filled first, in order; then the smallest free number opens.
        ({0: 10, 1: 3}, 4, TEN, [(1, 4)]),
        ({0: 10, 1: 3}, 9, TEN, [(1, 7), (2, 2)]),
        ({0: 8, 2: 9}, 5, TEN, [(0, 2), (1, 2), (2, 1)]),
        # One that is fuller than it should be is left alone.
        ({0: 40}, 3, TEN, [(1, 3)]),
        # Several may open at once, and share.
        ({}, 9, FillRule(10, initial=4), [(0, 3), (1, 2), (2, 2), (3, 2)]),
        ({}, 2, FillRule(10, initial=4), [(0, 1), (1, 1)]),
        ({}, 50, FillRule(10, initial=4), [(0, 10), (1, 10), (2, 10), (3, 10), (4, 10)]),
        ({7: 1}, 3, FillRule(10, initial=2), [(0, 3)]),
        # When no more may open, those that are there share what is left.
        ({}, 27, FillRule(10, most=2), [(0, 14), (1, 13)]),
        ({0: 10, 1: 10}, 3, FillRule(10, most=2), [(0, 2), (1, 1)]),
        ({0: 5, 1: 5, 2: 5}, 16, FillRule(10, most=2), [(0, 6), (1, 5), (2, 5)]),
        ({0: 3}, 0, TEN, []),
    ],
)
def test_scenarios(rows, new, rule, expected):
    assert shares(rows, new, rule) == expected


def test_numbers_of_buckets_end():
    full = dict.fromkeys(range(MOST_BUCKETS), 1)
    with pytest.raises(OptionError, match="target-row-num"):
        shares(full, 1, FillRule(1))
    assert sum(number for _, number in shares(full, 5, FillRule(1, most=MOST_BUCKETS))) == 5


@given(
    st.dictionaries(st.integers(0, 9), st.integers(0, 30), max_size=6),
    st.integers(0, 200),
    st.integers(1, 20),
    st.integers(1, 5),
    st.none() | st.integers(1, 8),
)
def test_every_key_gets_a_bucket_and_none_is_overfilled_without_need(rows, new, target, initial, most):
    given = shares(rows, new, FillRule(target, initial, most))
    assert sum(number for _, number in given) == new
    assert [bucket for bucket, _ in given] == sorted({bucket for bucket, _ in given})
    assert all(number > 0 for _, number in given)
    opened = [bucket for bucket, _ in given if bucket not in rows]
    if most is None:
        assert all(rows.get(bucket, 0) + number <= target for bucket, number in given if number)
        if initial == 1 and opened and rows:
            after = dict(given)
            assert all(rows[b] + after.get(b, 0) >= target for b in rows), "a bucket opened while another had room"
    else:
        assert all(bucket < most for bucket in opened)


def test_evenly():
    assert evenly(7, 3) == [3, 2, 2]
    assert evenly(0, 2) == [0, 0]
    assert evenly(5, 0) == []
