"""Unions of Roaring bitmaps, group by group."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.roaring import bitmap_of, numbers_of

from tablestore_engine.mergetree.merge.aggregate_kernels import fold_values
from tablestore_engine.mergetree.merge.groups import Groups
from tablestore_engine.mergetree.sketch.roaring_bitmaps import FORMATS
from tablestore_engine.schema.merge_engines.merge_engine import Fold

_BITS = {"rbm32": 32, "rbm64": 64}


@pytest.mark.parametrize("function", FORMATS)
@given(data=st.data())
def test_unions(function, data):
    numbers = st.integers(0, 2 ** _BITS[function] - 1) | st.integers(0, 2**20) | st.integers(0, 9)
    sets = st.frozensets(numbers, max_size=12)
    groups = data.draw(st.lists(st.lists(sets, min_size=1, max_size=4), min_size=1, max_size=5))
    values = pa.array([bitmap_of(one, function) for group in groups for one in group], pa.binary())
    owners = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    found = FORMATS[function].union(values, owners, len(groups)).to_pylist()
    assert [numbers_of(one, function) for one in found] == [sorted(set().union(*group)) for group in groups]


@pytest.mark.parametrize("function", FORMATS)
def test_folds(function):
    whole = bitmap_of(range(100_000), function)
    empty = bitmap_of([], function)
    values = [bitmap_of([1, 5], function), None, bitmap_of([5, 2**31], function), None, whole, empty]
    groups = Groups(np.array([0, 3, 4, 5]), 6)
    found = fold_values(Fold("v", function), pa.array(values, pa.binary()), groups).to_pylist()
    assert numbers_of(found[0], function) == [1, 5, 2**31]
    assert found[1:] == [None, whole, empty], "one stays as it is"


@pytest.mark.parametrize("function", FORMATS)
def test_containers_of_every_kind(function):
    """Few numbers, many, neighbours; of 64 bits also keys that share none, some or all but one of their bytes."""
    sets = [range(70_000), range(0, 200_000, 3), [7, 65_536 * 255, 65_536 * 256], []]
    if function == "rbm64":
        sets += [
            [2**64 - 1, 0],
            [n << 16 for n in range(300)],
            [n << 40 for n in range(60)],
            [n << 56 for n in range(9)],
        ]
    for one in sets:
        assert numbers_of(bitmap_of(one, function), function) == sorted(one)
