"""Rows before an update, of formats whose messages hold the row after and only the old values of changed columns.

A column that `old` does not name was not changed, one that it names with null was null. Arrow's parser reads both as
null. So a pattern finds the messages in which `old` has no null, which are nearly all; the others are read by Python's
parser for that.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_TEXT = r'"(?:[^"\\]|\\.)*"'
_OBJECT = rf"\{{(?:\s*{_TEXT}\s*:\s*(?:{_TEXT}|[-+.0-9eE]+|true|false)\s*,?)*\s*\}}"
Mask = npt.NDArray[np.bool_]


def nulls_in(
    records: Sequence[bytes], old: str, columns: Collection[str], inside: str | None = None
) -> dict[str, list[tuple[int, int]]]:
    """Where `old` names a column with null: by column, the number of the record and of the row in it.

    `old` is an object, or a list of them, in the record or in its field `inside`. Columns are found in any case.
    """
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    in_any_case = {one.lower(): one for one in columns}
    for number in np.flatnonzero(~_without_null(records, old)).tolist():
        rows = _parsed(records[number], inside).get(old)
        for nth, row in enumerate(rows if isinstance(rows, list) else [rows]):
            for name, value in row.items() if isinstance(row, dict) else ():
                if value is None and name.lower() in in_any_case:
                    found[in_any_case[name.lower()]].append((number, nth))
    return found


def _without_null(records: Sequence[bytes], old: str) -> Mask:
    """Of which records it is certain that `old` has no null: it is flat, and there is no other field of this name."""
    if not records:
        return np.zeros(0, bool)
    texts, name = pa.array(records, pa.large_binary()), rf'"{old}"\s*:'
    flat = pc.match_substring_regex(texts, rf"{name}\s*(?:{_OBJECT}|\[\s*{_OBJECT}(?:\s*,\s*{_OBJECT})*\s*\])")
    once = pc.equal(pc.count_substring_regex(texts, name), 1)
    certain: Mask = pc.and_(flat, once).to_numpy(zero_copy_only=False)
    return certain


def _parsed(record: bytes, inside: str | None) -> Mapping[str, Any]:
    found = json.loads(record.decode("utf-8", "replace"))
    held = found.get(inside) if inside else None
    return held if isinstance(held, dict) else found


def rows_before(after: pa.StructArray, old: pa.StructArray, nulls: Mapping[str, Mask]) -> pa.StructArray:
    """The rows after, with the old values of the columns that changed. `nulls` says where a column was null."""
    columns = []
    for field in after.type:
        same = pc.struct_field(after, field.name)
        if field.name in nulls:
            same = pc.if_else(pa.array(nulls[field.name]), pa.scalar(None, field.type), same)
        columns.append(pc.coalesce(pc.struct_field(old, field.name), same))
    return pa.StructArray.from_arrays(columns, fields=list(after.type), mask=old.is_null())


def aligned(after: pa.ListArray, before: pa.ListArray) -> pa.Array:
    """The rows before that belong to the rows after, which are lists of the same length or missing."""
    if not len(after):
        return pa.nulls(0, before.type.value_type)
    owners = pc.list_parent_indices(after).to_numpy()
    starts = after.offsets.to_numpy()[:-1]
    inside = np.arange(len(owners)) - (starts[owners] - starts[0])
    lengths = pc.fill_null(pc.list_value_length(before), 0).to_numpy()
    at = before.offsets.to_numpy()[:-1][owners] - before.offsets[0].as_py() + inside
    missing = inside >= lengths[owners]
    start = before.offsets[0].as_py()
    values = before.values.slice(start, before.offsets[-1].as_py() - start)
    return values.take(pa.array(np.where(missing, 0, at), mask=missing))
