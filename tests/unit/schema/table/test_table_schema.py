"""A table is born whole or not at all, and its schema reads back as it was written."""

from __future__ import annotations

import json
import pickle

import pytest

from tablestore_engine.errors import ColumnNotFound, OptionError, SchemaError
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import ArrayType, DataField, RowType, parse_type

INT, STRING, DATE = parse_type("INT"), parse_type("STRING"), parse_type("DATE")
COLUMNS = [("id", INT, None), ("Name", STRING, "who"), ("dt", STRING, None)]


def test_create_numbers_columns_and_tightens_keys():
    nested = RowType((DataField(0, "a", INT), DataField(0, "b", ArrayType(INT))))
    schema = create_schema([("id", INT, None), ("r", nested, None), ("z", INT, "last")], ["ID"], time_millis=9)
    assert [one.id for one in schema.fields] == [0, 1, 4]
    assert [one.id for one in schema.fields[1].type.fields] == [2, 3]
    assert schema.highest_field_id == 4
    assert schema.primary_keys == ("id",)
    assert not schema.field("id").type.nullable
    assert schema.field("z").description == "last"
    assert schema.options["bucket"] == "1"
    assert create_schema([("id", INT, None)], ["id"], default_buckets=4).core_options.bucket == 4


def test_derived_keys():
    schema = create_schema(COLUMNS, ["dt", "id"], ["dt"], {"bucket": "2"})
    assert schema.trimmed_primary_keys == ("id",)
    assert schema.bucket_keys == ("id",)
    assert [one.name for one in schema.partition_fields] == ["dt"]
    assert schema.field("NAME").name == "Name"
    append = create_schema(COLUMNS, options={"bucket": "2", "bucket-key": "Name"})
    assert append.bucket_keys == ("Name",)
    assert create_schema(COLUMNS).bucket_keys == ()
    assert "bucket" not in create_schema(COLUMNS).options


def test_keys_may_come_as_options():
    schema = create_schema(COLUMNS, options={"primary-key": "dt, id", "partition": "dt"})
    assert schema.primary_keys == ("dt", "id")
    assert schema.partition_keys == ("dt",)
    assert set(schema.options) == {"bucket"}


def test_date_partitions_get_readable_names():
    schema = create_schema([("v", INT, None), ("d", DATE, None)], partition_keys=["d"])
    assert schema.options["partition.legacy-name"] == "false"
    assert "partition.legacy-name" not in create_schema(COLUMNS, partition_keys=["dt"]).options


@pytest.mark.parametrize(
    ("columns", "keys", "partitions", "options", "says"),
    [
        ([], [], [], {}, "at least one column"),
        ([("a", INT, None), ("a", INT, None)], [], [], {}, "Two columns"),
        ([("_KEY_a", INT, None)], [], [], {}, "reserved"),
        ([(" ", INT, None)], [], [], {}, "needs a name"),
        (COLUMNS, ["nope"], [], {}, "'nope', which is not a column"),
        (COLUMNS, ["id", "ID"], [], {}, "twice"),
        (COLUMNS, ["id"], ["dt"], {"bucket": "2"}, "PRIMARY KEY (dt, id)"),
        (COLUMNS, ["dt"], ["dt"], {}, "one row"),
        (COLUMNS, [], ["id", "Name", "dt"], {}, "besides the partition"),
        (COLUMNS, ["id"], [], {"primary-key": "dt"}, "given twice"),
        ([("a", ArrayType(INT), None), ("b", INT, None)], ["a"], [], {}, "cannot be part of a key"),
        ([("a", parse_type("BYTES"), None), ("b", INT, None)], [], ["a"], {}, "cannot name a partition"),
        (COLUMNS, ["id"], [], {"bucket-key": "Name", "bucket": "2"}, "'bucket-key' cannot name 'Name'"),
        (COLUMNS, [], [], {"bucket-key": "x", "bucket": "2"}, "not a column"),
        (COLUMNS, [], [], {"bucket-key": "id"}, "needs the option 'bucket'"),
        (COLUMNS, [], [], {"bucket": "2"}, "needs the option 'bucket-key'"),
        (COLUMNS, [], [], {"sequence.field": "id"}, "needs a primary key"),
        (COLUMNS, ["id"], [], {"sequence.field": "when"}, "not a column"),
        (COLUMNS, ["id"], [], {"sequence.field": "dt,dt"}, "'sequence.field' names a column twice: dt, dt"),
        (COLUMNS, [], [], {"bucket-key": "id,id", "bucket": "2"}, "'bucket-key' names a column twice: id, id"),
        (COLUMNS, ["id"], [], {"bukcet": "1"}, "Did you mean 'bucket'?"),
    ],
)
def test_broken_tables_are_refused(columns, keys, partitions, options, says):
    with pytest.raises((SchemaError, OptionError)) as caught:
        create_schema(columns, keys, partitions, options)
    assert says in str(caught.value)


def test_json_round_trip_and_pickle():
    schema = create_schema(COLUMNS, ["dt", "id"], ["dt"], {"bucket": "2"}, "a table", 1_700_000_000_000)
    assert TableSchema.from_json(schema.to_json()) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    data = json.loads(schema.to_json())
    assert list(data) == [
        "version", "id", "fields", "highestFieldId", "partitionKeys", "primaryKeys", "options", "comment",
        "timeMillis",
    ]  # fmt: skip
    assert data["version"] == 3
    assert "tablestore.replaces" not in data


def test_replacing_schema_round_trips():
    schema = TableSchema(1, (DataField(0, "a", INT),), 0, replaces="ctas-1")
    assert json.loads(schema.to_json())["tablestore.replaces"] == "ctas-1"
    assert TableSchema.from_json(schema.to_json()).replaces == "ctas-1"


def test_reads_a_schema_of_pypaimon():
    # As pypaimon 2.1 wrote it, with explicit nullability of nested types.
    text = """{"version":3,"id":0,"fields":[{"id":0,"name":"id","type":"BIGINT NOT NULL"},
        {"id":5,"name":"a","type":{"type":"ARRAY","element":"INT","nullable":true}},
        {"id":6,"name":"r","type":{"type":"ROW","fields":[{"id":7,"name":"x","type":"INT"}],"nullable":true}},
        {"id":9,"name":"m","type":{"type":"MAP","key":"STRING NOT NULL","value":"BIGINT","nullable":true}}],
        "highestFieldId":9,"partitionKeys":[],"primaryKeys":["id"],"options":{"bucket":"3"},"comment":null,
        "timeMillis":1795246679832}"""
    schema = TableSchema.from_json(text)
    assert [str(one.type) for one in schema.fields] == [
        "BIGINT NOT NULL", "ARRAY<INT>", "ROW<`x` INT>", "MAP<STRING NOT NULL, BIGINT>",
    ]  # fmt: skip
    assert schema.core_options.bucket == 3


def test_old_versions_meant_one_bucket_and_orc():
    old = '{"version":1,"id":0,"fields":[],"highestFieldId":-1,"partitionKeys":[],"primaryKeys":[],"options":{}}'
    assert TableSchema.from_json(old).options == {"bucket": "1", "file.format": "orc"}


def test_missing_column_names_the_nearest():
    schema = create_schema(COLUMNS)
    with pytest.raises(ColumnNotFound, match="Did you mean 'Name'"):
        schema.field("nmae")
    with pytest.raises(ColumnNotFound, match="There are: id, Name, dt"):
        schema.field("zzzzzz")
    assert schema.has_field("ID")
    assert not schema.has_field("zzzzzz")
