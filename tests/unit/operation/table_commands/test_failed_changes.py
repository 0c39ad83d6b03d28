"""Changes without Spark that fail: the message names the change and its table, once."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tablestore_engine import TableStore, TableStoreError


@pytest.fixture
def store(tmp_path):
    store = TableStore(tmp_path)
    store.create_table("t", {"id": "int", "v": "varchar(3)"}, primary_key="id")
    return store


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ({"id": [1]}, "The rows do not fit the table: no column v."),
        ({"id": ["x"], "v": ["a"]}, "Column 'id' cannot be written as INT NOT NULL"),
        ({"id": [2**40], "v": ["a"]}, "Column 'id' cannot be written as INT NOT NULL"),
        ({"id": pa.array([None], pa.int32()), "v": ["a"]}, "Primary key column 'id' has 1 null value"),
        ({"id": [1], "v": ["abcd"]}, "Column 'v' has the type VARCHAR(3), and a value has 4 characters"),
    ],
)
def test_an_arrow_write_names_its_table(store, rows, reason):
    with pytest.raises(TableStoreError) as caught:
        store.table("t").write(pa.table(rows))
    assert str(caught.value).startswith(f"Writing to table default.t failed: {reason}")
    assert store.table("t").latest_snapshot() is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("alter table t add column v int", "There is a column 'v' already"),
        (
            "alter table t add column s struct<a int, b array<struct<c int, c int>>>",
            "Column 's.b' has two fields named 'c'",
        ),
        ("alter table t drop column w", "Column 'w' does not exist"),
        ("alter table t alter column v type int", "Column 'v' cannot become INT"),
        ("alter table t set tblproperties ('buckt' = '1')", "Unknown table option 'buckt'. Did you mean 'bucket'?"),
        ("alter table t set tblproperties ('bucket' = 'x')", "Option 'bucket' cannot be 'x'"),
        ("alter table t add column w int default 'x'", "Column 'w' cannot have the default value 'x': it is no value"),
    ],
)
def test_a_statement_without_spark_names_its_table(store, text, reason):
    with pytest.raises(TableStoreError) as caught:
        store.execute(text)
    assert str(caught.value).startswith(f"ALTER TABLE default.t failed: {reason}"), str(caught.value)


def test_a_write_that_needs_spark_names_its_table(store):
    columns = {"id": "int", "p": "int"}
    store.create_table("c", columns, primary_key="id", partition_by="p", options={"bucket": -1})
    with pytest.raises(TableStoreError) as caught:
        store.table("c").write(pa.table({"id": [1], "p": [1]}))
    assert str(caught.value).startswith("Writing to table default.c failed: Rows whose key may be in another partition")


def test_a_struct_with_two_fields_of_one_name_is_refused(store):
    with pytest.raises(TableStoreError) as caught:
        store.execute("create table u (id int, m map<string, struct<a int, a int>>)")
    assert str(caught.value).startswith("CREATE TABLE default.u failed: Column 'm' has two fields named 'a'.")
    store.execute("create table u (m map<string, struct<a int, b struct<a int>>>)")


@pytest.mark.parametrize(
    "text",
    [
        "alter table t create tag x as of version 99",
        "alter table t drop tag nope",
        "alter table t rename tag nope to x",
        "create table t (id int default 'abc')",
    ],
)
def test_a_mistaken_name_is_shown_with_the_table(store, text):
    store.table("t").write(pa.table({"id": pa.array([1], pa.int32()), "v": ["a"]}))
    with pytest.raises(TableStoreError, match=r"(of table|TABLE) default\.t\b") as caught:
        store.execute(text)
    assert "invalid literal" not in str(caught.value)
