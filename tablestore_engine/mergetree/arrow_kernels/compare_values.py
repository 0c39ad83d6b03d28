"""Comparing values, and splitting lists and maps into their elements, as Arrow and NumPy operations.

Vocabulary: the *owner* of an element is the row (or the group of rows) whose list contains it; a *code* is a number
that two values of one array share exactly when they are equal, nulls included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks <= 1:
        return column.chunk(0) if column.num_chunks else pa.array([], column.type)
    combined = column.combine_chunks()
    # One that is too big for one array.
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def valid_mask(values: pa.Array) -> Mask:
    """Where values are not null."""
    valid: Mask = values.is_valid().to_numpy(zero_copy_only=False)
    return valid


def with_kinds(table: pa.Table, kinds: str, values: npt.NDArray[Any]) -> pa.Table:
    """The table with other row kinds in the column `kinds`."""
    index = table.schema.get_field_index(kinds)
    field = table.schema.field(index)
    return table.set_column(index, field, pa.array(values, pa.int64()).cast(field.type))


def codes(values: pa.Array) -> Indices:
    """A code for each value: single values, and structs of them."""
    if pa.types.is_struct(values.type):
        return combined_codes([*(codes(child) for child in values.flatten()), valid_mask(values)])
    encoded = values.dictionary_encode(null_encoding="encode")
    numbers: Indices = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def combined_codes(columns: Sequence[npt.NDArray[Any]]) -> Indices:
    """A code for each row of several columns of codes."""
    if len(columns) == 1:
        return np.asarray(columns[0]).astype(np.int64)
    rows = np.column_stack([np.asarray(one).astype(np.int64) for one in columns])
    found: Indices = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return found


def last_seen(owners: Indices, of_value: Indices) -> Mask:
    """Whether an element is the last of its owner with its code."""
    both = combined_codes([owners, of_value])[::-1]
    found = np.zeros(len(both), bool)
    found[len(both) - 1 - np.unique(both, return_index=True)[1]] = True
    return found


def how_often_before(numbers: Indices) -> Indices:
    """For each number, how many equal ones come before it."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    lengths = np.diff(np.append(starts, len(ordered)))
    before = np.empty(len(numbers), np.int64)
    before[order] = np.arange(len(numbers)) - np.repeat(starts, lengths)
    return before


def how_often_in(numbers: Indices, others: Indices) -> Indices:
    """For each number, how many of the others are equal to it."""
    ranked = np.sort(others)
    found: Indices = np.searchsorted(ranked, numbers, "right") - np.searchsorted(ranked, numbers, "left")
    return found


def elements_of(values: pa.Array) -> tuple[Indices, pa.Array]:
    """The elements of lists, or the entries of maps (as structs), with their owners."""
    if not pa.types.is_map(values.type):
        owners = pc.list_parent_indices(values).to_numpy(zero_copy_only=False).astype(np.int64)
        return owners, pc.list_flatten(values)
    offsets = values.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = np.where(valid_mask(values), np.diff(offsets), 0)
    owners = np.repeat(np.arange(len(values)), lengths)
    first = np.repeat(offsets[:-1] - (np.cumsum(lengths) - lengths), lengths)
    at = pa.array(first + np.arange(len(owners)))
    entries = [values.keys.take(at), values.items.take(at)]
    return owners, pa.StructArray.from_arrays(entries, names=["key", "value"])


def gathered(elements: pa.Array, owners: Indices, none: Mask, data_type: pa.DataType) -> pa.Array:
    """Lists or maps of a type from their elements, which come in the order of their owners.

    The result has one list for each entry of `none`, and a null where that is true.
    """
    lengths = np.bincount(owners, minlength=len(none))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    masked = pa.array(offsets, pa.int32(), mask=np.append(none, False))  # a null offset makes a null
    if pa.types.is_map(data_type):
        key, value = pc.struct_field(elements, [0]), pc.struct_field(elements, [1])
        return pa.MapArray.from_arrays(masked, key, value).cast(data_type)
    return pa.ListArray.from_arrays(masked, elements).cast(data_type)
