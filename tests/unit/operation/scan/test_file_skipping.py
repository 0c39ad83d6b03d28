"""How many rows a comparison certainly holds for, by statistics."""

from __future__ import annotations

import pytest
from support.append_deletion_vectors import prepared_delete
from support.tables import make_table, write

from tablestore_engine.operation.scan.file_skipping import certain_rows
from tablestore_engine.schema.table.predicate import Compare


@pytest.fixture
def table(tmp_path):
    """Files of ids 1 to 3 (v 1 to 3), 4 to 5 (v 4, null), 6 to 7 (v 6, 7), and 8 to 9, two files that are merged."""
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options={"bucket": "1", "write-only": "true"})
    for ids in ([1, 2, 3], [6, 7], [8, 9], [8, 9]):
        write(table, [{"id": i, "v": i} for i in ids])
    write(table, [{"id": 4, "v": 4}, {"id": 5, "v": None}])
    return table


@pytest.mark.parametrize(
    ("column", "op", "value", "rows"),
    [
        ("v", ">", 0, 5),
        ("v", ">", 1, 2),
        ("V", ">=", 1, 5),
        ("v", "<", 100, 5),
        ("v", "<=", 3, 3),
        ("v", "=", 6, 0),
        ("v", ">", "0", 0),
        ("other", ">", 0, 0),
        ("id", ">", 0, 7),
    ],
)
def test_rows_of_whole_files_count(table, column, op, value, rows):
    assert certain_rows(table.scan(), Compare(column, op, value), table.state.schemas.load) == rows


def test_files_without_a_key_count_each(tmp_path):
    table = make_table(tmp_path, {"id": "INT"}, options={"deletion-vectors.enabled": "true"})
    for ids in ([1, 2, 3], [3, 4], [6, 7], [6, 8, 9]):
        write(table, [{"id": i} for i in ids])
    prepared_delete(table, [8])()
    assert certain_rows(table.scan(), Compare("id", ">", 2), table.state.schemas.load) == 4


def test_deletes_do_not_count(table):
    write(table, [{"id": 20, "v": 1}, {"id": 21, "v": 1}], kinds=[0, 3])
    assert certain_rows(table.scan(), Compare("id", ">", 10), table.state.schemas.load) == 0
