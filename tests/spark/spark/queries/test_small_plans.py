"""A small statement is run by a plan of its own, and the settings of its session stay as they are."""

from __future__ import annotations

import threading
import time

import pytest

from tablestore_engine.errors import ExecutionError
from tablestore_engine.spark.queries.small_plans import SETTINGS, interrupt_all, planned_small

pytestmark = pytest.mark.spark

KEY = "spark.sql.codegen.wholeStage"
COMPILED = "*("  # in front of a part of a plan


def plan_of(frame):
    frame.collect()
    return frame._jdf.queryExecution().executedPlan().toString()


@pytest.fixture
def query(store):
    for key in SETTINGS:
        store.spark.conf.unset(key)
    return lambda: store.spark.sql("SELECT count(*) AS n FROM range(10) GROUP BY id % 2")


def test_the_session_still_compiles(store, query):
    frame = query()
    run = planned_small(frame, small=True)
    assert COMPILED not in plan_of(run)
    assert run.collect() == frame.collect()
    assert COMPILED in plan_of(frame)
    assert store.spark.conf.get(KEY, None) is None


def test_rows_of_one_partition_are_joined_and_counted_where_they_are(store, query):
    sql = """
        SELECT a.id % 3 AS part, count(*) AS n, sum(b.id) AS total, max(c.id) AS late
        FROM range(0, 9, 1, 1) a JOIN range(0, 20, 2, 1) b ON a.id = b.id
            LEFT JOIN range(0, 4, 1, 1) c ON c.id > a.id
        WHERE a.id NOT IN (SELECT id FROM range(6, 7, 1, 1)) GROUP BY 1 ORDER BY 1"""
    frame = store.spark.sql(sql)
    plan = plan_of(planned_small(frame, small=True))
    assert "Adaptive" not in plan and "Exchange hashpartitioning" not in plan
    assert "Adaptive" in plan_of(frame)
    assert planned_small(frame, small=True).collect() == frame.collect()


def test_a_setting_of_the_user_holds_for_small_statements(store, query):
    store.spark.conf.set("spark.sql.adaptive.enabled", "true")
    try:
        assert "AdaptiveSparkPlan" in plan_of(planned_small(query(), small=True))
    finally:
        store.spark.conf.unset("spark.sql.adaptive.enabled")


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_setting_that_another_thread_makes_meanwhile_stays(store, monkeypatch, query, value):
    seen, kind = [], type(query())
    to_arrow = kind.toArrow

    def meanwhile(frame):
        seen.append((store.spark.conf.get(KEY, None), COMPILED in plan_of(query())))
        setting = threading.Thread(target=store.spark.conf.set, args=(KEY, value))
        setting.start()
        setting.join()
        return to_arrow(frame)

    store.execute("CREATE TABLE t AS SELECT id FROM range(3)")
    monkeypatch.setattr(kind, "toArrow", meanwhile)
    store.execute("CREATE TABLE u AS SELECT count(*) AS n FROM t")
    assert store.spark.conf.get(KEY) == value
    assert seen == [(None, True)]


def test_one_copy_of_the_session_follows_its_settings_and_schema(store, query):
    def ran(sql="SELECT date_format(timestamp'2026-01-01 00:00:00Z', 'HH') AS hour, current_schema() AS name"):
        run = planned_small(store.spark.sql(sql), small=True)
        return run._jdf.sparkSession(), tuple(run.first())

    store.spark.conf.set("spark.sql.session.timeZone", "UTC")
    first, answer = ran()
    assert (ran()[0], answer) == (first, ("00", "default"))
    store.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    second, answer = ran()
    assert (second == first, answer) == (False, ("09", "default"))
    store.spark.sql("CREATE DATABASE IF NOT EXISTS spark_catalog.elsewhere")
    try:
        store.spark.sql("USE spark_catalog.elsewhere")
        assert ran()[1] == ("09", "elsewhere")
    finally:
        store.spark.sql("USE spark_catalog.default")
        store.spark.sql("DROP DATABASE spark_catalog.elsewhere")


def test_an_interrupt_reaches_the_copy(store, query):
    """A statement of few bytes may run long."""
    endless = "SELECT count(*) FROM t a, t b, t c, t d, t e WHERE hash(a.id, b.id, c.id, d.id, e.id) = 1"
    store.execute("CREATE TABLE t AS SELECT id FROM range(1000)")
    statement, failed = store.execute(endless), []

    def run():
        try:
            with statement.running() as frame:
                frame.collect()
        except ExecutionError as error:
            failed.append(str(error))

    running = threading.Thread(target=run, daemon=True)
    running.start()
    deadline = time.monotonic() + 60
    while running.is_alive() and time.monotonic() < deadline:
        interrupt_all(store.spark)
        running.join(0.5)
    assert statement.is_small
    assert not running.is_alive()
    assert "cancel" in failed[0].lower()
