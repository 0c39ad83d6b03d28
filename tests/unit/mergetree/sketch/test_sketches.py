"""Unions of sketches against their layouts, one at a time; and what is no sketch."""

from __future__ import annotations

from functools import reduce
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import naive_sketches as naive
from support.roaring import bitmap_of

from tablestore_engine.errors import ExecutionError
from tablestore_engine.mergetree.merge.aggregate_kernels import fold_values
from tablestore_engine.mergetree.merge.groups import Groups
from tablestore_engine.mergetree.sketch import theta_sketch
from tablestore_engine.mergetree.sketch.sketches import SKETCHES, check_sketches
from tablestore_engine.schema.merge_engines.merge_engine import Fold

HLL, THETA = Fold("v", "hll_sketch"), Fold("v", "theta_sketch")
COUPONS = st.sets(st.tuples(st.integers(0, (1 << 26) - 1), st.integers(1, 40)), max_size=30)
HASHES = st.sets(st.integers(1, naive.WHOLE - 1), max_size=9)


def folded(fold, groups):
    """The folds of groups of sketches."""
    starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
    values = pa.array([one for group in groups for one in group], pa.binary())
    # As a slice, whose offsets do not begin at the beginning.
    values = pa.concat_arrays([pa.array([b"before"], pa.binary()), values]).slice(1)
    found = fold_values(fold, values, Groups(starts, len(values)))
    assert found.type == pa.binary()
    return found.to_pylist()


def expected(union, groups):
    return [
        reduce(union, present) if (present := [one for one in group if one is not None]) else None for group in groups
    ]


@st.composite
def hll_sketches(draw):
    """A sketch as unions write it, and the same in some layout."""
    lg_k, coupons = draw(st.sampled_from([4, 5, 8, 12])), draw(COUPONS)
    sketch = naive.hll(coupons, lg_k)
    numbers = [height << 26 | slot for slot, height in coupons]
    if (sketch[7] & 3) == 2:
        kind = draw(st.sampled_from([naive.HLL_4, naive.HLL_6, naive.HLL_8]))
        return sketch, naive.hll_of_registers(naive.registers_of(coupons, lg_k), kind)
    if draw(st.booleans()):
        return sketch, sketch
    if (sketch[7] & 3) == 0:
        return sketch, sketch[:5] + b"\x08" + sketch[6:8] + b"".join(n.to_bytes(4, "little") for n in numbers)
    table = b"".join(b"\0\0\0\0" + n.to_bytes(4, "little") for n in numbers)
    return sketch, sketch[:5] + b"\0" + sketch[6:12] + table


@settings(deadline=None)
@given(st.lists(st.lists(st.none() | hll_sketches(), min_size=1, max_size=5), min_size=1, max_size=4))
def test_unions_of_hll_sketches(groups):
    given_groups = [[None if one is None else one[1] for one in group] for group in groups]
    plain = [[None if one is None else one[0] for one in group] for group in groups]
    wanted = expected(naive.hll_union, plain)
    for number, group in enumerate(given_groups):
        present = [one for one in group if one is not None]
        if len(present) == 1:
            wanted[number] = present[0]
    assert folded(HLL, given_groups) == wanted


@settings(deadline=None)
@given(
    st.lists(
        st.lists(
            st.none()
            | st.tuples(
                st.sampled_from([naive.theta, naive.packed_theta, naive.table_theta]),
                HASHES,
                st.just(naive.WHOLE) | st.integers(1 << 60, naive.WHOLE),
            ),
            min_size=2,
            max_size=5,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_unions_of_theta_sketches(groups):
    def in_layout(make, hashes, limit):
        below = {one for one in hashes if one < limit}
        return naive.theta(hashes, limit) if not below else make(hashes, limit)

    def union(one, other):
        return naive.theta_union(one, other, 4)

    plain = [[None if one is None else naive.theta(*one[1:]) for one in group] for group in groups]
    given_groups = [[None if one is None else in_layout(*one) for one in group] for group in groups]
    wanted = expected(union, plain)
    for number, group in enumerate(given_groups):
        present = [one for one in group if one is not None]
        if len(present) == 1:
            wanted[number] = present[0]
    with mock.patch.object(theta_sketch, "NOMINAL", 4):
        assert folded(THETA, given_groups) == wanted


# hll_sketch_agg(id) and theta_sketch_agg(id) of Spark, from range(1) and range(5).
SPARK_HLL = (
    "0201070c03000108cbd7c20400000000000000000000000000000000000000000000000000000000",
    "0201070c03000508cbd7c2042bf2fb06862ff90d7581660781bc5d06000000000000000000000000",
)
SPARK_THETA = (
    "01030300003acc93e56b61eec8804420",
    "0104033e011acc930516861af72df7e45429c550c15b0e52b597e52dcc736e60c1a71047db64d422f49218474d475354",
)


def test_sketches_of_spark_are_read():
    one, five = (bytes.fromhex(text) for text in SPARK_HLL)
    (found,) = folded(HLL, [[one, five]])
    assert found[:8] == five[:8]
    assert naive.coupons_of(found) == naive.coupons_of(five)
    one, five = (bytes.fromhex(text) for text in SPARK_THETA)
    (found,) = folded(THETA, [[one, five]])
    hashes, limit = naive.hashes_of(found)
    assert (len(hashes), limit) == (5, naive.WHOLE)
    assert naive.hashes_of(one)[0] < hashes
    assert naive.packed_theta(hashes) == five


def test_many_at_once():
    """Several chunks of groups, and of sketches of a group."""
    rng = np.random.default_rng(1)
    groups = [
        [naive.hll(set(zip(rng.integers(0, 1 << 26, 9).tolist(), [height] * 9, strict=True)), 4)
         for height in range(1, 4)]
        for _ in range(20)
    ]  # fmt: skip
    with mock.patch("tablestore_engine.mergetree.sketch.hll_sketch._AT_ONCE", 48):
        assert folded(HLL, groups) == expected(naive.hll_union, groups)


def test_seeds_that_differ():
    with pytest.raises(ExecutionError, match="different seeds"):
        folded(THETA, [[naive.theta([1, 2], seed=1), naive.theta([1, 2], seed=2)]])


@pytest.mark.parametrize("function", SKETCHES)
@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"text",
        bytes(8),
        bytes(100),
        b"\xff" * 100,
        naive.hll([(1, 1)])[:6],
        naive.hll_of_registers([1] * 16)[:50],
        naive.theta([1, 2, 3])[:30],
        naive.packed_theta([1 << 60, (1 << 60) + 5, 1 << 61])[:12],
        naive.table_theta([1, 2, 3])[:20],
    ],
    ids=lambda one: one.hex()[:16],
)
def test_bytes_that_are_no_sketch_are_refused(function, value):
    good = {"hll_sketch": naive.hll([(1, 1)]), "theta_sketch": naive.theta([1, 2])}
    good |= {name: bitmap_of([1], name) for name in ("rbm32", "rbm64")}
    fold = Fold("v", function)
    check_sketches(fold, pa.array([good[function], None], pa.binary()))
    with pytest.raises(ExecutionError, match=r"Column 'v' takes (\w+ sketches|Roaring bitmaps).*X'.*is not one"):
        check_sketches(fold, pa.array([good[function], None, value], pa.binary()))
