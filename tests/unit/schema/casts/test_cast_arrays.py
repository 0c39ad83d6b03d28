"""Casts of Arrow arrays, where Spark's own casts are not asked.

That is for `tests/spark/spark/read/test_merge_on_read_casts.py`.
"""

from __future__ import annotations

from datetime import datetime, time

import pyarrow as pa
import pytest
from support.evolve import LTZ, UTC

from tablestore_engine.schema.casts.cast_arrays import cast_array
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import ArrayType, DataField, MapType, RowType, parse_type


def cast(values, past, current, zone="UTC"):
    kind = parse_type(past) if isinstance(past, str) else past
    return cast_array(pa.array(values, to_arrow_type(kind)), kind, parse_type(current), zone).to_pylist()


def test_times_of_day():
    noon = datetime(1960, 2, 29, 12, 34, 56, 789_123)
    assert cast([noon, None], "TIMESTAMP(6)", "TIME(3)") == [time(12, 34, 56, 789_000), None]
    assert cast([noon], "TIMESTAMP(6)", "TIME(1)") == [time(12, 34, 56, 700_000)]
    assert cast([noon.replace(tzinfo=UTC)], LTZ, "TIME(0)", "Asia/Kolkata") == [time(18, 4, 56)]
    assert cast([time(1, 2, 3, 450_000), time(0), None], "TIME(3)", "STRING") == ["01:02:03.45", "00:00:00", None]
    assert cast([time(1, 2, 3, 450_000)], "TIME(3)", "TIME(0)") == [time(1, 2, 3)]
    texts = [" 1:02 ", "23:59:59.9999", "12:00 AM", "24:00", "noon", "13:00 PM", ""]
    assert cast(texts, "STRING", "TIME(3)") == [time(1, 2), time(23, 59, 59, 999_000), time(0), *[None] * 4]


@pytest.mark.parametrize("kind", ["STRING", "VARCHAR(9)"])
def test_bytes_that_are_no_text(kind):
    given = [b"a", b"\x00\xff\xc3", None, "ü".encode(), b"\xe2\x82"]
    java = ["a", "\x00\ufffd\ufffd", None, "ü", "\ufffd"]
    assert cast(given, "BYTES", kind) == cast(given, "VARBINARY(9)", kind) == java


def test_texts_of_nested_values():
    row = RowType((DataField(1, "a", parse_type("INT")), DataField(2, "b", parse_type("DOUBLE"))))
    assert cast([{"a": 1, "b": 1e10}, {"a": None, "b": None}, None], row, "STRING") == [
        "{1, 1.0E10}",
        "{null, null}",
        None,
    ]
    listed = [[{"a": 1, "b": 0.5}, None], [], None]
    assert cast(listed, ArrayType(row), "STRING") == ["[{1, 0.5}, null]", "[]", None]
    mapped = MapType(parse_type("STRING"), parse_type("BOOLEAN"))
    assert cast([[("k", True), ("l", None)], []], mapped, "STRING") == ["{k -> true, l -> null}", "{}"]
    sliced = pa.array(listed, to_arrow_type(ArrayType(row))).slice(1, 2)
    assert cast_array(sliced, ArrayType(row), parse_type("STRING"), "UTC").to_pylist() == ["[]", None]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"), (-0.0, "-0.0"), (1e7, "1.0E7"), (9999999.0, "9999999.0"), (0.001, "0.001"), (0.00099, "9.9E-4"),
        (5e-324, "4.9E-324"), (1.7976931348623157e308, "1.7976931348623157E308"), (123456.75, "123456.75"),
        (float("nan"), "NaN"), (float("-inf"), "-Infinity"),
    ],
)  # fmt: skip
def test_texts_of_doubles(value, text):
    assert cast([value], "DOUBLE", "STRING") == [text]


def test_slices():
    """Only what is asked for is cast, wherever it is in its buffers."""
    decimals = pa.array([None, "1.5", "-0.05", "12.00"]).cast(pa.decimal128(10, 2)).slice(1, 3)
    assert cast_array(decimals, parse_type("DECIMAL(10, 2)"), parse_type("STRING"), "UTC").to_pylist() == [
        "1.50", "-0.05", "12.00",
    ]  # fmt: skip
    micros = pa.array([0, 1_500_000, None, -1]).cast(pa.timestamp("us", "UTC")).slice(1)
    seconds = cast_array(micros, parse_type(LTZ), parse_type("DECIMAL(20, 6)"), "UTC").to_pylist()
    assert list(map(str, seconds)) == ["1.500000", "None", "-0.000001"]


def test_an_hour_that_does_not_exist():
    """And one that exists twice, as Java takes them."""
    local = [datetime(2024, 3, 31, 2, 30), datetime(2024, 10, 27, 2, 30)]
    found = cast(local, "TIMESTAMP(6)", LTZ, "Europe/Berlin")
    assert found == [datetime(2024, 3, 31, 1, 30, tzinfo=UTC), datetime(2024, 10, 27, 0, 30, tzinfo=UTC)]
