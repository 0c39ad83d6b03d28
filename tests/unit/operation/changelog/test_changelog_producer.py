"""Which changes the producers record, and which tables have none."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from support.tables import compact, make_table, reload, write

from tablestore_engine.errors import OptionError
from tablestore_engine.operation.files.data_file_reader import FileColumns
from tablestore_engine.operation.formats.parquet_file import PAGE_ROWS
from tablestore_engine.operation.read.arrow_read import file_rows
from tablestore_engine.operation.read.held_files import held_file
from tablestore_engine.schema.table.schema_changes import SetOption
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS
from tablestore_engine.schema.types.types import DataField, parse_type

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


@pytest.mark.parametrize("producer", ["input", "lookup", "full-compaction"])
def test_a_write_that_adds_a_column(tmp_path, producer):
    table = make_table(tmp_path, COLUMNS, ["id"], options={"bucket": "1", "changelog-producer": producer})
    write(table, one(1, 1))
    old = table.schema
    new = DataField(old.highest_field_id + 1, "more", parse_type("STRING"))
    fields = (*old.fields, new)
    schema = replace(old, id=1, fields=fields, highest_field_id=new.id, replaces=str(old.id), base=old.id)
    rows = pa.table({**{name: pa.array([2], pa.int32()) for name in COLUMNS}, "more": ["x"]})
    table.evolving(schema).write(rows)
    table = reload(table)
    if producer == "full-compaction":
        compact(table)
    found = table.changes(0, recorded=True).to_pylist()
    assert sorted((row["id"], row["_row_kind"], row["more"]) for row in found) == [(1, "+I", None), (2, "+I", "x")]


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


def some_batch(random, ids, *, retracts):
    """Rows of a table of several pages, some of which delete."""
    columns = {
        "id": pa.array(ids, pa.int32()),
        "line": [f"l{one % 3}" for one in ids],
        "v": pa.array([random.randrange(3) for _ in ids], pa.int32()),
        "_row_kind": [random.choice(["+I", "+I", "-D"]) if retracts else "+I" for _ in ids],
    }
    return pa.table(columns)


def test_rows_are_the_same_in_held_files_and_in_pages(tmp_path):
    changes = {}
    for memory in ("0", "256 mb"):
        random, several = Random(3), 3 * PAGE_ROWS
        options = {"bucket": "1", "changelog-producer": "lookup", "lookup.cache-max-memory-size": memory}
        columns = {"id": "INT", "line": "STRING", "v": "INT"}
        table = make_table(tmp_path / memory, columns, ["id", "line"], options=options)
        table.write(some_batch(random, range(several), retracts=False))
        for many in (3, 400, 1, 400, 2, 2):
            table.write(some_batch(random, random.sample(range(several + 100), many), retracts=True))
        (bucket,) = table.scan(table.snapshot_store.load(1)).buckets
        first = file_rows(
            table.state, table.schema, (bucket, bucket.files[0]), FileColumns(tuple(columns), RECORD_COLUMNS)
        )
        assert (held_file(first, several, 0, 0) is not None) == (memory != "0")
        changes[memory] = [tuple(row.values()) for row in table.changes(0, recorded=True).to_pylist()]
    assert len(changes["0"]) > several + 400
    assert changes["0"] == changes["256 mb"]
