"""Layers: records of one write that must not be folded with each other. Each layer becomes a run of its own.

A file holds one record per key, and a stored retraction is not folded with other records of its key until all of them
meet. (With sequence groups this is so for a -D that may remove the row, and for retractions that no ordinary record of
the write comes before, as they may be idle; and for all if a column's function takes values back in order.) So the
records of a key are cut into the stretches of `retract`. The first stretches of all keys make the first layer, the
second stretches the second one, and so on; each layer gets a higher sequence number than the one before. A factor of a
product that rounds begins a stretch, too, because it must be multiplied into the result of all earlier records, and so
does a map that takes out what earlier ones gave for a key.

A long changelog of one key does not make many layers: an ordinary record is dropped together with the retraction that
follows it if an ordinary record comes after both, and so is everything before a -D that removes the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.arrow_kernels.compare_values import (
    Indices,
    Mask,
    how_often_before,
    one_array,
    valid_mask,
    with_kinds,
)
from tablestore_engine.mergetree.merge.fold_records import fold_sorted
from tablestore_engine.mergetree.merge.groups import for_each_row
from tablestore_engine.mergetree.merge.merge_runs import last_of_key_mask
from tablestore_engine.mergetree.merge.nested_kernels import takes_out
from tablestore_engine.mergetree.merge.retract import starts_of_stretches
from tablestore_engine.mergetree.merge.sequence_group_deletes import since_ordinary
from tablestore_engine.schema.merge_engines.engine_rules import Retraction
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine
from tablestore_engine.schema.table.row_kind import DELETE_KIND, UPDATE_BEFORE_KIND

LAYER_COLUMN = "__tablestore_layer"
MOST_LAYERS = 800
"""Most layers of one write to a bucket that has data: each is a file, and all are open until the write ends."""


def split_layers(table: pa.Table, keys: Sequence[str], engine: MergeEngine, kinds: str | None) -> pa.Table:
    """One row per stretch, with its layer from 0; rows come, and stay, sorted by key and age.

    `kinds` names the column of row kinds, None if all rows are ordinary. The result may be split again, without the
    layer column, together with later rows.
    """
    if kinds is not None and engine.rules.retraction is not Retraction.AS_RECORD:
        table = _shortened(table, keys, engine, kinds)
    starts = _starts(table, keys)
    apart = np.zeros(table.num_rows, bool)
    if kinds is not None:
        apart = _apart(table, engine, kinds)
    apart |= _taking_out(table, engine)
    begins = _factors(table, engine)
    begins[starts_of_stretches(starts, apart)] = True
    if kinds is not None and engine.rules.retraction is Retraction.AS_RECORD:
        counts = since_ordinary(~_retracts(table, kinds), np.flatnonzero(begins))
        begins |= counts & ~np.append(False, counts[:-1])
    stretches = np.flatnonzero(begins)
    last = np.zeros(table.num_rows, bool)
    last[np.append(stretches[1:], table.num_rows) - 1] = True
    owners = np.searchsorted(starts, stretches, "right")
    layers = pa.array(how_often_before(owners).astype(np.int32))
    if kinds is not None and engine.rules.retraction is Retraction.AS_RECORD:
        folded = fold_sorted(table, last, replace(engine, removing_groups=()), kinds)
        # A stretch of retractions that are not -D removes no row: it must not become a -D.
        hides = _deletes(folded, kinds) & ~_deletes(table, kinds)[stretches]
        folded = with_kinds(folded, kinds, np.where(hides, UPDATE_BEFORE_KIND, folded.column(kinds).to_numpy()))
    else:
        folded = fold_sorted(table, last, engine)
    return folded.append_column(LAYER_COLUMN, layers)


def _apart(table: pa.Table, engine: MergeEngine, kinds: str) -> Mask:
    """Which rows are retractions that are not folded with the records before them."""
    if not engine.looks_rows_up:
        return _retracts(table, kinds)
    return _deletes(table, kinds) if engine.removing_groups else np.zeros(table.num_rows, bool)


def _taking_out(table: pa.Table, engine: MergeEngine) -> Mask:
    """Which rows have a value that may take out what older records gave."""
    found = np.zeros(table.num_rows, bool)
    for fold in engine.folds:
        if fold.rules.takes_out:
            found |= takes_out(one_array(table.column(fold.column)))
    return found


def _factors(table: pa.Table, engine: MergeEngine) -> Mask:
    """Which rows have a value in a column that rounds."""
    found = np.zeros(table.num_rows, bool)
    for fold in engine.folds:
        if fold.rounds:
            found |= valid_mask(one_array(table.column(fold.column)))
    return found


def _starts(table: pa.Table, keys: Sequence[str]) -> Indices:
    return np.flatnonzero(np.append(True, last_of_key_mask(table, keys)[:-1]))


def _retracts(table: pa.Table, kinds: str) -> Mask:
    found: Mask = (table.column(kinds).to_numpy() & 1) == 1
    return found


def _deletes(table: pa.Table, kinds: str) -> Mask:
    found: Mask = table.column(kinds).to_numpy() == DELETE_KIND
    return found


def _shortened(table: pa.Table, keys: Sequence[str], engine: MergeEngine, kinds: str) -> pa.Table:
    if engine.removes_on_delete:
        starts = _starts(table, keys)
        rows = np.arange(table.num_rows)
        deletes = np.where(table.column(kinds).to_numpy() == DELETE_KIND, rows, -1)
        kept = rows >= for_each_row(np.maximum.reduceat(deletes, starts), starts, len(rows))
        table = table if kept.all() else table.filter(pa.array(kept))
    cancelled = _cancelled_at_once(table, keys, engine, kinds)
    return table if cancelled is None else table.filter(pa.array(~cancelled))


def _cancelled_at_once(table: pa.Table, keys: Sequence[str], engine: MergeEngine, kinds: str) -> Mask | None:
    """Pairs of an ordinary row and its retraction that another ordinary row of their key follows.

    Only for functions to whose result such a pair makes no difference; last values come from the row after the pair.
    None if there is no pair.
    """
    plain = ("sum", "count", "product", "last_value", "last_non_null_value")
    if any(fold.function not in plain or fold.ignore_retract for fold in engine.folds) or table.num_rows < 3:
        return None
    retracts, same_key = _retracts(table, kinds), ~last_of_key_mask(table, keys)
    first = ~retracts[:-2] & retracts[1:-1] & ~retracts[2:] & same_key[:-2] & same_key[1:-1]
    if engine.removes_on_delete:
        first &= table.column(kinds).to_numpy()[1:-1] == UPDATE_BEFORE_KIND
    for fold in engine.folds:
        if not first.any():
            return None
        values = one_array(table.column(fold.column))
        if pa.types.is_nested(values.type) or (fold.function == "product" and pa.types.is_decimal(values.type)):
            return None  # nested values are not compared here, and dividing does not restore a rounded product
        first &= _same_as_next(values)[:-1]
        if fold.function != "last_value":  # with a null after the pair, the pair decides between zero and null
            there = valid_mask(values)
            first &= ~there[:-2] | there[2:]
    if not first.any():
        return None
    cancelled = np.zeros(table.num_rows, bool)
    cancelled[:-2] |= first
    cancelled[1:-1] |= first
    return cancelled


def _same_as_next(values: pa.Array) -> Mask:
    """Whether each value but the last is equal to the next one; nulls are equal."""
    this, following = values.slice(0, len(values) - 1), values.slice(1)
    equal = pc.equal(this, following).fill_null(False).to_numpy(zero_copy_only=False)
    found: Mask = equal | ~(valid_mask(this) | valid_mask(following))
    return found
