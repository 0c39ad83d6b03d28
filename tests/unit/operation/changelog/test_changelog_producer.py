"""Which changes the producers record, and which tables have none."""

from __future__ import annotations

import pytest
from support.tables import compact, make_table, write

from tablestore_engine.errors import OptionError
from tablestore_engine.schema.table.schema_changes import SetOption

COLUMNS = {"id": "INT", "v": "INT", "at": "INT"}
DEDUPLICATE = "changelog-producer.row-deduplicate"
IGNORE = "changelog-producer.row-deduplicate-ignore-fields"


def one(v, at):
    return [{"id": 1, "v": v, "at": at}]


def kinds(table):
    return [row["_row_kind"] for row in table.changes(0, recorded=True).to_pylist()]


@pytest.mark.parametrize("producer", ["lookup", "full-compaction"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["+I", "-U", "+U", "-U", "+U"]),
        ({DEDUPLICATE: "false"}, ["+I", *["-U", "+U"] * 3]),
        ({IGNORE: "at"}, ["+I", "-U", "+U"]),
        ({IGNORE: "at,v,id"}, ["+I"]),
    ],
)
def test_rows_that_are_written_again(tmp_path, producer, options, expected):
    table = make_table(tmp_path, COLUMNS, ["id"], options={"bucket": "1", "changelog-producer": producer, **options})
    for rows in (one(1, 1), one(1, 1), one(1, 2), one(2, 3)):
        write(table, rows)
        if producer == "full-compaction":
            compact(table)
    assert kinds(table) == expected


@pytest.mark.parametrize("producer", ["input", "lookup"])
def test_a_statement_may_record_nothing(tmp_path, producer):
    table = make_table(tmp_path, COLUMNS, ["id"], options={"bucket": "1", "changelog-producer": producer})
    write(table.with_options({"change-tracking": "false"}, "statement"), one(1, 1))
    assert kinds(table) == []
    write(table, [{"id": 2, "v": 1, "at": 1}])
    assert kinds(table) == ["+I"]


def test_tables_without_a_key_have_no_producer(tmp_path):
    with pytest.raises(OptionError, match="'changelog-producer' = 'lookup' needs a primary key"):
        make_table(tmp_path, COLUMNS, options={"changelog-producer": "lookup"})
    table = make_table(tmp_path, COLUMNS)
    with pytest.raises(OptionError, match="needs a primary key"):
        table.alter(SetOption("changelog-producer", "input"))


def test_columns_to_ignore_are_columns(tmp_path):
    with pytest.raises(OptionError, match="'vv', which is not a column"):
        make_table(tmp_path, COLUMNS, ["id"], options={IGNORE: "vv"})
