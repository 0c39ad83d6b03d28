"""Blocks of neighbouring keys: a join key that files sorted by key look up without leaving the processor's cache.

A hash table of scattered keys costs a cache miss for every row that is looked up, found or not. Rows of a sorted file
come block by block, so the slot of their block is at hand; only rows of a block that holds changed keys are compared
with these, one by one. The keys themselves decide how wide a block may be, because it must not hold many of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.int64]
BLOCK = "block"

# Below this number of rows, looking up every row costs less than reading the changed keys here.
WORTH_ROWS = 4_000_000
MAX_KEYS_PER_BLOCK = 8
_KEYS_PER_BLOCK = 0.5


def block_bits(keys: Numbers, low: int, high: int) -> int | None:
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


def _most(ordered: Numbers) -> int:
    """How often the most frequent of sorted values occurs."""
    starts = np.flatnonzero(np.diff(ordered)) + 1
    return int(np.diff(np.concatenate(([0], starts, [len(ordered)]))).max())


def slot(number: int, column: int) -> str:
    """The column of a table of blocks that holds one column of one of the block's keys."""
    return f"key{number}_{column}"


def block_table(by: Numbers, bits: int, columns: Sequence[Numbers]) -> tuple[pa.Table, int]:
    """One row for each block, and how many slots for keys a row has.

    `by` are the numbers whose upper bits make the block; `columns` the keys, next to one another in the row of
    their block (`slot`), null where a block has fewer. A lookup is faster when each block has one row than when it has
    several.
    """
    blocks = by >> bits
    order = np.argsort(blocks, kind="stable")
    ordered = blocks[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    row = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(ordered))))
    slot_of = np.arange(len(ordered)) - starts[row]
    slots = int(slot_of.max()) + 1
    table = {BLOCK: pa.array(ordered[starts])}
    for number in range(slots):
        here = slot_of == number
        for index, column in enumerate(columns):
            values, missing = np.zeros(len(starts), np.int64), np.ones(len(starts), bool)
            values[row[here]], missing[row[here]] = column[order[here]], False
            table[slot(number, index)] = pa.array(values, mask=missing)
    return pa.table(table), slots
