"""Passing messages to a client whose buffer is small."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tablestore_engine.errors import LogError
from tablestore_engine.kafka import transactional_producer
from tablestore_engine.kafka.encode_messages import Messages
from tablestore_engine.kafka.settings import LogSettings
from tablestore_engine.kafka.transactional_producer import send

LOG = LogSettings("t", "localhost:1")


class Client:
    """A producer with room for some messages, which are sent when it is polled."""

    def __init__(self, room):
        self.room, self.held, self.sent = room, [], []

    def produce(self, topic, value, key, partition, callback, on_delivery, timestamp, headers):
        if len(self.held) == self.room:
            raise BufferError
        self.held.append((topic, value, key, partition, callback, timestamp, headers))

    def poll(self, seconds):
        self.sent += self.held
        self.held = []


def parts(*sizes, keys=True):
    for size in sizes:
        values = pa.array([f"{size}:{number}" for number in range(size)])
        yield Messages(values, values if keys else None, np.arange(size, dtype=np.int32))


@pytest.mark.parametrize("at_once", [1, 3, 100])
@pytest.mark.parametrize("room", [1, 4, 100])
def test_each_message_is_sent_once_and_in_order(monkeypatch, room, at_once):
    monkeypatch.setattr(transactional_producer, "_AT_ONCE", at_once)
    client = Client(room)
    assert send(client, LOG, parts(5, 1, 7), [("name", b"1")]) == 13
    texts = [(f"{size}:{number}".encode(), number) for size in (5, 1, 7) for number in range(size)]
    assert client.sent == [("t", text, text, number, None, 0, [("name", b"1")]) for text, number in texts]


def test_there_may_be_no_keys_and_no_headers():
    client = Client(9)
    send(client, LOG, parts(2, keys=False), None)
    assert client.sent == [("t", b"2:0", None, 0, None, 0, None), ("t", b"2:1", None, 1, None, 0, None)]


def test_a_full_buffer_is_an_error_after_a_while(monkeypatch):
    monkeypatch.setattr(transactional_producer, "SECONDS", 0.0)
    with pytest.raises(LogError, match="took no message for 0 s"):
        send(Client(0), LOG, parts(2), None)
