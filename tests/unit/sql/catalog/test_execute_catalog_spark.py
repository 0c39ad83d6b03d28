"""Forms of Spark's catalog statements: names with our catalog, buckets, LIKE and properties."""

from __future__ import annotations

import pytest

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
