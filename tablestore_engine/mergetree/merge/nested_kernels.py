"""Functions of lists, nested rows and maps, as kernels: what `aggregate_kernels` says of groups holds here.

A column with `Fold.cleans` is *clean* as soon as a key has two records: each nested key once, none of a null where
these are ignored, and no more than its limit. Only the only record of a key stays as it was given.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import ExecutionError
from tablestore_engine.mergetree.arrow_kernels.compare_values import (
    Indices,
    Mask,
    codes,
    combined_codes,
    elements_of,
    gathered,
    how_often_before,
    last_seen,
    valid_mask,
)
from tablestore_engine.mergetree.merge.groups import Groups, no_list
from tablestore_engine.mergetree.merge.sequence import ranks_of
from tablestore_engine.schema.merge_engines.merge_engine import Fold


def merge_map(_fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    """Of each key of the maps the last value."""
    owners, entries = elements_of(values)
    ids = groups.ids[owners]
    kept = last_seen(ids, codes(pc.struct_field(entries, [0])))
    return gathered(entries.filter(pa.array(kept)), ids[kept], no_list(values, groups), values.type)


def merge_map_with_keytime(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    """Of each key of the maps the value of the greatest time, the first one of equals.

    The first map of a group stays as it is until other values replace its own. In later maps, a null takes out what
    came before for its key, and a value without a time changes nothing.
    """
    owners, entries = elements_of(values)
    ids = groups.ids[owners]
    first = np.minimum.reduceat(np.where(valid_mask(values), np.arange(groups.rows), groups.rows), groups.starts)
    begins = owners == first[ids]
    at_key = combined_codes([ids, codes(pc.struct_field(entries, [0]))])
    given = pc.struct_field(entries, [1])
    times = pc.struct_field(given, [given.type.get_field_index(fold.time_field)])
    rows = np.arange(len(ids))
    removals = np.full(int(at_key.max(initial=-1)) + 1, -1)
    removes = ~valid_mask(given) & ~begins
    np.maximum.at(removals, at_key[removes], rows[removes])
    counts = (begins | valid_mask(times)) & (rows > removals[at_key])
    ranks = pc.rank(times, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    order = np.lexsort((-rows, np.where(valid_mask(times), ranks, -1), at_key))
    order = order[counts[order]]
    kept = np.zeros(len(ids), bool)
    kept[order[np.append(at_key[order][1:] != at_key[order][:-1], True)[: len(order)]]] = True
    return gathered(entries.filter(pa.array(kept)), ids[kept], no_list(values, groups), values.type)


def takes_out(values: pa.Array) -> Mask:
    """Which maps have an entry of null, which takes out what came before."""
    owners, entries = elements_of(values)
    found = np.zeros(len(values), bool)
    found[owners[~valid_mask(pc.struct_field(entries, [1]))]] = True
    return found


def nested_update(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    """The nested rows; with a nested key, of each the last. An only list stays as it is."""
    if fold.cleans:
        return _clean_update(fold, values, groups)
    if fold.count_limit is not None:
        return _limited_update(fold, fold.count_limit, values, groups)
    owners, rows = elements_of(values)
    alone = np.add.reduceat(valid_mask(values).astype(np.int64), groups.starts) == 1
    ids = groups.ids[owners]
    there = valid_mask(rows) | alone[ids]
    ids, rows = ids[there], rows.filter(pa.array(there))
    if fold.nested_key:
        kept = last_seen(ids, nested_keys(fold, rows)) | alone[ids]
        ids, rows = ids[kept], rows.filter(pa.array(kept))
    return gathered(rows, ids, no_list(values, groups), values.type)


def _limited_update(fold: Fold, limit: int, values: pa.Array, groups: Groups) -> pa.Array:
    """The lists of each group one after the other, since rows of the same nested key make room for others.

    There are as many steps as the longest group has lists; a step joins one list in each group that has room.
    """
    ids, lists = groups.ids[valid_mask(values)], values.drop_null()
    if not len(ids):
        return pa.nulls(groups.count, values.type)
    step_of = how_often_before(ids)
    starts = np.flatnonzero(step_of == 0)
    state = lists.take(pa.array(starts))
    owner_of = np.cumsum(step_of == 0) - 1
    for step in range(1, int(step_of.max()) + 1):
        at = np.flatnonzero(step_of == step)
        sizes = pc.list_value_length(state).to_numpy(zero_copy_only=False)
        at = at[sizes[owner_of[at]] < limit]
        if not len(at):
            continue
        owners = owner_of[at]
        had, given = state.take(pa.array(owners)), lists.take(pa.array(at))
        joined = _joined_rows(fold, had, given, limit - sizes[owners])
        source = np.arange(len(state))
        source[owners] = len(state) + np.arange(len(owners))
        state = pa.concat_arrays([state, joined]).take(pa.array(source))
    found = np.full(groups.count, -1)
    found[ids[starts]] = np.arange(len(starts))
    return state.take(pa.array(found, mask=found < 0))


def _joined_rows(fold: Fold, had: pa.Array, given: pa.Array, room: Indices) -> pa.Array:
    """The nested rows of two lists, of the second as many as there is room for; with a nested key, of each the last."""
    owners, rows = elements_of(had)
    added_to, added = elements_of(given)
    kept, there = valid_mask(rows), valid_mask(added)
    added_to, added = added_to[there], added.filter(pa.array(there))
    fits_in = how_often_before(added_to) < room[added_to]
    ids = np.append(owners[kept], added_to[fits_in])
    both = pa.concat_arrays([rows.filter(pa.array(kept)), added.filter(pa.array(fits_in))])
    order = np.argsort(ids, kind="stable")
    ids, both = ids[order], both.take(pa.array(order))
    if fold.nested_key:
        last = last_seen(ids, nested_keys(fold, both))
        ids, both = ids[last], both.filter(pa.array(last))
    return gathered(both, ids, np.zeros(len(had), bool), had.type)


def nested_partial_update(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    """Of each nested key one row, of the last value of each field that is not null. An only list stays as it is."""
    owners, rows = elements_of(values)
    alone = np.add.reduceat(valid_mask(values).astype(np.int64), groups.starts) == 1
    ids = groups.ids[owners]
    if fold.cleans:
        alone[:] = False
    there = (valid_mask(rows) & _keyed(fold, rows)) | alone[ids]
    ids, rows = ids[there], rows.filter(pa.array(there))
    if not len(ids):
        return gathered(rows, ids, no_list(values, groups), values.type)
    numbers = np.arange(len(ids))
    row_of = combined_codes([ids, nested_keys(fold, rows), np.where(alone[ids], numbers, -1)])
    order = np.argsort(row_of, kind="stable")
    starts = np.flatnonzero(np.append(True, row_of[order][1:] != row_of[order][:-1]))
    last = order[np.append(starts[1:], len(order)) - 1]
    merged = []
    for at in range(rows.type.num_fields):
        field = pc.struct_field(rows, [at]).take(pa.array(order))
        found = np.maximum.reduceat(np.where(valid_mask(field), numbers, -1), starts)
        merged.append(field.take(pa.array(found, mask=found < 0)))
    nulls = pa.array(~valid_mask(rows)[last])
    updated = pa.StructArray.from_arrays(merged, fields=list(rows.type), mask=nulls)
    by_position = np.argsort(last)
    return gathered(updated.take(pa.array(by_position)), ids[last[by_position]], no_list(values, groups), values.type)


def _clean_update(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    owners, rows = elements_of(values)
    there = valid_mask(rows) & _keyed(fold, rows)
    ids, rows = groups.ids[owners][there], rows.filter(pa.array(there))
    of_key = nested_keys(fold, rows)
    kept = np.ones(len(ids), bool)
    if fold.count_limit is not None:
        new = how_often_before(combined_codes([ids, of_key])) == 0
        allowed = np.zeros(len(ids), bool)
        allowed[new] = how_often_before(ids[new]) < fold.count_limit
        both = combined_codes([ids, of_key])
        kept = np.isin(both, both[allowed])
    if fold.nested_sequence:
        kept &= _greatest(fold, rows, combined_codes([ids, of_key]))
    else:
        kept &= last_seen(ids, of_key)
    return gathered(rows.filter(pa.array(kept)), ids[kept], no_list(values, groups), values.type)


def _greatest(fold: Fold, rows: pa.Array, of_key: Indices) -> Mask:
    """Which nested rows have the greatest sequence of their key, of equal ones the last."""
    columns = [pc.struct_field(rows, [rows.type.get_field_index(name)]) for name in fold.nested_sequence]
    ranks = ranks_of(pa.table(columns, names=list(fold.nested_sequence)), fold.nested_sequence)
    order = np.lexsort((np.arange(len(rows)), ranks, of_key))
    found = np.zeros(len(rows), bool)
    found[order[np.append(of_key[order][1:] != of_key[order][:-1], True)[: len(order)]]] = True
    return found


def _keyed(fold: Fold, rows: pa.Array) -> Mask:
    """Which nested rows are merged by their key. Raises an ExecutionError where a key with a null is an error."""
    if fold.null_keys == "merge":
        return np.ones(len(rows), bool)
    fields = [rows.type.get_field_index(name) for name in fold.nested_key]
    with_null: Mask = np.logical_or.reduce([~valid_mask(pc.struct_field(rows, [at])) for at in fields])
    without = with_null & valid_mask(rows)
    if fold.null_keys == "error" and without.any():
        shown = rows[int(np.flatnonzero(without)[0])].as_py()
        complaint, hint = null_in_key(fold)
        raise ExecutionError(f"{complaint}: {shown}.", hint=hint)
    return ~without


def null_in_key(fold: Fold) -> tuple[str, str]:
    """The complaint about a nested row with a null in its key, and the hint."""
    return (
        f"A nested row of column '{fold.column}' has a null in its key ({', '.join(fold.nested_key)})",
        f"Give it a key; 'fields.{fold.column}.nested-key-null-strategy' = 'ignore' would leave it out.",
    )


def check_nested_keys(fold: Fold, values: pa.Array) -> None:
    """Raise an ExecutionError where a nested row has no key and this is an error."""
    _keyed(fold, elements_of(values)[1])


def nested_keys(fold: Fold, rows: pa.Array) -> Indices:
    """Codes of the nested keys of nested rows."""
    fields = [rows.type.get_field_index(name) for name in fold.nested_key]
    return combined_codes([codes(pc.struct_field(rows, [at])) for at in fields])
