"""The changes between rows before and rows after, on Arrow tables.

Rows are equal where GROUP BY makes one group of them (`row_ids`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.arrow_kernels.row_ids import Numbers, first_rows, row_ids, rows_differ

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
    return changes_between(*_paired(before, after, keys), compared)


def changes_of_columns(
    before: pa.Table, after: pa.Table, keys: pa.Table, others: Callable[[pa.Table], ChangelogRows]
) -> ChangelogRows:
    """The same, where the states have some columns of the rows, those of the key among them.

    Keys whose rows are equal in these columns are given to `others`, which returns the changes of their whole rows,
    with the columns of the states.
    """
    rows, was, became = _paired(before, after, keys)
    updated = _updated(rows, was, became, rows.column_names)
    changes = _changes(rows, was, became, updated)
    equal = (was >= 0) & (became >= 0) & ~updated
    if not equal.any():
        return changes
    more = others(rows.select(keys.column_names).take(pa.array(was[equal])))
    return ChangelogRows(pa.concat_tables([changes.rows, more.rows]), np.concatenate([changes.kinds, more.kinds]))


def changes_between(
    rows: pa.Table, was: Numbers, became: Numbers, compared: Sequence[str] | None = None
) -> ChangelogRows:
    """The changes of some keys: for each of them `was` and `became` are its rows before and after, -1 for none."""
    names = rows.column_names if compared is None else compared
    return _changes(rows, was, became, _updated(rows, was, became, names))


def _paired(before: pa.Table, after: pa.Table, keys: pa.Table) -> tuple[pa.Table, Numbers, Numbers]:
    """The rows of both states, and for each key the rows of it before and after, -1 for none."""
    was, became = _rows_of(before, after, keys)
    became = np.where(became >= 0, became + before.num_rows, -1)
    return pa.concat_tables([before, after]), was, became


def _updated(rows: pa.Table, was: Numbers, became: Numbers, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which keys have a row before and after, that differ in one of some columns; without these, all that have both."""
    kept = (was >= 0) & (became >= 0)
    updated: npt.NDArray[np.bool_] = kept.copy()
    if names:
        old, now = (_arrays(rows.select(names).take(pa.array(at[kept]))) for at in (was, became))
        updated[kept] = rows_differ(old, now, int(kept.sum()))
    return updated


def _changes(rows: pa.Table, was: Numbers, became: Numbers, updated: npt.NDArray[np.bool_]) -> ChangelogRows:
    deleted, new = (was >= 0) & (became < 0), (was < 0) & (became >= 0)
    # An update becomes two rows, any other change one.
    of_was = np.where(updated, _BEFORE, np.where(deleted, _DELETE, -1))
    of_became = np.where(updated, _AFTER, np.where(new, _INSERT, -1))
    at, kinds = np.column_stack([was, became]).ravel(), np.column_stack([of_was, of_became]).ravel()
    return ChangelogRows(rows.take(pa.array(at[kinds >= 0])), kinds[kinds >= 0].astype(np.int8))


def _rows_of(before: pa.Table, after: pa.Table, keys: pa.Table) -> tuple[Numbers, Numbers]:
    """For each of the keys the row of either state that has it; -1 where none has."""
    if keys.num_columns == 1 and _is_plain(keys.column(0)):
        sought = pc.unique(keys.column(0))
        was, became = (_rows_in(one_array(state.column(keys.column_names[0])), sought) for state in (before, after))
        return was, became
    names, old, rows = keys.column_names, before.num_rows, before.num_rows + after.num_rows
    key_of = _ids(pa.concat_tables([before.select(names), after.select(names), keys]), names)
    count = int(key_of.max()) + 1 if len(key_of) else 0
    was, became, counts = np.full(count, -1), np.full(count, -1), np.zeros(count, bool)
    was[key_of[:old]] = np.arange(old)
    became[key_of[old:rows]] = np.arange(after.num_rows)
    counts[key_of[rows:]] = True
    return was[counts], became[counts]


def ends_of_rows(keys: pa.Table) -> tuple[Numbers, Numbers]:
    """For each of different keys, the rows where it appears first and last."""
    ids = _ids(keys, keys.column_names)
    ends = len(ids) - 1 - np.unique(ids[::-1], return_index=True)[1]
    return np.unique(ids, return_index=True)[1], ends


def _is_plain(column: pa.ChunkedArray) -> bool:
    """Whether values are found by their bytes."""
    kind = column.type
    return not (pa.types.is_nested(kind) or pa.types.is_floating(kind) or column.null_count)


def _rows_in(values: pa.Array, sought: pa.Array) -> Numbers:
    found: Numbers = pc.fill_null(pc.index_in(sought, value_set=values), -1).to_numpy().astype(np.int64)
    return found


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
    return row_ids(_arrays(rows.select(names)), rows.num_rows)


def _arrays(rows: pa.Table) -> list[pa.Array]:
    return [one_array(column) for column in rows.columns]
