"""Options that the session sets, `spark.paimon.…`, hold for reads and writes, in SQL and for DataFrames."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tablestore_engine.errors import OptionError
from tablestore_engine.spark.session.session_settings import settings_below
from tablestore_engine.store import TableStore

pytestmark = pytest.mark.spark


@contextmanager
def setting(store, **values):
    """Settings of the session for a while, under `spark.paimon.`; `_` is a dash, `__` a dot."""
    names = {f"spark.paimon.{key.replace('__', '.').replace('_', '-')}": value for key, value in values.items()}
    for name, value in names.items():
        store.spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in names:
            store.spark.conf.unset(name)


@pytest.fixture
def log(store):
    store.execute("CREATE TABLE t (id INT, v INT) WITH ('write-only' = 'true')")
    for number in (1, 2):
        store.execute(f"INSERT INTO t VALUES ({number}, {number})")
    return store


def ids(frame):
    return sorted(row.id for row in frame.collect())


def test_settings_below_a_prefix_are_read(store):
    with setting(store, a="1", b__c="x -> y"):
        assert settings_below(store.spark, "spark.paimon.") == {"a": "1", "b.c": "x -> y"}
    assert settings_below(store.spark, "spark.paimon.") == {}


def test_reset_alone_is_of_spark_and_of_the_defaults_for_new_tables(spark, tmp_path):
    own, times = spark.newSession(), "spark.sql.timeType.enabled"
    store = TableStore(tmp_path, own, options={"table-storage.bucket": "3"})
    first = own.conf.get("spark.sql.shuffle.partitions")
    for text, partitions, bucket in (
        ("RESET `spark.sql.shuffle.partitions`", first, "5"),
        ("RESET table-storage", "77", "3"),
        ("RESET", first, "3"),
    ):
        store.execute("SET table-storage.bucket = 5")
        own.conf.set("spark.sql.shuffle.partitions", "77")
        store.execute(text)
        assert own.conf.get("spark.sql.shuffle.partitions") == partitions, text
        assert store.execute("SET table-storage.bucket").rows == [("table-storage.bucket", bucket)], text
    store.execute(f"RESET {times}")
    assert own.conf.get(times) == "true", "the engine needs it"


def test_a_read(log):
    with setting(log, scan__snapshot_id="1"):
        assert ids(log.sql("SELECT * FROM t")) == ids(log.read("t")) == [1]
        assert ids(log.sql("SELECT * FROM t VERSION AS OF 2")) == ids(log.read("t", 2)) == [1, 2]
        log.execute("INSERT INTO t SELECT id + 10, v FROM t")
        log.execute("UPDATE t SET v = 7 WHERE id = 2")
        log.execute("CREATE VIEW seen AS SELECT * FROM t")
        assert ids(log.sql("SELECT * FROM seen")) == [1]
    with setting(log, incremental_between="1,3"):
        assert ids(log.sql("SELECT * FROM t WHERE id > 0")) == [2, 11]
    assert ids(log.sql("SELECT * FROM t /*+ OPTIONS('incremental-between' = '2,3') */")) == [11]
    assert sorted(map(tuple, log.read("t").collect())) == [(1, 1), (2, 7), (11, 1)]
    with setting(log, scan__snapshot="1"), pytest.raises(OptionError, match=r"sets 'spark\.paimon\.scan\.snapshot'"):
        log.sql("SELECT * FROM t")


def test_a_write(log):
    frame = log.spark.sql("SELECT 3 AS id, 3 AS v")
    before = {entry.file.file_name for entry in log.table("t").live_files()}
    with setting(log, file__format="avro", **{"*__*__t__file__compression": "none"}):
        log.execute("INSERT INTO t VALUES (3, 3)")
        log.write("t", frame)
        log.execute("MERGE INTO t USING (SELECT 9 AS id, 9 AS v) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
        added = {entry.file.file_name for entry in log.table("t").live_files()} - before
    assert [name.rpartition(".")[2] for name in added] == ["avro"] * 3
    with setting(log, bucket="3"), pytest.raises(OptionError, match="'bucket' belongs to the table"):
        log.write("t", frame)
    with setting(log, file__formats="orc"), pytest.raises(OptionError, match=r"Did you mean 'file\.format'"):
        log.execute("DELETE FROM t WHERE id = 1")
    assert ids(log.read("t")) == [1, 2, 3, 3, 9]


def test_an_identity(log):
    frame = log.spark.sql("SELECT 3 AS id, 3 AS v")
    with setting(log, commit__identifier="1"):
        assert [log.write("t", frame) for _ in range(2)] == [1, 0]
    with setting(log, commit__identifier="2"):
        for expected in ("DELETE", "ALREADY APPLIED"):
            assert log.execute("DELETE FROM t WHERE id = 77").kind == expected
            log.execute("INSERT INTO t /*+ OPTIONS('commit.identifier' = '5') */ VALUES (77, 77)")
    with setting(log, commit__identifier="3"):
        for _ in range(2):
            log.execute("TRUNCATE TABLE t")
            log.execute("INSERT INTO t /*+ OPTIONS('commit.identifier' = '4') */ VALUES (5, 5)")
        for _ in range(2):
            log.execute("CREATE OR REPLACE TABLE made AS SELECT * FROM t")
            log.execute("INSERT INTO made /*+ OPTIONS('commit.identifier' = '4') */ VALUES (6, 6)")
    assert ids(log.read("t")) == [5]
    assert ids(log.read("made")) == [5, 6]
