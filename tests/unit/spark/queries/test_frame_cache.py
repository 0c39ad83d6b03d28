"""What a cache of frames keeps, and for how long."""

from __future__ import annotations

import gc
import weakref

import pytest

from tablestore_engine.spark.queries.frame_cache import FrameCache


class Session:
    """A fake Spark session: any object that keeps attributes."""


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
