"""The changed rows of messages between two offsets: of each key the newest one, or all changes."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tablestore_engine.operation.kafka_source import take_batch as module
from tablestore_engine.operation.kafka_source.source import KafkaSource
from tablestore_engine.operation.kafka_source.take_batch import take_batch, up_to, wanted_rows

SCHEMA = pa.schema([("id", pa.int32()), ("v", pa.int32())])
SOURCE = KafkaSource("shop.orders", "localhost:9092")


class Message:
    def __init__(self, value):
        self._value = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()

    def value(self):
        return self._value

    def key(self):
        return None


def change(number, old, new):
    before, after = ({"id": number, "v": one} if one is not None else None for one in (old, new))
    return Message({"before": before, "after": after, "op": "d" if after is None else "u" if before else "c"})


@pytest.fixture
def taken(monkeypatch):
    def take(parts, keys=("id",), anew=False):
        monkeypatch.setattr(module, "batches", lambda *given: ((part, (1,)) for part in parts))
        return take_batch(SOURCE, (0,), (1,), wanted_rows(SCHEMA, keys, ()), anew=anew)

    return take


def rows(batch):
    return [tuple(row.values()) for row in batch.rows.to_pylist()]


def test_of_each_key_the_newest_row_is_read(taken):
    first = [change(1, None, 10), change(2, None, 20), change(3, None, 30)]
    batch = taken([first, [change(1, 10, 11), change(2, 20, None), change(1, 11, 12)]])
    assert rows(batch) == [("+I", 3, 30), ("-D", 2, 20), ("+U", 1, 12)]


def test_a_table_that_is_built_anew_gets_the_rows_that_there_are(taken):
    parts = [[change(1, None, 10), change(2, None, 20)], [change(1, 10, 11), change(2, 20, None)]]
    assert rows(taken(parts, anew=True)) == [("+I", 1, 11)]
    assert len(rows(taken(parts, keys=(), anew=True))) == 5


def test_a_key_that_changes_deletes_the_old_one(taken):
    moved = Message({"before": {"id": 1, "v": 1}, "after": {"id": 2, "v": 1}, "op": "u"})
    assert rows(taken([[moved]])) == [("-D", 1, 1), ("+U", 2, 1)]


def test_without_a_key_all_changes_are_read(taken):
    batch = taken([[change(1, None, 10), change(1, 10, 11), change(1, 11, None)]], keys=())
    assert rows(batch) == [("+I", 1, 10), ("-U", 1, 10), ("+U", 1, 11), ("-D", 1, 11)]


def test_messages_that_cannot_be_read_are_letters(taken):
    lost = Message(b"{no json")
    batch = taken([[change(1, None, 1), lost]])
    assert rows(batch) == [("+I", 1, 1)]
    ((message, reason),) = batch.letters
    assert message is lost
    assert reason


def test_nothing_new_asks_nobody():
    assert take_batch(SOURCE, (3, 4), (3, 4), wanted_rows(SCHEMA, ("id",), ())).rows.num_rows == 0


@pytest.mark.parametrize(
    ("starts", "ends", "most", "found"),
    [
        ((0, 0), (10, 5), None, (10, 5)),
        ((0, 0), (10, 5), 15, (10, 5)),
        ((0, 0), (10, 5), 6, (3, 3)),
        ((5, 5), (10, 5), 2, (7, 5)),
        ((0, 0), (10, 1), 6, (3, 1)),
    ],
)
def test_a_run_reads_so_many_messages_at_most(starts, ends, most, found):
    assert up_to(starts, ends, most) == found
