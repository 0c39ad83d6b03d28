"""Files that are held for lookups: which rows they find, when they are held, and within what."""

from __future__ import annotations

from datetime import date, datetime
from itertools import count

import numpy as np
import pyarrow as pa
import pytest
from support.tables import make_table, write

from tablestore_engine.operation.files.data_file_reader import FileColumns, StoredFile
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.formats.parquet_file import PAGE_ROWS
from tablestore_engine.operation.read.held_files import (
    FileRows,
    HeldFile,
    held_file,
    hold,
    rows_by_pages,
    rows_of_many_keys,
)
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS

COLUMNS = {"id": "INT", "line": "STRING", "v": "BIGINT"}
MANY = 1 << 20
_names = count()


@pytest.mark.parametrize(
    ("columns", "keys", "deleted", "expected"),
    [
        ({"k": [1, 3, 5, 7]}, {"k": [7, 3, 4, 3]}, None, [1, 3]),
        ({"k": [1, 3, 5, 7]}, {"k": [7, 3, 4]}, [1], [3]),
        ({"k": [1, 3, 5, 7]}, {"k": [0, 9]}, None, []),
        ({"k": [3, 1, 2]}, {"k": [2, 3]}, None, [0, 2]),
        ({"k": [1, None, 2]}, {"k": [2]}, None, [2]),
        ({"k": ["a", "b", "c"]}, {"k": ["c", "a", "x"]}, None, [0, 2]),
        ({"k": [date(2026, 1, one) for one in (1, 2, 3)]}, {"k": [date(2026, 1, 2)]}, None, [1]),
        ({"k": [datetime(2026, 1, one) for one in (1, 2, 3)]}, {"k": [datetime(2026, 1, 3)]}, None, [2]),
        ({"k": [1, 1, 1, 2], "l": ["a", "b", "c", "a"]}, {"k": [1, 1, 2], "l": ["c", "a", "b"]}, None, [0, 2]),
        # Without the column by which the file is sorted.
        ({"k": [1, 1, 2], "l": ["a", "b", "a"]}, {"l": ["a"]}, None, [0, 2]),
    ],
)
def test_rows_of_keys(columns, keys, deleted, expected):
    file = HeldFile.of(pa.RecordBatch.from_pydict({**columns, "at": np.arange(len(columns["k"]))}), "k")
    kinds = pa.schema([file.rows.schema.field(name) for name in keys])
    rows = file.of_keys(RowKeys(pa.table(keys, kinds)), None if deleted is None else np.array(deleted))
    assert rows.column("at").to_pylist() == expected


def one_file(tmp_path, rows=3 * PAGE_ROWS):
    """The one file of a new table."""
    table = make_table(tmp_path / str(next(_names)), COLUMNS, ["id", "line"], options={"bucket": "1"})
    write(table, [{"id": number, "line": "a", "v": number * 10} for number in range(rows)])
    (scan,) = table.scan().buckets
    (file,) = scan.files
    stored = StoredFile(scan.path_of(table.paths, file), file.file_size, table.schema)
    return FileRows(table.io, stored, table.schema, FileColumns(table.schema.field_names, RECORD_COLUMNS))


def test_a_file_is_held_once_lookups_have_read_as_much_of_it(tmp_path):
    file = one_file(tmp_path)
    assert held_file(file, 3 * PAGE_ROWS, PAGE_ROWS, MANY) is None
    assert held_file(file, 3 * PAGE_ROWS, PAGE_ROWS, MANY) is None
    found = held_file(file, 3 * PAGE_ROWS, PAGE_ROWS, MANY)
    assert found is not None
    keys = RowKeys(pa.table({"id": pa.array([5, -1], pa.int32())}))
    assert found.of_keys(keys, None).column("v").to_pylist() == [50]
    assert held_file(file, 3 * PAGE_ROWS, PAGE_ROWS, MANY) is found
    assert found.values is not None


def test_nothing_is_held_of_no_bytes_nor_of_too_large_files(tmp_path):
    file = one_file(tmp_path)
    assert held_file(file, 3 * PAGE_ROWS, 3 * PAGE_ROWS, 0) is None
    assert held_file(file, 3 * PAGE_ROWS, 3 * PAGE_ROWS, 1 << 10) is None
    rows = pa.Table.from_batches(file.batches())
    hold(file, rows, rows.nbytes)
    assert held_file(file, 3 * PAGE_ROWS, 1, 0) is None
    hold(file, rows, 2 * rows.nbytes)
    assert held_file(file, 3 * PAGE_ROWS, 1, 0) is not None


def test_files_are_dropped_for_others(tmp_path):
    first, second, third = (one_file(tmp_path) for _ in range(3))
    found = held_file(first, 3 * PAGE_ROWS, 3 * PAGE_ROWS, MANY)
    within = 2 * found.size
    assert held_file(second, 3 * PAGE_ROWS, 3 * PAGE_ROWS, within) is not None
    assert held_file(first, 3 * PAGE_ROWS, 3 * PAGE_ROWS, within) is found  # both fit
    assert held_file(third, 3 * PAGE_ROWS, 3 * PAGE_ROWS, within) is not None
    assert held_file(second, MANY, 1, within) is None


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([3, 900, 2_000, 6_000], 4 * PAGE_ROWS),  # each in a page of its own
        (range(1_000, 1_100), 100 + 2 * PAGE_ROWS),  # near to one another
        (range(20_000, 20_100), 2 * PAGE_ROWS),  # behind all rows
        ([], 0),
    ],
)
def test_rows_that_pages_of_keys_have(tmp_path, ids, expected):
    table = make_table(tmp_path, COLUMNS, ["id", "line"], options={"bucket": "1"})
    write(table, [{"id": number, "line": "a", "v": 0} for number in range(8 * PAGE_ROWS)])
    (file,) = table.scan().files
    keys = RowKeys(pa.table({"id": pa.array(ids, pa.int32())}))
    assert rows_by_pages(file, table.schema, keys) == expected


def test_rows_of_many_keys_are_found_batch_by_batch(tmp_path):
    file = one_file(tmp_path)
    ids = [*range(0, 3 * PAGE_ROWS, 7), -5, 3 * PAGE_ROWS + 1]
    keys = RowKeys(pa.table({"id": pa.array(ids, pa.int32()), "line": ["a" if one % 2 else "b" for one in ids]}))
    found = pa.Table.from_batches(rows_of_many_keys(file, keys))
    assert found.column("id").to_pylist() == [one for one in ids[:-2] if one % 2]
