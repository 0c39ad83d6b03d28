"""Records before they are written: what a merge engine does with each record by itself, before any are folded.

Ignored records are left out, and records that the table cannot take are refused. The others are rewritten so that
merging in any grouping gives the same answer: `count` becomes the number to add, a record without a sequence has no
values in the columns of that group, and a retraction becomes an ordinary record if every column can express it as one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import RowKindError
from tablestore_engine.mergetree.arrow_kernels.compare_values import Mask, one_array, with_kinds
from tablestore_engine.mergetree.merge.nested_kernels import check_nested_keys
from tablestore_engine.mergetree.merge.retract import cleared, negated
from tablestore_engine.mergetree.sketch.sketches import SKETCHES, check_sketches
from tablestore_engine.schema.merge_engines.aggregate_functions import RetractRule
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.merge_engines.merge_engine import Fold, MergeEngine
from tablestore_engine.schema.table.row_kind import DELETE_KIND, UPDATE_BEFORE_KIND


def normalize_records(rows: pa.Table, engine: MergeEngine, kinds: str) -> pa.Table:
    """The records that rows become. `kinds` names the column of row kinds, which is dropped if the table needs none.

    Raises:
        RowKindError: a retraction that the merge engine cannot take back.
        ExecutionError: a number cannot be negated in its type, or a value of a sketch column is not a sketch.
    """
    retracts = None
    keeps_kinds = engine.stores_retractions
    if kinds in rows.column_names:
        rows = without_ignored(rows, engine, kinds)
        if engine.rules.kept is Kept.NEWEST:
            return rows
        numbers = rows.column(kinds).to_numpy()
        retracts = (numbers & 1) == 1
        _check(rows, numbers, engine, kinds)
        if not keeps_kinds:
            rows = rows.drop_columns([kinds])
    for fold in engine.folds:
        if fold.function in SKETCHES:
            check_sketches(fold, _column(rows, fold))
        if fold.null_keys == "error":
            check_nested_keys(fold, _column(rows, fold))
        if fold.function == "count":
            rows = _with(rows, fold, pc.is_valid(_column(rows, fold)).cast(_column(rows, fold).type))
    if retracts is not None and retracts.any() and not keeps_kinds:
        for fold in engine.folds:
            rows = _with(rows, fold, _as_ordinary(fold, _column(rows, fold), retracts))
    if engine.has_sequence_groups:
        rows = _without_empty_groups(rows, engine)
    if engine.removing_groups and kinds in rows.column_names:
        # A -D that has no sequence in a removing group cannot remove the row; it takes values back like a -U.
        idle = _without_removing_sequence(rows, engine, kinds)
        rows = with_kinds(rows, kinds, np.where(idle, UPDATE_BEFORE_KIND, rows.column(kinds).to_numpy()))
    return rows


def check_removable(rows: pa.Table, engine: MergeEngine, kinds: str) -> None:
    """Raise a RowKindError if a -D of a visible row would not remove that row."""
    idle = _without_removing_sequence(rows, engine, kinds)
    if idle.any():
        named = " or ".join(", ".join(sequence) for sequence in engine.removing_groups)
        raise RowKindError(
            f"A row cannot be deleted, since it has no sequence in {named}: {_sample(rows, idle, kinds)}.",
            hint="INSERT OVERWRITE replaces rows.",
        )


def _without_removing_sequence(rows: pa.Table, engine: MergeEngine, kinds: str) -> Mask:
    """Which rows are deletes without a sequence in any removing group."""
    given = [rows.column(name).is_valid().to_numpy() for group in engine.removing_groups for name in group]
    found: Mask = (rows.column(kinds).to_numpy() == DELETE_KIND) & ~np.logical_or.reduce(given)
    return found


def ignored_kinds(engine: MergeEngine) -> tuple[int, ...]:
    """The kinds of rows that the table ignores."""
    if engine.ignores_deletes:
        return UPDATE_BEFORE_KIND, DELETE_KIND
    return (UPDATE_BEFORE_KIND,) if engine.leaves_out_updates_before else ()


def without_ignored(rows: pa.Table, engine: MergeEngine, kinds: str) -> pa.Table:
    """The rows without those whose kind the table ignores."""
    ignored = np.isin(rows.column(kinds).to_numpy(), ignored_kinds(engine))
    return rows.filter(pa.array(~ignored)) if ignored.any() else rows


def _check(rows: pa.Table, numbers: np.ndarray[Any, np.dtype[np.int8]], engine: MergeEngine, kinds: str) -> None:
    for kind in (UPDATE_BEFORE_KIND, DELETE_KIND):
        of_kind = numbers == kind
        if not of_kind.any():
            continue
        obstacle = engine.obstacle(kind)
        if obstacle is not None:
            raise _refused(rows, of_kind, kinds, obstacle, engine.rules.retraction_hint)
        if kind == DELETE_KIND and engine.removes_on_delete:
            continue
        for fold in engine.folds:
            if fold.function == "product" and fold.retract_rule is RetractRule.IN_ORDER:
                zero = pc.equal(_column(rows, fold), pa.scalar(0, _column(rows, fold).type)).fill_null(False)
                zeros = of_kind & zero.to_numpy(zero_copy_only=False)
                if zeros.any():
                    raise _refused(rows, zeros, kinds, f"the product of '{fold.column}' cannot take back a zero", None)


def _refused(rows: pa.Table, which: Mask, kinds: str, obstacle: str, hint: str | None) -> RowKindError:
    shown = _sample(rows, which, kinds)
    return RowKindError(f"A retraction (-U or -D) cannot be written, since {obstacle}: {shown}.", hint=hint)


def _sample(rows: pa.Table, which: Mask, kinds: str) -> dict[str, Any]:
    row = rows.filter(pa.array(which)).slice(0, 1).drop_columns([kinds]).to_pylist()[0]
    return {name: value for name, value in row.items() if not name.startswith("__")}


def _column(rows: pa.Table, fold: Fold) -> pa.Array:
    return one_array(rows.column(fold.column))


def _with(rows: pa.Table, fold: Fold, values: pa.Array) -> pa.Table:
    index = rows.schema.get_field_index(fold.column)
    return rows.set_column(index, rows.schema.field(index), values)


def _as_ordinary(fold: Fold, values: pa.Array, retracts: Mask) -> pa.Array:
    if fold.retract_rule is RetractRule.NEGATE:
        return negated(fold, values, retracts)
    return cleared(values, retracts) if fold.retract_rule is RetractRule.CLEAR else values


def _without_empty_groups(rows: pa.Table, engine: MergeEngine) -> pa.Table:
    """The records, without values in the columns of a group if their sequence is null."""
    empty: dict[tuple[str, ...], Mask] = {}
    for fold in engine.folds:
        if not fold.sequence or not fold.nullable:
            continue
        if fold.sequence not in empty:
            nulls = [rows.column(name).is_null().to_numpy() for name in fold.sequence]
            empty[fold.sequence] = np.logical_and.reduce(nulls)
        if empty[fold.sequence].any():
            rows = _with(rows, fold, cleared(_column(rows, fold), empty[fold.sequence]))
    return rows
