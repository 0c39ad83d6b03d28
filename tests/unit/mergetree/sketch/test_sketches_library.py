"""Apache DataSketches' own library judges our unions: it makes the sketches, reads our unions, and unites them too."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from support import naive_sketches as naive

from tablestore_engine.mergetree.sketch.sketches import fold_sketches
from tablestore_engine.schema.merge_engines.merge_engine import Fold

datasketches = pytest.importorskip("datasketches", reason="the extra `test` installs it")

ITEMS = (0, 1, 6, 9, 40, 300, 3000, 9000)
HLL_KINDS = ("HLL_4", "HLL_6", "HLL_8")


def _groups(make, seed):
    """Groups of two to four sketches, which overlap."""
    rng = np.random.default_rng(seed)
    return [[make(rng, int(n)) for n in rng.choice(ITEMS, size=rng.integers(2, 5))] for _ in range(60)]


def _united(function, groups):
    values = pa.array([one for group in groups for one in group], pa.binary())
    owners = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return fold_sketches(Fold("v", function), values, owners, len(groups)).to_pylist()


def _hll_content(sketch):
    """lg_k, and the registers or the coupons."""
    plain = datasketches.hll_union(sketch.lg_config_k)
    plain.update(sketch)
    written = plain.get_result(datasketches.tgt_hll_type.HLL_8).serialize_compact()
    listed = (written[7] & 3) != 2
    return sketch.lg_config_k, naive.coupons_of(written) if listed else written[40:]


def _hll_of(items, lg_k, kind="HLL_8"):
    sketch = datasketches.hll_sketch(lg_k, getattr(datasketches.tgt_hll_type, kind))
    for item in items:
        sketch.update(item)
    return sketch


@pytest.mark.parametrize("lg_sizes", [(4,), (8,), (12,), (5, 10), (10, 12)])
def test_hll(lg_sizes):
    """The judge is the sketch of all items: the library's own union of several sizes loses registers (ADR 0009)."""

    def make(rng, count):
        first = int(rng.integers(0, 5000))
        items, lg_k = range(first, first + count), int(rng.choice(lg_sizes))
        sketch = _hll_of(items, lg_k, rng.choice(HLL_KINDS))
        return items, lg_k, sketch.serialize_compact() if rng.random() < 0.5 else sketch.serialize_updatable()

    groups = _groups(make, sum(lg_sizes))
    unions = _united("hll_sketch", [[sketch for _, _, sketch in group] for group in groups])
    for group, union in zip(groups, unions, strict=True):
        ours = datasketches.hll_sketch.deserialize(union)
        expected = _hll_of({item for items, _, _ in group for item in items}, min(lg_k for _, lg_k, _ in group))
        assert _hll_content(ours) == _hll_content(expected)
        # A union of it with itself computes anew the sums from which the estimate follows.
        again = datasketches.hll_union(ours.lg_config_k)
        again.update(ours)
        again.update(ours)
        assert ours.get_estimate() == pytest.approx(again.get_estimate(), rel=1e-9)


@pytest.mark.parametrize("lg_sizes", [(5,), (12,), (8, 12, 14)])
def test_theta(lg_sizes):
    def make(rng, items):
        sketch = datasketches.update_theta_sketch(int(rng.choice(lg_sizes)))
        first = int(rng.integers(0, 5000))
        for item in range(first, first + items):
            sketch.update(item)
        written = sketch.compact()
        hashes = list(written)
        packed = len(hashes) > 1 and rng.random() < 0.5
        return naive.packed_theta(hashes, written.theta64) if packed else written.serialize()

    read = datasketches.compact_theta_sketch.deserialize
    groups = _groups(make, sum(lg_sizes))
    for group, ours in zip(groups, _united("theta_sketch", groups), strict=True):
        union = datasketches.theta_union(12)
        for one in group:
            union.update(read(one))
        found, expected = read(ours), union.get_result()
        assert (list(found), found.theta64) == (sorted(expected), expected.theta64)
        assert (found.is_empty(), found.is_ordered()) == (expected.is_empty(), True)
