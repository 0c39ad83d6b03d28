"""Partitions as times."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest
from support.tables import schema_of

from tablestore_engine.errors import OptionError, UserError
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.table.partition_time import PartitionTime
from tablestore_engine.schema.table.schema_changes import SetOption

JAN = datetime(2024, 1, 31)


@pytest.mark.parametrize(
    ("values", "pattern", "formatter", "time"),
    [
        (("2024-01-31",), None, None, JAN),
        (("2024-1-31",), None, None, JAN),
        (("2024-01-31 08:30:05",), None, None, datetime(2024, 1, 31, 8, 30, 5)),
        (("2024-01-31 08:30:05.123",), None, None, datetime(2024, 1, 31, 8, 30, 5)),
        (("20240131",), None, None, None),
        (("20240131",), None, "yyyyMMdd", JAN),
        (("31/01/2024 at 7h",), None, "dd/MM/yyyy 'at' H'h'", datetime(2024, 1, 31, 7)),
        (("2024",), None, "yyyy", datetime(2024, 1, 1)),
        (("2024-02-30",), None, None, None),
        (("first",), None, None, None),
        ((None,), None, None, None),
        ((date(2024, 1, 31),), None, None, JAN),
        ((datetime(2024, 1, 31, 8),), None, None, datetime(2024, 1, 31, 8)),
        ((datetime(2024, 1, 31, 8, tzinfo=timezone.utc),), None, None, datetime(2024, 1, 31, 8)),
        ((20240131,), None, "yyyyMMdd", JAN),
        (("2024-01-31", 8), "$a $b:00:00", None, datetime(2024, 1, 31, 8)),
        ((2024, 1), "$a-$b-01", None, datetime(2024, 1, 1)),
        (("eu", "2024-01-31"), "$b", None, JAN),
        (("2024-01-31", None), "$a $b:00:00", None, None),
        ((None, "2024-01-31"), "$b", None, JAN),
    ],
)
def test_times(values, pattern, formatter, time):
    assert PartitionTime(("a", "b")[: len(values)], pattern, formatter).of(values) == time


def test_wrong_patterns_and_formatters_are_refused():
    with pytest.raises(UserError, match=r"names 'day', which is no partition column. There are: dt, hr"):
        PartitionTime(("dt", "hr"), "$day")
    with pytest.raises(UserError, match="has 'EEE', which is not supported"):
        PartitionTime(("dt",), None, "EEE dd.MM.yyyy")


def test_it_is_said_when_the_option_is_set():
    columns, expiring = {"dt": "STRING", "v": "INT"}, {"partition.expiration-time": "7 d"}
    with pytest.raises(OptionError, match="needs partition columns"):
        schema_of(columns, options=expiring)
    with pytest.raises(UserError, match="'day'"):
        schema_of(columns, [], ["dt"], {**expiring, "partition.timestamp-pattern": "$day"})
    schema = schema_of(columns, [], ["dt"], expiring)
    with pytest.raises(UserError, match="EEE"):
        apply_changes(schema, [SetOption("partition.timestamp-formatter", "EEE")], 0)
    changed = apply_changes(schema, [SetOption("partition.timestamp-formatter", "yyyyMMdd")], 0)
    assert changed.core_options.partition_timestamp_formatter == "yyyyMMdd"
