"""Products of decimals of more digits than two factors of Spark's may have."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.errors import ExecutionError
from tablestore_engine.mergetree.merge.aggregate_kernels import fold_values
from tablestore_engine.mergetree.merge.groups import Groups
from tablestore_engine.schema.merge_engines.merge_engine import Fold

EXACT = Context(prec=200)
FOLD = Fold("v", "product")


@given(
    kind=st.sampled_from([(38, 10), (38, 38), (38, 37), (38, 0), (20, 3), (19, 0), (30, 15)]),
    shares=st.lists(st.floats(-1, 1), min_size=1, max_size=4),
)
def test_each_step_rounds_to_the_scale(kind, shares):
    digits, scale = kind
    room = scale + (digits - scale) // len(shares)
    most = 10**room - 1  # a float may be one too large for it
    whole = [max(-most, min(most, int(share * most))) for share in shares]
    factors = [Decimal(number).scaleb(-scale, EXACT) for number in whole]
    product = factors[0]
    for factor in factors[1:]:
        exact = EXACT.multiply(product, factor)
        product = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, EXACT)
    found = fold_values(FOLD, pa.array(factors, pa.decimal128(*kind)), Groups(np.array([0]), len(factors)))
    assert found.to_pylist() == [product]


def test_a_product_that_does_not_fit_is_an_error():
    factors = pa.array([Decimal(10**20), Decimal(10**18)], pa.decimal128(38, 0))
    with pytest.raises(ExecutionError, match="product of column 'v' does not fit its type"):
        fold_values(FOLD, factors, Groups(np.array([0]), 2))
