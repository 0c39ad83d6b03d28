"""Views that stay bound for later statements: found where nothing has changed, and never where something has."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

from tablestore_engine.sql.pinned_queries.pinned_query import Frames

pytestmark = pytest.mark.spark
HIGH = "SELECT * FROM high"


@pytest.fixture
def bound(monkeypatch):
    """The names of the views that are bound."""
    names, bind = [], Frames._view_rows

    def noting(self, database, name, predicate):
        names.append(name)
        return bind(self, database, name, predicate)

    monkeypatch.setattr(Frames, "_view_rows", noting)
    return names


@pytest.fixture
def views(store):
    store.sql("CREATE TABLE t (k INT, x INT, PRIMARY KEY (k) NOT ENFORCED)")
    store.sql("INSERT INTO t VALUES (1, 10), (2, 20)")
    store.sql("CREATE VIEW low AS SELECT k, x FROM t")
    store.sql("CREATE VIEW high AS SELECT k, x + 1 AS y FROM low")
    return store


def spark_of(store):
    return store.sql("SELECT 1").sparkSession


def test_a_view_is_bound_once_until_its_tables_change(views, bound):
    assert rows(views, HIGH) == [(1, 11), (2, 21)]
    assert rows(views, HIGH) == [(1, 11), (2, 21)]
    assert rows(views, "SELECT a.y + b.x FROM high a JOIN low b ON a.k = b.k") == [(21,), (41,)]
    assert bound == ["high"], "the other one was bound when this one was created"
    views.sql("INSERT INTO t VALUES (1, 100), (3, 30)")
    assert rows(views, HIGH) == [(1, 101), (2, 21), (3, 31)]
    assert bound == ["high", "high", "low"]


def test_a_view_is_bound_anew_when_what_it_reads_is_another_one(views, bound):
    assert rows(views, HIGH) == [(1, 11), (2, 21)]
    views.sql("CREATE OR REPLACE VIEW low AS SELECT k, x * 2 AS x FROM t")
    assert rows(views, HIGH) == [(1, 21), (2, 41)]
    views.sql("ALTER TABLE t ALTER COLUMN x TYPE BIGINT")
    assert [kind for _, kind in views.sql("SELECT * FROM low").dtypes] == ["int", "bigint"]
    views.sql("DROP TABLE t")
    views.sql("CREATE TABLE t (x INT, k INT)")
    assert rows(views, HIGH) == []
    views.sql("DROP VIEW low")
    views.sql("CREATE TABLE low AS SELECT 5 AS k, 6 AS x")
    assert rows(views, HIGH) == [(5, 7)]


def test_settings_and_functions_of_the_session_decide(views, bound):
    session = spark_of(views)
    views.sql("CREATE VIEW spelled AS SELECT CAST(concat(k, 'x') AS INT) AS n FROM t WHERE k = 1")
    session.conf.set("spark.sql.ansi.enabled", "false")
    try:
        assert rows(views, "SELECT * FROM spelled") == [(None,)]
    finally:
        session.conf.unset("spark.sql.ansi.enabled")
    with pytest.raises(Exception, match="1x"):
        rows(views, "SELECT * FROM spelled")
    session.udf.register("of_session", lambda value: value + 1, "int")
    views.sql("CREATE VIEW made AS SELECT of_session(x) AS x FROM t")
    assert rows(views, "SELECT * FROM made") == [(11,), (21,)]
    session.udf.register("of_session", lambda value: value + 2, "int")
    assert rows(views, "SELECT * FROM made") == [(12,), (22,)]
    views.sql("DROP VIEW made")
    session.sql("DROP TEMPORARY FUNCTION of_session")


def test_a_view_that_varies_by_itself_is_not_kept(views, bound):
    views.sql("CREATE VIEW drawn AS SELECT k, rand() AS r FROM t")
    views.sql("CREATE VIEW over_drawn AS SELECT * FROM drawn")
    assert rows(views, "SELECT * FROM over_drawn") != rows(views, "SELECT * FROM over_drawn")
    views.sql("CREATE VIEW history AS SELECT snapshot_id FROM t$snapshots")
    before = rows(views, "SELECT * FROM history")
    views.sql("INSERT INTO t VALUES (9, 9)")
    assert len(rows(views, "SELECT * FROM history")) == len(before) + 1


def test_a_condition_on_a_view_still_leaves_files_out(views, bound):
    assert rows(views, "SELECT y FROM high WHERE k = 1") == [(11,)]
    assert rows(views, "SELECT y FROM high WHERE k = 2") == [(21,)]
    assert rows(views, "SELECT y FROM high WHERE k = 2") == [(21,)]
    assert bound == ["high", "low"] * 2


def test_the_rows_of_a_view_count_as_read_when_it_is_found(views, bound):
    sizes = []
    for _ in range(2):
        frames = Frames(spark_of(views), views.catalog, "default")
        frames.query("SELECT * FROM high a JOIN high b ON a.k = b.k")
        sizes.append((frames.input_bytes, sorted(frames.read_views), len(list(frames.pinned))))
    assert sizes[0] == sizes[1]
    assert sizes[0][0] > 0
    assert sizes[0][1:] == ([("default", "high"), ("default", "low")], 1)
