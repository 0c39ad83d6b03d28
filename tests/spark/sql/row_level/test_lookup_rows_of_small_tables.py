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


def test_fields_of_a_struct_that_are_not_assigned_stay(store):
    store.execute("CREATE TABLE t (id INT, s STRUCT<a: INT, b: INT>, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t VALUES (1, named_struct('a', 1, 'b', 2)), (2, named_struct('a', 3, 'b', 4))")
    store.execute("UPDATE t SET s.a = 5 WHERE id = 1")
    store.execute("MERGE INTO t USING (SELECT 2 AS id, 6 AS x) n ON t.id = n.id WHEN MATCHED THEN UPDATE SET s.b = n.x")
    assert sorted(store.sql("SELECT id, s.a, s.b FROM t").collect()) == [(1, 5, 2), (2, 3, 6)]


SOURCE = "(SELECT id * 10 AS id, id AS part, 'new' AS v FROM range(7)) s"
UNREAD = {
    f"MERGE INTO t USING {SOURCE} ON t.id = s.id WHEN NOT MATCHED THEN INSERT *": 2,
    f"MERGE INTO t USING {SOURCE} ON t.id = s.id - 5 AND t.part + s.part >= 0 WHEN NOT MATCHED THEN INSERT *": 2,
    f"MERGE INTO t USING {SOURCE} ON t.id = s.id WHEN MATCHED AND t.part > 2 THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET v = s.v, part = -1 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)": 7,
    f"MERGE INTO t USING {SOURCE} ON t.id = s.id WHEN MATCHED AND s.part > 2 THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *": 7,
    "DELETE FROM t WHERE id IN (3, 4, 99)": 2,
    "DELETE FROM t WHERE id = 5 AND part = 5": 1,
    f"DELETE FROM t WHERE id IN (SELECT id FROM {SOURCE} WHERE v = 'new') AND part > 1": 4,
    "DELETE FROM t WHERE part = 3": 7,
    "UPDATE t SET v = concat('u', part) WHERE id IN (3, 4, 99)": 2,
}


@pytest.mark.parametrize("large", [False, True])
def test_other_columns_than_those_of_a_statement_are_not_read(store, monkeypatch, large):
    """The chunks of the other columns are damaged: to read one of them is an error."""
    if large:
        monkeypatch.setattr("tablestore_engine.spark.read.merge_source_bounds.LARGE_FILES", 0)
        monkeypatch.setattr(page_lookup, "WHOLE_BYTES", 0)
    rows = "SELECT id, id % 7 AS part, concat('v', id) AS v FROM range(50)"
    store.execute(f"CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1') AS {rows}")
    first = store.table("default.t").snapshots()[-1].id
    (file,) = Path(store.catalog.load_table("default", "t").path).rglob("data-*.parquet")
    whole = file.read_bytes()
    for statement, count in UNREAD.items():
        if "part = 3" in statement and not large:
            continue  # all of a small table is one read
        store.execute(f"CREATE OR REPLACE TEMPORARY VIEW plain AS {rows}")
        file.write_bytes(damaged(whole, "v"))
        assert store.execute(statement).rows_affected == count, statement
        file.write_bytes(whole)
        found = store.sql("SELECT id, part, v FROM t").collect()
        assert len(found) == len({row.id for row in found}) and all(row.v is not None for row in found), statement
        store.execute(f"CALL sys.rollback(table => 'default.t', version => '{first}')")
    merge = "MERGE INTO t USING (SELECT 40 AS id, 3 AS part, '' AS v) s ON t.id = s.id AND IDENTIFIER('t.v') > 'v9'"
    assert store.execute(f"{merge} WHEN NOT MATCHED THEN INSERT *").rows_affected == 1


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
