"""Upserts as complete changes: the row of a key before a change comes from the rows of the table, which are held."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.arrow_kernels.row_ids import first_rows, row_ids
from tablestore_engine.operation.log_store.held_rows import HeldRows
from tablestore_engine.operation.read.arrow_read import output_schema
from tablestore_engine.schema.table.table_schema import TableSchema

_INSERT, _BEFORE, _AFTER, _DELETE = range(4)


class Normalizer:
    """The rows of a table by key, and what the next upserts change in them."""

    def __init__(self, schema: TableSchema) -> None:
        self._names = schema.primary_keys
        self._shape = output_schema(schema, schema.field_names)
        self._held = HeldRows(self._shape, [schema.field(name) for name in self._names])

    def hold(self, rows: pa.RecordBatch) -> None:
        """Rows that are there already."""
        self._held.put(pa.Table.from_batches([rows]).cast(self._shape))

    def normalized(
        self, rows: pa.RecordBatch, kinds: npt.NDArray[np.int8]
    ) -> tuple[pa.RecordBatch, npt.NDArray[np.int8]]:
        """Upserts and deletes, in order, as inserts, updates with both rows, and deletes with the removed row."""
        kept = kinds != _BEFORE
        changes = pa.Table.from_batches([rows]).cast(self._shape).filter(pa.array(kept)).combine_chunks()
        kinds = kinds[kept]
        if not changes.num_rows:
            return rows.slice(0, 0), kinds
        keys = changes.select(self._names)
        ids = row_ids([one_array(keys.column(name)) for name in self._names], keys.num_rows)
        held, owners = self._held.take(keys.take(first_rows(ids)))
        old, count = held.num_rows, held.num_rows + changes.num_rows
        both = pa.concat_tables([held, changes]).combine_chunks()
        ids = np.concatenate([owners, ids])
        order = np.argsort(ids, kind="stable")
        removed = np.zeros(count, bool)
        removed[old:] = kinds == _DELETE
        # The row before in the order of keys is the one before in time, unless that was a delete.
        before = np.full(count, -1)
        same = ids[order][1:] == ids[order][:-1]
        before[order[1:][same]] = order[:-1][same]
        before[(before >= 0) & removed[before]] = -1
        last = np.ones(count, bool)
        last[order[:-1][same]] = False
        self._held.put(both.take(pa.array(np.flatnonzero(last & ~removed))))
        return _changes(both, before[old:], np.arange(old, count), removed[old:])


def _changes(
    both: pa.Table, before: npt.NDArray[np.int64], after: npt.NDArray[np.int64], removed: npt.NDArray[np.bool_]
) -> tuple[pa.RecordBatch, npt.NDArray[np.int8]]:
    """Up to two rows for each change: the one before, and the one after."""
    known = before >= 0
    first = np.where(known, np.where(removed, _DELETE, _BEFORE), -1)
    second = np.where(removed, -1, np.where(known, _AFTER, _INSERT))
    at, kinds = np.column_stack([before, after]).ravel(), np.column_stack([first, second]).ravel()
    batches = both.take(pa.array(at[kinds >= 0])).combine_chunks().to_batches()
    empty = pa.RecordBatch.from_arrays([pa.nulls(0, one.type) for one in both.schema], schema=both.schema)
    return (batches[0] if batches else empty), kinds[kinds >= 0].astype(np.int8)
