"""Temporary views for later statements: found by their key, and dropped when nobody uses them any more."""

from __future__ import annotations

from unittest.mock import Mock

from tablestore_engine.spark.queries.kept_temp_views import KeptTempViews


class Statement:
    """Something that can be referenced weakly."""


def test_a_view_is_found_by_its_key_in_its_session_only():
    spark, one = Mock(), Statement()
    KeptTempViews(spark).keep("key", "v#1", 7, one)
    assert KeptTempViews(spark).find("key", one) == ("v#1", 7)
    assert KeptTempViews(spark).find("other", one) is None
    assert KeptTempViews(Mock()).find("key", one) is None


def test_the_view_that_was_not_found_for_the_longest_time_is_given_up():
    views = KeptTempViews(Mock(), kept=2)
    assert views.keep("a", "a#1", 0, Statement()) == views.keep("b", "b#1", 0, Statement()) == []
    views.find("a", Statement())
    assert views.keep("c", "c#1", 0, Statement()) == ["b#1"]
    assert views.find("b", Statement()) is None


def test_a_view_that_a_statement_uses_is_given_up_after_it():
    running, views = Statement(), KeptTempViews(Mock(), kept=1)
    views.keep("key", "v#1", 0, running)
    assert views.keep("key", "v#2", 0, Statement()) == []
    assert views.keep("other", "w#3", 0, Statement()) == ["v#2"]
    del running
    assert views.keep("other", "w#4", 0, Statement()) == ["v#1", "w#3"]
