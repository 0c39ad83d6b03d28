"""Frames that a session keeps."""

from __future__ import annotations

import gc
import weakref

import pytest

from tablestore_engine.spark.run.frame_cache import FrameCache


class Session:
    """Stands for a Spark session: any object that keeps attributes."""


def test_frames_are_cached_by_session():
    cache: FrameCache[list[str]] = FrameCache(kept=2)
    one, two = Session(), Session()
    first = cache.get(one, "a", lambda: ["a"])
    assert cache.get(one, "a", lambda: ["other"]) is first
    assert cache.get(two, "a", lambda: ["other"]) == ["other"]
    cache.get(one, "b", lambda: ["b"])
    cache.get(one, "a", list)
    cache.get(one, "c", lambda: ["c"])
    assert cache.get(one, "a", list) is first, "used last"
    assert cache.get(one, "b", lambda: ["again"]) == ["again"]


def test_a_session_goes_with_its_frames():
    cache: FrameCache[Session] = FrameCache()

    def use_and_forget():
        session = Session()
        cache.get(session, "a", lambda: session)
        return weakref.ref(session)

    session = use_and_forget()
    gc.collect()
    assert session() is None


def test_a_failure_keeps_nothing():
    cache: FrameCache[int] = FrameCache()
    session = Session()
    with pytest.raises(ZeroDivisionError):
        cache.get(session, "a", lambda: 1 // 0)
    assert cache.get(session, "a", lambda: 1) == 1


@pytest.mark.spark
def test_a_frame_is_never_older_than_its_table(store):
    def rows():
        return sorted(map(tuple, store.sql("SELECT * FROM t").collect()))

    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    assert rows() == []
    store.execute("INSERT INTO t VALUES (1, 1)")
    assert rows() == rows() == [(1, 1)]
    store.execute("INSERT INTO t VALUES (1, 2)")
    assert rows() == [(1, 2)]
    store.execute("ALTER TABLE t ADD COLUMN w INT")
    assert rows() == [(1, 2, None)]
    store.execute("DROP TABLE t")
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t VALUES (7, 7)")
    assert rows() == [(7, 7)]
    store.execute("CREATE OR REPLACE TABLE t AS SELECT 5 AS other")
    assert rows() == [(5,)]
    store.execute("CREATE OR REPLACE TABLE t AS SELECT 6 AS other")
    assert rows() == [(6,)]
    both = "SELECT a.other, b.other FROM t a JOIN t b ON a.other = b.other JOIN t VERSION AS OF 2 c ON true"
    assert list(map(tuple, store.sql(both).collect())) == [(6, 6)]
