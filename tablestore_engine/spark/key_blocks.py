"""Blocks of neighbouring keys: a join key that files sorted by key look up without leaving the processor's cache.

A hash table of scattered keys costs a cache miss for every row that is looked up, found or not. Rows of a sorted file
come block by block, so the slot of their block is at hand; only rows of a block that holds changed keys are compared
with these, one by one. The keys themselves decide how wide a block may be, because it must not hold many of them.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

# Below this, looking up every row costs less than reading the changed keys here.
WORTH_ROWS = 4_000_000
MAX_KEYS_PER_BLOCK = 8
_KEYS_PER_BLOCK = 0.5


def block_bits(keys: npt.NDArray[np.int64], low: int, high: int) -> int | None:
    """Logarithm of the width of blocks for these keys, when the rows' keys lie between `low` and `high`.

    Half a key falls into a block on average, and never more than `MAX_KEYS_PER_BLOCK`. None when no width of at least
    two does that: keys so dense need no blocks, and keys that repeat cannot have them.
    """
    if len(keys) == 0:
        return None
    width = _KEYS_PER_BLOCK * (high - low + 1) / len(keys)
    bits = min(int(math.log2(width)), 62) if width >= 2 else 0
    ordered = np.sort(keys)
    while bits > 0 and _most(ordered >> bits) > MAX_KEYS_PER_BLOCK:
        bits -= 1
    return bits or None


def _most(ordered: npt.NDArray[np.int64]) -> int:
    """How often the most frequent of sorted values occurs."""
    starts = np.flatnonzero(np.diff(ordered)) + 1
    return int(np.diff(np.concatenate(([0], starts, [len(ordered)]))).max())
