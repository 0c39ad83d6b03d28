"""UPDATE, DELETE and MERGE by the key of a small table look its rows up: no job of Spark reads the table."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession


@pytest.fixture
def jobs(store):
    """The number of Spark's jobs that a statement takes."""
    scheduler = SparkSession.getActiveSession().sparkContext._jsc.sc().dagScheduler()

    def count(statement):
        before = scheduler.numTotalJobs()
        store.execute(statement)
        return scheduler.numTotalJobs() - before

    return count


@pytest.fixture
def rows(store):
    store.execute(
        "CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2') AS SELECT id, id * 2 AS v FROM range(50)"
    )
    return lambda: dict(store.sql("SELECT id, v FROM t").collect())


def test_keys_that_are_given(jobs, rows):
    assert jobs("DELETE FROM t WHERE id = 17") == 0
    assert jobs("UPDATE t SET v = 0 WHERE id IN (18, 99)") <= 1  # of the changed rows
    assert rows() == {i: 0 if i == 18 else i * 2 for i in range(50) if i != 17}


def test_keys_of_a_source(jobs, rows):
    source = "SELECT id * 10 AS id, id AS n FROM range(7)"
    assert jobs(f"DELETE FROM t WHERE id IN (SELECT id + 1 FROM ({source}))") <= 1  # of the source
    merge = "WHEN MATCHED AND n = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = n WHEN NOT MATCHED THEN INSERT"
    assert jobs(f"MERGE INTO t USING ({source}) s ON t.id = s.id {merge} (id, v) VALUES (s.id, -1)") <= 1
    expected = {i: i * 2 for i in range(50) if i % 10 != 1}
    assert rows() == {**{k: v for k, v in expected.items() if k}, **{i * 10: i for i in range(1, 5)}, 50: -1, 60: -1}


def test_a_source_of_many_rows(store, rows):
    """It is joined with the table: more rows than are held."""
    store.execute(
        "MERGE INTO t USING (SELECT id % 300000 AS id, id AS n FROM range(600000) WHERE id < 300000) s ON t.id = s.id "
        "WHEN MATCHED AND n % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = -n"
    )
    assert rows() == {i: -i for i in range(1, 50, 2)}
