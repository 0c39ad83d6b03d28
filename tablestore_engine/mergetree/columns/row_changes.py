"""What changed between rows before and rows after, on Arrow tables.

Rows are equal where GROUP BY makes one group of them (`row_ids`); maps are equal when they have the same entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.columns.row_ids import Numbers, first_rows, row_ids
from tablestore_engine.mergetree.columns.values import codes, elements_of, one_array

_INSERT, _BEFORE, _AFTER, _DELETE = range(4)


@dataclass(frozen=True)
class RowChanges:
    """Changed rows, with the number of the kind of each: 0 +I, 1 -U, 2 +U, 3 -D."""

    rows: pa.Table
    kinds: npt.NDArray[np.int8]


def keyed_changes(before: pa.Table, after: pa.Table, touched: pa.Table) -> RowChanges:
    """The changes between two states that hold each key once, of the keys `touched`, a table of the key columns.

    Both rows of an update follow each other.
    """
    both = pa.concat_tables([before, after])
    old, rows = before.num_rows, both.num_rows
    every = pa.concat_tables([both.select(touched.column_names), touched])
    key_of = _ids(every, touched.column_names)
    row_of = _ids(both, both.column_names)
    count = int(key_of.max()) + 1 if len(key_of) else 0
    was, became, counts = np.full(count, -1), np.full(count, -1), np.zeros(count, bool)
    was[key_of[:old]] = np.arange(old)
    became[key_of[old:rows]] = np.arange(old, rows)
    counts[key_of[rows:]] = True
    was, became = was[counts], became[counts]
    deleted, new, kept = (was >= 0) & (became < 0), (was < 0) & (became >= 0), (was >= 0) & (became >= 0)
    updated = kept.copy()
    updated[kept] = row_of[was[kept]] != row_of[became[kept]]
    # An update takes two places, any other change one.
    of_was = np.where(updated, _BEFORE, np.where(deleted, _DELETE, -1))
    of_became = np.where(updated, _AFTER, np.where(new, _INSERT, -1))
    at, kinds = np.column_stack([was, became]).ravel(), np.column_stack([of_was, of_became]).ravel()
    return RowChanges(both.take(pa.array(at[kinds >= 0])), kinds[kinds >= 0].astype(np.int8))


def counted_changes(rows: pa.Table, counts: npt.NDArray[np.int64]) -> RowChanges:
    """The changes of a multiset: rows that count, those whose counts do not add up to zero, as often as they do."""
    ids = _ids(rows, rows.column_names)
    totals = np.zeros(int(ids.max()) + 1 if len(ids) else 0, np.int64)
    np.add.at(totals, ids, counts)
    firsts = first_rows(ids) if len(ids) else np.zeros(0, np.int64)
    taken = np.repeat(firsts, np.abs(totals))
    kinds = np.repeat(np.where(totals < 0, _DELETE, _INSERT), np.abs(totals)).astype(np.int8)
    return RowChanges(rows.take(pa.array(taken)), kinds)


def _ids(rows: pa.Table, names: Sequence[str]) -> Numbers:
    return row_ids([_comparable(one_array(rows.column(name))) for name in names], rows.num_rows)


def _comparable(values: pa.Array) -> pa.Array:
    """Values that are equal where the given ones are, without maps: these become lists of entries in order."""
    kind = values.type
    if pa.types.is_map(kind):
        owners, entries = elements_of(values)
        keys, items = entries.flatten()
        order = pa.array(np.lexsort([codes(keys), owners]))
        pairs = pa.StructArray.from_arrays([keys.take(order), _comparable(items.take(order))], ["key", "value"])
        return _listed(pairs, owners, values)
    if pa.types.is_list(kind):
        elements = _comparable(pc.list_flatten(values))
        return _listed(elements, pc.list_parent_indices(values).to_numpy(), values)
    if pa.types.is_struct(kind):
        # `flatten` gives null fields to a null struct.
        fields = [_comparable(one) for one in values.flatten()]
        names = [kind.field(i).name for i in range(kind.num_fields)]
        return pa.StructArray.from_arrays(fields, names, mask=values.is_null()) if names else values
    return values


def _listed(elements: pa.Array, owners: npt.NDArray[np.int64], like: pa.Array) -> pa.Array:
    """Elements in the order of their owners as lists, null where `like` is."""
    lengths = np.bincount(owners, minlength=len(like)) if len(owners) else np.zeros(len(like), np.int64)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    missing = np.append(like.is_null().to_numpy(zero_copy_only=False), False)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32(), mask=missing), elements)
