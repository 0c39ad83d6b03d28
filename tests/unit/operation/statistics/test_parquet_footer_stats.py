"""Bounds from Parquet footers: they bound, also when cut."""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.soak import examples

from tablestore_engine.operation.statistics.column_stats import ColumnStats
from tablestore_engine.operation.statistics.parquet_footer_stats import column_stats, leaves_with_stats


def stats_of(array, *, group_rows=2, **options):
    schema = pa.schema([("c", array.type)])
    sink = pa.BufferOutputStream()
    footers = []
    with pq.ParquetWriter(sink, schema, metadata_collector=footers, store_decimal_as_integer=True, **options) as writer:
        writer.write_table(pa.table({"c": array}), row_group_size=group_rows)
    return column_stats(footers[0], schema)["c"]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([3, None, -2, 7], pa.int8()),
        pa.array([3, None, -2, 7], pa.int16()),
        pa.array([3, None, -2, 7], pa.int32()),
        pa.array([3, None, -2, 2**62], pa.int64()),
        pa.array([True, None, False]),
        pa.array([date(2024, 1, 1), None, date(1899, 12, 31)]),
        pa.array([datetime(2024, 1, 1, 1, 2, 3, 456789), datetime(1969, 12, 31)], pa.timestamp("us")),
        pa.array([datetime(2024, 1, 1, tzinfo=timezone.utc)], pa.timestamp("us", tz="UTC")),
        pa.array([Decimal("1.50"), Decimal("-3.25"), None], pa.decimal128(7, 2)),
        pa.array([Decimal("1.50"), Decimal("-3.25"), None], pa.decimal128(15, 2)),
        pa.array([Decimal("1.50"), Decimal("-123456789012345678901.25"), None], pa.decimal128(30, 2)),
        pa.array(["b", None, "a", "ü"]),
    ],
    ids=lambda array: str(array.type),
)
@pytest.mark.parametrize("group_rows", [1, 2, 100])
def test_equal_to_what_arrow_computes(array, group_rows):
    bounds = pc.min_max(array).as_py()
    expected = ColumnStats(bounds["min"], bounds["max"], array.null_count)
    assert stats_of(array, group_rows=group_rows) == expected


def test_nulls_only():
    assert stats_of(pa.array([None, None, None], pa.int32())) == ColumnStats(None, None, 3)


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1.0, math.nan]),
        pa.array([1.0, 2.0]),  # a later file may hold NaN: floats are never bounded
        pa.array([b"a", b"b"]),
    ],
    ids=["nan", "double", "binary"],
)
def test_types_without_bounds_count_their_nulls(array):
    assert stats_of(array, group_rows=100) == ColumnStats(None, None, 0)


def test_nested_columns_have_none():
    assert stats_of(pa.array([[1], None, [2, 3]])) == ColumnStats(None, None, None)
    assert stats_of(pa.array([{"x": 1}, None])) == ColumnStats(None, None, None)


def test_no_statistics_in_the_file():
    assert stats_of(pa.array([1, 2]), write_statistics=False) == ColumnStats(None, None, None)


@pytest.mark.parametrize(
    ("text", "least", "greatest"),
    [
        ("x" * 16, "x" * 16, "x" * 16),
        ("x" * 17, "x" * 16, "x" * 15 + "y"),
        ("x" * 15 + "\U0010ffff" + "x", "x" * 15 + "\U0010ffff", "x" * 14 + "y"),
        ("\U0010ffff" * 17, None, None),
        ("x" * 15 + "\ud7ff" + "x", "x" * 15 + "\ud7ff", "x" * 15 + "\ue000"),
    ],
)
def test_long_texts_are_cut(text, least, greatest):
    assert stats_of(pa.array([text])) == ColumnStats(least, greatest, 0)


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.none() | st.text(max_size=40), min_size=1, max_size=8))
def test_cut_bounds_are_bounds(texts):
    found = stats_of(pa.array(texts, pa.string()))
    present = [t for t in texts if t is not None]
    assert found.null_count == len(texts) - len(present)
    if found.minimum is not None:
        assert len(found.minimum) <= 16
        assert len(found.maximum) <= 16
        # Code points and UTF-8 bytes order alike, which is Spark's order.
        assert all(found.minimum <= t <= found.maximum for t in present)


def test_leaves_with_bounds_keep_statistics():
    schema = pa.schema(
        {
            "a": pa.int32(),
            "x": pa.float64(),
            "s": pa.struct({"t": pa.string(), "f": pa.float32()}),
            "l": pa.list_(pa.field("element", pa.float64())),
            "m": pa.map_(pa.string(), pa.struct({"d": pa.date32()})),
        }
    )
    kept = ["a", "x", "s.t", "m.key_value.key", "m.key_value.value.d"]
    assert leaves_with_stats(schema, set()) == kept
    assert leaves_with_stats(schema, {"x"}) == [path for path in kept if path != "x"]
    plain = pa.schema({"a": pa.int32(), "x": pa.float64()})
    assert leaves_with_stats(plain, set()) is True
    assert leaves_with_stats(plain, {"x"}) == ["a"]
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, write_statistics=kept) as writer:
        assert writer.schema == schema
