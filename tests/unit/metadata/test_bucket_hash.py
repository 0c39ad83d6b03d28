"""The vectorised hash gives each row the bucket that the hash of its BinaryRow gives."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.binary_row_cases import GOLDEN, VALUES
from support.soak import examples

from tablestore_engine.metadata.bucket_hash import bucket_ids, bucket_of, row_hashes
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import ArrayType, parse_type


@pytest.mark.parametrize(("types", "values", "data", "hashed"), GOLDEN, ids=lambda one: str(one)[:40])
def test_golden_hashes(types, values, data, hashed):
    parsed = [parse_type(one) for one in types]
    arrays = [pa.array([one], to_arrow_type(kind)) for one, kind in zip(values, parsed, strict=True)]
    assert row_hashes(arrays, parsed).tolist() == [hashed]
    assert bucket_ids(arrays, parsed, 7).tolist() == [bucket_of(values, parsed, 7)]


@st.composite
def columns(draw):
    names = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4))
    size = draw(st.integers(0, 12))
    return names, [draw(st.lists(st.none() | VALUES[one], min_size=size, max_size=size)) for one in names]


@settings(max_examples=examples(60))
@given(columns(), st.integers(1, 9), st.integers(0, 5))
def test_columns_agree_with_rows(case, buckets, cut):
    names, values = case
    types = [parse_type(one) for one in names]
    arrays = [pa.array(one, to_arrow_type(kind)) for one, kind in zip(values, types, strict=True)]
    expected = [bucket_of(row, types, buckets) for row in zip(*values, strict=True)]
    found = bucket_ids(arrays, types, buckets)
    assert found.dtype == np.int32
    assert found.tolist() == expected
    assert bucket_ids([one.slice(cut) for one in arrays], types, buckets).tolist() == expected[cut:]


def test_chunks_need_not_line_up():
    types = [parse_type("STRING"), parse_type("INT")]
    left = pa.chunked_array([["a", None], ["a longer text than seven", ""], []], pa.string())
    right = pa.chunked_array([[1], [2, 3, 4]], pa.int32())
    expected = [bucket_of(row, types, 5) for row in zip(left.to_pylist(), right.to_pylist(), strict=True)]
    assert bucket_ids([left, right], types, 5).tolist() == expected


@pytest.mark.parametrize(
    "arrow", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_any_arrow_form_of_a_text(arrow):
    values = ["x", None, "seven77", "eight888", "a text of many more bytes é", ""]
    types = [parse_type("VARCHAR(99)")]
    expected = [bucket_of([one], types, 11) for one in values]
    assert bucket_ids([pa.array(values, pa.string()).cast(arrow)], types, 11).tolist() == expected


def test_other_units_and_widths_of_a_value():
    moment = datetime(1969, 12, 31, 23, 59, 59, 123000)
    for unit in ("ms", "us", "ns"):
        array = pa.array([moment, None], pa.timestamp(unit))
        for precision in (3, 6, 9):
            kind = [parse_type(f"TIMESTAMP({precision})")]
            expected = [bucket_of([one], kind, 97) for one in (moment, None)]
            assert bucket_ids([array], kind, 97).tolist() == expected
    kind = [parse_type("DECIMAL(20, 3)")]
    expected = [bucket_of([Decimal("1.5")], kind, 97)]
    assert bucket_ids([pa.array([Decimal("1.50")], pa.decimal128(10, 2))], kind, 97).tolist() == expected
    assert bucket_ids([pa.array([7], pa.int64())], [parse_type("INT")], 97).tolist() == [
        bucket_of([7], [parse_type("INT")], 97)
    ]


def test_batches_larger_than_the_cache_block():
    values = np.arange(150_000)
    types = [parse_type("BIGINT")]
    found = bucket_ids([pa.array(values)], types, 8)
    assert len(found) == 150_000
    for at in (0, 65_535, 65_536, 149_999):
        assert found[at] == bucket_of([at], types, 8)
    assert set(np.bincount(found, minlength=8) // 1000) <= {18, 19}


def test_one_bucket_and_no_rows():
    assert bucket_ids([pa.array([1, 2])], [parse_type("BIGINT")], 1).tolist() == [0, 0]
    assert bucket_ids([pa.array([], pa.int64())], [parse_type("BIGINT")], 3).tolist() == []


def test_nested_columns_have_no_bucket():
    with pytest.raises(TypeError):
        bucket_ids([pa.array([[1]])], [ArrayType(parse_type("INT"))], 3)
