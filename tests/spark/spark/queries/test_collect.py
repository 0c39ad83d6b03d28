"""Arrow rows as DataFrames."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbt.adapters.tablestore.models.python_models import as_frame
from tablestore_engine.spark.queries.collect import arrow_frame, collect_arrow

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("frame_of", [arrow_frame, lambda spark, rows: as_frame(spark, rows, "model")])
def test_batches_without_rows(spark, frame_of):
    one, none = pa.table({"id": [1], "name": ["a"]}), pa.table({"id": [2], "name": ["b"]}).slice(0, 0)
    rows = pa.concat_tables([none, one, none, one, none, none, one])
    assert [len(batch) for batch in rows.to_batches()] == [0, 1, 0, 1, 0, 0, 1]
    assert collect_arrow(frame_of(spark, rows)).to_pylist() == rows.to_pylist()
    assert collect_arrow(frame_of(spark, none)).to_pylist() == []


def test_variants_with_names_that_look_like_paths(spark):
    frame = spark.sql("SELECT 1 AS `a.b`, parse_json('[1]') AS `v``.w`")
    rows = collect_arrow(frame)
    assert rows.column_names == ["a.b", "v`.w"]
    assert rows.column("a.b").to_pylist() == [1]
