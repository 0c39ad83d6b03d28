"""SHOW and DESCRIBE in a warehouse on disk, without a JVM."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.execute_door import Door, door, partitioned  # noqa: F401

from tablestore_engine.catalog import View
from tablestore_engine.errors import ColumnNotFound, DatabaseNotFound, NotFoundError, SqlError, TableNotFound
from tablestore_engine.sql.tokens.patterns import matching


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (None, ["Stg_a", "b", "stg_b"]),
        ("*", ["Stg_a", "b", "stg_b"]),
        ("stg*", ["Stg_a", "stg_b"]),
        ("B | *_A", ["Stg_a", "b"]),
        ("st", []),
        ("s.*", []),
        ("", []),
    ],
)
def test_patterns(pattern, found):
    assert matching(["stg_b", "b", "Stg_a"], pattern) == found


def test_show_tables_and_views(door):
    door.run("create schema s")
    door.run("create table s.orders (a int, primary key (a)) comment 'c'")
    door.catalog.create_view("s", "w", View("select 1", "s"))
    result = door.run("show tables in s")
    assert (result.columns, result.types) == (
        ("namespace", "tableName", "isTemporary"),
        ("string", "string", "boolean"),
    )
    assert result.rows == [("s", "orders", False), ("s", "w", False)]
    assert door.rows("show tables in s like 'O*'") == [("s", "orders", False)]
    assert door.rows("show views in s") == [("s", "w", False)]
    assert door.rows("show tables") == []
    extended = door.rows("show table extended in s like '*'")
    assert [row[:3] for row in extended] == [("s", "orders", False), ("s", "w", False)]
    text = extended[0][3]
    for line in ("Type: MANAGED", "Provider: tablestore", "Comment: c", " |-- a: int (nullable = false)"):
        assert line in text.splitlines()
    assert "Type: VIEW" in extended[1][3]
    with pytest.raises(DatabaseNotFound, match="default, s"):
        door.run("show tables in nope")


def test_temporary_views_are_listed_behind_the_others(door):
    listed = {None: [("", "mine", True, "about mine")], "global_temp": [("global_temp", "ours", True, "about ours")]}
    session = Door(replace(door.context, temporary_views=lambda schema, described: listed.get(schema, [])))
    session.run("create table t (a int)")
    session.view("w")
    assert session.rows("show tables") == [("default", "t", False), ("default", "w", False), ("", "mine", True)]
    assert session.rows("show views like 'm*'") == [("", "mine", True)]
    assert session.rows("show views in global_temp") == [("global_temp", "ours", True)]
    assert session.rows("show tables in global_temp") == [("global_temp", "ours", True)]
    assert session.rows("show table extended like 'mine'") == [("", "mine", True, "about mine")]
    assert door.rows("show tables in global_temp") == []
    session.run("create schema global_temp")
    assert ("global_temp", "s", False) not in session.rows("show tables in global_temp")


CREATES = {
    "plain": "(a int)",
    "types": "(a boolean, b tinyint, c smallint, d bigint, e float, f double, g decimal(38, 18), h char(3), i varchar(9), "  # noqa: E501
    "j string, k binary, l date, m timestamp, n timestamp_ntz)",
    "nested": "(a array<map<string, struct<`x y`: int not null comment 'it\\'s', z: array<decimal(5,1)>>>> not null)",
    "keyed": "(`od d` bigint, `se``t` string, v int, primary key (`se``t`, `od d`)) partitioned by (`se``t`) "
    "comment 'two\\nlines \\\\ ''quoted'' 100\\\\% \"q\"' with ('bucket' = '3', 'sequence.field' = 'v')",
    "dated": "(d date, ts timestamp, k int comment '') partitioned by (d, ts) with ('bucket' = '2', 'bucket-key' = 'k')",  # noqa: E501
}


@pytest.mark.parametrize("name", CREATES)
def test_show_create_table_gives_an_equal_table(door, name):
    door.run(f"create table t {CREATES[name]}")
    before = door.schema("t")
    ((text,),) = door.rows("show create table t")
    door.run("drop table t")
    door.run(text)
    assert door.schema("t") == before
    assert door.rows("show create table t") == [(text,)]


def test_show_create_table_of_a_view(door):
    from tablestore_engine.sql.parse.parse import parse

    door.view("v", "select a from t where b = 'x'", a="int")
    door.run("comment on column v.a is 'it''s'")
    door.run("alter view v set tblproperties ('k' = 'v', 'comment' = 'c')")
    ((text,),) = door.rows("show create table v")
    again = parse(text)
    assert (again.columns, again.comment, again.options) == ((("a", "it's"),), "c", {"k": "v"})
    assert again.query_sql == "select a from t where b = 'x'"


def test_show_properties_and_columns(door):
    door.run("create table t (a int, B string, primary key (a)) with ('bucket' = '2')")
    door.view("v", x="int")
    assert door.rows("show tblproperties t") == [("bucket", "2"), ("primary-key", "a")]
    assert door.rows("show tblproperties t ('bucket')") == [("bucket", "2")]
    assert door.rows("show tblproperties t (nope)") == [("nope", "Table default.t does not have property: nope")]
    assert door.rows("show tblproperties v") == []
    assert door.column("show columns in t") == ["a", "B"]
    assert door.column("show columns in v") == ["x"]
    with pytest.raises(TableNotFound, match="Did you mean 't'"):
        door.run("show columns in tt")


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("", ["dt=2024-01-01/hr=10", "dt=2024-01-01/hr=3", "dt=2024-01-02/hr=null"]),
        ("partition (HR = 3)", ["dt=2024-01-01/hr=3"]),
        ("partition (dt = '2024-01-01')", ["dt=2024-01-01/hr=10", "dt=2024-01-01/hr=3"]),
        ("partition (dt = date '2024-01-01', hr = '10')", ["dt=2024-01-01/hr=10"]),
        ("partition (hr = null)", ["dt=2024-01-02/hr=null"]),
        ("partition (hr = 4)", []),
    ],
)
def test_show_partitions(partitioned, spec, found):
    assert partitioned.column(f"show partitions t {spec}") == found


@pytest.mark.parametrize("spec", ["(s = 'a')", "(hr = 'x')", "(hr = 1 + 1)", "(hr)", "(hr = 1, HR = 2)"])
def test_partition_specs_that_mean_nothing(partitioned, spec):
    with pytest.raises(SqlError):
        partitioned.run(f"show partitions t partition {spec}")


def test_show_partitions_of_what_has_none(door):
    door.run("create table t (a int)")
    with pytest.raises(SqlError, match="not partitioned"):
        door.run("show partitions t")


def test_describe(partitioned):
    result = partitioned.run("describe t")
    assert result.columns == ("col_name", "data_type", "comment")
    assert result.rows == [
        ("dt", "date", None),
        ("hr", "int", None),
        ("s", "string", "text"),
        ("# Partition Information", "", ""),
        ("# col_name", "data_type", "comment"),
        ("dt", "date", None),
        ("hr", "int", None),
    ]


def test_describe_extended(partitioned):
    partitioned.run("comment on table t is 'c'")
    rows = partitioned.rows("describe table extended t")
    assert ("# Detailed Table Information", "", "") in rows
    shown = {row[0]: row[1] for row in rows}
    assert shown["Name"] == "default.t"
    assert shown["Type"] == "MANAGED"
    assert shown["Location"].endswith("/default.db/t")
    assert shown["Partition Columns"] == "dt, hr"
    assert (shown["bucket"], shown["file.format"], shown["Row Count"]) == ("-1", "parquet", "4")
    assert shown["Snapshot"].startswith("1 (APPEND at ")
    assert shown["Comment"] == "c"
    assert shown["Created Time"] == "2024-01-31 12:00:00 UTC"


def test_describe_partition(partitioned):
    rows = partitioned.rows("describe extended t partition (dt = '2024-01-01', hr = 3)")
    section = rows[rows.index(("# Detailed Partition Information", "", "")) + 1 :]
    shown = {row[0]: row[1] for row in section[:8]}
    assert shown["Partition"] == "dt=2024-01-01/hr=3"
    assert shown["Location"].endswith("/t/dt=2024-01-01/hr=3")
    assert (shown["Row Count"], shown["num-files"]) == ("2", "1")
    with pytest.raises(NotFoundError, match="hr = 4"):
        partitioned.run("describe t partition (dt = '2024-01-01', hr = 4)")
    with pytest.raises(SqlError, match="hr too"):
        partitioned.run("describe t partition (dt = '2024-01-01')")


def test_describe_column_and_view(partitioned):
    assert partitioned.rows("describe t S") == [
        ("col_name", "s"),
        ("data_type", "string"),
        ("comment", "text"),
    ]
    with pytest.raises(ColumnNotFound):
        partitioned.run("describe t nope")
    partitioned.view("v", "select dt from t", dt="date", n="struct<a: int, b: array<bigint>>")
    assert partitioned.rows("describe v") == [
        ("dt", "date", None),
        ("n", "struct<a:int,b:array<bigint>>", None),
    ]
    assert ("View Text", "select dt from t", "") in partitioned.rows("describe extended v")
    assert partitioned.rows("describe v dt")[1] == ("data_type", "date")
    with pytest.raises(TableNotFound):
        partitioned.run("describe nope")
