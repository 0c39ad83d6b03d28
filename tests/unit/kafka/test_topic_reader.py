"""Reading a topic between offsets, with a client that gives what a test wants."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from tablestore_engine.errors import LogError
from tablestore_engine.kafka import topic_reader
from tablestore_engine.kafka.settings import LogSettings
from tablestore_engine.kafka.topic_reader import read_between, snapshot_of
from tablestore_engine.kafka.transactional_producer import HEADER

LOG = LogSettings("t", "localhost:1", partitions=2)


def message(number, offset, code=None, headers=None):
    error = None if code is None else SimpleNamespace(code=lambda: code)
    return SimpleNamespace(
        partition=lambda: number, offset=lambda: offset, error=lambda: error, headers=lambda: headers
    )  # fmt: skip


class Client:
    def __init__(self, *answers):
        self._answers = list(answers)
        self.assigned = []

    def assign(self, partitions):
        self.assigned = [(one.partition, one.offset) for one in partitions]

    def consume(self, *_):
        return self._answers.pop(0) if self._answers else []

    def close(self):
        pass


@pytest.fixture
def client(monkeypatch):
    def use(*answers):
        made = Client(*answers)
        monkeypatch.setattr(topic_reader, "consumer", lambda log: made)
        return made

    return use


def test_it_stops_at_the_ends_and_passes_nothing_behind_them(client):
    end = message(1, 4, KafkaError._PARTITION_EOF)
    made = client([message(0, 3), message(0, 5), message(0, 9)], [], [message(1, 2), end])
    chunks = list(read_between(LOG, [3, 2], [6, 4]))
    assert made.assigned == [(0, 3), (1, 2)]
    assert [(one.partition(), one.offset()) for chunk in chunks for one in chunk.messages] == [(0, 3), (0, 5), (1, 2)]
    assert chunks[-1].offsets == (6, 4), "the message at 9 is for the next reader"


def test_partitions_without_news_are_left_alone(client):
    made = client([message(1, 0)])
    assert [chunk.offsets for chunk in read_between(LOG, [5, 0], [5, 1])] == [(5, 1)]
    assert made.assigned == [(1, 0)]


def test_it_does_not_wait_for_ever(client, monkeypatch):
    monkeypatch.setattr(topic_reader, "SECONDS", 0.05)
    client()
    with pytest.raises(LogError, match="sent nothing"):
        list(read_between(LOG, [0, 0], [1, 1]))


def test_an_error_of_the_brokers_is_raised(client):
    client([message(0, 0, KafkaError.TOPIC_AUTHORIZATION_FAILED)])
    with pytest.raises((LogError, KafkaException)):
        list(read_between(LOG, [0, 0], [1, 1]))


def test_a_message_names_its_snapshot():
    assert snapshot_of(message(0, 0, headers=[("other", b"x"), (HEADER, b"12")])) == 12
    assert snapshot_of(message(0, 0)) == 0
