"""Aggregate functions of the merge engines over groups of rows, as Arrow and NumPy kernels.

Vocabulary: *groups* are the rows of one key, neighbours and in the order of their records. A kernel takes one column
with all groups and gives one value per group. Nulls are ignored, except by `last_value` and `first_value`. All
rows here are ordinary ones; `retract` folds rows that contain retractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import ExecutionError
from tablestore_engine.mergetree.arrow_kernels.compare_values import (
    Indices,
    Mask,
    codes,
    elements_of,
    gathered,
    valid_mask,
)
from tablestore_engine.mergetree.merge.groups import Groups, no_list, none_valid
from tablestore_engine.mergetree.merge.nested_kernels import (
    merge_map,
    merge_map_with_keytime,
    nested_partial_update,
    nested_update,
)
from tablestore_engine.mergetree.sketch.sketches import fold_sketches
from tablestore_engine.schema.merge_engines.merge_engine import Fold

_FACTOR_DIGITS = 18
"""Products of two decimals of at most so many digits are decimals of 128 bits."""


def fold_values(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    """One value per group.

    Raises:
        ExecutionError: a sum or product does not fit the column's type.
    """
    with fits(fold, values.type):
        return _KERNELS[fold.function](fold, values, groups)


@contextmanager
def fits(fold: Fold, data_type: pa.DataType) -> Iterator[None]:
    """Raise an ExecutionError that names the column where a number does not fit its type."""
    try:
        yield
    except pa.ArrowInvalid as error:
        raise _overflow(fold, data_type) from error


def _overflow(fold: Fold, data_type: pa.DataType) -> ExecutionError:
    return ExecutionError(
        f"The {fold.function} of column '{fold.column}' does not fit its type, {data_type}.",
        hint="Give the column a wider type.",
    )


def _last(_fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    return values.take(pa.array(groups.ends))


def _first(_fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    return values.take(pa.array(groups.starts))


def _last_non_null(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    if values.null_count == 0:
        return _last(fold, values, groups)
    rows = np.where(valid_mask(values), np.arange(groups.rows), -1)
    found = np.maximum.reduceat(rows, groups.starts)
    return values.take(pa.array(found, mask=found < 0))


def _first_non_null(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    if values.null_count == 0:
        return _first(fold, values, groups)
    rows = np.where(valid_mask(values), np.arange(groups.rows), groups.rows)
    found = np.minimum.reduceat(rows, groups.starts)
    return values.take(pa.array(found, mask=found == groups.rows))


def _numbers(values: pa.Array, null: Any) -> npt.NDArray[Any]:
    filled = values.fill_null(pa.scalar(null, values.type)) if values.null_count else values
    numbers: npt.NDArray[Any] = filled.to_numpy(zero_copy_only=False)
    return numbers


def _max(_fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    if pa.types.is_boolean(values.type):
        return _bool_or(_fold, values, groups)
    if pa.types.is_floating(values.type):
        # NaN is greater than every number, and `maximum` keeps it.
        found = np.maximum.reduceat(_numbers(values, -np.inf), groups.starts)
        return pa.array(found, values.type, mask=none_valid(values, groups))
    return _extreme(values, groups, "right")


def _min(_fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    if pa.types.is_boolean(values.type):
        return _bool_and(_fold, values, groups)
    if pa.types.is_floating(values.type):
        found = np.fmin.reduceat(_numbers(values, np.nan), groups.starts)
        return pa.array(found, values.type, mask=none_valid(values, groups), from_pandas=False)
    return _extreme(values, groups, "left")


def _extreme(values: pa.Array, groups: Groups, side: Literal["left", "right"]) -> pa.Array:
    """The least (`left`) or greatest value of each group, by sorting: for types that NumPy does not compare."""
    ids = groups.ids[valid_mask(values)]
    present = values.drop_null()
    order = pc.sort_indices(
        pa.table({"group": ids, "value": present}), sort_keys=[("group", "ascending"), ("value", "ascending")]
    )
    numbers = np.arange(groups.count)
    starts, ends = np.searchsorted(ids, numbers, "left"), np.searchsorted(ids, numbers, "right")
    found = starts if side == "left" else ends - 1
    rows = pa.array(found, pa.int64(), mask=starts == ends)
    return present.take(order.cast(pa.int64()).take(rows))


def _sum(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    none = none_valid(values, groups)
    if pa.types.is_floating(values.type):
        total = np.add.reduceat(_numbers(values, 0.0).astype(np.float64), groups.starts)
        return pa.array(total, pa.float64(), mask=none).cast(values.type, safe=False)
    if pa.types.is_integer(values.type) and _absolute_sum(values, groups) < 2.0**62:
        total = np.add.reduceat(_numbers(values, 0).astype(np.int64), groups.starts)
        return pa.array(total, pa.int64(), mask=none).cast(values.type)
    wide = pa.decimal256(76, getattr(values.type, "scale", 0))
    table = pa.table({"group": groups.ids, "value": values.cast(wide)})
    sums = table.group_by("group", use_threads=False).aggregate([("value", "sum")])
    return sums.column("value_sum").combine_chunks().cast(values.type)


def _absolute_sum(values: pa.Array, groups: Groups) -> float:
    """About the greatest sum of absolute values of any group: no partial sum exceeds it."""
    magnitude = np.abs(_numbers(values, 0).astype(np.float64))
    return float(np.add.reduceat(magnitude, groups.starts).max())


def _product(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    whole = pa.types.is_decimal(values.type)
    if whole and (values.type.scale or values.type.precision > _FACTOR_DIGITS):
        return _rounded_product(values, groups)
    none = none_valid(values, groups)
    if pa.types.is_floating(values.type):
        result = np.multiply.reduceat(_numbers(values, 1.0).astype(np.float64), groups.starts)
        return pa.array(result, pa.float64(), mask=none).cast(values.type, safe=False)
    numbers = _numbers(values.cast(pa.int64()), 1)
    # Integers wrap beyond 2^63. A sum in floating point shows that, except for its last bits.
    with np.errstate(over="ignore", invalid="ignore"):
        about = np.multiply.reduceat(numbers.astype(np.float64), groups.starts)  # NaN: beyond all bounds, then zero
    if (np.abs(about) >= 2.0**63 * (1 - 1e-9)).any():
        raise _overflow(fold, values.type)
    found = pa.array(np.multiply.reduceat(numbers, groups.starts), pa.int64(), mask=none)
    # Arrow makes decimals of integers only where each of their type has room.
    return (found.cast(pa.decimal128(19, 0)) if whole else found).cast(values.type)


def _rounded_product(values: pa.Array, groups: Groups) -> pa.Array:
    """The factors of each group one after the other: each step rounds to the scale, so their order decides.

    There are as many steps as the longest group has factors; a step multiplies in all groups that are not done.
    """
    ids, factors = groups.ids[valid_mask(values)], values.drop_null()
    if not len(ids):
        return pa.nulls(groups.count, values.type)
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    lengths = np.diff(np.append(starts, len(ids)))
    longest_first = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[longest_first], lengths[longest_first]
    state = factors.take(pa.array(starts))
    done: list[pa.Array] = []
    for step in range(1, int(lengths[0])):
        going = int(np.searchsorted(-lengths, -step, "left"))
        if going < len(state):
            done.append(state.slice(going))
            state = state.slice(0, going)
        exact = _multiplied(state, factors.take(pa.array(starts[:going] + step)))
        state = pc.round(exact, values.type.scale, "half_towards_infinity").cast(values.type)
    products = pa.concat_arrays([state, *reversed(done)])
    found = np.full(groups.count, -1)
    found[ids[starts]] = np.arange(len(starts))
    return products.take(pa.array(found, mask=found < 0))


def _multiplied(left: pa.Array, right: pa.Array) -> pa.Array:
    """Exact products of decimals of one type."""
    kind = left.type
    if kind.precision <= _FACTOR_DIGITS:
        return pc.multiply(left, right)
    # Arrow leaves room for one digit more than a product of two factors can have, and has none for that of two times
    # 38: so the factors are called ones of 37 digits. The numbers have 256 bits all the same.
    factors = (_called(one.cast(pa.decimal256(38, kind.scale)), 37, kind.scale) for one in (left, right))
    return _called(pc.multiply(*factors), 76, 2 * kind.scale)


def _called(values: pa.Array, digits: int, scale: int) -> pa.Array:
    """The same numbers as decimals of 256 bits of so many digits."""
    return pa.Array.from_buffers(pa.decimal256(digits, scale), len(values), values.buffers(), offset=values.offset)


def _bool_and(_fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    found = np.logical_and.reduceat(_numbers(values, True), groups.starts)
    return pa.array(found, pa.bool_(), mask=none_valid(values, groups))


def _bool_or(_fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    found = np.logical_or.reduceat(_numbers(values, False), groups.starts)
    return pa.array(found, pa.bool_(), mask=none_valid(values, groups))


def _listagg(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    shown = pc.not_equal(values, "").fill_null(False)
    parts, ids = values.filter(shown), groups.ids[shown.to_numpy(zero_copy_only=False)]
    if fold.distinct and fold.delimiter:
        # The first text stays as it is; of the others come the parts that are new.
        tokens = pc.split_pattern(parts, fold.delimiter)
        owner = pc.list_parent_indices(tokens).to_numpy(zero_copy_only=False)
        first = np.append(True, ids[1:] != ids[:-1])[owner] if len(ids) else np.zeros(0, bool)
        ids, parts = ids[owner], pc.list_flatten(tokens)
        kept = first | _first_seen(ids, parts) & pc.not_equal(parts, "").to_numpy(zero_copy_only=False)
        ids, parts = ids[kept], parts.filter(pa.array(kept))
    lists = gathered(parts, ids, no_list(values, groups), pa.list_(values.type))
    return pc.binary_join(lists, pa.scalar(fold.delimiter, values.type))


def _first_seen(ids: Indices, values: pa.Array) -> Mask:
    """Whether a row is the first of its group to hold its value."""
    if pa.types.is_struct(values.type):
        values = pa.array(codes(values))
    rows = pa.table({"group": ids, "value": values, "row": np.arange(len(ids))})
    first = rows.group_by(["group", "value"], use_threads=False).aggregate([("row", "min")])
    seen = np.zeros(len(ids), bool)
    seen[first.column("row_min").to_numpy()] = True
    return seen


def _collect(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    owners, elements = elements_of(values)
    ids = groups.ids[owners]
    if fold.distinct:
        kept = _first_seen(ids, elements)
        ids, elements = ids[kept], elements.filter(pa.array(kept))
    return gathered(elements, ids, no_list(values, groups), values.type)


def _sketch(fold: Fold, values: pa.Array, groups: Groups) -> pa.Array:
    return fold_sketches(fold, values, groups.ids, groups.count)


_KERNELS: dict[str, Callable[[Fold, pa.Array, Groups], pa.Array]] = {
    "last_value": _last,
    "primary-key": _last,
    "first_value": _first,
    "last_non_null_value": _last_non_null,
    "first_non_null_value": _first_non_null,
    "max": _max,
    "min": _min,
    "sum": _sum,
    "count": _sum,  # the writer has replaced each value by the number that it counts for
    "product": _product,
    "bool_and": _bool_and,
    "bool_or": _bool_or,
    "listagg": _listagg,
    "collect": _collect,
    "merge_map": merge_map,
    "merge_map_with_keytime": merge_map_with_keytime,
    "nested_update": nested_update,
    "nested_partial_update": nested_partial_update,
    "hll_sketch": _sketch,
    "theta_sketch": _sketch,
    "rbm32": _sketch,
    "rbm64": _sketch,
}
