"""Rows that are held, as a DataFrame: with the types of a table, whatever Spark would make of their Arrow types."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.read.lookup_rows import frame_of_fields
from tablestore_engine.spark.session.session import new_session
from tablestore_engine.sql.types.types import parse_sql_type

pytestmark = pytest.mark.spark


def test_times_keep_their_values(spark):
    session = new_session(spark)
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    fields = [DataField(i, kind, parse_sql_type(kind, kind)) for i, kind in enumerate(("timestamp_ntz", "time"))]
    skipped, noon = dt.datetime(2024, 3, 10, 2, 30), dt.time(12, 0, 1)
    columns = [pa.array([value], to_arrow_type(one.type)) for value, one in zip((skipped, noon), fields, strict=True)]
    frame = frame_of_fields(session, pa.table(columns, names=["timestamp_ntz", "time"]), fields)
    assert [one for _, one in frame.dtypes] == ["timestamp_ntz", "time(3)"]
    shown = frame.selectExpr("cast(timestamp_ntz as string)", "cast(time as string)").first()
    assert tuple(shown) == ("2024-03-10 02:30:00", "12:00:01")
