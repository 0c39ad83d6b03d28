"""Numbers for whole rows: equal rows have equal numbers, whatever the types of their columns.

Equal is what GROUP BY makes one group of: null equals null, NaN equals NaN, 0.0 equals -0.0, and nested values are
equal when their parts are; the entries of a map come in no order. Nested columns are taken apart into flat ones,
because Arrow groups by flat columns only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.arrow_kernels.compare_values import elements_of, one_array

Numbers = npt.NDArray[np.int64]


def row_ids(columns: Sequence[pa.Array], rows: int) -> Numbers:
    """A number for each of `rows` rows, from 0 in the order in which different rows first appear."""
    if rows == 0:
        return np.zeros(0, np.int64)
    flat = [part for column in columns for part in _parts(column)]
    names = [str(i) for i in range(len(flat))]
    table = pa.table([*flat, pa.array(np.arange(rows))], names=[*names, "row"])
    groups = table.group_by(names, use_threads=False).aggregate([("row", "list")])
    members = one_array(groups.column("row_list"))
    ids = np.empty(rows, np.int64)
    ids[pc.list_flatten(members).to_numpy()] = pc.list_parent_indices(members).to_numpy()
    return ids


def rows_differ(first: Sequence[pa.Array], second: Sequence[pa.Array], rows: int) -> npt.NDArray[np.bool_]:
    """For each of `rows` rows whether it differs from the one at its position among others, of the same types."""
    found = np.zeros(rows, np.bool_)
    for ours, others in zip(first, second, strict=True):
        if pa.types.is_nested(ours.type):
            ids = row_ids([pa.concat_arrays([ours, others])], 2 * rows)
            found |= ids[:rows] != ids[rows:]
        else:
            found |= ~_same(ours, others).to_numpy(zero_copy_only=False)
    return found


def _same(ours: pa.Array, others: pa.Array) -> pa.Array:
    """Whether flat values are equal."""
    same = pc.equal(ours, others)
    if pa.types.is_floating(ours.type):
        same = pc.or_(same, pc.and_(pc.is_nan(ours), pc.is_nan(others)))
    if not same.null_count:
        return same
    return pc.if_else(same.is_null(), pc.and_(ours.is_null(), others.is_null()), same)


def first_rows(ids: Numbers) -> Numbers:
    """For each number of `row_ids`, the row where it appears first."""
    found: Numbers = np.unique(ids, return_index=True)[1]
    return found


def same_floats(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Floats in which those that are equal have the same bits; other columns as they are."""
    if not pa.types.is_floating(column.type):
        return column
    plain = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 becomes 0.0
    return pc.if_else(pc.is_nan(plain), pa.scalar(float("nan"), column.type), plain)


def _parts(column: pa.Array) -> Iterator[pa.Array]:
    """Flat columns that are equal where the values of a column are."""
    kind = column.type
    if pa.types.is_struct(kind):
        yield column.is_valid()
        for child in column.flatten():
            yield from _parts(child)
    elif pa.types.is_map(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield column.is_valid()
        yield _numbers_of_elements(column)
    else:
        yield same_floats(column)


def _numbers_of_elements(column: pa.Array) -> pa.Array:
    """Each list, or map, as the bytes of the numbers of its elements; those of entries in ascending order."""
    owners, elements = elements_of(column)
    ids = row_ids([elements], len(elements))
    if pa.types.is_map(column.type):
        ids = ids[np.lexsort((ids, owners))]
    ends = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(column)), dtype=np.int64))) * 8
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(ids.astype("<i8"))]
    return pa.Array.from_buffers(pa.large_binary(), len(column), buffers)
