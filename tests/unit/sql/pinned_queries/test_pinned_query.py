"""Which tables a join may take keys from: those that the statement reads as they are now."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from support.tables import make_table

from tablestore_engine.sql.pinned_queries.pinned_query import Frames
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
    make_table(catalog, {"x": "INT"}, name="few")
    spark = Mock(**{"catalog.tableExists.return_value": False})
    frames = Frames(spark, catalog, "default", settings=settings)
    found = frames._as_it_is(TableReference("default", "few", **asked))
    assert (found is not None) == is_plain
