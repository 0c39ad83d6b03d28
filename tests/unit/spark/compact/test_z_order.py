"""How many bits each column of a z-order gets, and between which bounds."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tablestore_engine.spark.compact.z_order import (
    bits_of,
    quantiles,
)


@pytest.mark.parametrize(("columns", "bits"), [(1, 8), (2, 8), (7, 8), (8, 7), (16, 3)])
def test_all_bits_fit_into_one_number(columns, bits):
    assert bits_of(columns) == bits
    assert columns * bits <= 62


def test_quantiles_cut_into_equal_parts():
    values = pa.chunked_array([[9, 1, None], [5, 3, 7, 8, 2, 6, 4]])
    assert quantiles(values, 2).to_pylist() == [3, 5, 7]
    skewed = pa.chunked_array([[0] * 90 + list(range(10))])
    assert quantiles(skewed, 2).to_pylist() == [0, 0, 0]


@pytest.mark.parametrize("chunks", [[], [[]], [[None, None]]])
def test_no_values_no_bounds(chunks):
    assert len(quantiles(pa.chunked_array(chunks, pa.string()), 4)) == 0
