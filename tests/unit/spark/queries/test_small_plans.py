"""Frames that are run as they are: a larger one, one of a session that says so itself, and one of Spark Connect."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tablestore_engine.spark.queries.small_plans import planned_small

KEY = "spark.sql.codegen.wholeStage"


def frame_of(session):
    return SimpleNamespace(sparkSession=session)


@pytest.mark.parametrize(("small", "settings"), [(False, {}), (True, {KEY: "true"}), (True, {KEY: "false"})])
def test_it_is_the_same_frame(small, settings):
    frame = frame_of(SimpleNamespace(conf=settings))
    assert planned_small(frame, small) is frame


def test_a_session_of_spark_connect_is_not_asked():
    frame = frame_of(type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})())
    assert planned_small(frame, small=True) is frame
