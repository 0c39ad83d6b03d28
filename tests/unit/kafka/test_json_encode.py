"""Columns as JSON text: what a parser of JSON reads is the value."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.kafka.json_encode import base64_text, joined, row_text, value_text


def parsed(array):
    return [None if text is None else json.loads(text, parse_float=Decimal) for text in value_text(array).to_pylist()]


@given(st.lists(st.none() | st.text()))
def test_texts_are_escaped(values):
    assert parsed(pa.array(values, pa.string())) == values


@given(st.lists(st.none() | st.binary(max_size=9)))
def test_bytes_are_base64(values):
    expected = [None if one is None else base64.b64encode(one).decode() for one in values]
    array = pa.array(values, pa.binary())
    assert base64_text(array).to_pylist() == expected
    assert base64_text(array[1:]).to_pylist() == expected[1:]


@given(st.lists(st.none() | st.floats()))
def test_doubles_come_back_exactly(values):
    names = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    found = [names.get(one, one) if isinstance(one, str) else one for one in parsed(pa.array(values, pa.float64()))]
    for one, other in zip(found, values, strict=True):
        same = one is None if other is None else float(one) == other or (math.isnan(other) and math.isnan(float(one)))
        assert same, (one, other)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, None, -(2**63)], pa.int64(), [1, None, -(2**63)]),
        ([True, None, False], pa.bool_(), [True, None, False]),
        (['a "b" \\ \n', None, "c"], pa.string(), ['a "b" \\ \n', None, "c"]),
        ([Decimal("1.50"), None], pa.decimal128(10, 2), [Decimal("1.50"), None]),
        ([dt.date(2024, 2, 29)], pa.date32(), ["2024-02-29"]),
        ([dt.datetime(2024, 1, 1, 2, 3, 4, 5)], pa.timestamp("us"), ["2024-01-01 02:03:04.000005"]),
        ([dt.datetime(2024, 1, 1, 2, 3, 4)], pa.timestamp("ms", "UTC"), ["2024-01-01 02:03:04.000Z"]),
        ([dt.time(2, 3, 4)], pa.time32("ms"), ["02:03:04.000"]),
        ([["a", None], [], None], pa.list_(pa.string()), [["a", None], [], None]),
        ([[[1], None], None], pa.list_(pa.list_(pa.int32())), [[[1], None], None]),
        ([[("a", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int32()), [{"a": 1, "b": None}, {}, None]),
        ([[(1, 1.5)]], pa.map_(pa.int32(), pa.float32()), [{"1": Decimal("1.5")}]),
        ([[(dt.date(2024, 1, 1), 1)]], pa.map_(pa.date32(), pa.int8()), [{"2024-01-01": 1}]),
        ([{"x": 1, "y": [2]}, None], pa.struct({"x": pa.int8(), "y": pa.list_(pa.int8())}), [{"x": 1, "y": [2]}, None]),
        ([{}, None], pa.struct([]), [{}, None]),
    ],
)
def test_values_by_type(values, kind, expected):
    array = pa.array(values, kind)
    assert parsed(array) == expected
    assert parsed(pa.concat_arrays([array, array])[len(array) :]) == expected, "a slice"


def test_rows_are_objects():
    rows = row_text([pa.array([1, None]), pa.array(["x", None])], ["id", 'a "name"'])
    assert [json.loads(one) for one in rows.to_pylist()] == [{"id": 1, 'a "name"': "x"}, {"id": None, 'a "name"': None}]


def test_a_null_is_written_as_one():
    assert joined("a", pa.array(["b", None]), "c").to_pylist() == ["abc", "anullc"]


def test_a_zero_keeps_its_sign():
    """The integer -0 of a reader is 0."""
    for kind in (pa.float32(), pa.float64()):
        array = pa.array([-0.0, 0.0, None, -1.5, math.nan], kind)
        assert value_text(array).to_pylist() == ["-0.0", "0", None, "-1.5", '"NaN"']
