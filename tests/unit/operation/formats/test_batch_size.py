"""How many rows of a table fit into so many bytes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tablestore_engine.operation.formats.batch_size import rows_within, slices_within, typed_batches
from tablestore_engine.operation.formats.file_format import BatchSizes


@pytest.mark.parametrize(
    ("rows", "size", "bound", "fitting"),
    [(10, 100, 100, 10), (10, 100, 50, 5), (10, 100, 59, 5), (10, 100, 1, 1), (0, 0, 5, 0)],
)
def test_rows_within_a_bound(rows, size, bound, fitting):
    assert rows_within(rows, size, bound) == fitting


def test_slices_are_the_table():
    table = pa.table({"v": pa.array(range(1000), pa.int64())})
    slices = list(slices_within(table, 3000))
    assert pa.concat_tables(slices).equals(table)
    assert max(s.nbytes for s in slices) <= 3000
    assert len(slices) == 3
    assert list(slices_within(table.slice(0, 0), 3000)) == []


def test_rows_without_columns_are_counted():
    found = typed_batches(pa.table({"v": range(25)}).select([]), {}, BatchSizes(rows=10))
    assert [one.num_rows for one in found] == [10, 10, 5]
