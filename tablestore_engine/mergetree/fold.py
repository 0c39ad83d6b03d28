"""Folding the records of a key into one row with Arrow kernels: what writers and compactions do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.kernels import Groups, fold_column
from tablestore_engine.mergetree.merge import Reduce, SortColumn, last_of_key_mask, sort_stable
from tablestore_engine.schema.merge_engine import MergeEngine


def fold_sorted(table: pa.Table, last: np.ndarray[tuple[int], np.dtype[np.bool_]], engine: MergeEngine) -> pa.Table:
    """One row per key, of rows sorted by key and, within a key, by age. `last` marks the last row of each key.

    Columns without a function of their own (keys, system columns) are those of the row that decides the key's place
    among other runs: the last one.

    Raises:
        ExecutionError: a sum or product does not fit the column's type.
    """
    if bool(last.all()) and not engine.changes_single_rows:
        return table
    if engine.keeps_last:
        return table.filter(pa.array(last))
    starts = np.flatnonzero(np.append(True, last[:-1]))
    if engine.keeps_first:
        return table.take(pa.array(starts))
    groups = Groups(starts, table.num_rows)
    kept = table.take(pa.array(groups.ends))
    for fold in engine.folds:
        if fold.function == "last_value":
            continue
        index = table.schema.get_field_index(fold.column)
        field = table.schema.field(index)
        kept = kept.set_column(index, field, fold_column(fold, table.column(index), groups))
    return kept


def reducer(keys: Sequence[str], order: Sequence[SortColumn], engine: MergeEngine) -> Reduce:
    """The reduce of a merge: per key the fold of its rows in the order of `order`, then as given."""
    columns = [*(SortColumn(k) for k in keys), *order]

    def reduce(table: pa.Table) -> pa.Table:
        ordered = sort_stable(table, columns)
        return fold_sorted(ordered, last_of_key_mask(ordered, keys), engine)

    return reduce
