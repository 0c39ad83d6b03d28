"""Retractions without a row in a table with sequence groups, and deletes that remove one unless they come too late.

While a key has no row, a retraction has no effect: there is nothing that it could take back. So the retractions before
the first ordinary record are *idle*, and those between a delete that removes the row and the next ordinary record.

A -D with a sequence in a *removing group* removes the row, unless an earlier record of the row has a greater sequence
in that group. The row then begins anew: earlier records and their sequences have no effect any more. Whether a
retraction is idle, and whether a delete removes the row, depends on all records before it, so files keep it apart from
later ones until all are merged (`sequence_layers`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, Mask, how_often_before, one_array
from tablestore_engine.mergetree.merge.groups import for_each_row
from tablestore_engine.mergetree.merge.retract import cleared, starts_of_stretches
from tablestore_engine.mergetree.merge.sequence import ranks_of
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine
from tablestore_engine.schema.table.row_kind import DELETE_KIND

OlderRows = Callable[[pa.Table], Mask]
"""Of some records, one per key: whether their keys have a row in older runs."""


def apply_group_deletes(table: pa.Table, starts: Indices, engine: MergeEngine, kinds: str) -> tuple[pa.Table, Indices]:
    """The rows from the last delete that removes its row on, for each group, and where the groups begin now.

    Rows are in the order of their records, and stay so; groups begin at `starts`. Of such a delete, which represents
    the row that is not there, only its kind, its sequences and the columns without a function remain.
    """
    found = last_group_deletes(table, starts, engine.removing_groups, kinds)
    if (found < 0).all():
        return table, starts
    rows = np.arange(table.num_rows)
    group_delete = for_each_row(found, starts, table.num_rows)
    for fold in engine.folds:
        if fold.column not in fold.sequence:
            index = table.schema.get_field_index(fold.column)
            values = cleared(one_array(table.column(index)), rows == group_delete)
            table = table.set_column(index, table.schema.field(index), values)
    kept = rows >= group_delete
    sizes = np.add.reduceat(kept.astype(np.int64), starts)
    return table.filter(pa.array(kept)), np.cumsum(sizes) - sizes


def last_group_deletes(table: pa.Table, starts: Indices, deleting: Sequence[tuple[str, ...]], kinds: str) -> Indices:
    """For each group the last row that removes a row; -1 without one."""
    numbers = table.column(kinds).to_numpy()
    deletes, ordinary = numbers == DELETE_KIND, (numbers & 1) == 0
    stretches = starts_of_stretches(starts, deletes)
    owners = np.searchsorted(starts, stretches, "right") - 1
    idle = ~since_ordinary(ordinary, stretches)
    each = [ranks_of(table, sequence) for sequence in deleting]
    ranks = np.stack([np.maximum.reduceat(one, stretches) for one in each])
    # Where there is no row yet, a stretch counts from its first ordinary record on.
    fresh = np.stack([np.maximum.reduceat(np.where(idle, -1, one), stretches) for one in each])
    begins = np.logical_or.reduceat(ordinary, stretches)
    reached = np.full((len(deleting), len(starts)), -1)
    there = np.zeros(len(starts), bool)
    found = np.full(len(starts), -1)
    # The first stretches of all groups, then the second ones, and so on.
    step_of = how_often_before(owners)
    order = np.argsort(step_of, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(step_of[order])) + 1):
        owner, had, is_there = owners[at], reached[:, owners[at]], there[owners[at]]
        given = np.where(is_there, ranks[:, at], fresh[:, at])
        removes = deletes[stretches[at]] & is_there & ((given >= 0) & (given >= had)).any(axis=0)
        reached[:, owner] = np.where(removes, -1, np.maximum(given, had))
        there[owner] = (is_there | begins[at]) & ~removes
        found[owner[removes]] = stretches[at[removes]]
    return found


def without_idle(
    table: pa.Table, starts: Indices, kinds: str, older: OlderRows | None = None
) -> tuple[pa.Table, Indices]:
    """The rows without the idle retractions that come first in a group, and where the groups begin now.

    Where no ordinary row follows, they stay: they show no row, and wait for older records. `older` looks up the rows
    that keys have in runs which are not merged; None where all are.
    """
    ordinary = (table.column(kinds).to_numpy() & 1) == 0
    kept = since_ordinary(ordinary, starts)
    if kept.all():
        return table, starts
    idle = np.logical_or.reduceat(ordinary, starts) & ~kept[starts]
    if older is not None and idle.any():
        asked = np.flatnonzero(idle)
        idle[asked] = ~older(table.take(pa.array(starts[asked])))
    kept |= ~for_each_row(idle, starts, table.num_rows)
    sizes = np.add.reduceat(kept.astype(np.int64), starts)
    return table.filter(pa.array(kept)), np.cumsum(sizes) - sizes


def since_ordinary(ordinary: Mask, starts: Indices) -> Mask:
    """The rows from the first ordinary one of their group on; groups begin at `starts`."""
    seen = np.cumsum(ordinary)
    before: Indices = seen[starts] - ordinary[starts]
    found: Mask = seen > for_each_row(before, starts, len(ordinary))
    return found
