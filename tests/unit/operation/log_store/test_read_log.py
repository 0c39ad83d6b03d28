"""Where a reader of a log begins, by the options of its table; tests/kafka reads a real topic."""

from __future__ import annotations

import pytest
from support.tables import keyed_arrow, keyed_table

from tablestore_engine.errors import LogError, OptionError
from tablestore_engine.kafka.topic_reader import Chunk
from tablestore_engine.operation.log_store import read_log
from tablestore_engine.operation.log_store.read_log import LogStart, start_of
from tablestore_engine.schema.table.schema_changes import RenameColumn, SetOption

KAFKA = {"log.system": "kafka", "log.kafka.bootstrap.servers": "127.0.0.1:1"}


def test_a_reader_begins_where_the_table_says(tmp_path, topic, monkeypatch):
    monkeypatch.setattr(read_log, "last_stable_offsets", lambda log: [9])
    monkeypatch.setattr(read_log, "offsets_at", lambda log, millis: [millis // 1000])
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    assert start_of(table.state) == LogStart(1, (1,))  # full: the rows of snapshot 1, and what came behind its changes
    table = table.alter(SetOption("log.scan", "latest"))
    assert start_of(table.state) == LogStart(0, (9,))
    assert start_of(table.state, "full") == LogStart(1, (1,))  # what the reader says is nearer
    table = table.alter(SetOption("log.scan", "from-timestamp"))
    with pytest.raises(OptionError, match="needs a time"):
        start_of(table.state)
    table = table.alter(SetOption("log.scan.timestamp-millis", "5000"))
    assert start_of(table.state) == LogStart(0, (5,))
    assert start_of(table.state, millis=7000) == LogStart(0, (7,))


def test_a_reader_ends_when_columns_are_changed(tmp_path, topic, monkeypatch):
    """Messages name columns as they are now: a renamed one would be null."""
    table = keyed_table(tmp_path, KAFKA)
    chunks = iter([[], "an option", [], "a column", []])

    def between(*_):
        for one in chunks:
            if one == "an option":
                table.alter(SetOption("snapshot.num-retained.min", "3"))
            elif one == "a column":
                table.alter(RenameColumn(("v",), "w"))
            else:
                yield Chunk((), (0,))

    monkeypatch.setattr(read_log, "read_between", between)
    monkeypatch.setattr(read_log, "partitions_of", lambda log: 1)
    monkeypatch.setattr(read_log, "first_offsets", lambda log: [0])
    reader = read_log.read_log(table.state, LogStart(0, ()), follow=True)
    assert [next(reader).num_rows, next(reader).num_rows] == [0, 0]
    with pytest.raises(LogError, match=r"Columns of table default\.t were changed .* Begin anew"):
        next(reader)


def test_messages_that_expired_are_missing_where_they_say_something_new(tmp_path, topic, monkeypatch):
    begun = []
    monkeypatch.setattr(read_log, "read_between", lambda log, starts, ends: begun.append(starts) or iter(()))
    monkeypatch.setattr(read_log, "last_stable_offsets", lambda log: [9, 9])
    monkeypatch.setattr(read_log, "first_offsets", lambda log: [3, 9])
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    for offsets, expected in (((5, 9), [5, 9]), ((5, 7), [5, 9]), ((0,), [3, 9])):
        rows = [one for batch in read_log.read_log(table.state, LogStart(1, offsets)) for one in batch.to_pylist()]
        assert (len(rows), begun.pop()) == (1, expected)
    table.write(keyed_arrow(2, 2))
    assert list(read_log.read_log(table.state, LogStart(1, (5, 9)))) and begun.pop() == [5, 9]
    for start in (LogStart(1, (5, 7)), LogStart(0, (0, 0))):
        with pytest.raises(LogError, match=r"after snapshot \d were deleted.* Begin anew"):
            list(read_log.read_log(table.state, start))
