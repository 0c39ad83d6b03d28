"""How many rows a comparison certainly holds for, and how many nulls columns have, by statistics."""

from __future__ import annotations

import pytest
from support.append_deletion_vectors import prepared_delete
from support.tables import make_table, write

from tablestore_engine.operation.scan.file_skipping import certain_rows, null_counts
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.schema_changes import AddColumn, DropColumn, RetypeColumn, SetOption
from tablestore_engine.schema.types.types import parse_type


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


def test_nulls_are_counted_in_files_of_every_schema(tmp_path):
    """The column is first, then second, has no statistics, and has another type; a file is older than it."""
    table = make_table(tmp_path, {"other": "INT"})
    write(table, [{"other": None}])
    for change, rows in (
        (AddColumn("v", parse_type("INT")), [{"other": 1, "v": None}, {"other": 1, "v": None}, {"other": 1, "v": 2}]),
        (DropColumn("other"), [{"v": None}, {"v": 1}]),
        (SetOption("metadata.stats-mode", "none"), [{"v": None}]),
        (SetOption("metadata.stats-mode", "full"), [{"v": 1}]),
        (RetypeColumn("v", parse_type("BIGINT")), [{"v": None}]),
    ):
        table = table.alter(change)
        write(table, rows)
    files = [entry.file for entry in table.live_files()]
    counts = list(null_counts(files, table.schema, table.state.schemas.load, "v"))
    assert counts == [None, None, None, None, None, 1], "of the type of today"
    before = table.state.schemas.load(table.schema.id - 1)
    assert list(null_counts(files, before, table.state.schemas.load, "v")) == [None, 2, 1, None, 0, None]
