"""Deletes that remove a row in a table with sequence groups, unless they come too late.

A -D with a sequence in a *removing group* removes the row, unless an earlier record has a greater sequence in that
group. The row then begins anew: earlier records have no effect any more, and of the delete only its sequences remain,
so that later records with smaller ones still come too late. Whether a delete removes the row depends on all records
before it, so files keep it apart from them until all are merged (`sequence_layers`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, how_often_before, one_array
from tablestore_engine.mergetree.merge.retract import cleared, starts_of_stretches
from tablestore_engine.mergetree.merge.sequence import ranks_of
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine
from tablestore_engine.schema.table.row_kind import DELETE_KIND


def apply_group_deletes(table: pa.Table, starts: Indices, engine: MergeEngine, kinds: str) -> tuple[pa.Table, Indices]:
    """The rows from the last delete that removes its row on, for each group, and where the groups begin now.

    Rows are in the order of their records, and stay so; groups begin at `starts`. Such a delete keeps its kind, its
    sequences and the columns without a function.
    """
    found = last_group_deletes(table, starts, engine.removing_groups, kinds)
    if (found < 0).all():
        return table, starts
    rows = np.arange(table.num_rows)
    group_delete = np.repeat(found, np.diff(np.append(starts, table.num_rows)))
    for fold in engine.folds:
        if fold.column not in fold.sequence:
            index = table.schema.get_field_index(fold.column)
            values = cleared(one_array(table.column(index)), rows == group_delete)
            table = table.set_column(index, table.schema.field(index), values)
    kept = rows >= group_delete
    sizes = np.add.reduceat(kept.astype(np.int64), starts)
    return table.filter(pa.array(kept)), np.cumsum(sizes) - sizes


def last_group_deletes(table: pa.Table, starts: Indices, deleting: Sequence[tuple[str, ...]], kinds: str) -> Indices:
    """For each group the last row that removes what comes before it; -1 without one."""
    deletes = table.column(kinds).to_numpy() == DELETE_KIND
    stretches = starts_of_stretches(starts, deletes)
    owners = np.searchsorted(starts, stretches, "right") - 1
    ranks = np.stack([np.maximum.reduceat(ranks_of(table, sequence), stretches) for sequence in deleting])
    reached = np.full((len(deleting), len(starts)), -1)
    found = np.full(len(starts), -1)
    # The first stretches of all groups, then the second ones, and so on.
    step_of = how_often_before(owners)
    order = np.argsort(step_of, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(step_of[order])) + 1):
        owner, given, had = owners[at], ranks[:, at], reached[:, owners[at]]
        removes = deletes[stretches[at]] & ((given >= 0) & (given >= had)).any(axis=0)
        reached[:, owner] = np.where(removes, given, np.maximum(given, had))
        found[owner[removes]] = stretches[at[removes]]
    return found
