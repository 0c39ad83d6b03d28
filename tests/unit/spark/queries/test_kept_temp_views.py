"""Temporary views for later statements: found by their key, and dropped when nobody uses them any more."""

from __future__ import annotations

from unittest.mock import Mock

from tablestore_engine.spark.queries.kept_temp_views import KeptTempViews


class Statement:
    """Something that can be referenced weakly."""


def dropped(spark):
    return [call.args[0] for call in spark.catalog.dropTempView.call_args_list]


def test_a_view_is_found_by_its_key_in_its_session_only():
    spark, one = Mock(), Statement()
    KeptTempViews(spark).keep("key", "v#1", 7, one)
    assert KeptTempViews(spark).find("key", one) == ("v#1", 7)
    assert KeptTempViews(spark).find("other", one) is None
    assert KeptTempViews(Mock()).find("key", one) is None


def test_the_view_that_was_not_found_for_the_longest_time_is_dropped():
    spark = Mock()
    for name in ("a", "b"):
        KeptTempViews(spark, kept=2).keep(name, f"{name}#1", 0, Statement())
    KeptTempViews(spark, kept=2).find("a", Statement())
    KeptTempViews(spark, kept=2).keep("c", "c#1", 0, Statement())
    assert dropped(spark) == ["b#1"]
    assert KeptTempViews(spark).find("b", Statement()) is None


def test_a_view_that_a_statement_uses_is_dropped_after_it():
    spark, running = Mock(), Statement()
    views = KeptTempViews(spark, kept=1)
    views.keep("key", "v#1", 0, running)
    views.keep("key", "v#2", 0, Statement())
    views.keep("other", "w#3", 0, Statement())
    assert dropped(spark) == ["v#2"]
    del running
    views.keep("other", "w#4", 0, Statement())
    assert sorted(dropped(spark)) == ["v#1", "v#2", "w#3"]
