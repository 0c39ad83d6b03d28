"""Rows that a log gets before their commit."""

from __future__ import annotations

import logging

import pytest
from support.kafka_broker import folded, messages
from support.tables import DELETE, PUT, arrow_rows, compact, keyed_arrow, reload

from tablestore_engine.errors import LogError
from tablestore_engine.log import producer
from tablestore_engine.operation.commit.change import LOG_SENT


def table_rows(table):
    return {f'{{"id": {one["id"]}}}': one for one in reload(table).to_arrow().to_pylist()}


def failing(*_):
    raise LogError("the broker is ill.")


def test_rows_are_sent_before_the_commit_and_the_log_follows_deletes_and_overwrites(logged, broker, topic):
    table = logged(bucket="2", **{"log.consistency": "eventual"})
    table.write(keyed_arrow(1, 1, 2, 3))
    table.write(arrow_rows(table.schema, [{"id": 2, "v": 0}, {"id": 3, "v": 5}], [DELETE, PUT]))
    compact(table)
    table.write(keyed_arrow(6, 4))
    assert folded(broker.servers, topic) == table_rows(table)
    told = messages(broker.servers, topic)
    assert len(told) == 6
    assert [LOG_SENT in (one.properties or {}) for one in reload(table).snapshots()] == [True, True, False, True]
    assert sorted(one["v"] for one in (row for batch in table.read_log() for row in batch.to_pylist())) == [1, 5, 6, 6]


def test_what_was_not_sent_is_published_after_the_commit(logged, broker, topic, monkeypatch, caplog):
    table = logged(**{"log.consistency": "eventual"})
    monkeypatch.setattr(producer, "send_early", failing)
    with caplog.at_level(logging.WARNING):
        table.write(keyed_arrow(1, 1, 2))
    assert "are published after their commit: the broker is ill" in caplog.text
    assert folded(broker.servers, topic) == table_rows(table)
    monkeypatch.undo()
    table.write(keyed_arrow(2, 2))
    assert folded(broker.servers, topic) == table_rows(table)


def test_a_table_that_wants_to_know_is_not_written(logged, monkeypatch):
    table = logged(**{"log.consistency": "eventual", "log.on-failure": "fail"})
    monkeypatch.setattr(producer, "send_early", failing)
    with pytest.raises(LogError, match="ill"):
        table.write(keyed_arrow(1, 1))
    assert reload(table).latest_snapshot() is None
