"""CREATE, DROP, RENAME and ALTER in a warehouse on disk, without a JVM."""

from __future__ import annotations

import os
from datetime import date

import pytest
from support.execute_door import NOW, door  # noqa: F401

from tablestore_engine.errors import (
    ColumnNotFound,
    DatabaseAlreadyExists,
    DatabaseNotFound,
    DependencyError,
    NotAManagedTableError,
    NotFoundError,
    OptionError,
    SchemaError,
    SqlError,
    TableAlreadyExists,
    TableNotFound,
    UnsupportedTypeError,
    UserError,
    ViewNotFound,
)
from tablestore_engine.sql.catalog.execute_catalog import execute
from tablestore_engine.sql.parse.parse import parse


@pytest.mark.parametrize(
    "text", ["select 1", "use s", "show current schema", "insert into t values (1)", "create view v as select 1",
             "create table t as select 1", "truncate table t", "alter table t compact", "analyze table t compute statistics", "set a = b"]  # noqa: E501
)  # fmt: skip
def test_what_is_not_for_the_catalog_is_left_alone(door, text):
    assert execute(parse(text), door.context) is None


# -- schemas ---------------------------------------------------------------------------------------------


def test_schemas(door):
    assert (
        door.run("create schema sales comment 'what we sold' with dbproperties ('team' = 'x')").kind == "CREATE SCHEMA"
    )
    door.run("create schema if not exists Sales comment 'other'")
    assert door.rows("show schemas") == [("default",), ("sales",)]
    assert door.column("show schemas like 'S*'") == ["sales"]
    shown = dict(door.rows("describe schema extended sales"))
    assert shown["Comment"] == "what we sold"
    assert shown["Properties"] == "((team,x))"
    door.run("comment on schema sales is 'better'")
    assert dict(door.rows("describe schema extended sales")) == {**shown, "Comment": "better"}
    door.run("alter database sales set dbproperties ('team' = 'y', z = 1, comment = 'best')")
    changed = {**shown, "Comment": "best", "Properties": "((team,y), (z,1))"}
    assert dict(door.rows("describe schema extended sales")) == changed
    with pytest.raises(DatabaseNotFound):
        door.run("alter schema nope set dbproperties ('a' = 'b')")
    with pytest.raises(SqlError, match="SET DBPROPERTIES"):
        door.run("alter schema sales set location '/x'")
    with pytest.raises(DatabaseAlreadyExists):
        door.run("create schema SALES")
    door.run("drop schema sales")
    assert door.column("show schemas") == ["default"]


def test_a_schema_that_is_not_empty_is_dropped_only_by_cascade(door):
    door.run("create schema s")
    door.run("create table s.t (a int)")
    with pytest.raises(DependencyError, match=r"t.*CASCADE"):
        door.run("drop schema s")
    assert door.column("show tables in s") == ["s"]
    door.run("drop schema s cascade")
    assert not door.catalog.database_exists("s")
    door.run("drop schema if exists s")
    with pytest.raises(DatabaseNotFound):
        door.run("drop schema s")


def test_a_schema_that_holds_what_others_made_is_not_empty(door):
    door.run("create schema s")
    os.makedirs(f"{door.catalog.warehouse}/s.db/precious")
    with pytest.raises(DependencyError, match="precious"):
        door.run("drop schema s restrict")
    assert os.path.isdir(f"{door.catalog.warehouse}/s.db/precious")


def test_the_default_schema_stays(door):
    with pytest.raises(SqlError, match="always"):
        door.run("drop schema default cascade")


# -- create ----------------------------------------------------------------------------------------------


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


# -- drop and rename -------------------------------------------------------------------------------------


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


# -- statements of other formats ---------------------------------------------------------------------------


FOREIGN = {
    "optimize t": "ALTER TABLE t COMPACT",
    "OPTIMIZE None.default.t where a > 1 zorder by (`a`, b)": "CALL sys.compact(table => 'default.t', order_strategy => "  # noqa: E501
    "'zorder', order_by => 'a,b')",
    "vacuum t retain 168 hours": "CALL sys.expire_snapshots(table => 't')",
    "restore table t to version as of 3": "CALL sys.rollback(table => 't'",
    "msck repair table default.t": "Leave it out",
    "repair table t add partitions": "Leave it out",
    "grant select, modify on t to `a b`": "permissions",
    "revoke all privileges on table t from u": "permissions",
    "grant select on view v to u": "permissions",
}


@pytest.mark.parametrize("text", FOREIGN)
def test_statements_of_other_formats_say_what_to_do_instead(door, text):
    door.run("create table t (a int)")
    door.view("v", a="int")
    with pytest.raises(SqlError) as caught:
        door.run(text)
    assert "is not supported: 'default." in caught.value.message
    assert FOREIGN[text] in caught.value.hint


@pytest.mark.parametrize("text", ["optimize delta.`/x`", "vacuum nope", "grant select on db.t to u", "repair table u"])
def test_what_is_no_managed_table_is_left_to_spark(door, text):
    door.run("create table t (a int)")
    assert execute(parse(text), door.context) is None


@pytest.mark.parametrize(
    ("text", "hint"), [("describe history t", "t$snapshots"), ("desc detail t", "DESCRIBE TABLE EXTENDED t")]
)
def test_descriptions_of_other_formats(door, text, hint):
    door.run("create table t (a int)")
    with pytest.raises(SqlError, match="is not supported") as caught:
        door.run(text)
    assert hint in caught.value.hint
    door.run("create table history (t int)")
    door.run("create table detail (t int)")
    assert door.rows(text)[0] == ("col_name", "t"), "a column of a table of that name"


# -- alter -----------------------------------------------------------------------------------------------


def test_add_columns(door):
    door.run("create table t (a int)")
    door.run("alter table t add columns (b string comment 'new', c struct<x: int>)")
    door.run("alter table t add column if not exists B int")
    schema = door.schema("t")
    assert schema.field_names == ("a", "b", "c")
    assert schema.field("b").description == "new"
    assert schema.id == 1
    for text, error in (
        ("add column a int", SchemaError),
        ("add column d int not null", SchemaError),
        ("add column d int default 'x'", SchemaError),
        ("alter column nope set default 1", ColumnNotFound),
    ):
        with pytest.raises(error):
            door.run(f"alter table t {text}")
    door.view("v", a="int")
    with pytest.raises(SqlError, match="view"):
        door.run("alter table v add column d int")


def test_default_values_of_columns(door):
    door.run("create table t (a int default 3 comment 'x', b string default 'it is', d date default date '2024-02-29')")
    door.run("alter table t add column e bigint default 7")
    door.run("alter table t alter column a drop default")
    door.run("alter table t alter column b set default 'new'")
    assert [one.default_value for one in door.schema("t").fields] == [None, "'new'", "'2024-02-29'", "7"]
    text = door.rows("show create table t")[0][0]
    for line in ("`b` STRING DEFAULT 'new'", "`d` DATE DEFAULT '2024-02-29'", "`e` BIGINT DEFAULT 7"):
        assert line in text
    assert ("e", "bigint", "7") in door.rows("describe t")
    door.run("create table u like t")
    assert door.schema("u").field("d").default_value == "'2024-02-29'"
    door.run("drop table u")
    door.run(text.replace("`t`", "`u`"))
    assert [one.default_value for one in door.schema("u").fields] == [None, "'new'", "'2024-02-29'", "7"]


def test_properties_of_a_table(door):
    door.run("create table t (a int)")
    door.run("alter table t set tblproperties ('write-only' = true, 'comment' = 'hi')")
    assert door.schema("t").options["write-only"] == "true"
    assert door.schema("t").comment == "hi"
    door.run("alter table t unset tblproperties ('write-only', 'comment')")
    assert dict(door.schema("t").options) == {}
    assert door.schema("t").comment is None
    door.run("alter table t unset tblproperties if exists ('write-only')")
    with pytest.raises(SqlError, match="write-only"):
        door.run("alter table t unset tblproperties ('write-only')")
    with pytest.raises(OptionError, match="write-only"):
        door.run("alter table t set tblproperties ('write-onyl' = 'true')")


@pytest.mark.parametrize(
    "change",
    ["set tblproperties ('bucket-key' = 'nope', 'bucket' = '2')", "set tblproperties ('sequence.field' = 'nope')",
     "set tblproperties ('bucket' = '-2')", "unset tblproperties ('bucket')"],
)  # fmt: skip
def test_options_that_do_not_fit_an_empty_table(door, change):
    door.run("create table t (a int, b int, primary key (a))")
    before = door.schema("t")
    with pytest.raises(UserError):
        door.run(f"alter table t {change}")
    assert door.schema("t") == before
    door.run("alter table t set tblproperties ('bucket' = '2')")
    assert door.schema("t").core_options.bucket == 2


def test_properties_of_a_view(door):
    door.view("v", a="int")
    door.run("alter view v set tblproperties ('any.thing' = '1', 'comment' = 'c')")
    view = door.catalog.load_view("default", "v")
    assert (dict(view.options), view.comment, view.sql) == ({"any.thing": "1"}, "c", "select 1 as a")
    door.run("alter view v unset tblproperties ('any.thing', 'comment')")
    view = door.catalog.load_view("default", "v")
    assert (dict(view.options), view.comment) == ({}, None)
    with pytest.raises(SqlError):
        door.run("alter view v unset tblproperties ('any.thing')")


def test_comments(door):
    door.run("create table t (a int, s struct<x: int, y: array<struct<z: int>>>)")
    door.view("v", a="int")
    door.run("comment on table t is 'it''s t'")
    assert door.schema("t").comment == "it's t"
    door.run("alter table t alter column a comment 'col'")
    door.run("comment on column t.a is 'column a'")
    door.run("alter table t alter column s.x comment 'x'")
    door.run("alter table t alter column s.y.element.z comment 'z'")
    schema = door.schema("t")
    assert schema.field("a").description == "column a"
    x, y = schema.field("s").type.fields
    assert (x.description, y.type.element.fields[0].description) == ("x", "z")
    door.run("comment on column t.a is null")
    door.run("comment on table t is null")
    assert (door.schema("t").comment, door.schema("t").field("a").description) == (None, None)
    door.run("comment on view v is 'v'")
    door.run("comment on column v.A is 'va'")
    view = door.catalog.load_view("default", "v")
    assert (view.comment, view.columns[0].description) == ("v", "va")
    for text in (
        "comment on column t.nope is ''",
        "comment on column v.nope is ''",
        "alter table t alter column s.q comment ''",
    ):
        with pytest.raises(ColumnNotFound):
            door.run(text)
    with pytest.raises(SqlError):
        door.run("comment on view t is ''")


def test_other_changes(door):
    door.run("create table t (a int)")
    with pytest.raises(SqlError, match="SET LOCATION"):
        door.run("alter table t set location 'x'")
    with pytest.raises(ColumnNotFound):
        door.run("alter table t drop column nope")
    before = door.schema("t")
    door.run("alter table t drop column if exists nope")
    assert door.schema("t").fields == before.fields


def test_drop_partition(door):
    door.run("create table t (dt date, hr int, v int) partitioned by (dt, hr)")
    days = [date(2024, 1, n) for n in (1, 2, 3)]
    door.insert("t", [{"dt": dt, "hr": hr, "v": 1} for dt in days for hr in (0, 1)])
    result = door.run(
        "alter table t drop partition (dt = '2024-01-01', hr = 0), partition (dt = date '2024-01-02') purge"
    )
    assert result.kind == "DROP PARTITION"
    left = ["dt=2024-01-01/hr=1", "dt=2024-01-03/hr=0", "dt=2024-01-03/hr=1"]
    assert door.column("show partitions t") == left
    with pytest.raises(NotFoundError, match=r"no partition \(dt = 2024-01-02\).*IF EXISTS"):
        door.run("alter table t drop partition (hr = 1), partition (dt = '2024-01-02')")
    assert door.column("show partitions t") == left, "all or nothing"
    door.run("alter table t drop if exists partition (dt = '2024-01-02')")
    assert door.column("show partitions t") == left
    assert len(door.catalog.load_table("default", "t").snapshots()) == 2
    with pytest.raises(SqlError, match="'v' is not a partition column"):
        door.run("alter table t drop partition (v = 1)")
    with pytest.raises(SqlError, match="needs a value"):
        door.run("alter table t drop partition (dt)")
    door.run("create table plain (a int)")
    with pytest.raises(SqlError, match="not partitioned"):
        door.run("alter table plain drop partition (a = 1)")


def test_refresh(door):
    door.run("create table t (a int, b int)")
    assert door.run("refresh table t").rows is None
    with pytest.raises(TableNotFound, match=r"default\.u"):
        door.run("refresh table u")
