"""Two processes that take the same messages: the one that comes second writes nothing, no dead letters either."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from support.tables import make_table, reload

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConsumedElsewhereError, OptionError, UserError
from tablestore_engine.operation.commit.consumed_positions import positions_of
from tablestore_engine.operation.kafka_source import sync_topic
from tablestore_engine.operation.kafka_source.dead_letters import dead_letter_schema
from tablestore_engine.operation.kafka_source.source import KafkaSource
from tablestore_engine.operation.kafka_source.sync_topic import SyncRules

SOURCE = KafkaSource("shop.orders", "localhost:9092", cluster="c", topic_id="t")


@dataclass(frozen=True)
class Message:
    """A change of the only row of a table, at an offset."""

    at: int
    before: int | None
    after: int | None

    def value(self):
        before, after = ({"id": 1, "v": one} if one is not None else None for one in (self.before, self.after))
        kind = "d" if after is None else "u" if before else "c"
        return json.dumps({"before": before, "after": after, "op": kind}).encode()

    def key(self):
        return None

    def topic(self):
        return SOURCE.topic

    def partition(self):
        return 0

    def offset(self):
        return self.at


INSERT, MOVE, REMOVE, UNMATCHED = Message(0, None, 1), Message(1, 1, 2), Message(2, 2, None), Message(3, 7, None)


@pytest.fixture
def letters(tmp_path):
    return Catalog(tmp_path).create_table("default", "bad", dead_letter_schema(0))


def sync_of(table, letters):
    state = reload(table).state
    before = positions_of(state.snapshots.latest()).get(SOURCE.name)
    return sync_topic._Sync(state, SOURCE, SyncRules(dead_letters=letters and reload(letters).state), before)


def offsets(letters):
    return sorted(one["kafka_offset"] for one in reload(letters).to_arrow().to_pylist())


@pytest.mark.parametrize("keys", [[], ["id"]], ids=["", "keyed"])
@pytest.mark.parametrize("when", ["before the look-up", "after it"])
@pytest.mark.parametrize("with_letters", [True, False])
def test_the_second_of_two_writes_no_letters(tmp_path, letters, monkeypatch, keys, when, with_letters):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, keys)
    sync_of(table, letters).take([INSERT], (1,))
    batch = [MOVE, REMOVE, UNMATCHED]
    second = sync_of(table, letters if with_letters else None)
    look_up = sync_topic.with_unmatched_as_bad

    def overtaken(*given):
        monkeypatch.setattr(sync_topic, "with_unmatched_as_bad", look_up)
        found = look_up(*given) if when == "after it" else None
        sync_of(table, letters).take(batch, (4,))
        return found or look_up(*given)

    monkeypatch.setattr(sync_topic, "with_unmatched_as_bad", overtaken)
    with pytest.raises(ConsumedElsewhereError, match="Nothing was written"):
        second.take(batch, (4,))
    assert reload(table).to_arrow().num_rows == 0
    assert offsets(letters) == ([] if keys else [3])


def test_two_that_write_letters_at_once_write_the_same_ones(tmp_path, letters, monkeypatch):
    """They looked rows up before either had committed, so both have the same letters, which replace themselves."""
    table = make_table(tmp_path, {"id": "INT", "v": "INT"})
    sync_of(table, letters).take([INSERT], (1,))
    batch, second = [MOVE, REMOVE, UNMATCHED], sync_of(table, letters)
    write = sync_topic.write_dead_letters

    def overtaken(*given):
        monkeypatch.setattr(sync_topic, "write_dead_letters", write)
        sync_of(table, letters).take(batch, (4,))
        assert offsets(letters) == [3]
        write(*given)

    monkeypatch.setattr(sync_topic, "write_dead_letters", overtaken)
    with pytest.raises(ConsumedElsewhereError, match="Nothing was written"):
        second.take(batch, (4,))
    assert (reload(table).to_arrow().num_rows, offsets(letters)) == (0, [3])


def test_a_message_that_removes_nothing_is_a_letter(tmp_path, letters):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"})
    with pytest.raises(UserError, match="removes a row that the table does not have"):
        sync_of(table, None).take([UNMATCHED], (4,))
    sync_of(table, letters).take([INSERT, UNMATCHED], (4,))
    assert (reload(table).to_arrow().num_rows, offsets(letters)) == (1, [3])


def test_a_table_does_not_take_its_own_log(tmp_path, monkeypatch):
    monkeypatch.setattr("tablestore_engine.catalog.log_topics.create_topic", lambda log: False)
    log = {"log.system": "kafka", "log.kafka.bootstrap.servers": "other:1, LOCALHOST:9092"}
    table = make_table(tmp_path, {"id": "INT"}, options={**log, "log.kafka.topic": SOURCE.topic})
    with pytest.raises(OptionError, match=r"is the log of table default\.t: each change"):
        sync_topic.sync_from_kafka(table.state, SOURCE, SyncRules())
