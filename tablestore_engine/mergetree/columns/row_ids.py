"""Numbers for whole rows: equal rows have equal numbers, whatever the types of their columns.

Equal is what GROUP BY makes one group of: null equals null, NaN equals NaN, 0.0 equals -0.0, and nested values are
equal when their parts are. Nested columns are taken apart into flat ones, because Arrow groups by flat columns only;
maps have no equality here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.columns.values import one_array

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
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        # A list is the bytes of the numbers of its elements.
        elements = pc.list_flatten(column)
        ids = row_ids([elements], len(elements)).astype("<i8")
        lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
        ends = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))) * 8
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(ids)]
        yield column.is_valid()
        yield pa.Array.from_buffers(pa.large_binary(), len(column), buffers)
    elif pa.types.is_map(kind):
        raise AssertionError("maps have no equality")
    else:
        yield same_floats(column)
