"""UPDATE, DELETE and MERGE by the key of a small table look its rows up: no job of Spark reads the table."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tablestore_engine.operation.pages import page_lookup


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


@pytest.mark.parametrize("large", [False, True])
def test_a_merge_that_only_inserts_reads_the_columns_of_on(store, monkeypatch, large):
    """The chunks of the other columns are damaged: to read one of them is an error."""
    if large:
        monkeypatch.setattr("tablestore_engine.spark.read.merge_source_bounds.LARGE_FILES", 0)
        monkeypatch.setattr(page_lookup, "WHOLE_BYTES", 0)
    store.execute(
        "CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1') AS "
        "SELECT id, id % 7 AS part, concat('v', id) AS v FROM range(50)"
    )
    (file,) = Path(store.catalog.load_table("default", "t").path).rglob("data-*.parquet")
    whole = file.read_bytes()
    file.write_bytes(damaged(whole, "v"))
    source = "SELECT id * 10 AS id, id AS part, 'new' AS v FROM range(7)"
    insert = "WHEN NOT MATCHED THEN INSERT *"
    assert store.execute(f"MERGE INTO t USING ({source}) s ON t.id = s.id {insert}").rows_affected == 2
    on = "t.id = s.id AND t.part + s.part >= 0"
    assert store.execute(f"MERGE INTO t USING (SELECT id + 10 AS id, part, v FROM ({source})) s ON {on} {insert}")
    file.write_bytes(whole)
    assert store.sql("SELECT count(*), count(DISTINCT id), count(v) FROM t").collect() == [(53, 53, 53)]
    merge = "MERGE INTO t USING (SELECT 80 AS id, 3 AS part, '' AS v) s ON t.id = s.id AND IDENTIFIER('t.v') > 'v2'"
    assert store.execute(f"{merge} {insert}").rows_affected == 1


def damaged(parquet, column):
    """A file of which the chunks of a column are zeros."""
    data = bytearray(parquet)
    metadata = pq.ParquetFile(BytesIO(parquet)).metadata
    for group in range(metadata.num_row_groups):
        chunks = (metadata.row_group(group).column(i) for i in range(metadata.num_columns))
        (chunk,) = (one for one in chunks if one.path_in_schema == column)
        start = min(at for at in (chunk.dictionary_page_offset, chunk.data_page_offset) if at)
        data[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    return data


def test_a_source_of_many_rows(store, rows):
    """It is joined with the table: more rows than are held."""
    store.execute(
        "MERGE INTO t USING (SELECT id % 300000 AS id, id AS n FROM range(600000) WHERE id < 300000) s ON t.id = s.id "
        "WHEN MATCHED AND n % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = -n"
    )
    assert rows() == {i: -i for i in range(1, 50, 2)}
