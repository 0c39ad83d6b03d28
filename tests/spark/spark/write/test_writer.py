"""Writing through Spark: the small way and the distributed one leave the same table."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants

from tablestore_engine.errors import ExecutionError, PrimaryKeyError, SchemaError, TableStoreError
from tablestore_engine.spark.write import writer

pytestmark = pytest.mark.spark

COLUMNS = """
    p STRING, id BIGINT, i INT, d DECIMAL(10, 2), big DECIMAL(30, 4), s STRING, day DATE, ts TIMESTAMP, ntz
    TIMESTAMP_NTZ, ok BOOLEAN, f FLOAT, g DOUBLE, raw BINARY, tiny TINYINT, a ARRAY<INT>, m MAP<STRING, INT>, r
    STRUCT<x: INT, y: STRING>
"""
ROWS = """
    SELECT if(id % 3 = 0, 'x/y', 'z') AS p, id, cast(id * 7 AS INT), cast(id / 4 AS DECIMAL(10, 2)),
        cast(id AS DECIMAL(30, 4)) * 1000000000000BD, if(id % 5 = 0, NULL, repeat('s', cast(id % 20 AS INT))),
        date_add(DATE'2024-01-01', cast(id AS INT)), timestamp_seconds(id), cast(timestamp_seconds(id) AS
        TIMESTAMP_NTZ), id % 2 = 0, cast(id AS FLOAT), cast(id AS DOUBLE), cast(cast(id AS STRING) AS BINARY), cast(id %
        100 AS TINYINT), array(cast(id AS INT), NULL), map('k', cast(id AS INT)), struct(cast(id AS INT) AS x, 'y' AS y)
    FROM range(300)
"""


@pytest.mark.cover
@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (p, id) NOT ENFORCED"], ids=["append", "keyed"])
def test_every_type_both_ways(store, path, key):
    options = " WITH ('bucket' = '3')" if key else ""
    store.execute(f"CREATE TABLE t ({COLUMNS}{key}) PARTITIONED BY (p){options}")
    assert store.execute(f"INSERT INTO t {ROWS}").rows_affected == 300
    table = store.table("t")
    check_invariants(table)
    assert live_paths(table) == data_files(table)
    expected = {row[1]: row for row in store.spark.sql(ROWS).collect()}
    found = store.sql("SELECT * FROM t").collect()
    assert {row[1]: tuple(row) for row in found} == {k: tuple(v) for k, v in expected.items()}


def test_the_last_of_equal_keys_wins_both_ways(store, path):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    frame = store.spark.createDataFrame([(i % 10, i) for i in range(100)], "id int, v int").coalesce(1)
    assert store.write("t", frame) == 100
    assert {r[0]: r[1] for r in store.sql("SELECT * FROM t").collect()} == {i: 90 + i for i in range(10)}
    check_invariants(store.table("t"))


def test_names_that_look_like_paths(store, path):
    store.execute("CREATE TABLE t (`k.1` INT, `a``b.c` STRING, PRIMARY KEY (`k.1`) NOT ENFORCED) WITH ('bucket' = '2')")
    store.execute("INSERT INTO t SELECT cast(id AS INT), cast(id AS STRING) FROM range(20)")
    assert store.sql("SELECT sum(`k.1`), max(`a``b.c`) FROM t WHERE `k.1` < 9").collect() == [(36, "8")]


def test_rows_of_other_kinds(store):
    store.execute("CREATE TABLE t (id INT, v INT)")
    for rows in (pa.table({"id": [1], "v": [2]}), [{"id": 1, "v": 2}]):
        with pytest.raises(SchemaError, match=f"Spark DataFrame, and this is a {type(rows).__name__}"):
            store.write("t", rows)


def test_a_bulk_load_with_duplicates_keeps_the_last(store, path):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '3')")
    frame = store.spark.createDataFrame([(i % 500, i) for i in range(2_000)], "id int, v int").coalesce(1)
    assert store.write("t", frame) == 2_000
    table = store.table("t")
    assert {r[0]: r[1] for r in store.sql("SELECT * FROM t").collect()} == {i: 1_500 + i for i in range(500)}
    assert {e.file.level for e in table.live_files()} == {5}
    assert live_paths(table) == data_files(table), "nothing is left of the attempt that found duplicates"
    assert not [name for name in os.listdir(table.path) if "duplicates" in name]


def test_refused_duplicates_both_ways(store, path):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    with pytest.raises(PrimaryKeyError, match="id=3"):
        store.execute("INSERT INTO t VALUES (1, 1), (3, 1), (3, 2)", refuse_duplicates=True)
    assert not data_files(store.table("t"))
    assert store.table("t").latest_snapshot() is None


def test_rows_that_the_driver_may_not_collect_are_written_by_tasks(store, monkeypatch):
    """A few rows may still be wide; Spark's limit is of the process, so its refusal is acted."""
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    collect = writer.collect_arrow
    asked = []

    def refusing(frame):
        asked.append(frame)
        if len(asked) == 1:
            raise ExecutionError(
                "Job aborted due to stage failure: Total size of serialized results of 3 tasks (1040.0 MiB) "
                "is bigger than spark.driver.maxResultSize (1024.0 MiB)."
            )
        return collect(frame)

    monkeypatch.setattr(writer, "collect_arrow", refusing)
    store.execute("INSERT INTO t SELECT cast(id AS INT), 1 FROM range(200)")
    assert len(asked) == 2
    assert store.sql("SELECT count(*), sum(id) FROM t").first()[:] == (200, 19900)


def test_a_null_key_among_several_buckets(store, path):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '4')")
    with pytest.raises(PrimaryKeyError, match="'id' has 1 null"):
        store.execute("INSERT INTO t SELECT if(id = 3, NULL, id), 1 FROM range(100)")
    assert not data_files(store.table("t"))


def test_null_keys_both_ways(store, path):
    store.execute("CREATE TABLE t (id INT, v INT NOT NULL, PRIMARY KEY (id) NOT ENFORCED)")
    with pytest.raises(PrimaryKeyError, match="'id' has 1 null"):
        store.execute("INSERT INTO t VALUES (1, 1), (NULL, 2)")
    with pytest.raises(SchemaError, match="'v' is NOT NULL"):
        store.execute("INSERT INTO t VALUES (1, 1), (2, NULL)")
    assert not data_files(store.table("t"))


def test_spark_errors_are_shown_without_java(store, path):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    for query in (
        "SELECT cast(id AS INT), cast(1 / (id - 2) AS INT) FROM range(5)",
        "SELECT cast(id AS INT), raise_error('my own words') FROM range(5)",
        "SELECT cast(id AS INT), cast('x' AS INT) FROM range(5)",
    ):
        with pytest.raises(ExecutionError) as caught:
            store.execute(f"INSERT INTO t {query}")
        text = str(caught.value)
        assert "\tat " not in text
        assert "org.apache" not in text
        assert "Traceback" not in text
        assert len(text) < 1000
        assert any(word in text for word in ("DIVIDE_BY_ZERO", "my own words", "CAST_INVALID_INPUT"))
    assert not data_files(store.table("t"))
    assert store.table("t").latest_snapshot() is None


def test_unknown_columns_are_the_engine_s_error(store):
    store.execute("CREATE TABLE t (id INT)")
    with pytest.raises(TableStoreError) as caught:
        store.execute("INSERT INTO t SELECT nope FROM range(3)")
    assert "nope" in str(caught.value)
    assert "JVM" not in str(caught.value)


def test_properties_travel_with_the_snapshot(store):
    store.execute("CREATE TABLE t (id INT)")
    store.execute("INSERT INTO t VALUES (1)", properties={"source": "7"})
    assert store.table("t").latest_snapshot().properties == {"source": "7"}


def test_runs_that_pile_up_are_compacted(store):
    store.execute(
        "CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('bucket' = '1', 'num-sorted-run.compaction-trigger' = '3')"
    )
    for n in range(6):
        store.execute(f"INSERT INTO t VALUES ({n % 2}, {n})")
    table = store.table("t")
    assert len(table.live_files()) <= 3
    assert "COMPACT" in {s.commit_kind for s in table.snapshots()}
    assert {r[0]: r[1] for r in store.sql("SELECT * FROM t").collect()} == {0: 4, 1: 5}


def test_compaction_in_executors(store, monkeypatch):
    monkeypatch.setattr("tablestore_engine.spark.compact.compactor.LOCAL_BYTES", -1)
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '3')")
    store.execute("INSERT INTO t SELECT cast(id AS INT), 0 FROM range(100)")
    store.execute("INSERT INTO t SELECT cast(id AS INT), 1 FROM range(50)")
    store.execute("ALTER TABLE t COMPACT")
    table = store.table("t")
    assert len(table.live_files()) == 3
    check_invariants(table)
    assert store.sql("SELECT sum(v), count(*) FROM t").collect()[0][:] == (50, 100)
