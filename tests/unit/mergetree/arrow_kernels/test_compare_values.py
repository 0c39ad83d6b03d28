"""Codes of values, elements of lists and maps with their owners, and counts of equal numbers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.mergetree.arrow_kernels.compare_values import (
    codes,
    combined_codes,
    elements_of,
    gathered,
    how_often_before,
    how_often_in,
    last_seen,
    one_array,
    valid_mask,
)

NUMBERS = st.lists(st.integers(-3, 3), max_size=30)
MAP, LIST = pa.map_(pa.string(), pa.int32()), pa.list_(pa.int32())


def array(numbers):
    return np.array(numbers, np.int64)


@given(NUMBERS, NUMBERS)
def test_equal_numbers_are_counted(numbers, others):
    counts = Counter(others)
    assert how_often_in(array(numbers), array(others)).tolist() == [counts[one] for one in numbers]
    assert how_often_before(array(numbers)).tolist() == [numbers[:at].count(one) for at, one in enumerate(numbers)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=30))
def test_the_last_of_an_owner(pairs):
    owners, values = array([owner for owner, _ in pairs]), array([value for _, value in pairs])
    expected = [pair not in pairs[at + 1 :] for at, pair in enumerate(pairs)]
    assert last_seen(owners, values).tolist() == expected


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, None, 1, 2, None]),
        pa.array(["", None, "a", "", "A"]),
        pa.array([{"a": 1, "b": None}, None, {"a": 1, "b": None}, {"a": None, "b": None}, {"a": 1, "b": "x"}]),
    ],
    ids=["numbers", "texts", "structs"],
)
def test_equal_values_and_nulls_share_a_code(values):
    found, rows = codes(values).tolist(), values.to_pylist()
    for at, one in enumerate(rows):
        assert [code == found[at] for code in found] == [other == one for other in rows]


def test_codes_of_several_columns():
    found = combined_codes([array([1, 1, 2, 1]), np.array([True, False, True, True])]).tolist()
    assert found[0] == found[3]
    assert len(set(found)) == 3
    assert combined_codes([array([5, 5, 6])]).tolist() == [5, 5, 6]


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (LIST, [[1, None], None, [], [2]]),
        (MAP, [[("a", 1), ("b", None)], None, [], [("c", 2)]]),
        (LIST, [None, []]),
        (MAP, [None, []]),
    ],
    ids=str,
)
@pytest.mark.parametrize("start", [0, 1])
def test_elements_are_taken_out_and_put_back(kind, rows, start):
    values = pa.array(rows, kind).slice(start)
    owners, elements = elements_of(values)
    pairs = [(at, one) for at, row in enumerate(rows[start:]) for one in row or []]
    assert owners.tolist() == [owner for owner, _ in pairs]
    shown = [(one["key"], one["value"]) for one in elements.to_pylist()] if kind == MAP else elements.to_pylist()
    assert shown == [one for _, one in pairs]
    again = gathered(elements, owners, ~valid_mask(values), kind)
    assert (again.type, again.to_pylist()) == (kind, rows[start:])


@pytest.mark.parametrize("chunks", [[], [[1]], [[1, 2], [], [3]]])
def test_a_column_becomes_one_array(chunks):
    column = pa.chunked_array([pa.array(one, pa.int32()) for one in chunks], pa.int32())
    found = one_array(column)
    assert isinstance(found, pa.Array)
    assert (found.type, found.to_pylist()) == (pa.int32(), column.to_pylist())
