"""UPDATE, DELETE and MERGE on tables without a key that keep deletion vectors: they mark rows, and write new ones only.

What is read is what a dictionary holds.
"""

from __future__ import annotations

import pytest
from support.files import data_files, live_paths

from tablestore_engine.errors import SqlError, StorageError
from tablestore_engine.spark.dml import row_level


class Marking:
    """A table of two partitions, and the rows that it should have."""

    def __init__(self, store):
        self.store = store
        store.execute(
            "CREATE TABLE t (p STRING, `a b` BIGINT, v STRING) PARTITIONED BY (p) WITH ("
            # Spark returns the names of files in the encoding of URIs.
            "'deletion-vectors.enabled' = 'true', 'data-file.prefix' = 'ä, b%41+(~', "
            "'compaction.min.file-num' = '99', 'compaction.delete-ratio-threshold' = '1')"
        )
        store.execute("INSERT INTO t SELECT concat('p ', id % 2), id, concat('v', id) FROM range(100)")
        self.rows = {i: f"v{i}" for i in range(100)}

    def does(self, statement, removed=(), put=(), *, new_files=None):
        """The statement removes and puts rows, and adds so many files."""
        before = self.files()
        self.store.execute(statement)
        for one in removed:
            self.rows.pop(one, None)
        self.rows.update(put)
        table = self.store.table("t")
        assert new_files is None or len(self.files() - before) == new_files, statement
        shown = table.to_arrow(["a b", "v"])
        assert dict(zip(*(shown.column(i).to_pylist() for i in (0, 1)), strict=True)) == self.rows, statement
        assert table.statistics().row_count == len(self.rows), statement

    def files(self):
        return {entry.file.file_name for entry in self.store.table("t").live_files()}

    def version(self):
        return self.store.table("t").latest_snapshot().id


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_rows_are_marked(store, monkeypatch, large):
    """Of a large table, the rows to change are looked up first."""
    for module in ("lookup_rows", "merge_source"):
        monkeypatch.setattr(f"tablestore_engine.sql.row_level.{module}.is_large", lambda plan: large)
    table = Marking(store)
    table.does("DELETE FROM t WHERE `a b` IN (SELECT id * 3 FROM range(5))", range(0, 15, 3), new_files=0)
    table.does("UPDATE t SET v = concat(v, '!') WHERE `a b` IN (41, 43)", put={41: "v41!", 43: "v43!"}, new_files=1)
    table.does(
        "MERGE INTO t USING (SELECT id, 'm' AS v FROM range(30, 60, 2) UNION ALL SELECT 500, 'i') s ON t.`a b` = s.id "
        "WHEN MATCHED AND s.id < 40 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v "
        "WHEN NOT MATCHED AND s.id > 100 THEN INSERT (p, `a b`, v) VALUES ('p 9', s.id, s.v) "
        "WHEN NOT MATCHED BY SOURCE AND t.`a b` = 99 THEN UPDATE SET v = 'other'",
        removed=range(30, 40, 2),
        put={**dict.fromkeys(range(40, 60, 2), "m"), 500: "i", 99: "other"},
        new_files=3,
    )
    assert dict(store.sql("SELECT `a b`, v FROM t").collect()) == table.rows
    if large:
        table.does(
            "MERGE INTO t USING (SELECT 21 AS id, 's' AS v) s ON t.`a b` = s.id WHEN MATCHED THEN UPDATE SET v = s.v "
            "WHEN NOT MATCHED BY SOURCE AND t.`a b` = 500 THEN DELETE",  # of a file that the bounds of the source skip
            removed=[500],
            put={21: "s"},
            new_files=1,
        )
    with pytest.raises(SqlError, match=r"more than once|several"):
        store.execute(
            "MERGE INTO t USING (SELECT 21 AS id FROM range(2)) s ON t.`a b` = s.id"
            " WHEN MATCHED THEN UPDATE SET v = '2'"
        )


def broken(*_):
    raise StorageError("index-1", "broken")


def test_other_statements(store, monkeypatch):
    table = Marking(store)
    with monkeypatch.context() as patched, pytest.raises(StorageError):
        patched.setattr(row_level, "mark_deleted", broken)
        store.execute("UPDATE t SET v = 'new' WHERE `a b` = 1")
    assert data_files(store.table("t")) == live_paths(store.table("t")), "the file with the new row was removed"
    table.does("DELETE FROM t WHERE `a b` < 10", range(10), new_files=0)
    before, version = dict(table.rows), table.version()
    table.does("INSERT INTO t REPLACE WHERE `a b` = 50 VALUES ('p 9', 50, 'r')", put={50: "r"}, new_files=1)
    assert dict(store.sql(f"SELECT `a b`, v FROM t VERSION AS OF {version}").collect()) == before
    table.does("CALL sys.compact(table => 't', order_strategy => 'order', order_by => 'v')")
    assert store.table("t").index_files() == []
    table.does(f"CALL sys.rollback(table => 't', version => '{version}')", range(100), before)
    assert store.table("t").index_files()
    table.does("DELETE FROM t WHERE p = 'p 0'", range(0, 100, 2), new_files=0)
    assert {entry.partition for entry in store.table("t").index_files()} == {
        entry.partition for entry in store.table("t").live_files()
    }
    table.does("INSERT OVERWRITE t VALUES ('p 1', 7, 'o')", range(100), {7: "o"}, new_files=1)
    assert store.table("t").index_files() == []


def test_rows_that_spark_keeps_no_more(store, monkeypatch):
    """As where somebody clears Spark's cache while a statement runs: the changed rows are computed once more."""
    kept = "'deletion-vectors.enabled' = 'true', 'compaction.delete-ratio-threshold' = '1'"
    store.execute(f"CREATE TABLE c (k INT, v INT) WITH ({kept})")
    store.execute("INSERT INTO c SELECT id, 0 FROM range(8)")
    store.execute("DELETE FROM c WHERE k = 7")
    marked_rows = row_level.marked_rows

    def cleared(*given):
        found = marked_rows(*given)
        store.spark.catalog.clearCache()
        return found

    monkeypatch.setattr(row_level, "marked_rows", cleared)
    store.execute(
        "MERGE INTO c USING (SELECT 2 AS k) s ON c.k = s.k WHEN MATCHED AND c.v < 0 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET v = c.v + 1"
    )
    store.execute("UPDATE c SET v = v + 1 WHERE k = 3")
    assert dict(store.sql("SELECT k, v FROM c").collect()) == {0: 0, 1: 0, 2: 1, 3: 1, 4: 0, 5: 0, 6: 0}
