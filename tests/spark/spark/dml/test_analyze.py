"""ANALYZE TABLE: what is computed, where it is kept, and how long."""

from __future__ import annotations

import json
import os

import pytest

from tablestore_engine.errors import ColumnNotFound, CorruptMetadataError, ReadOnlyError, SqlError
from tablestore_engine.operation.expiration.snapshot_expire import Retention

pytestmark = pytest.mark.spark


@pytest.fixture
def t(store):
    store.execute(
        "CREATE TABLE t (id INT, d DATE, amount DECIMAL(10, 2), at TIMESTAMP, name STRING, tags ARRAY<STRING>,"
        " PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    store.execute(
        "INSERT INTO t SELECT cast(id AS INT), date'2024-01-01' + cast(id AS INT), cast(id / 2 AS "
        "DECIMAL(10, 2)), timestamp'2024-01-01 00:00:00Z',"
        " if(id % 2 = 0, 'é', null), array('x') FROM range(10)"
    )
    store.execute("UPDATE t SET name = 'long' WHERE id = 9")
    store.execute("DELETE FROM t WHERE id = 0")
    return store


def statistics(store):
    found = store.sql("SELECT * FROM t$statistics").collect()
    return found[0].asDict() if found else None


def test_columns(t):
    assert statistics(t) is None
    result = t.execute("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS")
    assert result.rows[0][0].startswith("9 rows, ")
    latest = t.table("t").latest_snapshot()
    assert (latest.id, latest.commit_kind, latest.delta_record_count) == (4, "ANALYZE", 0)
    found = statistics(t)
    assert (found["snapshot_id"], found["schema_id"], found["mergedRecordCount"]) == (3, 0, 9)
    assert 0 < found["mergedRecordSize"] < sum(e.file.file_size for e in t.table("t").live_files())
    columns = json.loads(found["colstat"])
    assert columns == {
        "id": {"colId": 0, "distinctCount": 9, "min": "1", "max": "9", "nullCount": 0, "avgLen": 4, "maxLen": 4},
        "d": {"colId": 1, "distinctCount": 9, "min": "19724", "max": "19732", "nullCount": 0, "avgLen": 4, "maxLen": 4},
        "amount": {"colId": 2, "distinctCount": 9, "min": "0.50", "max": "4.50", "nullCount": 0, "avgLen": 8, "maxLen": 8},  # noqa: E501
        "at": {"colId": 3, "distinctCount": 1, "min": "2024-01-01 00:00:00.000000",
               "max": "2024-01-01 00:00:00.000000", "nullCount": 0, "avgLen": 8, "maxLen": 8},
        "name": {"colId": 4, "distinctCount": 2, "nullCount": 4, "avgLen": 2, "maxLen": 4},
    }  # fmt: skip
    shown = {row[0]: row[1] for row in t.execute("DESCRIBE EXTENDED t d").rows}
    assert (shown["min"], shown["max"], shown["num_nulls"]) == ("2024-01-02", "2024-01-10", "0")
    table = {row[0]: row[1] for row in t.execute("DESCRIBE EXTENDED t").rows}
    assert table["Statistics"] == f"{found['mergedRecordSize']} bytes, 9 rows (of snapshot 3)"


def test_columns_that_changed_since(t):
    def known(column):
        rows = dict(row[:2] for row in t.execute(f"DESCRIBE EXTENDED t {column}").rows)
        return rows.get("min"), rows.get("num_nulls")

    t.execute("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS")
    t.execute("ALTER TABLE t RENAME COLUMN amount TO price, DROP COLUMN name, RENAME COLUMN at TO name, DROP COLUMN d")
    t.execute("ALTER TABLE t ADD COLUMN amount INT, ADD COLUMN d DATE")
    assert [known(c) for c in ("price", "name", "amount", "d")] == [
        ("0.50", "0"), ("2024-01-01 00:00:00.000000", "0"), (None, None), (None, None)
    ]  # fmt: skip
    t.execute("ALTER TABLE t ALTER COLUMN price TYPE DOUBLE")
    assert known("price") == (None, None), "of another type"


def test_counts_alone_and_single_columns(t):
    t.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    assert statistics(t)["mergedRecordCount"] == 9
    assert statistics(t)["colstat"] == "{}"
    t.execute("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS ID")
    assert list(json.loads(statistics(t)["colstat"])) == ["id"]
    with pytest.raises(ColumnNotFound):
        t.execute("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS z")
    with pytest.raises(SqlError, match=r"'tags' has type ARRAY<STRING>"):
        t.execute("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS tags")
    with pytest.raises(SqlError, match="whole tables"):
        t.execute("ANALYZE TABLE t PARTITION (id = 1) COMPUTE STATISTICS")
    t.execute("CREATE VIEW v AS SELECT 1 AS a")
    with pytest.raises(ReadOnlyError):
        t.execute("ANALYZE TABLE v COMPUTE STATISTICS")


def test_noscan_reads_no_rows(t, monkeypatch):
    monkeypatch.setattr("tablestore_engine.spark.dml.analyze.read_table", lambda *a, **k: pytest.fail("it reads rows"))
    monkeypatch.setattr("tablestore_engine.operation.read.row_count.READ_ROWS", 0)
    result = t.execute("ANALYZE TABLE t COMPUTE STATISTICS NOSCAN")
    assert result.rows[0][0].startswith("an unknown number of rows, ")
    assert statistics(t)["mergedRecordCount"] is None
    assert statistics(t)["mergedRecordSize"] == sum(e.file.file_size for e in t.table("t").live_files())


def test_an_empty_table(store):
    store.execute("CREATE TABLE e (id INT)")
    assert store.execute("ANALYZE TABLE e COMPUTE STATISTICS").rows == [("The table is empty.",)]
    assert store.table("e").latest_snapshot() is None


def test_statistics_stay_until_the_next_analyze(t):
    table = t.table("t")
    t.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    first = table.latest_snapshot().statistics
    t.execute("INSERT INTO t (id) VALUES (100)")
    assert table.latest_snapshot().statistics == first, "until somebody analyzes again, as in Paimon"
    assert statistics(t)["snapshot_id"] == 3
    t.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    second = table.latest_snapshot().statistics
    t.execute("CALL sys.create_tag('t', 'before', 5)")
    table.expire_snapshots(Retention(1, 1, 0, 100))
    assert sorted(os.listdir(table.paths.statistics_dir)) == sorted([first, second])
    t.execute("CALL sys.delete_tag('t', 'before')")
    assert os.listdir(table.paths.statistics_dir) == [second]
    lost = f"{table.paths.statistics_dir}/stat-lost-0"
    with open(lost, "w") as file:
        file.write("x")
    assert table.remove_orphan_files(2**60) == [lost]
    t.execute("ALTER TABLE t ADD COLUMN later INT")
    t.execute("INSERT INTO t (id) VALUES (101)")
    assert statistics(t) is None, "another schema, another table to plan for"
    assert t.sql("SELECT count(*) FROM t$statistics VERSION AS OF 6").first()[0] == 1
    os.remove(table.paths.statistics(second))
    with pytest.raises(CorruptMetadataError, match="it is missing"):
        t.sql("SELECT count(*) FROM t$statistics VERSION AS OF 6")


def test_freshness_does_not_change(t):
    before = t.table("t").last_modified_millis()
    t.execute("ANALYZE TABLE t COMPUTE STATISTICS NOSCAN")
    assert t.table("t").last_modified_millis() == before


def test_all_tables_of_a_schema_are_analyzed(store):
    """A view and the tables of other schemas have no part in it."""
    store.sql("CREATE SCHEMA other")
    for name in ("a", "b", "other.c"):
        store.sql(f"CREATE TABLE {name} AS SELECT 1 AS id")
    store.sql("CREATE VIEW v AS SELECT * FROM a")
    found = store.sql("ANALYZE TABLES IN default COMPUTE STATISTICS").collect()
    assert [row[0] for row in found] == ["a", "b"]
    assert found[0][1].startswith("1 rows")
    counts = [store.sql(f"SELECT mergedRecordCount FROM `{t}$statistics`").collect() for t in ("a", "b")]
    assert counts == [[(1,)], [(1,)]]
    assert not store.sql("SELECT * FROM other.`c$statistics`").collect()
