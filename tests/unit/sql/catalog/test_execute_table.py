"""CREATE, DROP and RENAME of tables in a warehouse on disk, without a JVM."""

from __future__ import annotations

import os

import pytest
from support.execute_door import NOW, door  # noqa: F401

from tablestore_engine.errors import (
    ColumnNotFound,
    DatabaseNotFound,
    NotAManagedTableError,
    OptionError,
    SchemaError,
    SqlError,
    TableAlreadyExists,
    TableNotFound,
    UnsupportedTypeError,
    ViewNotFound,
)


def test_create_table_in_full(door):
    door.run("""
        CREATE TABLE Orders (
          id BIGINT COMMENT 'number of the order',
          dt DATE NOT NULL,
          amount DECIMAL(10, 2),
          at TIMESTAMP, local TIMESTAMP_NTZ,
          lines ARRAY<STRUCT<sku: STRING NOT NULL COMMENT 'unit', n: INT>>,
          tags MAP<STRING, VARCHAR(5)>,
          PRIMARY KEY (dt, ID) NOT ENFORCED)
        PARTITIONED BY (dt)
        COMMENT 'all of them'
        WITH ('bucket' = '4', 'file.compression' = 'snappy')""")
    schema = door.schema("orders")
    assert schema.primary_keys == ("dt", "id")
    assert schema.partition_keys == ("dt",)
    assert schema.comment == "all of them"
    assert (schema.core_options.bucket, schema.core_options.file_compression) == (4, "snappy")
    assert [str(one.type) for one in schema.fields] == [
        "BIGINT NOT NULL", "DATE NOT NULL", "DECIMAL(10, 2)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "TIMESTAMP(6)",
        "ARRAY<ROW<`sku` STRING NOT NULL, `n` INT>>", "MAP<STRING NOT NULL, VARCHAR(5)>",
    ]  # fmt: skip
    assert schema.field("id").description == "number of the order"
    assert schema.field("lines").type.element.fields[0].description == "unit"
    assert schema.time_millis == NOW


@pytest.mark.parametrize(
    ("clauses", "error", "message"),
    [
        ("(a int) tblproperties ('buckt' = '1')", OptionError, "bucket"),
        ("(a int) tblproperties ('bucket' = 'many')", OptionError, "many"),
        ("(a int, A int)", SchemaError, "Two columns"),
        ("(a int, primary key (b))", SchemaError, "'b'"),
        ("(a int, d date, primary key (a)) partitioned by (d) with ('bucket' = '2')", SchemaError, "all partition"),
        ("(a interval day)", UnsupportedTypeError, "Column a"),
        ("(a int default 'x')", SchemaError, "default value 'x'"),
        ("(a int default (select 1))", SqlError, "holds a query"),
        ("(a int first)", SqlError, "position"),
    ],
)
def test_a_table_that_would_be_broken_is_not_made(door, clauses, error, message):
    with pytest.raises(error, match=message):
        door.run(f"create table t {clauses}")
    assert door.column("show tables") == []


def test_create_over_what_exists(door):
    door.run("create table t (a int)")
    door.view("v", a="int")
    door.run("create table if not exists T (b int, c int)")
    assert door.schema("t").field_names == ("a",)
    for text in ("create table t (b int)", "create table v (b int)", "create or replace table v (b int)"):
        with pytest.raises(TableAlreadyExists):
            door.run(text)
    with pytest.raises(TableNotFound):
        door.run("replace table nope (a int)")
    with pytest.raises(DatabaseNotFound):
        door.run("create table nowhere.t (a int)")
    os.makedirs(f"{door.catalog.warehouse}/default.db/foreign/x")
    with pytest.raises(NotAManagedTableError, match="foreign"):
        door.run("create table foreign (a int)")


def test_key_and_comment_as_options(door):
    door.run("create table t (a int, b int) tblproperties ('primary-key' = 'a', 'comment' = 'hello')")
    assert door.schema("t").primary_keys == ("a",)
    assert door.schema("t").comment == "hello"
    assert "primary-key" not in door.schema("t").options


def test_session_options_are_defaults(door):
    session = door.with_options(**{"table-storage__bucket": "3", "tablestore__file.compression": "lz4"})
    session.run("create table keyed (a int, primary key (a))")
    session.run("create table own (a int, primary key (a)) with ('bucket' = '5')")
    session.run("create table plain (a int)")
    found = {name: door.schema(name).core_options for name in ("keyed", "own", "plain")}
    assert [found[name].bucket for name in found] == [3, 5, -1]
    assert {one.file_compression for one in found.values()} == {"lz4"}
    with pytest.raises(OptionError, match=r"file\.compresion"):
        door.with_options(**{"table-storage__file.compresion": "lz4"}).run("create table t (a int)")


def test_create_or_replace(door):
    door.run("create or replace table t (a int)")
    door.insert("t", [{"a": 1}])
    try:
        door.run("create or replace table t (b string, primary key (b))")
    except SqlError as error:
        assert "AS SELECT" in str(error)
        assert door.schema("t").field_names == ("a",)
    else:
        assert door.schema("t").field_names == ("b",)
        assert door.catalog.load_table("default", "t").to_arrow().num_rows == 0
        assert door.catalog.load_table("default", "t").latest_snapshot().id == 2


def test_create_like(door):
    door.run(
        "create table a (id int comment 'x', d date, v struct<n: int>, primary key (d, id)) partitioned by (d) "
        "comment 'c' with ('bucket' = '2')"
    )
    door.run("create table b like a tblproperties ('bucket' = '7')")
    a, b = door.schema("a"), door.schema("b")
    assert (b.fields, b.primary_keys, b.partition_keys, b.comment) == (
        a.fields, a.primary_keys, a.partition_keys, a.comment,
    )  # fmt: skip
    assert {**a.options, "bucket": "7"} == b.options
    door.run("create table if not exists b like a")
    door.view("v", x="bigint", y="string")
    door.run("create table c like v")
    assert door.schema("c").field_names == ("x", "y")
    door.view("unknown")
    with pytest.raises(SqlError, match="not known"):
        door.run("create table d like unknown")
    with pytest.raises(TableNotFound):
        door.run("create table d like nope")


def test_drop(door):
    door.run("create table t (a int)")
    door.view("v", "select * from t", a="int")
    with pytest.raises(SqlError, match="DROP VIEW"):
        door.run("drop table if exists v")
    with pytest.raises(SqlError, match="DROP TABLE"):
        door.run("drop view if exists t")
    door.run("drop table T")
    door.run("drop view V")
    assert door.column("show tables") == []
    for text in (
        "drop table if exists t",
        "drop view if exists v",
        "drop table if exists no.t",
        "drop view if exists no.v",
    ):
        door.run(text)
    with pytest.raises(TableNotFound):
        door.run("drop table t")
    with pytest.raises(ViewNotFound):
        door.run("drop view v")


def test_rename(door):
    door.run("create schema s")
    door.run("create table s.t (a int)")
    door.run("alter table s.t rename to u")
    assert door.rows("show tables in s") == [("s", "u", False)]
    door.run("alter table s.u rename to default.w")
    assert door.catalog.object_kind("default", "w") == "table"
    door.view("v", a="int")
    door.run("alter view v rename to s.v2")
    assert door.catalog.object_kind("s", "v2") == "view"
    with pytest.raises(SqlError, match="ALTER VIEW"):
        door.run("alter table s.v2 rename to x")
    with pytest.raises(SqlError, match="ALTER TABLE"):
        door.run("alter view w rename to x")
    with pytest.raises(TableAlreadyExists):
        door.run("alter table w rename to s.v2")
    with pytest.raises(TableNotFound):
        door.run("alter table nope rename to x")


def test_a_watermark_is_for_a_column_of_the_table(door):
    with pytest.raises(ColumnNotFound, match=r"WATERMARK FOR names the column 'tss'.*Did you mean 'ts'"):
        door.run("create table w (id int, ts timestamp, watermark for tss as tss)")
    with pytest.raises(ColumnNotFound, match=r"'s\.nope', which the table does not have"):
        door.run("create table w (id int, s struct<ts: timestamp>, watermark for s.nope as s.ts)")
    with pytest.raises(SchemaError, match="'id', whose type is INT: it takes a timestamp"):
        door.run("create table w (id int, ts timestamp, watermark for id as ts - interval 5 second)")
    assert not door.catalog.table_exists("default", "w")
    door.run("create table w (id int, s struct<ts: timestamp>, watermark for s.ts as s.ts - interval 5 second)")
    assert door.schema("w").options["schema.watermark.0.rowtime"] == "s.ts"
