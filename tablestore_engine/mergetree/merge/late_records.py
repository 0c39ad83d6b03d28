"""Records that come late for a sequence group: their sequence is less than one that came before.

Most functions put the value of a late record before what is there, as Paimon's `aggReversed` does. So the values of a
key are folded in their *order of effect*: late records first, the latest of them foremost, and then the others as they
came. Records without a sequence have no effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, Mask, valid_mask
from tablestore_engine.mergetree.merge.groups import Groups
from tablestore_engine.mergetree.merge.sequence import ranks_of


@dataclass(frozen=True)
class Effects:
    """Which records of a sequence group have an effect (`given`), and which of them come `late`."""

    given: Mask
    late: Mask

    @classmethod
    def of(cls, table: pa.Table, sequence: tuple[str, ...], groups: Groups) -> Effects:
        """The effects of rows that come by key, in the order of their records."""
        ranks = ranks_of(table, sequence)
        # Each group's ranks begin above those of the group before it.
        raised = ranks + groups.ids * (groups.rows + 2)
        return cls(ranks >= 0, (ranks >= 0) & (raised < np.maximum.accumulate(raised)))

    def order(self, groups: Groups) -> Indices:
        """The rows of each group in their order of effect; those without an effect come last."""
        rows = np.arange(groups.rows)
        rank = np.where(self.given, np.where(self.late, -rows, rows), groups.rows)
        return np.lexsort((rank, groups.ids))


def first_non_null(values: pa.Array, groups: Groups, effects: Effects) -> pa.Array:
    """`first_non_null_value` in a sequence group, as Paimon folds it.

    There a late record replaces the value, even by a null, as soon as the function has *begun*: with the first value of
    a record that is not late, or with the next late record after a late value.
    """
    rows, there = np.arange(groups.rows), valid_mask(values)
    late = effects.late
    in_time = _first(rows, effects.given & ~late & there, groups)
    early = _first(rows, late & there, groups)
    next_late = _first(rows, late & (rows > early[groups.ids]), groups)
    last_late = _last(rows, late, groups)
    begun = np.minimum(in_time, next_late)
    value = np.where(in_time < next_late, in_time, early)
    found = np.where(last_late > begun, last_late, value)
    return values.take(pa.array(found, mask=found >= groups.rows))


def _first(rows: Indices, which: Mask, groups: Groups) -> Indices:
    """The first of some rows in each group; the number of all rows without one."""
    found: Indices = np.minimum.reduceat(np.where(which, rows, groups.rows), groups.starts)
    return found


def _last(rows: Indices, which: Mask, groups: Groups) -> Indices:
    found: Indices = np.maximum.reduceat(np.where(which, rows, -1), groups.starts)
    return found
