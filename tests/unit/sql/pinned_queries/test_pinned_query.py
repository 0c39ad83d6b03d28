"""Which tables a join may take keys from: those that the statement reads as they are now."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from support.tables import make_table, write

from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.pinned_views.bound_reads import BoundReads
from tablestore_engine.sql.query.bind import TableReference
from tablestore_engine.sql.query_structure.query_structure import TimeTravel


@pytest.mark.parametrize(
    ("settings", "asked", "is_plain"),
    [
        ({}, {}, True),
        ({"*.*.other.scan.snapshot-id": "1", "scan.mode": "latest-full"}, {}, True),
        ({"*.*.few.scan.snapshot-id": "1"}, {}, False),
        ({"scan.tag-name": "one"}, {}, False),
        ({"*.default.few.scan.timestamp-millis": "1"}, {}, False),
        ({"*.*.few.scan.file-creation-time-millis": "1"}, {}, False),
        ({}, {"time_travel": TimeTravel(version_sql="1")}, False),
        ({}, {"options": (("scan.plan-sort-partition", "true"),)}, False),
        ({}, {"changes": ("1",)}, False),
    ],
)
def test_a_table_that_is_read_at_another_time_gives_no_keys(catalog, settings, asked, is_plain):
    write(make_table(catalog, {"x": "INT"}, name="few"), [{"x": 1}])
    spark = Mock(**{"catalog.tableExists.return_value": False})
    frames = Frames(spark, catalog, "default", settings=settings)
    found = frames._source_of(TableReference("default", "few", **asked))
    assert (found is not None) == is_plain


def test_settled_queries_are_computed_and_not_shared(catalog, monkeypatch):
    make_table(catalog, {"x": "INT"}, name="few")
    frames = Frames(Mock(**{"catalog.tableExists.return_value": False}), catalog, "default", settings={})
    monkeypatch.setattr(frames, "_read", lambda table, reference: (Mock(), BoundReads(sizes={"few": 1 << 40})))
    first = frames.bound("SELECT * FROM few").text
    assert frames.bound("SELECT * FROM few").text == first, "one view for one statement"
    frames.bound("SELECT repeat('a', 9) FROM parquet.`/p`")
    assert (frames.input_bytes, frames.is_small) == (None, False)
    frames.settled(5)
    assert (frames.input_bytes, frames.is_small) == (5, True)
    assert frames.bound("SELECT * FROM few").text != first, "a later query reads the table, and its files count"
    assert frames.input_bytes == 5 + (1 << 40)
