"""Folding the records of a key into one row with Arrow kernels, for writers and compactions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, Mask, one_array, with_kinds
from tablestore_engine.mergetree.merge.aggregate_kernels import fold_values
from tablestore_engine.mergetree.merge.groups import Groups, for_each_row
from tablestore_engine.mergetree.merge.late_records import Effects, first_non_null
from tablestore_engine.mergetree.merge.merge_runs import Reduce, SortColumn, last_of_key_mask, sort_stable
from tablestore_engine.mergetree.merge.retract import cleared, fold_in_order, fold_retracting, fold_some, negated
from tablestore_engine.mergetree.merge.sequence_group_deletes import OlderRows, apply_group_deletes, without_idle
from tablestore_engine.schema.merge_engines.aggregate_functions import RetractRule
from tablestore_engine.schema.merge_engines.engine_rules import Kept, Retraction
from tablestore_engine.schema.merge_engines.merge_engine import Fold, MergeEngine
from tablestore_engine.schema.table.row_kind import DELETE_KIND, UPDATE_BEFORE_KIND
from tablestore_engine.schema.types.system_columns import VALUE_KIND


def fold_sorted(
    table: pa.Table, last: Mask, engine: MergeEngine, kinds: str | None = None, older: OlderRows | None = None
) -> pa.Table:
    """One row per key, of rows sorted by key and, within a key, by age. `last` marks the last row of each key.

    `kinds` names the column of row kinds (0 +I, 1 -U, 2 +U, 3 -D), if there is one. Retractions are settled, so the
    table must hold all records of their keys; with sequence groups, `older` looks the rows up that it does not hold. A
    row that was removed remains as a row of kind -D.

    Columns without a function (keys, system columns) are taken from the last row of the key, which decides how the key
    is ordered among other runs.

    Raises:
        ExecutionError: a sum or product does not fit the column's type.
        RowKindError: a retraction where a column's function cannot take anything back.
    """
    unique = bool(last.all())
    if engine.rules.kept is Kept.NEWEST:
        return table if unique else table.filter(pa.array(last))
    starts = np.flatnonzero(np.append(True, last[:-1]))
    if engine.rules.kept is Kept.OLDEST:
        return table if unique else table.take(pa.array(starts))
    retracts = retractions(table, kinds)
    if unique and (retracts is None or engine.rules.retraction is Retraction.AS_RECORD):
        return table
    if retracts is None or kinds is None:
        return _folded(table, Groups(starts, table.num_rows), engine, None)
    if engine.rules.retraction is Retraction.AS_RECORD:
        return _folded_in_groups(table, starts, engine, kinds, older)
    removed = np.zeros(table.num_rows, bool)
    if engine.removes_on_delete:
        kept, removed = _after_deletes(table, starts, kinds)
        table, removed, last = table.filter(pa.array(kept)), removed[kept], _last_of_kept(last, kept)
        starts = np.flatnonzero(np.append(True, last[:-1]))
        retracts = retracts[kept] & ~removed
    groups = Groups(starts, table.num_rows)
    folded = _folded(table, groups, engine, retracts if retracts.any() else None)
    return with_kinds(folded, kinds, np.where(removed[groups.ends], DELETE_KIND, 0))


def retractions(table: pa.Table, kinds: str | None) -> Mask | None:
    """Which rows are retractions; None when none is."""
    if kinds is None or kinds not in table.column_names:
        return None
    found: Mask = (table.column(kinds).to_numpy() & 1) == 1
    return found if found.any() else None


def reducer(
    keys: Sequence[str], order: Sequence[SortColumn], engine: MergeEngine, older: OlderRows | None = None
) -> Reduce:
    """The reduce of a merge: per key the fold of its rows in the order of `order`, then as given; see `fold_sorted`."""
    columns = [*(SortColumn(k) for k in keys), *order]

    def reduce(table: pa.Table) -> pa.Table:
        ordered = sort_stable(table, columns)
        return fold_sorted(ordered, last_of_key_mask(ordered, keys), engine, VALUE_KIND.name, older)

    return reduce


def _folded(table: pa.Table, groups: Groups, engine: MergeEngine, retracts: Mask | None) -> pa.Table:
    kept = table.take(pa.array(groups.ends))
    given = {fold.sequence: _given(table, fold.sequence) for fold in engine.folds if fold.sequence}
    winners = {sequence: _winners(table, sequence, groups, given[sequence]) for sequence in given}
    alone = _alone(groups, retracts) if engine.has_sequence_groups else None
    effects = {sequence: Effects.of(table, sequence, groups) for sequence in engine.late_groups}
    for fold in engine.folds:
        index = table.schema.get_field_index(fold.column)
        field = table.schema.field(index)
        if fold.picks_by_sequence:
            values = one_array(table.column(index))
            if retracts is not None and fold.retract_rule is RetractRule.CLEAR:
                values = cleared(values, retracts)
            folded = values.take(winners[fold.sequence])
        elif fold.function == "last_value" and retracts is None and not fold.sequence:
            continue
        else:
            values = _with_sequence(table, index, given.get(fold.sequence))
            folded = _fold_column(fold, values, groups, retracts, effects.get(fold.sequence))
            if fold.cleans:
                folded = _with_only_lists(values, folded, groups, retracts)
        if alone is not None:
            numbers = np.arange(groups.count)
            both = pa.concat_arrays([folded, one_array(kept.column(index))])
            folded = both.take(pa.array(np.where(alone, groups.count + numbers, numbers)))
        if not fold.nullable and folded.null_count:
            folded = pc.coalesce(folded, one_array(kept.column(index)))  # no record had a sequence for it
        kept = kept.set_column(index, field, folded)
    return kept


def _alone(groups: Groups, retracts: Mask | None) -> Mask | None:
    """Which groups are one record, which stays as it is, even if it has no sequence; None without any."""
    found: Mask = groups.starts == groups.ends
    if retracts is not None:
        found &= ~retracts[groups.ends]
    return found if found.any() else None


def _with_only_lists(values: pa.Array, folded: pa.Array, groups: Groups, retracts: Mask | None) -> pa.Array:
    """The folded lists, but that of a key's only record as it is, with what it holds twice."""
    alone = _alone(groups, retracts)
    if alone is None:
        return folded
    source = np.where(alone, groups.starts, len(values) + np.arange(groups.count))
    return pa.concat_arrays([values, folded]).take(pa.array(source))


def _fold_column(
    fold: Fold, values: pa.Array, groups: Groups, retracts: Mask | None, effects: Effects | None
) -> pa.Array:
    if effects is None or not fold.puts_late_first:
        return (
            fold_values(fold, values, groups) if retracts is None else fold_retracting(fold, values, groups, retracts)
        )
    given, late = effects.given, effects.late
    back = np.zeros(groups.rows, bool) if retracts is None or fold.ignore_retract else retracts
    counted = given
    if retracts is not None and fold.ignores_as_null:
        values = cleared(values, retracts)
    elif retracts is not None and fold.ignore_retract:
        counted = given & ~retracts
    if fold.goes_singly or back.any():
        in_order = partial(fold_in_order, retracts=back[counted], late=late[counted])
        return fold_some(fold, values, groups, counted, in_order)
    if fold.function == "first_non_null_value":
        return first_non_null(values, groups, Effects(counted, late & counted))
    order = effects.order(groups)
    return fold_some(fold, values.take(pa.array(order)), groups, counted[order])


def _folded_in_groups(
    table: pa.Table, starts: Indices, engine: MergeEngine, kinds: str, older: OlderRows | None
) -> pa.Table:
    hidden = DELETE_KIND
    if engine.removing_groups:
        table, starts = apply_group_deletes(table, starts, engine, kinds)
        # A -D has been applied here. As -D it would be applied again to older records, so the result is a -U.
        hidden = UPDATE_BEFORE_KIND
    table, starts = without_idle(table, starts, kinds, older)
    retracts = (table.column(kinds).to_numpy() & 1) == 1
    groups = Groups(starts, table.num_rows)
    folded = _folded(table, groups, engine, retracts)
    # A key with retractions only is not visible: its row stays a retraction.
    only = np.logical_and.reduceat(retracts, starts)
    if only.any():
        folded = _as_retractions(folded, only, engine, table.take(pa.array(groups.ends)))
    return with_kinds(folded, kinds, np.where(only, hidden, 0))


def _as_retractions(table: pa.Table, rows: Mask, engine: MergeEngine, given: pa.Table) -> pa.Table:
    """Turns some rows into retractions, of `given` records.

    Negated numbers get their sign back there, as readers negate them again; the result of older records for a value
    that is taken back is not known yet, so it stays as it was given.
    """
    for fold in engine.folds:
        index = table.schema.get_field_index(fold.column)
        values = one_array(table.column(index))
        if fold.retract_rule is RetractRule.NEGATE:
            values = negated(fold, values, rows)
        elif fold.retract_rule is RetractRule.IN_ORDER:
            numbers = np.arange(len(rows))
            both = pa.concat_arrays([values, one_array(given.column(index))])
            values = both.take(pa.array(np.where(rows, len(rows) + numbers, numbers)))
        table = table.set_column(index, table.schema.field(index), values)
    return table


def _given(table: pa.Table, sequence: tuple[str, ...]) -> Mask:
    """Which rows have a sequence, that is, a value in at least one of its columns."""
    found: Mask = np.logical_or.reduce([table.column(name).is_valid().to_numpy() for name in sequence])
    return found


def _with_sequence(table: pa.Table, index: int, given: Mask | None) -> pa.Array:
    """The values of a column, without those of records that have no sequence for it."""
    values = one_array(table.column(index))
    return values if given is None or given.all() else cleared(values, ~given)


def _winners(table: pa.Table, sequence: tuple[str, ...], groups: Groups, given: Mask) -> pa.Array:
    """For each group the row with the greatest sequence (of equal ones the last); null if no row has a sequence."""
    number, group = "__tablestore_row", "__tablestore_group"
    rows = table.select(list(sequence))
    rows = rows.append_column(number, pa.array(np.arange(table.num_rows)))
    rows = rows.append_column(group, pa.array(groups.ids)).filter(pa.array(given))
    ordered = sort_stable(rows, [SortColumn(group), *(SortColumn(name) for name in sequence)])
    ids = ordered.column(group).to_numpy()
    last = np.flatnonzero(np.append(ids[1:] != ids[:-1], True)) if len(ids) else np.zeros(0, np.int64)
    found = np.full(groups.count, -1)
    found[ids[last]] = ordered.column(number).to_numpy()[last]
    return pa.array(found, mask=found < 0)


def _after_deletes(table: pa.Table, starts: Indices, kinds: str) -> tuple[Mask, Mask]:
    """Masks of the rows after the last -D of their key, or that -D if no row follows; and of these -D."""
    rows = np.arange(table.num_rows)
    deletes = np.where(table.column(kinds).to_numpy() == DELETE_KIND, rows, -1)
    ends = np.append(starts[1:], table.num_rows) - 1
    last_delete = for_each_row(np.maximum.reduceat(deletes, starts), starts, len(rows))
    end = for_each_row(ends, starts, len(rows))
    removed = (rows == last_delete) & (rows == end)
    return (rows > last_delete) | removed, removed


def _last_of_kept(last: Mask, kept: Mask) -> Mask:
    # The last row of a key is always kept.
    found: Mask = last[kept]
    return found
