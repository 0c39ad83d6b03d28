"""Partition directories carry Paimon's names, and lead back to the values."""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.metadata.binary_row import encode_row
from tablestore_engine.metadata.partition import (
    PartitionFormat,
    escape,
    java_float_text,
    partition_from_path,
    partition_path,
    unescape,
    value_from_text,
)
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import parse_type

UTC = timezone.utc

# Type, value, name in new naming, name in legacy naming: as Paimon's path factory spells them.
NAMES = [
    ("STRING", "a b/c=d%é:[]^", "a b%2Fc%3Dd%25é%3A%5B%5D%5E", None),
    ("STRING", "line\n\x7f", "line%0A%7F", None),
    ("INT", -5, "-5", None),
    ("BOOLEAN", True, "true", None),
    ("DECIMAL(10, 2)", Decimal("1.5"), "1.50", None),
    ("DECIMAL(38, 10)", Decimal("12345678901234567890.1"), "12345678901234567890.1000000000", None),
    ("FLOAT", 1e10, "1.0E10", None),
    ("DOUBLE", 0.001, "0.001", None),
    ("DATE", date(2024, 2, 29), "2024-02-29", "19782"),
    ("DATE", date(1969, 12, 31), "1969-12-31", "-1"),
    ("TIME(3)", time(1, 2, 3, 4000), "01%3A02%3A03.004", "3723004"),
    ("TIMESTAMP(6)", datetime(2024, 1, 1, 10), "2024-01-01 10%3A00%3A00.000000", "2024-01-01T10%3A00"),
    ("TIMESTAMP(0)", datetime(2024, 1, 1, 10, 5, 6), "2024-01-01 10%3A05%3A06", "2024-01-01T10%3A05%3A06"),
    (
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        datetime(2024, 1, 1, 10, 0, 0, 5000, tzinfo=UTC),
        "2024-01-01 10%3A00%3A00.005000",
        "2024-01-01T10%3A00%3A00.005",
    ),
]


@pytest.mark.parametrize(("text", "value", "name", "legacy_name"), NAMES, ids=lambda one: str(one)[:30])
def test_names_both_ways(text, value, name, legacy_name):
    types = [parse_type(text)]
    for legacy, expected in ((False, name), (True, legacy_name or name)):
        path = partition_path(["p"], [value], types, legacy=legacy)
        assert path == f"p={expected}"
        assert partition_from_path(path, ["p"], types, legacy=legacy) == (value,)


@pytest.mark.parametrize("value", [None, "", "  "])
def test_nulls_and_blanks_share_the_default_directory(value):
    types = [parse_type("STRING")]
    path = partition_path(["p"], [value], types)
    assert path == "p=__DEFAULT_PARTITION__"
    assert partition_from_path(path, ["p"], types) == (None,)
    assert partition_path(["p"], [value], types, "none") == "p=none"


def test_several_columns_and_none():
    types = [parse_type("STRING"), parse_type("INT")]
    assert partition_path(["dt", "h:r"], ["2024-01-01", 3], types) == "dt=2024-01-01/h%3Ar=3"
    assert partition_from_path("dt=2024-01-01/h%3Ar=3/bucket-0", ["dt", "h:r"], types) == ("2024-01-01", 3)
    assert partition_path([], [], []) == ""


def test_bad_paths_are_errors():
    with pytest.raises(ValueError, match="no directory for hr"):
        partition_from_path("dt=1", ["dt", "hr"], [parse_type("INT")] * 2)
    with pytest.raises(ValueError, match="'x' is not a value of type INT"):
        partition_from_path("dt=x", ["dt"], [parse_type("INT")])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("BOOLEAN", "maybe"),
        ("DATE", "2024-13-01"),
        ("TIMESTAMP(6)", "noon"),
        ("DECIMAL(5, 2)", "1,5"),
        ("TIME", "x"),
    ],
)
def test_texts_that_are_no_values(text, value):
    with pytest.raises(ValueError, match="is not a value"):
        value_from_text(value, parse_type(text))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaping_round_trips_and_leaves_one_directory(text):
    escaped = escape(text)
    assert unescape(escaped) == text
    assert "/" not in escaped
    assert "=" not in escaped


def test_text_that_only_looks_escaped_stays():
    assert unescape("100%") == "100%"
    assert unescape("%zz%4") == "%zz%4"


@pytest.mark.parametrize(
    ("value", "single", "text"),
    [
        (0.1, True, "0.1"), (16777216.0, True, "1.6777216E7"), (1e-5, True, "1.0E-5"), (100.0, False, "100.0"),
        (1e7, False, "1.0E7"), (9999999.0, False, "9999999.0"), (-0.0, False, "-0.0"), (0.001, False, "0.001"),
        (5e-324, False, "4.9E-324"), (float("nan"), False, "NaN"), (float("-inf"), False, "-Infinity"),
        (123456.789, False, "123456.789"),
    ],
)  # fmt: skip
def test_floats_look_like_in_java(value, single, text):
    assert java_float_text(value, single=single) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_lead_back(value):
    assert float(java_float_text(value, single=False)) == value


def test_format_of_a_table():
    columns = [("v", parse_type("INT"), None), ("d", parse_type("DATE"), None)]
    created = PartitionFormat(create_schema(columns, partition_keys=["d"]))
    row = created.encode([date(2024, 1, 1)])
    assert row == encode_row([date(2024, 1, 1)], [parse_type("DATE")])
    assert created.path_of(row) == "d=2024-01-01"
    assert created.parse("d=2024-01-01") == (date(2024, 1, 1),)
    assert created.decode(row) == (date(2024, 1, 1),)
    foreign = PartitionFormat(create_schema(columns, (), ["d"], {"partition.legacy-name": "true"}))
    assert foreign.path_of(row) == "d=19723"
