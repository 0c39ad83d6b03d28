"""Changed rows as messages: the value in debezium-json, the key as JSON of the primary key.

An update is one message. In the mode *all* it holds the rows before and after (`"op": "u"`). In the mode *upsert* it
holds the row after only, like an insert (`"op": "c"`), because readers of Debezium's format refuse an update without
the row before; a delete holds the row that is gone (`"op": "d"`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.log.json_text import joined, row_text
from tablestore_engine.log.settings import LogSettings
from tablestore_engine.mergetree.columns.row_changes import RowChanges
from tablestore_engine.metadata.bucket import bucket_ids

_INSERT, _BEFORE, _AFTER, _DELETE = range(4)
ROWS_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Messages:
    """Messages of one log: texts of values and keys (None: no keys), and the number of the partition of each."""

    values: pa.Array
    keys: pa.Array | None
    partitions: npt.NDArray[np.int32]


def messages_of(changes: RowChanges, log: LogSettings) -> Iterator[Messages]:
    """The messages of changes, in their order; both rows of an update must follow each other."""
    for start, rows in _parts(changes):
        kinds = changes.kinds[start : start + rows.num_rows]
        batch = rows.combine_chunks().to_batches()[0]
        told = np.flatnonzero(kinds != _BEFORE)
        taken = pa.array(told)
        keys = None
        if log.primary_keys:
            keys = row_text([batch.column(name) for name in log.primary_keys], log.primary_keys).take(taken)
        yield Messages(_values(batch, kinds, told, log.tells_before), keys, _partitions(batch, log)[told])


def _parts(changes: RowChanges) -> Iterator[tuple[int, pa.Table]]:
    """The rows, some at a time, with the position of the first of each part; the rows of an update stay together."""
    start = 0
    while start < changes.rows.num_rows:
        count = min(ROWS_AT_ONCE, changes.rows.num_rows - start)
        if changes.kinds[start + count - 1] == _BEFORE and start + count < changes.rows.num_rows:
            count += 1
        yield start, changes.rows.slice(start, count)
        start += count


def _values(
    batch: pa.RecordBatch, kinds: npt.NDArray[np.int8], told: npt.NDArray[np.int64], tells_before: bool
) -> pa.Array:
    rows = row_text(batch.columns, batch.schema.names)
    of = kinds[told]
    known = tells_before & (of == _AFTER)
    # The row before an update is the one above it.
    before = rows.take(pa.array(np.where(known, told - 1, told), mask=~(known | (of == _DELETE))))
    after = rows.take(pa.array(told, mask=of == _DELETE))
    letters = np.where(of == _DELETE, "d", np.where(known, "u", "c"))
    return joined('{"before":', before, ',"after":', after, ',"op":"', pa.array(letters, pa.string()), '"}')


def _partitions(batch: pa.RecordBatch, log: LogSettings) -> npt.NDArray[np.int32]:
    if log.partitions == 1:
        return np.zeros(batch.num_rows, np.int32)
    arrays = [batch.column(one.name) for one in log.bucket_fields]
    return bucket_ids(arrays, [one.type for one in log.bucket_fields], log.partitions)


def texts_as_bytes(array: pa.Array) -> list[Any]:
    """Texts as Python's bytes, None for a null."""
    found: list[Any] = pc.cast(array, pa.binary()).to_numpy(zero_copy_only=False).tolist()
    return found
