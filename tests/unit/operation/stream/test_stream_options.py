"""What the options of a streaming read mean, and which are refused."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import OptionError
from tablestore_engine.operation.stream.stream_options import Limits, StreamOptions
from tablestore_engine.options import CoreOptions

PLAIN = CoreOptions.parse({})


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, StreamOptions()),
        ({"scan.mode": "full"}, StreamOptions()),
        ({"scan.mode": "latest"}, StreamOptions("latest")),
        ({"scan.snapshot-id": "7"}, StreamOptions("from-snapshot", snapshot=7)),
        ({"scan.mode": "From-Timestamp", "scan.timestamp-millis": "5"}, StreamOptions("from-timestamp", 1, 5)),
        ({"read.stream.maxfilespertrigger": "3"}, StreamOptions(limits=Limits(3))),
        ({"consumer-id": "me", "consumer.ignore-progress": "true"}, StreamOptions(consumer="me", ignore_progress=True)),
    ],
)
def test_meaning(given, meant):
    found = StreamOptions.parse(given, PLAIN)
    assert (found.mode, found.consumer, found.ignore_progress, found.limits) == (
        meant.mode,
        meant.consumer,
        meant.ignore_progress,
        meant.limits,
    )
    if meant.snapshot:
        assert found.snapshot == meant.snapshot
    assert found.millis == meant.millis


def test_options_of_the_table_count_unless_the_read_has_others():
    table = CoreOptions.parse({"consumer-id": "mine", "read.stream.maxRowsPerTrigger": "10"})
    assert StreamOptions.parse({}, table).limits == Limits(None, 10)
    found = StreamOptions.parse({"consumer-id": "other"}, table)
    assert (found.consumer, found.limits.rows) == ("other", 10)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scan.mood": "latest"}, "Did you mean 'scan.mode'"),
        ({"scan.mode": "newest"}, "latest-full, full, latest"),
        ({"scan.mode": "from-snapshot"}, "needs 'scan.snapshot-id'"),
        ({"scan.mode": "latest", "scan.snapshot-id": "1"}, "does not fit"),
        ({"scan.snapshot-id": "1", "scan.timestamp-millis": "1"}, "both"),
        ({"scan.snapshot-id": "one"}, "whole number"),
        ({"read.stream.maxFilesPerTrigger": "0"}, "at least 1"),
    ],
)
def test_refused(given, message):
    with pytest.raises(OptionError, match=message):
        StreamOptions.parse(given, PLAIN)
