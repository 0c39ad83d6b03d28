"""Whole rows as numbers: equal rows have equal ones, as GROUP BY sees it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tablestore_engine.mergetree.arrow_kernels.compare_values import how_often_before
from tablestore_engine.mergetree.arrow_kernels.row_ids import first_rows, row_ids, rows_differ

NAN = float("nan")
MAP = pa.map_(pa.string(), pa.float64())
STRUCT = pa.struct([("a", pa.float64()), ("b", pa.list_(pa.int32()))])


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2, None, 1, None], pa.int64(), [0, 1, 2, 0, 2]),
        (["", None, "a", "", "b"], pa.string(), [0, 1, 2, 0, 3]),
        ([0.0, -0.0, NAN, -NAN, None], pa.float64(), [0, 0, 1, 1, 2]),
        ([0.0, -0.0, NAN, -NAN, None], pa.float32(), [0, 0, 1, 1, 2]),
        ([[], None, [None], [1, 2], [1], [1, 2], []], pa.list_(pa.int32()), [0, 1, 2, 3, 4, 3, 0]),
        ([[[1], [2]], [[1, 2]], [[1], [2]], [[], [1]]], pa.list_(pa.list_(pa.int8())), [0, 1, 0, 2]),
        ([[("a", 0.0), ("b", NAN)], [("b", -NAN), ("a", -0.0)], None, [], [("a", 0.0)], []], MAP, [0, 0, 1, 2, 3, 2]),
        ([[[("a", 1.0), ("b", None)]], [[("b", None), ("a", 1.0)]], [None], None], pa.list_(MAP), [0, 0, 1, 2]),
        (
            [
                {"a": 0.0, "b": [1]},
                None,
                {"a": None, "b": None},
                {"a": -0.0, "b": [1]},
                {"a": 0.0, "b": None},
            ],
            STRUCT,
            [0, 1, 2, 0, 3],
        ),
        (
            [[{"a": NAN, "b": None}], [{"a": NAN, "b": []}], [{"a": -NAN, "b": None}]],
            pa.list_(STRUCT),
            [0, 1, 0],
        ),
    ],
)
def test_equal_values(values, kind, expected):
    array = pa.array(values, kind)
    assert row_ids([array], len(array)).tolist() == expected
    # A slice of a larger array has offsets into the buffers of the whole.
    padded = pa.concat_arrays([pa.array([values[0]] * 3, kind), array, array[:1]]).slice(3, len(array))
    assert row_ids([padded], len(padded)).tolist() == expected
    # Each value with each other one: two differ where their numbers do.
    numbers, count = np.array(expected), len(array)
    first, second = np.repeat(np.arange(count), count), np.tile(np.arange(count), count)
    found = rows_differ([padded.take(pa.array(first))], [padded.take(pa.array(second))], count * count)
    assert found.tolist() == (numbers[first] != numbers[second]).tolist()


def test_rows_of_several_columns():
    ids = row_ids([pa.array([1, 1, 1]), pa.array([["a"], ["b"], ["a"]])], 3)
    assert ids.tolist() == [0, 1, 0]
    assert row_ids([], 0).tolist() == []
    first, second = ([pa.array([1, 1, None]), pa.array(texts)] for texts in (["a", "a", None], ["a", "b", "a"]))
    assert rows_differ(first, second, 3).tolist() == [False, True, True]
    assert rows_differ([], [], 2).tolist() == [False, False]
    assert row_ids([pa.array([], pa.list_(pa.int8()))], 0).tolist() == []


def test_first_rows_and_those_before():
    numbers = np.array([2, 0, 2, 1, 2, 0])
    assert first_rows(numbers).tolist() == [1, 3, 0]
    assert how_often_before(numbers).tolist() == [0, 0, 1, 0, 2, 1]
    assert how_often_before(np.zeros(0, np.int64)).tolist() == []
