"""How wide a block of keys may be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.spark.read.key_blocks import MAX_KEYS_PER_BLOCK, block_bits

INT64 = st.integers(-(2**63), 2**63 - 1)


def test_half_a_key_per_block():
    assert block_bits(np.arange(0, 1_024_000, 1_000), 0, 1_024_000 - 1) == 8


@pytest.mark.parametrize(
    "keys", [[], [7] * 9, list(range(100)), list(range(0, 200, 2))], ids=["none", "same", "all", "half"]
)
def test_keys_that_have_no_blocks(keys):
    assert block_bits(np.array(keys, np.int64), 0, 200) is None


def test_a_cluster_narrows_the_blocks():
    keys = np.concatenate([np.arange(0, 160, 10), [2**60]])
    assert block_bits(keys, 0, 2**60) == 6


@given(st.lists(INT64, min_size=1, max_size=200), INT64, INT64)
def test_no_block_holds_many(keys, low, high):
    numbers = np.array(keys, np.int64)
    bits = block_bits(numbers, min([low, *keys]), max([high, *keys]))
    if bits is not None:
        assert bits >= 1
        assert np.unique(numbers >> bits, return_counts=True)[1].max() <= MAX_KEYS_PER_BLOCK
