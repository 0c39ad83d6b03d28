"""Dynamic buckets through Spark: small and distributed writes assign keys to buckets by the same rules."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants

from tablestore_engine.spark.write import bucket_assignment

pytestmark = [pytest.mark.spark, pytest.mark.cover("path")]

OPTIONS = "WITH ('bucket' = '-1', 'dynamic-bucket.target-row-num' = '{}')"


def buckets(table):
    """How many keys each bucket has had, by the index."""
    return {e.bucket: e.row_count for e in sorted(table.index_files(), key=lambda e: (e.partition, e.bucket))}


def values(store, query="SELECT id, v FROM t"):
    return {row[0]: row[1] for row in store.sql(query).collect()}


def test_a_life_both_ways(store, path):
    store.execute(f"CREATE TABLE t (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) {OPTIONS.format(200)}")
    store.execute("INSERT INTO t SELECT id, 'a' FROM range(500)")
    table = store.table("t")
    assert len(buckets(table)) == 3
    assert sum(buckets(table).values()) == 500
    # Counting many keys is done roughly.
    assert all(count <= 240 for count in buckets(table).values())
    check_invariants(table)
    index = table.latest_snapshot().index_manifest
    store.execute("INSERT INTO t SELECT id * 2, 'b' FROM range(250)")
    assert table.latest_snapshot().index_manifest == index
    store.execute("INSERT INTO t SELECT id, 'c' FROM range(450, 600)")
    assert sum(buckets(table).values()) == 600
    expected = {i: "a" if i % 2 else "b" for i in range(450)} | dict.fromkeys(range(450, 600), "c")
    assert values(store) == expected
    check_invariants(table)
    store.execute("DELETE FROM t WHERE id < 100")
    store.execute("UPDATE t SET v = 'd' WHERE id >= 590")
    store.execute("MERGE INTO t USING (SELECT id FROM range(580, 610)) s ON t.id = s.id "
                  "WHEN MATCHED THEN UPDATE SET v = 'e' WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 'new')")  # fmt: skip  # noqa: E501
    expected = {i: v for i, v in expected.items() if i >= 100}
    expected |= dict.fromkeys(range(580, 600), "e") | dict.fromkeys(range(600, 610), "new")
    assert values(store) == expected
    check_invariants(table)
    store.execute("ALTER TABLE t COMPACT")
    assert values(store) == expected
    check_invariants(table)
    store.execute("INSERT OVERWRITE t SELECT id, 'z' FROM range(10)")
    assert buckets(table) == {0: 10}
    assert values(store) == dict.fromkeys(range(10), "z")
    check_invariants(table)
    store.execute("TRUNCATE TABLE t")
    assert table.index_files() == []


def test_partitions_both_ways(store, path, monkeypatch):
    monkeypatch.setattr(bucket_assignment, "BROADCAST_HASHES", 0)
    store.execute(
        "CREATE TABLE t (p STRING, d DATE, id INT, v INT, PRIMARY KEY (p, d, id) NOT ENFORCED) "
        f"PARTITIONED BY (p, d) {OPTIONS.format(30)}"
    )
    rows = "SELECT if(id % 3 = 0, 'x/y', 'z'), date_add(DATE'2024-01-01', cast(id % 2 AS INT)), cast(id AS INT), {}"
    store.execute(f"INSERT INTO t {rows.format('1')} FROM range(300)")
    table = store.table("t")
    assert len({e.partition for e in table.index_files()}) == 4
    check_invariants(table)
    # Of several rows of a key in one write the last one counts.
    twice = (
        f"SELECT * FROM ({rows.format('2')} FROM range(290, 320)) UNION ALL SELECT * FROM "
        f"({rows.format('3')} FROM range(310, 320))"
    )
    store.spark.sql(twice).toDF("p", "d", "id", "v").coalesce(1).createOrReplaceTempView("new_rows")
    store.execute("INSERT INTO t SELECT * FROM new_rows")
    found = values(store, "SELECT id, v FROM t")
    assert found == dict.fromkeys(range(290), 1) | dict.fromkeys(range(290, 310), 2) | dict.fromkeys(range(310, 320), 3)
    check_invariants(table)
    assert live_paths(table) <= data_files(table)
    store.execute("INSERT OVERWRITE t SELECT 'z', DATE'2024-01-01', 7, 7")
    assert len(values(store)) < 320
    check_invariants(table)


def test_created_as_select_and_described(store, path):
    store.execute(
        "CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '-1', 'dynamic-bucket.target-row-num' = '60') "
        "AS SELECT id, cast(id AS STRING) AS v FROM range(100)"
    )
    assert len(buckets(store.table("t"))) == 2
    check_invariants(store.table("t"))
    store.execute(
        "CREATE OR REPLACE TABLE t (PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = "
        "'-1') AS SELECT id, 'n' AS v FROM range(3)"
    )
    assert buckets(store.table("t")) == {0: 3}
    described = {row[0]: row[1] for row in store.sql("DESCRIBE EXTENDED t").collect()}
    assert described["bucket"] == "-1"
    assert "'bucket' = '-1'" in store.sql("SHOW CREATE TABLE t").collect()[0][0]


def test_fixed_numbers_that_differ_both_ways(store, path):
    store.execute(
        "CREATE TABLE t (p STRING, id INT, v INT, PRIMARY KEY (p, id) NOT ENFORCED) "
        "PARTITIONED BY (p) WITH ('bucket' = '2')"
    )
    store.execute("INSERT INTO t SELECT if(id % 2 = 0, 'a', 'b'), cast(id AS INT), 1 FROM range(100)")
    store.execute("ALTER TABLE t SET ('bucket' = '3')")
    store.execute("INSERT INTO t SELECT if(id % 2 = 0, 'a', 'c'), cast(id AS INT), 2 FROM range(50, 150)")
    table = store.table("t")
    numbers = {}
    for entry in table.live_files():
        numbers.setdefault(entry.partition, entry.total_buckets)
    assert sorted(numbers.values()) == [2, 2, 3]
    check_invariants(table)
    assert sum(values(store, "SELECT concat(p, id), v FROM t").values()) == 25 + 50 * 2 + 50 + 50 * 2
    store.execute("INSERT OVERWRITE t PARTITION (p = 'a') SELECT cast(id AS INT), 5 FROM range(40)")
    assert sorted({e.partition: e.total_buckets for e in table.live_files()}.values()) == [2, 3, 3]
    check_invariants(table)


def test_a_query_that_gives_another_partition_when_it_runs_again(store, monkeypatch, tmp_path):
    """The keys of that partition were not looked up, so they would get a second bucket."""
    monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    store.execute(
        "CREATE TABLE t (p STRING, id INT, v STRING, PRIMARY KEY (p, id) NOT ENFORCED) "
        f"PARTITIONED BY (p) {OPTIONS.format(2)}"
    )
    store.execute("INSERT INTO t SELECT 'b', cast(id AS INT), 'old' FROM range(6)")
    ran = str(tmp_path / "ran")

    def rows(batches):
        for batch in batches:
            ids = batch.column(0).cast(pa.int32())
            if not len(ids):
                continue
            first = not os.path.exists(ran)
            os.makedirs(ran, exist_ok=True)
            partition = pa.array(["a" if first else "b"] * len(ids))
            values = pa.array(["new"] * len(ids))
            yield pa.RecordBatch.from_arrays([partition, ids, values], names=["p", "id", "v"])

    given = store.spark.range(0, 6, 1, 1).mapInArrow(rows, "p string, id int, v string")
    assert store.write("t", given) == 6
    table = store.table("t")
    assert values(store) == dict.fromkeys(range(6), "new")
    assert len(store.sql("SELECT * FROM t").collect()) == 6
    assert live_paths(table) == data_files(table), "nothing is left of the first attempt"
    check_invariants(table)
