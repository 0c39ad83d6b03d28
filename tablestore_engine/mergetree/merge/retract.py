"""Folding rows that contain retractions: records that take back what earlier ones gave.

Sums, counts and last values need one pass: a retraction is a negated number or a null. For the other functions a
retraction changes the result of the records before it. The rows of a group are cut into *stretches* (ordinary rows up
to the next retraction, and each retraction by itself), and the stretches of all groups are applied step by step. The
number of steps is the largest number of stretches in a group, which is usually about the number of runs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import RowKindError
from tablestore_engine.mergetree.arrow_kernels.compare_values import (
    Indices,
    Mask,
    codes,
    elements_of,
    gathered,
    how_often_before,
    how_often_in,
    last_seen,
    valid_mask,
)
from tablestore_engine.mergetree.merge.aggregate_kernels import fits, fold_values
from tablestore_engine.mergetree.merge.groups import Groups, for_each_row
from tablestore_engine.mergetree.merge.nested_kernels import nested_keys
from tablestore_engine.schema.merge_engines.aggregate_functions import RetractRule
from tablestore_engine.schema.merge_engines.merge_engine import Fold


def fold_retracting(fold: Fold, values: pa.Array, groups: Groups, retracts: Mask) -> pa.Array:
    """One value per group; `retracts` says which rows take their value back.

    Raises:
        RowKindError: the function cannot take anything back.
        ExecutionError: a sum or product does not fit the column's type.
    """
    if fold.retract_rule is RetractRule.KEEP:
        return fold_values(fold, values, groups)
    if fold.ignores_as_null:
        return fold_values(fold, cleared(values, retracts), groups)
    if fold.ignore_retract:
        return fold_some(fold, values, groups, ~retracts)
    if fold.function in ("sum", "count"):
        return _sum(fold, values, groups, retracts)
    if fold.function == "last_value":
        return fold_values(fold, cleared(values, retracts), groups)
    if fold.function == "last_non_null_value":
        rows = np.where(valid_mask(values), np.arange(groups.rows), -1)
        found = np.maximum.reduceat(rows, groups.starts)
        return values.take(pa.array(found, mask=(found < 0) | retracts[found]))
    return fold_in_order(fold, values, groups, retracts)


def negated(fold: Fold, values: pa.Array, rows: Mask) -> pa.Array:
    """The numbers, negated in some rows. Raises ExecutionError where that does not fit their type."""
    chosen = pa.array(rows)
    with fits(fold, values.type):
        opposite = pc.negate_checked(pc.if_else(chosen, values, pa.scalar(None, values.type)))
    return pc.if_else(chosen, opposite, values)


def cleared(values: pa.Array, rows: Mask) -> pa.Array:
    """The values, with nulls in some rows."""
    kept = np.where(rows, -1, np.arange(len(values)))
    return values.take(pa.array(kept, mask=rows))


def starts_of_stretches(starts: Indices, retracts: Mask) -> Indices:
    """Where stretches begin, in rows whose groups begin at `starts`."""
    begins = retracts | np.append(False, retracts[:-1])
    begins[starts] = True
    return np.flatnonzero(begins)


def _sum(fold: Fold, values: pa.Array, groups: Groups, retracts: Mask) -> pa.Array:
    wide = values.cast(pa.int64()) if pa.types.is_integer(values.type) else values
    with fits(fold, values.type):
        return fold_values(fold, negated(fold, wide, retracts), groups).cast(values.type)


def fold_some(
    fold: Fold,
    values: pa.Array,
    groups: Groups,
    rows: Mask,
    apply: Callable[[Fold, pa.Array, Groups], pa.Array] = fold_values,
) -> pa.Array:
    """The fold of some rows, by a function of these alone; null for a group without any."""
    ids = groups.ids[rows]
    if not len(ids):
        return pa.nulls(groups.count, values.type)
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    folded = apply(fold, values.filter(pa.array(rows)), Groups(starts, len(ids)))
    found = np.full(groups.count, -1)
    found[ids[starts]] = np.arange(len(starts))
    return folded.take(pa.array(found, mask=found < 0))


def fold_in_order(fold: Fold, values: pa.Array, groups: Groups, retracts: Mask, late: Mask | None = None) -> pa.Array:
    """One value per group, stretch by stretch; the values of `late` rows are put before what is there.

    Raises:
        RowKindError: the function cannot take anything back.
        ExecutionError: a product does not fit the column's type.
    """
    if fold.function not in _TAKE_BACK and retracts.any():
        raise RowKindError(
            f"A retraction (-U or -D) cannot be taken out of column '{fold.column}', whose function is "
            f"{fold.function}.",
            hint=f"'fields.{fold.column}.ignore-retract' = 'true' leaves retractions out.",
        )
    late = np.zeros(groups.rows, bool) if late is None else late & ~retracts
    starts = _steps(fold, groups, retracts, late)
    parts = values
    if not fold.goes_singly:
        parts = fold_values(fold, _late_turned(values, starts, late), Groups(starts, groups.rows))
    owners, takes_back, first = groups.ids[starts], retracts[starts], late[starts]
    step_of = how_often_before(owners)
    state = pa.nulls(groups.count, values.type)
    for step in range(int(step_of.max()) + 1):
        for back, before in ((False, False), (False, True), (True, False)):
            at = np.flatnonzero((step_of == step) & (takes_back == back) & (first == before))
            if not len(at):
                continue
            owner = owners[at]
            had, given = state.take(pa.array(owner)), parts.take(pa.array(at))
            if back:
                now = _taken_back(fold, had, given)
            else:
                now = _joined(fold, given, had) if before else _joined(fold, had, given)
            source = np.arange(groups.count)
            source[owner] = groups.count + np.arange(len(owner))
            state = pa.concat_arrays([state, now]).take(pa.array(source))
    return state


def _late_turned(values: pa.Array, starts: Indices, late: Mask) -> pa.Array:
    """The values, those of each stretch of late rows in reverse."""
    if not late.any():
        return values
    rows = np.arange(len(values))
    stretches = for_each_row(np.arange(len(starts)), starts, len(values))
    return values.take(pa.array(np.lexsort((np.where(late, -rows, rows), stretches))))


def _steps(fold: Fold, groups: Groups, retracts: Mask, late: Mask) -> Indices:
    """Where the steps begin: with the stretches, and where the function rounds with each row after a retraction."""
    if fold.goes_singly:
        return np.arange(groups.rows)
    starts = starts_of_stretches(groups.starts, retracts)
    if late.any():
        begins = np.append(True, late[1:] != late[:-1])
        begins[starts] = True
        return np.flatnonzero(begins)
    if not fold.rounds:
        return starts
    stretch_of = for_each_row(starts, starts, groups.rows)
    begins = stretch_of != groups.starts[groups.ids]
    begins[starts] = True
    return np.flatnonzero(begins)


def _joined(fold: Fold, had: pa.Array, given: pa.Array) -> pa.Array:
    rows = len(had)
    pairs = np.column_stack([np.arange(rows), rows + np.arange(rows)]).reshape(-1)
    both = pa.concat_arrays([had, given]).take(pa.array(pairs))
    return fold_values(fold, both, Groups(np.arange(rows) * 2, rows * 2))


def _taken_back(fold: Fold, had: pa.Array, given: pa.Array) -> pa.Array:
    """The values `had` without those `given`; a null stays null."""
    return _TAKE_BACK[fold.function](fold, had, given)


def _divided(fold: Fold, had: pa.Array, given: pa.Array) -> pa.Array:
    with fits(fold, had.type):
        if pa.types.is_decimal(had.type):
            scale = had.type.scale
            wide = pa.decimal256(had.type.precision, scale)
            exact = pc.divide(had.cast(wide), given.cast(wide))
            quotient = pc.round(exact, scale, "half_towards_infinity").cast(had.type)
        else:
            quotient = pc.divide(had, given)
    return pc.coalesce(quotient, had)


def _without_elements(fold: Fold, had: pa.Array, given: pa.Array) -> pa.Array:
    """Lists without as many of each element, first ones first, as there are to take back."""
    owners, elements, taken_from, taken = _both(had, given)
    mine, theirs = _numbered(owners, codes(pa.concat_arrays([elements, taken])), taken_from)
    kept = how_often_before(mine) >= how_often_in(mine, theirs)
    return gathered(elements.filter(pa.array(kept)), owners[kept], ~valid_mask(had), had.type)


def _without_keys(fold: Fold, had: pa.Array, given: pa.Array) -> pa.Array:
    """Maps without the keys of others, or nested rows without those of the same key (or equal ones)."""
    owners, elements, taken_from, taken = _both(had, given)
    untouched = ~valid_mask(given)
    if not pa.types.is_map(had.type):
        there = valid_mask(elements) | untouched[owners]
        owners, elements = owners[there], elements.filter(pa.array(there))
        real = valid_mask(taken)
        taken_from, taken = taken_from[real], taken.filter(pa.array(real))
    together = pa.concat_arrays([elements, taken])
    if pa.types.is_map(had.type):
        of_value = codes(pc.struct_field(together, [0]))
    else:
        of_value = nested_keys(fold, together) if fold.nested_key else codes(together)
    mine, theirs = _numbered(owners, of_value, taken_from)
    kept = how_often_in(mine, theirs) == 0
    if fold.nested_key:
        kept &= last_seen(owners, of_value[: len(owners)]) | untouched[owners]
    return gathered(elements.filter(pa.array(kept)), owners[kept], ~valid_mask(had), had.type)


def _both(had: pa.Array, given: pa.Array) -> tuple[Indices, pa.Array, Indices, pa.Array]:
    return (*elements_of(had), *elements_of(given))


def _numbered(owners: Indices, of_value: Indices, taken_from: Indices) -> tuple[Indices, Indices]:
    """One number for owner and value together, of the elements that are there and of those to take back."""
    both = np.append(owners, taken_from) * (int(of_value.max(initial=0)) + 1) + of_value
    return both[: len(owners)], both[len(owners) :]


def _cleared_by_value(_fold: Fold, had: pa.Array, given: pa.Array) -> pa.Array:
    return cleared(had, valid_mask(given))


def _given(_fold: Fold, _had: pa.Array, given: pa.Array) -> pa.Array:
    return given


def _none(_fold: Fold, had: pa.Array, _given: pa.Array) -> pa.Array:
    return pa.nulls(len(had), had.type)


_TAKE_BACK: dict[str, Callable[[Fold, pa.Array, pa.Array], pa.Array]] = {
    "last_value": _none,
    "primary-key": _given,
    "last_non_null_value": _cleared_by_value,
    "product": _divided,
    "collect": _without_elements,
    "merge_map": _without_keys,
    "nested_update": _without_keys,
}
