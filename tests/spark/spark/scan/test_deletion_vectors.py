"""Deletion vectors through Spark: every query, time travel, system tables, and every statement that writes them."""

from __future__ import annotations

import pytest
from support.deletion_vectors import delete_positions, with_options
from support.spark_rows import ids_of

from tablestore_engine.errors import OptionError, SqlError

VECTORS = {"deletion-vectors.enabled": "true"}


@pytest.fixture
def table(store):
    """A table without a key in two partitions; of the first file of each, rows are deleted."""
    store.sql(
        "CREATE TABLE t (p STRING, `a b` BIGINT, v STRING) PARTITIONED BY (p) "
        # Spark returns the names of files in the encoding of URIs.
        "TBLPROPERTIES ('data-file.prefix' = 'ä, b%41+(~', 'compaction.min.file-num' = '99',"
        " 'compaction.delete-ratio-threshold' = '1')"
    )
    for start in (0, 100):
        store.sql(f"INSERT INTO t SELECT concat('p ', id % 2), id, concat('v', id) FROM range({start}, {start + 100})")
    made = with_options(store.catalog, store.table("t"), VECTORS)
    # Row n of a file of the first write is the number 2 n, or 2 n + 1.
    first = sorted(made.live_files(), key=lambda e: (e.file.min_sequence_number, e.partition))
    names = [e.file.file_name for e in first if e.file.row_count == 50][:2]
    delete_positions(made, {names[0]: [0, 10, *range(20, 30)], names[1]: [49]}, wide=False)
    return made


@pytest.fixture(params=["apart", "together"])
def scanned(request, monkeypatch):
    """Whether files with deleted rows are scanned one by one, or rows are joined with the words of all."""
    if request.param == "together":
        monkeypatch.setattr("tablestore_engine.spark.scan.file_scan._SCANNED_APART", 0)
    return request.param


def test_queries(store, table, scanned):
    own = sorted(table.to_arrow().column("a b").to_pylist())
    assert len(own) == 200 - 13
    assert ids_of(store, "SELECT `a b` FROM t") == own
    assert ids_of(store, "SELECT count(*) FROM t") == [len(own)]
    assert ids_of(store, "SELECT `a b` FROM t WHERE `a b` > 40 AND v < 'v9'") == [
        i for i in own if i > 40 and f"v{i}" < "v9"
    ]
    assert ids_of(store, "SELECT `a b` FROM t WHERE p = 'p 1'") == [i for i in own if i % 2]
    assert ids_of(store, "SELECT `a b` FROM t VERSION AS OF 2") == list(range(200))
    assert ids_of(store, "SELECT sum(record_count) FROM `t$partitions`") == [len(own)]


def test_columns_of_today(store, table):
    own = sorted(table.to_arrow().column("a b").to_pylist())
    store.sql("ALTER TABLE t ADD COLUMN more INT")
    assert ids_of(store, "SELECT `a b` FROM t WHERE more IS NULL") == own


def test_only_columns_of_the_query_are_read(store, table, scanned):
    plan = store.sql("SELECT sum(`a b`) FROM t")._jdf.queryExecution().executedPlan().toString()
    assert ("LeftAnti" in plan) == (scanned == "together")
    assert ("getbit" in plan) == (scanned == "apart")
    assert "v:" not in plan.split("ReadSchema")[1].split(">")[0]


def test_tables_of_other_writers_are_not_written(store, table):
    table = with_options(store.catalog, table, {"deletion-vectors.bitmap64": "true"})
    before = table.latest_snapshot()
    for statement in (
        "INSERT INTO t VALUES ('p 0', 1, 'x')",
        "UPDATE t SET v = 'x' WHERE `a b` = 5",
        "DELETE FROM t WHERE `a b` = 5",
        "ALTER TABLE t COMPACT",
        "CALL sys.rollback(table => 't', version => '1')",
    ):
        with pytest.raises(OptionError, match=r"'deletion-vectors.bitmap64' = 'true' is not supported"):
            store.sql(statement)
    assert table.latest_snapshot() == before


@pytest.fixture(params=["small", "large"])
def sized(request, monkeypatch):
    """Whether the table is small, or the rows to change are looked up first."""
    for module in ("lookup_rows", "merge_source"):
        monkeypatch.setattr(f"tablestore_engine.sql.row_level.{module}.is_large", lambda plan: request.param == "large")


def test_statements_on_a_table_without_a_key(store, table, sized):
    """Each statement marks rows and writes no other ones than new ones; readers find what a dict holds."""
    kept = dict(store.sql("SELECT `a b`, v FROM t").collect())

    def check(statement, removed=(), put=(), *, new_files=0):
        before = {e.file.file_name for e in store.table("t").live_files()}
        store.sql(statement)
        for one in removed:
            kept.pop(one, None)
        kept.update(put)
        own = store.table("t")
        after = {e.file.file_name for e in own.live_files()}
        assert len(after - before) <= new_files, statement
        assert dict(store.sql("SELECT `a b`, v FROM t").collect()) == kept, statement
        assert ids_of(store, "SELECT count(*) FROM t") == [len(kept)], statement
        assert own.statistics().row_count == len(kept), statement

    check("DELETE FROM t WHERE `a b` IN (SELECT id * 3 FROM range(5))", removed=range(0, 15, 3))
    check("UPDATE t SET v = concat(v, '!') WHERE `a b` IN (41, 143)", put={41: "v41!", 143: "v143!"}, new_files=2)
    there = [i for i in range(30, 60, 2) if i in kept]
    check(
        "MERGE INTO t USING (SELECT id, 'm' AS v FROM range(30, 60, 2) UNION ALL SELECT 500, 'i') s ON t.`a b` = s.id "
        "WHEN MATCHED AND s.id < 40 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v "
        "WHEN NOT MATCHED AND s.id > 100 THEN INSERT (p, `a b`, v) VALUES ('p 9', s.id, s.v) "
        "WHEN NOT MATCHED BY SOURCE AND t.`a b` = 199 THEN UPDATE SET v = 'other'",
        removed=[i for i in there if i < 40],
        put={**{i: "m" for i in there if i >= 40}, 500: "i", 199: "other"},
        new_files=3,
    )
    with pytest.raises(SqlError, match=r"more than once|several"):
        store.sql(
            "MERGE INTO t USING (SELECT 500 AS id FROM range(2)) s ON t.`a b` = s.id"
            " WHEN MATCHED THEN UPDATE SET v = '2'"
        )
    before, version = dict(kept), store.table("t").latest_snapshot().id
    check("INSERT INTO t REPLACE WHERE `a b` = 500 VALUES ('p 9', 500, 'r')", put={500: "r"}, new_files=1)
    assert dict(store.sql(f"SELECT `a b`, v FROM t VERSION AS OF {version}").collect()) == before
    check("DELETE FROM t WHERE `a b` < 100", removed=range(100), new_files=9)
    check("CALL sys.compact(table => 't', order_strategy => 'order', order_by => 'v')", new_files=9)
    assert store.table("t").index_files() == []
    check(f"CALL sys.rollback(table => 't', version => '{version}')", removed=range(501), put=before, new_files=99)
    check("DELETE FROM t WHERE p = 'p 0'", removed=[i for i in kept if i % 2 == 0 and i < 500])
    check("INSERT OVERWRITE t VALUES ('p 1', 7, 'o')", removed=range(501), put={7: "o"}, new_files=1)
    assert store.table("t").index_files() == []


def test_statements_without_new_files_work(store, table):
    own = sorted(table.to_arrow().column("a b").to_pylist())
    store.sql("ALTER TABLE t DROP PARTITION (p = 'p 0')")
    assert ids_of(store, "SELECT `a b` FROM t") == [i for i in own if i % 2]
    store.sql("ANALYZE TABLE t COMPUTE STATISTICS")
    store.sql("TRUNCATE TABLE t")
    assert ids_of(store, "SELECT `a b` FROM t") == []
    assert store.catalog.load_table("default", "t").index_files() == []


def test_statements_on_a_table_with_a_key(store):
    store.sql(
        "CREATE TABLE t (p STRING, id BIGINT, v STRING) PARTITIONED BY (p) "
        "TBLPROPERTIES ('primary-key' = 'p,id', 'bucket' = '2', 'deletion-vectors.enabled' = 'true')"
    )
    kept = {}

    def check(statement, *, removed=(), put=()):
        store.sql(statement)
        for one in removed:
            kept.pop(one, None)
        kept.update(put)
        table = store.table("t")
        assert all(e.file.level > 0 and e.file.delete_row_count == 0 for e in table.live_files()), statement
        found = {row[0]: row[1] for row in store.sql("SELECT id, v FROM t").collect()}
        assert found == kept, statement
        assert ids_of(store, "SELECT count(*) FROM t") == [len(kept)]
        assert dict(zip(*(table.to_arrow(c).column(c).to_pylist() for c in ("id", "v")), strict=True)) == kept

    first = {i: f"v{i}" for i in range(400)}
    check("INSERT INTO t SELECT concat('p', id % 2), id, concat('v', id) FROM range(400)", put=first)
    check(
        "INSERT INTO t SELECT concat('p', id % 2), id, 'new' FROM range(390, 410)",
        put=dict.fromkeys(range(390, 410), "new"),
    )
    check("UPDATE t SET v = 'u' WHERE id < 5", put=dict.fromkeys(range(5), "u"))
    check("DELETE FROM t WHERE id % 100 = 7", removed=[7, 107, 207, 307, 407])
    check(
        "MERGE INTO t USING (SELECT concat('p', id % 2) AS p, id FROM range(0, 1000, 50)) s "
        "ON t.p = s.p AND t.id = s.id "
        "WHEN MATCHED AND s.id < 100 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'm' "
        "WHEN NOT MATCHED THEN INSERT (p, id, v) VALUES (s.p, s.id, 'i')",
        removed=[0, 50],
        put={i: "m" if i < 410 else "i" for i in range(100, 1000, 50)},
    )
    before, version = dict(kept), store.table("t").latest_snapshot().id
    check("INSERT OVERWRITE t PARTITION (p = 'p1') VALUES (1, 'o')", removed=[i for i in kept if i % 2], put={1: "o"})
    check("ALTER TABLE t COMPACT")
    assert store.table("t").index_files() == []
    check(f"CALL sys.rollback(table => 't', version => '{version}')", removed=list(kept), put=before)
    check("DELETE FROM t WHERE p = 'p0'", removed=[i for i in kept if i % 2 == 0])
    check("TRUNCATE TABLE t", removed=list(kept))
