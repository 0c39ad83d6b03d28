"""Hints at tables that are read: which state of the table they mean, and which options are left."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import OptionError
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.query.bind import references
from tablestore_engine.sql.query.options_hint import time_travel_of
from tablestore_engine.sql.query_structure.query_structure import TimeTravel


@pytest.mark.parametrize(
    ("options", "travel", "rest"),
    [
        ([("scan.snapshot-id", "3")], TimeTravel(version_sql="'3'"), ()),
        ([("scan.tag-name", "x"), ("a", "b")], TimeTravel(version_sql="'x'"), (("a", "b"),)),
        ([("scan.tag-name", "it's")], TimeTravel(version_sql=r"'it\'s'"), ()),
        ([("scan.timestamp-millis", "5")], TimeTravel(timestamp_sql="timestamp_millis(5)"), ()),
        ([("scan.timestamp", "2024-01-01")], TimeTravel(timestamp_sql="'2024-01-01'"), ()),
        ([("scan.mode", "latest-full")], None, ()),
        ([("scan.mode", "latest")], None, (("scan.mode", "latest"),)),
    ],
)
def test_options_that_name_a_state(options, travel, rest):
    assert time_travel_of(options, None) == (travel, rest)


def test_two_states_are_refused():
    with pytest.raises(OptionError, match="two times"):
        time_travel_of([("scan.snapshot-id", "3")], TimeTravel(version_sql="1"))
    with pytest.raises(OptionError, match="number of a snapshot"):
        time_travel_of([("scan.snapshot-id", "x")], None)


def test_hints_of_the_tables_of_a_query():
    text = (
        "SELECT /*+ BROADCAST(u) */ * FROM db.t /*+ OPTIONS('scan.snapshot-id' = '3') */ AS x, "
        "u /*+ OPTIONS('read.batch-size' = '7') */ JOIN w /*+ OPTIONS('x' = 'y') */"
    )
    found = references(parse(text).query_sql)
    assert [(one.name, one.time_travel, one.options) for one in found] == [
        ("t", TimeTravel(version_sql="'3'"), ()),
        ("u", None, (("read.batch-size", "7"),)),
        ("w", None, (("x", "y"),)),
    ]


def test_options_of_a_clause_behind_a_table():
    text = (
        "SELECT * FROM t VERSION AS OF 2 WITH ('x' = 'y') AS a, t /*+ OPTIONS('x' = 'y') */ WITH (`z` = 1), "
        "(SELECT 1) WITH ('x' = 'y')"
    )
    assert [one.options for one in references(parse(text).query_sql)] == [(("x", "y"),), (("x", "y"), ("z", "1"))]
