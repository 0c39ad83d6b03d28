"""Forms of Spark's catalog statements: names with our catalog, buckets, LIKE, properties, and what a DROP leaves."""

from __future__ import annotations

import pytest
from support.logged import logged

from tablestore_engine.catalog import View
from tablestore_engine.errors import TableNotFound
from tablestore_engine.store import TableStore


@pytest.fixture
def store(tmp_path):
    store = TableStore(tmp_path)
    store.execute("CREATE SCHEMA tablestore.s")
    store.execute(
        "CREATE TABLE spark_catalog.s.t (id INT PRIMARY KEY COMMENT 'i', v INT) COMMENT 't' WITH ('a.b' = 'c')"
    )
    return store


def test_buckets_of_spark_are_options(store):
    store.execute("CREATE TABLE c (a INT, b INT) CLUSTERED BY (a, b) INTO 4 BUCKETS")
    assert store.table("c").schema.options == {"bucket": "4", "bucket-key": "a,b"}


def test_like_copies_a_table_and_overrides_it(store):
    store.execute("CREATE TABLE l LIKE tablestore.s.t COMMENT 'mine' TBLPROPERTIES ('a.b' = 'd', 'bucket' = '2')")
    made, source = store.table("l").schema, store.table("s.t").schema
    assert [(f.name, f.type, f.description) for f in made.fields] == [
        (f.name, f.type, f.description) for f in source.fields
    ]
    assert (made.primary_keys, made.comment) == (("id",), "mine")
    assert made.options == {"a.b": "d", "bucket": "2"}
    store.execute("CREATE TABLE IF NOT EXISTS l LIKE s.t")
    store.execute("CREATE TABLE another (z INT)")
    store.execute("CREATE OR REPLACE TABLE another LIKE l")
    assert store.table("another").schema.field_names == store.table("l").schema.field_names
    with pytest.raises(TableNotFound, match=r"'default\.none' does not exist"):
        store.execute("REPLACE TABLE none LIKE l")
    assert store.table("l").schema.comment == "mine"


def test_properties_of_a_schema_can_be_removed(store):
    store.execute("ALTER SCHEMA s SET DBPROPERTIES ('a' = '1', 'b' = '2')")
    store.execute("ALTER DATABASE tablestore.s UNSET PROPERTIES ('a')")
    rows = dict(store.execute("DESCRIBE SCHEMA EXTENDED s").rows)
    assert rows["Properties"] == "((b,2))"


def test_one_partition_is_shown(store):
    store.execute("CREATE TABLE s.p (id INT, day STRING) PARTITIONED BY (day)")
    store.table("s.p").write(_rows())
    (row,) = store.execute("SHOW TABLE EXTENDED IN s LIKE 'p' PARTITION (day = 'x')").rows
    assert row[:3] == ("s", "p", False)
    assert "partition: day=x\n" in row[3]
    assert "num-files: 1\n" in row[3]


def _rows():
    import pyarrow as pa

    return pa.table({"id": pa.array([1], pa.int32()), "day": ["x"]})


def test_drop_names_the_views_that_it_leaves_without_a_table(store, caplog):
    catalog = store.catalog
    catalog.create_view("default", "of_schema", View("SELECT * FROM s.t JOIN u", "default"))
    catalog.create_view("s", "of_bare", View("WITH t2 AS (SELECT * FROM t) SELECT * FROM t2", "s"))
    catalog.create_view("default", "of_another", View("SELECT * FROM t", "default"))
    catalog.create_view("default", "of_view", View("SELECT * FROM of_schema", "default"))
    store.execute("DROP TABLE IF EXISTS s.nothing")
    assert logged(caplog) == []
    store.execute("DROP TABLE s.t")
    views = "default.of_schema, default.of_view, s.of_bare"
    assert logged(caplog) == [f"Table s.t is dropped; these views read it: {views}."]
    caplog.clear()
    store.execute("DROP VIEW of_schema")
    assert logged(caplog) == ["View default.of_schema is dropped; these views read it: default.of_view."]
