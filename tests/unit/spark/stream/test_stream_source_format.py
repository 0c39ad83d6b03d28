"""The format of streams without a session: which folders it takes, and what it refuses."""

from __future__ import annotations

import pytest
from pyspark.sql.types import StructType
from support.tables import make_table, write

from tablestore_engine.errors import OptionError, SchemaError, TableNotFound, UserError
from tablestore_engine.spark.stream.stream_source import TableStream, table_at


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (None, "not given the folder of a table"),
        ("", "not given the folder of a table"),
        ("w/d.db/orders", "relative path"),
        ("/w/orders", "not the folder of a table"),
        ("/w/.db/orders", "not the folder of a table"),
        ("s3://b/w/d.db/orders", "not a local folder"),
    ],
)
def test_other_folders_than_those_of_tables_are_refused(folder, message):
    with pytest.raises(UserError, match=message):
        table_at(folder)


def test_the_folder_says_which_table_is_read(tmp_path):
    path = make_table(tmp_path, {"id": "INT"}).path
    assert table_at(f"file:{path}/").identifier == ("default", "t")
    with pytest.raises(TableNotFound):
        table_at(f"{path}s")


def test_options_schemas_and_other_uses_are_refused(tmp_path):
    path = make_table(tmp_path, {"id": "INT"}).path
    with pytest.raises(OptionError, match=r"Did you mean 'scan\.mode'"):
        TableStream({"path": path, "scan.mod": "latest"})
    source = TableStream({"path": path, "scan.mode": "latest"})
    assert source.schema().fieldNames() == ["_row_kind", "id"]
    assert source.streamReader(source.schema()).initialOffset()
    with pytest.raises(SchemaError, match="schema of its own"):
        source.streamReader(StructType().add("id", "integer"))
    for refused, way_out in (
        (source.reader, "read"),
        (lambda schema: source.writer(schema, overwrite=False), "write"),
        (lambda schema: source.streamWriter(schema, overwrite=False), "write_stream"),
    ):
        with pytest.raises(UserError, match=rf"TableStore\(warehouse\)\.{way_out}\("):
            refused(source.schema())


def test_texts_of_a_char_have_its_length(tmp_path):
    """Also those that another writer stored shorter, unless they are of a key."""
    table = make_table(
        tmp_path, {"id": "CHAR(2)", "c": "CHAR(4)", "l": {"type": "ARRAY", "element": "CHAR(2)"}}, ["id"]
    )
    write(table, [{"id": "a", "c": "b", "l": ["c", None]}, {"id": "e"}])
    source = TableStream({"path": table.path})
    assert [list(field.metadata.values()) for field in source.schema()] == [
        [], ["char(2)"], ["char(4)"], ["array<char(2)>"],
    ]  # fmt: skip
    reader = source.streamReader(source.schema())
    start = reader.initialOffset()
    (task,) = reader.partitions(start, reader.latestOffset(start))
    (batch,) = reader.read(task)
    assert [tuple(one.values()) for one in batch.to_pylist()] == [
        ("+I", "a", "b   ", ["c ", None]), ("+I", "e", None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(("mode", "first", "later"), [("full", ["1"], ["2", "3"]), ("latest", ["2"], ["3"])])
def test_a_first_batch_that_runs_again_begins_where_it_did(tmp_path, mode, first, later):
    """Spark keeps the end of a batch, and the start of all but the first."""
    table = make_table(tmp_path, {"id": "INT"})

    def reader():
        source = TableStream({"path": table.path, "scan.mode": mode})
        return source.streamReader(source.schema())

    def ids(asked, start, end):
        read = [rows for task in asked.partitions(start, end) for rows in asked.read(task)]
        return [str(number) for rows in read for number in rows.column("id")]

    write(table, [{"id": 1}])
    before = reader()
    start = before.initialOffset()
    write(table, [{"id": 2}])
    end = before.latestOffset(start)
    write(table, [{"id": 3}])
    after = reader()
    assert ids(after, after.initialOffset(), end) == first
    more = after.latestOffset(end)
    assert ids(after, end, more) == later
    assert after.latestOffset(more) == more
    assert before.latestOffset(end) == more
