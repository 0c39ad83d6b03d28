"""Counts that metadata answers are those of the rows that a read returns."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import TableStoreError

ROWS = "select id, nullif(id % 5, 9) as v, if(id < 40, null, 'x') as late from range(50)"
TABLES = {
    "append": [f"create table t as {ROWS}"],
    "empty": [f"create table t as {ROWS} where false"],
    "keyed": [f"create table t (primary key (id)) as {ROWS}"],
    "upserted": [f"create table t (primary key (id)) as {ROWS}", "insert into t values (7, 7, 'x'), (70, null, 'y')"],
    "deleted": [f"create table t (primary key (id)) as {ROWS}", "delete from t where id < 5"],
    "vectors": [
        f"create table t tblproperties ('deletion-vectors.enabled' = 'true') as {ROWS}",
        "delete from t where id < 5",
    ],
    "vectors of a key": [
        f"create table t (primary key (id)) tblproperties ('deletion-vectors.enabled' = 'true') as {ROWS}",
        "insert into t values (7, 7, 'x'), (70, null, 'y')",
    ],
    "retractions": [
        f"create table t tblproperties ('retractions' = 'auto') as {ROWS}",
        "delete from t where id < 3",
    ],
    "sums": [
        f"create table t (primary key (id)) tblproperties ('merge-engine' = 'aggregation') as {ROWS}",
        "insert into t values (7, 7, 'x')",
    ],
    "partitioned": [f"create table t partitioned by (v) as {ROWS}", "insert into t values (1, null, 'y')"],
    "evolved": [f"create table t as {ROWS}", "alter table t add column w int", "insert into t values (1, 1, 'y', 1)"],
}
COUNTS = [
    ("select count(*) from t", lambda row: True),
    ("select count(1) as n, count(*) >= 50 as many from (select id from t) q", lambda row: True),
    ("select count(*) as n from (select id from t where id is null) q", lambda row: row.id is None),
    ("select count(*) as n from (select v from t where v is null) q", lambda row: row.v is None),
    ("select count(*) as n from t where late is null", lambda row: row.late is None),
    (
        "select count(*) as n from (select id as x, late from t) q where x > 1000 or late = 'zz'",
        lambda row: row.id > 1000 or row.late == "zz",
    ),
    ("select count(*) as n from t where id = 7 and v is not null", lambda row: row.id == 7 and row.v is not None),
]
WITHOUT_SPARK = {  # by number in COUNTS
    "append": [0, 1, 2, 3, 5],
    "empty": [0, 1, 2, 3, 4, 5, 6],
    "keyed": [0, 1, 2, 3, 5],
    "vectors": [0, 1, 2, 3, 5],
    "upserted": [2, 5],
    "deleted": [2, 3, 5],
    "vectors of a key": [0, 1, 2, 5],
    "retractions": [0, 1, 2, 3, 5],
    "sums": [2],
    "partitioned": [0, 1, 2, 5],
    "evolved": [0, 1, 2, 3, 5],
}


@pytest.mark.parametrize("name", TABLES)
def test_counts_are_those_of_the_rows(store, name):
    for statement in TABLES[name]:
        store.sql(statement)
    rows = store.read("t").collect()
    answered = []
    for at, (sql, fulfils) in enumerate(COUNTS):
        result = store.execute(sql)
        if result.rows is not None:
            answered.append(at)
            assert result.rows[0][0] == sum(map(fulfils, rows)), sql
            assert result.rows[0][1:] == ((len(rows) >= 50,) if "many" in sql else ())
    assert answered == WITHOUT_SPARK[name]


def test_names_and_types_are_those_of_spark(store):
    store.sql("create table t as select id from range(50)")
    for sql, _ in COUNTS[:2]:
        result, frame = store.execute(sql), store.sql(sql)
        expected = store.spark.sql(sql.replace("from t", "from range(50)"))
        assert (result.columns, result.types) == tuple(zip(*expected.dtypes, strict=True))
        assert (frame.dtypes, frame.collect()) == (expected.dtypes, expected.collect())


def test_the_rows_of_a_temporary_view_or_of_another_time_are_not_those_of_the_table(store):
    store.sql("create table t as select 1 as id")
    store.sql("insert into t values (2)")
    assert store.execute("select count(*) as n from t").rows == [(2,)]
    assert store.sql("select count(*) as n from t version as of 1").collect() == [(1,)]
    assert store.sql("select count(*) as n from t /*+ OPTIONS('scan.snapshot-id'='1') */").collect() == [(1,)]
    assert store.sql("select count(*) as n from `t$snapshots`").collect() == [(2,)]
    store.sql("set `spark.paimon.scan.snapshot-id` = 1")
    assert store.sql("select count(*) as n from t").collect() == [(1,)]
    store.sql("reset `spark.paimon.scan.snapshot-id`")
    store.sql("create view v as select * from t where id > 1")
    assert store.sql("select count(*) as n from v").collect() == [(1,)]
    store.sql("create temporary view t as select * from range(5)")
    assert store.sql("select count(*) as n from t").collect() == [(5,)]


def test_a_wrong_name_is_an_error_where_no_row_is_read(store):
    store.sql("create table t as select 1 as id")
    for sql in (
        "select count(*) as n from t where id is null and nosuch is null",
        "select count(*) as n from (select nosuch from t where id is null) q",
        "select count(*) as n from t where other.id is null",
        "select count(*) as n from t where id is null nosuch",
    ):
        with pytest.raises(TableStoreError, match=r"nosuch|other"):
            store.sql(sql).collect()
    assert store.sql("select count(*) as n from (select count(*) as m from t where id > 9) q").collect() == [(1,)]
    store.spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(TableStoreError, match="ID"):
            store.sql("select count(*) as n from t where ID is null").collect()
    finally:
        store.spark.conf.unset("spark.sql.caseSensitive")


def test_a_view_of_plain_columns_is_counted_by_what_it_reads(store):
    store.sql("create database raw")
    store.sql("create table raw.t as select id, if(id < 3, null, id) as v from range(5)")
    store.sql("create view raw.first as with t as (select * from raw.t) select id as key, v from t")
    store.sql("create view second as select key as k, v from raw.first where key is not null or v is null")
    store.sql("create view doubled as select id * 2 as id from raw.t")
    assert store.execute("select count(*) as n from raw.first").rows == [(5,)]
    assert store.execute("select count(*) as n from raw.first where key is null").rows == [(0,)]
    assert store.execute("select count(*) as n from (select k from second where k is null) q").rows == [(0,)]
    for sql, count in (("raw.first where v is null", 3), ("second", 5), ("doubled where id is null", 0)):
        assert store.sql(f"select count(*) as n from {sql}").collect() == [(count,)]
    store.sql("create temporary view second as select 1 as k")
    assert store.sql("select count(*) as n from second").collect() == [(1,)]
    store.sql("alter table raw.t rename column id to number")
    for name in ("raw.first", "doubled"):
        with pytest.raises(TableStoreError, match="cannot be read any more"):
            store.sql(f"select count(*) as n from {name}").collect()


def repeated(columns, table):
    """A test of dbt that values are unique."""
    groups = f"select {columns}, count(*) as m from {table} group by {columns} having count(*) > 1"
    return f"select count(*) as n from ({groups}) q"


@pytest.mark.parametrize(
    ("create", "unique"),
    [
        ("create table t (id int not null, v int, primary key (id))", ["id", "id, v"]),
        ("create table t (id int not null, v int, primary key (id)) with ('bucket' = '3')", ["id", "id, v"]),
        ("create table t (id int not null, v int not null, primary key (id, v)) partitioned by (v)", ["v, id"]),
        ("create table t (id int not null, v int, primary key (id)) partitioned by (v)", []),
        ("create table t (id double not null, v int, primary key (id)) with ('bucket' = '1')", []),
        ("create table t (id int, v int)", []),
    ],
)
def test_a_key_is_unique_without_spark(store, create, unique):
    store.sql(create)
    store.sql("insert into t values (1, 1), (2, 1), (3, 3)")
    store.sql("insert into t values (1, 1), (4, 1)")
    for columns in ("id", "v", "id, v", "v, id"):
        sql = repeated(columns, "t")
        result = store.execute(sql)
        assert (result.rows is not None) == (columns in unique or ", ".join(reversed(columns.split(", "))) in unique)
        seen = [tuple(row) for row in store.read("t").select(*columns.split(", ")).collect()]
        assert store.sql(sql).collect() == [(sum(seen.count(one) > 1 for one in set(seen)),)]
