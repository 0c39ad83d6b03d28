"""Which tables of Spark's own catalog a frame may be written to."""

from __future__ import annotations

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


DataFrameWriter.__module__ = "pyspark.sql.readwriter"
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
