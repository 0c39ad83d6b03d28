"""Statements and DataFrames that carry an identity are applied once; a statement's other options hold for it alone."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

from tablestore_engine.errors import CommitIdentityError, CommitOutcomeUnknownError, OptionError, StorageError
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore

pytestmark = pytest.mark.spark

ONE = "/*+ OPTIONS('commit.user-prefix' = 'loader', 'commit.identifier' = '1') */"

MERGED = "WHEN MATCHED THEN UPDATE SET v = v + 10 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (id, 0)"


@pytest.fixture
def sums(store):
    store.execute(
        "CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH"
        " ('merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum', 'bucket' = '1')"
    )
    return store


@pytest.fixture
def log(store):
    store.execute("CREATE TABLE t (id INT, v INT)")
    store.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    return store


def test_an_insert(sums):
    insert = f"INSERT INTO t {ONE} VALUES (1, 5), (2, 6)"
    assert sums.execute(insert).rows_affected == 2
    sums.execute("INSERT INTO t VALUES (1, 100)")
    sums.execute("CALL sys.compact(table => 't')")
    again = sums.execute(insert)
    assert (again.kind, again.rows_affected) == ("ALREADY APPLIED", 0)
    assert rows(sums) == [(1, 105), (2, 6)]
    sums.execute(insert.replace("'1'", "2"))
    assert rows(sums) == [(1, 110), (2, 12)]
    with pytest.raises(CommitIdentityError, match="cannot be 'x'"):
        sums.execute(insert.replace("'1'", "'x'"))


def test_a_setting_of_the_session(sums):
    sums.execute("SET spark.paimon.commit.identifier = 1")
    try:
        for _ in range(2):
            sums.execute("INSERT INTO t VALUES (1, 5)")
    finally:
        sums.execute("RESET spark.paimon.commit.identifier")
    assert rows(sums) == [(1, 5)]


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE p DROP PARTITION (d = 1)",
        "ALTER TABLE p DROP IF EXISTS PARTITION (d = 1)",
        "ALTER TABLE p DROP IF EXISTS PARTITION (d = 9)",
        "TRUNCATE TABLE p PARTITION (d = 1)",
    ],
)
def test_a_removed_partition(store, statement):
    """The same identity may have been sent before the rows of somebody else came."""
    store.execute("CREATE TABLE p (id INT, d INT) PARTITIONED BY (d)")
    store.execute("INSERT INTO p VALUES (1, 1), (2, 2)")
    left = [(2, 2)] if "= 1" in statement else [(1, 1), (2, 2)]
    store.spark.conf.set("spark.paimon.commit.identifier", "7")
    try:
        store.execute(statement)
        assert rows(store, "SELECT * FROM p") == left
        store.spark.conf.unset("spark.paimon.commit.identifier")
        store.execute("INSERT INTO p VALUES (3, 1), (4, 9)")
        store.spark.conf.set("spark.paimon.commit.identifier", "7")
        assert store.execute(statement).kind == "ALREADY APPLIED"
    finally:
        store.spark.conf.unset("spark.paimon.commit.identifier")
    assert rows(store, "SELECT * FROM p") == sorted([*left, (3, 1), (4, 9)])


def test_a_frame(sums):
    frame = sums.spark.sql("SELECT 1 AS id, 5 AS v")
    written = [sums.write("t", frame, commit_user="loader", commit_identifier=1) for _ in range(3)]
    assert written == [1, 0, 0]
    assert rows(sums) == [(1, 5)]
    with pytest.raises(CommitIdentityError, match="no commit identifier"):
        sums.write("t", frame, commit_user="loader")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (f"UPDATE t {ONE} SET v = v + 10 WHERE id = 1", [(1, 11), (2, 2)]),
        pytest.param(f"UPDATE t {ONE} AS x SET x.v = v + 10", [(1, 11), (2, 12)], marks=pytest.mark.soak),
        (f"INSERT OVERWRITE t {ONE} SELECT id, v * 2 FROM t", [(1, 2), (2, 4)]),
        (
            f"MERGE INTO t {ONE} USING (SELECT 1 AS id UNION ALL SELECT 3) s ON t.id = s.id {MERGED}",
            [(1, 11), (2, 2), (3, 0)],
        ),
        (f"DELETE FROM t {ONE} WHERE v = (SELECT min(v) FROM t)", [(2, 2)]),
    ],
)
def test_row_changes(log, statement, expected):
    for _ in range(2):
        log.execute(statement)
        assert rows(log) == expected
    latest = log.table("t").latest_snapshot()
    assert (latest.commit_user, latest.commit_identifier) == ("loader", 1)


def test_a_delete_of_all_rows(log):
    log.execute(f"DELETE FROM t {ONE}")
    log.execute("INSERT INTO t VALUES (3, 3)")
    log.execute(f"DELETE FROM t {ONE}")
    assert rows(log) == [(3, 3)]


def test_the_answer_of_the_commit_is_lost(sums, monkeypatch):
    """The snapshot was made, and storage fails before the writer hears of it."""
    create = SnapshotStore.try_create

    def lost(self, snapshot):
        create(self, snapshot)
        monkeypatch.setattr(SnapshotStore, "load", fail)
        raise StorageError("snapshot", "the connection was lost")

    def fail(*args):
        raise StorageError("snapshot", "the connection was lost")

    insert = f"INSERT INTO t {ONE} VALUES (1, 5)"
    with monkeypatch.context() as storage:
        monkeypatch = storage
        storage.setattr(SnapshotStore, "try_create", lost)
        with pytest.raises(CommitOutcomeUnknownError):
            sums.execute(insert)
    sums.execute(insert)
    assert rows(sums) == [(1, 5)]


def test_other_options_hold_for_the_statement(log):
    log.execute("INSERT INTO t /*+ OPTIONS('file.compression' = 'gzip', 'write-only' = true) */ VALUES (3, 3)")
    table = log.table("t")
    assert "write-only" not in table.schema.options
    assert table.schemas.list_ids() == [0]
    with pytest.raises(OptionError, match="'bucket' belongs to the table"):
        log.execute("INSERT INTO t /*+ OPTIONS('bucket' = '3') */ VALUES (4, 4)")
    with pytest.raises(OptionError, match=r"file\.compression"):
        log.execute("INSERT INTO t /*+ OPTIONS('file.compresion' = 'gzip') */ VALUES (4, 4)")
    assert rows(log) == [(1, 1), (2, 2), (3, 3)]


def test_options_do_not_stay_when_a_write_changes_the_schema(log):
    """A retraction makes it a multiset table: a new schema, which the options are not part of."""
    log.execute("INSERT INTO t /*+ OPTIONS('write-only' = 'true') */ SELECT 1 AS id, 1 AS v, '-D' AS _row_kind")
    schema = log.table("t").schema
    assert schema.merge_engine.rules.is_multiset
    assert "write-only" not in schema.options
