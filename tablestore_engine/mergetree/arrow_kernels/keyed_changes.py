"""The changes between rows before and rows after, on Arrow tables.

Rows are equal where GROUP BY makes one group of them (`row_ids`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.arrow_kernels.row_ids import Numbers, first_rows, row_ids

_INSERT, _BEFORE, _AFTER, _DELETE = range(4)


@dataclass(frozen=True)
class ChangelogRows:
    """Changed rows, with the number of the kind of each: 0 +I, 1 -U, 2 +U, 3 -D."""

    rows: pa.Table
    kinds: npt.NDArray[np.int8]


def keyed_changes(
    before: pa.Table, after: pa.Table, keys: pa.Table, compared: Sequence[str] | None = None
) -> ChangelogRows:
    """The changes between two states that hold each key once, of `keys`, a table of the key columns.

    A row has changed where one of the columns `compared` has (default: all); without any, wherever both states have
    its key. Both rows of an update follow each other.
    """
    both = pa.concat_tables([before, after])
    old, rows = before.num_rows, both.num_rows
    every = pa.concat_tables([both.select(keys.column_names), keys])
    key_of = _ids(every, keys.column_names)
    names = both.column_names if compared is None else compared
    row_of = _ids(both, names) if names else np.arange(rows)
    count = int(key_of.max()) + 1 if len(key_of) else 0
    was, became, counts = np.full(count, -1), np.full(count, -1), np.zeros(count, bool)
    was[key_of[:old]] = np.arange(old)
    became[key_of[old:rows]] = np.arange(old, rows)
    counts[key_of[rows:]] = True
    was, became = was[counts], became[counts]
    deleted, new, kept = (was >= 0) & (became < 0), (was < 0) & (became >= 0), (was >= 0) & (became >= 0)
    updated = kept.copy()
    updated[kept] = row_of[was[kept]] != row_of[became[kept]]
    # An update becomes two rows, any other change one.
    of_was = np.where(updated, _BEFORE, np.where(deleted, _DELETE, -1))
    of_became = np.where(updated, _AFTER, np.where(new, _INSERT, -1))
    at, kinds = np.column_stack([was, became]).ravel(), np.column_stack([of_was, of_became]).ravel()
    return ChangelogRows(both.take(pa.array(at[kinds >= 0])), kinds[kinds >= 0].astype(np.int8))


def multiset_changes(rows: pa.Table, counts: npt.NDArray[np.int64]) -> ChangelogRows:
    """The changes of a multiset: rows that count, those whose counts do not add up to zero, as often as they do."""
    if (counts == 1).all():  # as after commits that only append
        return ChangelogRows(rows, np.full(rows.num_rows, _INSERT, np.int8))
    ids = _ids(rows, rows.column_names)
    totals = np.zeros(int(ids.max()) + 1 if len(ids) else 0, np.int64)
    np.add.at(totals, ids, counts)
    firsts = first_rows(ids) if len(ids) else np.zeros(0, np.int64)
    taken = np.repeat(firsts, np.abs(totals))
    kinds = np.repeat(np.where(totals < 0, _DELETE, _INSERT), np.abs(totals)).astype(np.int8)
    return ChangelogRows(rows.take(pa.array(taken)), kinds)


def _ids(rows: pa.Table, names: Sequence[str]) -> Numbers:
    return row_ids([one_array(rows.column(name)) for name in names], rows.num_rows)
