"""Temporary views: those of pinned tables keep their rows, and those of users show the rows of now, and stay out of
stored views."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.spark_rows import answers, ids_of

from tablestore_engine.errors import BrokenViewError, SqlError, TableAlreadyExists, TableNotFound
from tablestore_engine.spark.queries import temp_views
from tablestore_engine.sql.pinned_queries.pinned_query import Frames

pytestmark = pytest.mark.spark


@pytest.fixture
def days(store):
    """A table of three days, each in a partition that a query can leave out."""
    store.execute("CREATE TABLE t (id INT, day STRING) PARTITIONED BY (day)")
    store.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    return store


@pytest.mark.parametrize(
    ("made", "seen"),
    [
        ("CREATE TEMPORARY VIEW v AS SELECT id FROM t", [1, 2, 3, 4]),
        ("CREATE OR REPLACE TEMP VIEW v (id) AS SELECT id FROM default.t WHERE id > 0", [1, 2, 3, 4]),
        ("CACHE LAZY TABLE v AS SELECT id FROM t", [1, 2, 3]),
    ],
)
def test_a_text_that_is_read_again_reads_all_rows(days, made, seen, monkeypatch):
    """A view those of now, a cached query those of its time."""
    monkeypatch.setattr(temp_views, "KEPT", 2)
    days.execute(made)
    days.execute("INSERT INTO t VALUES (4, 'd')")
    for day in "abcdabcd":  # each of these leaves files out
        assert len(ids_of(days, f"SELECT id FROM t WHERE day = '{day}'")) == 1
    assert ids_of(days, "SELECT * FROM v") == seen
    assert ids_of(days, "SELECT v.id FROM v JOIN t ON t.id = v.id AND t.day = 'b'") == [2]


def test_statements_of_one_session_do_not_meet(days):
    """What two threads do at the same time, step by step."""
    one, other = (Frames(days.spark, days.catalog, "default") for _ in range(2))
    texts = [
        one.bound("SELECT id FROM t WHERE day = 'a'").text,
        other.bound("SELECT id FROM t WHERE day = 'b'").text,
    ]
    assert [frames.run(text).collect()[0][0] for frames, text in zip((one, other), texts, strict=True)] == [1, 2]


def test_threads_share_a_store(days):
    def ask(number):
        return ids_of(days, f"SELECT id FROM t WHERE day = '{'abc'[number % 3]}'") == [number % 3 + 1]

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(24)))


def test_temp_views_of_finished_statements_are_dropped(days, monkeypatch, request):
    monkeypatch.setattr(temp_views, "KEPT", 3)
    days.spark.sql("CREATE TEMPORARY VIEW mine AS SELECT 1")
    gc.disable()  # a statement ends without it
    request.addfinalizer(gc.enable)
    for _ in range(6):
        assert ids_of(days, "SELECT id FROM t") == [1, 2, 3]
    days.execute("MERGE INTO t USING (SELECT 9 AS id, 'z' AS day) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
    names = [one.name for one in days.spark.catalog.listTables() if one.isTemporary]
    assert "mine" in names
    assert len([name for name in names if "#" in name]) <= 6


def test_a_view_does_not_read_temporary_views(days):
    days.execute("CREATE VIEW seen AS SELECT id FROM t")
    days.execute("CREATE VIEW above AS SELECT id FROM seen")
    days.spark.sql("CREATE TEMPORARY VIEW t AS SELECT 77 AS id")
    days.spark.sql("CREATE TEMPORARY VIEW seen AS SELECT 78 AS id")
    assert ids_of(days, "SELECT id FROM t") == [77], "the session's own view hides the table"
    assert ids_of(days, "SELECT id FROM seen") == [78]
    assert ids_of(days, "SELECT id FROM default.seen") == [1, 2, 3]
    assert ids_of(days, "SELECT id FROM above") == [1, 2, 3]
    assert ids_of(days, "SELECT id FROM above UNION ALL SELECT id FROM t") == [1, 2, 3, 77]


def test_a_view_is_not_made_of_temporary_views(days):
    days.execute("CREATE TEMPORARY VIEW mine AS SELECT id FROM t")
    for text in (
        "CREATE VIEW lasting AS SELECT * FROM mine",
        "CREATE VIEW lasting AS SELECT * FROM t WHERE id IN (SELECT id FROM MINE)",
    ):
        with pytest.raises(SqlError, match=r"cannot read the temporary view '(mine|MINE)', which ends with"):
            days.execute(text)
    assert days.catalog.list_views("default") == []
    days.execute("CREATE TEMPORARY VIEW other AS SELECT * FROM mine")
    days.execute("CREATE TABLE kept AS SELECT * FROM other")
    assert ids_of(days, "SELECT * FROM kept") == [1, 2, 3]
    with pytest.raises(TableAlreadyExists):
        days.execute("CREATE VIEW kept AS SELECT 1 AS a")


def test_a_managed_table_comes_before_one_of_sparks_own_catalog(days):
    days.spark.sql("CREATE TABLE spark_catalog.default.t USING parquet AS SELECT 9 AS id")
    days.spark.sql("CREATE TABLE spark_catalog.default.other USING parquet AS SELECT 8 AS id")
    try:
        days.execute("UPDATE t SET id = 4 WHERE id = 3")
        assert ids_of(days, "SELECT id FROM t") == [1, 2, 4]
        assert ids_of(days, "SELECT a.id FROM t AS a JOIN t AS b ON a.id = b.id") == [1, 2, 4]
        assert [row[0] for row in days.sql("SHOW COLUMNS IN t").collect()] == ["id", "day"]
        assert ids_of(days, "SELECT id FROM other") == [8]
        days.spark.range(7, 8).createOrReplaceTempView("t")
        assert ids_of(days, "SELECT id FROM t") == [7], "a temporary view comes before both"
    finally:
        days.spark.catalog.dropTempView("t")
        days.spark.sql("DROP TABLE IF EXISTS spark_catalog.default.t")
        days.spark.sql("DROP TABLE IF EXISTS spark_catalog.default.other")


def test_temporary_views_are_listed_as_spark_lists_them(days):
    days.execute("CREATE TEMPORARY VIEW mine AS SELECT id FROM t")
    days.execute("CREATE GLOBAL TEMPORARY VIEW everyones AS SELECT id FROM t")
    days.execute("CREATE SCHEMA other")
    ids_of(days, "SELECT id FROM t WHERE day = 'a'")
    local, shared = ("", "mine", True), ("global_temp", "everyones", True)
    try:
        for what in ("TABLES", "VIEWS"):
            ours = [("default", "t", False)] if what == "TABLES" else []
            assert answers(days, f"SHOW {what}") == [*ours, local]
            assert answers(days, f"SHOW {what} IN other") == [local]
            assert answers(days, f"SHOW {what} IN global_temp LIKE 'everyo*|mine'") == [shared, local]
            assert answers(days, f"SHOW {what} IN global_temp LIKE 'everyo*'") == [shared]
        ((*row, text),) = answers(days, "SHOW TABLE EXTENDED LIKE 'mine'")
        assert tuple(row) == local
        assert "View Text: SELECT id FROM default.t" in text
        assert "#" not in text
    finally:
        days.execute("DROP VIEW global_temp.everyones")
    assert shared not in answers(days, "SHOW VIEWS IN global_temp")


@pytest.mark.parametrize("change", ["DROP TABLE t", "ALTER TABLE t RENAME TO other.t"])
def test_views_and_frames_say_that_their_table_was_dropped(days, change):
    _check_named(days, change)


def test_views_and_frames_of_avro_files_say_that_their_table_was_dropped(store):
    store.execute("CREATE TABLE t (id INT) WITH ('file.format' = 'avro')")
    store.execute("INSERT INTO t VALUES (1)")
    _check_named(store, "DROP TABLE t")


def _check_named(store, change):
    """A temporary view and a frame of a table that is not there any more name it."""
    store.execute("CREATE SCHEMA other")
    store.execute("CREATE TEMPORARY VIEW mine AS SELECT id FROM t")
    frame = store.sql("SELECT * FROM t")
    store.execute(change)
    with pytest.raises(BrokenViewError, match=r"View 'mine' .*: Table 'default\.t' does not exist"):
        store.sql("SELECT * FROM mine")
    with pytest.raises(TableNotFound) as caught:
        frame.collect()
    assert str(caught.value).startswith("Table 'default.t' does not exist any more: it was dropped or renamed after ")
    assert "copy" not in str(caught.value)
