"""Which tables of Spark's own catalog a frame may be written to."""

from __future__ import annotations

import importlib
import inspect
from types import SimpleNamespace

import pytest

from tablestore_engine.errors import SqlError
from tablestore_engine.spark.errors.guarded_frames import guarded


class DataFrameWriter:
    """As far as Spark's writer matters here."""

    def __init__(self, settings):
        self._spark = SimpleNamespace(conf=settings)

    def saveAsTable(self, name):
        return f"wrote {name}"


class DataStreamWriter:
    """As far as Spark's writer of streams matters here; `session` is where it has its session."""

    def __init__(self, session, settings):
        setattr(self, session, SimpleNamespace(conf=settings))

    def toTable(self, tableName, format=None):
        return f"wrote {tableName}"


DataFrameWriter.__module__ = "pyspark.sql.readwriter"
DataStreamWriter.__module__ = "pyspark.sql.streaming.readwriter"
SCRATCH = {"spark.sql.warehouse.dir": "file:/tmp/dbt-tablestore-0123/"}


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"spark.sql.warehouse.dir": "/data/spark-warehouse"}, "t"),
        ({}, "t"),
        ({**SCRATCH, "spark.sql.catalog.lake": "org.Catalog"}, "lake.db.t"),
        ({**SCRATCH, "spark.sql.catalog.lake": "org.Catalog"}, "`lake`.t"),
    ],
)
def test_a_table_that_stays_is_written(settings, name):
    assert guarded(DataFrameWriter(settings)).saveAsTable(name) == f"wrote {name}"


@pytest.mark.parametrize("name", ["t", "db.t", "lake.db.t"])
def test_a_table_that_ends_with_the_process_is_refused(name):
    with pytest.raises(SqlError, match=rf"saveAsTable\('{name}'\) writes a table of Spark's own catalog"):
        guarded(DataFrameWriter(dict(SCRATCH))).saveAsTable(name)


@pytest.mark.parametrize("session", ["_spark", "_session"])
def test_a_stream_into_a_table_that_ends_with_the_process_is_refused(session):
    kept = {**SCRATCH, "spark.sql.catalog.lake": "org.Catalog"}
    assert guarded(DataStreamWriter(session, kept)).toTable(tableName="lake.t") == "wrote lake.t"
    with pytest.raises(SqlError, match=r"toTable\('b'\) writes a table of Spark's own catalog.*store\.write_stream"):
        guarded(DataStreamWriter(session, kept)).toTable("b")


@pytest.mark.parametrize("module", ["pyspark.sql.streaming.readwriter", "pyspark.sql.connect.streaming.readwriter"])
def test_spark_s_writers_of_streams_have_their_session_where_it_is_looked_for(module):
    writer = inspect.getsource(importlib.import_module(module).DataStreamWriter.__init__)
    assert any(f"self.{one} = " in writer for one in ("_spark", "_session"))
