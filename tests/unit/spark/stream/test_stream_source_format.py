"""The format of streams without a session: which folders it takes, and what it refuses."""

from __future__ import annotations

import pytest
from pyspark.sql.types import StructType
from support.tables import make_table

from tablestore_engine.errors import OptionError, SchemaError, TableNotFound, UserError
from tablestore_engine.spark.stream.stream_source import TableStream, table_at


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (None, "not given a folder"),
        ("", "not given a folder"),
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
