"""Changes from a topic into a table: each message once, whatever dies; new columns; messages that cannot be read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from support.tables import make_table, reload

from tablestore_engine.cli import main
from tablestore_engine.errors import ConsumedElsewhereError, LogError, UserError
from tablestore_engine.kafka.topics import cluster_of, topic_id_of
from tablestore_engine.operation.kafka_source import sync_topic
from tablestore_engine.operation.kafka_source.source import KafkaSource
from tablestore_engine.operation.kafka_source.sync_topic import SyncRules, sync_from_kafka
from tablestore_engine.store import TableStore

SYNCER = os.path.join(os.path.dirname(__file__), "syncer.py")


class Topic:
    def __init__(self, servers, name, partitions=2):
        self.servers, self.name = servers, name
        client = AdminClient({"bootstrap.servers": servers})
        client.create_topics([NewTopic(name, partitions)])[name].result(10)
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 5})

    def send(self, *messages):
        for number, key, value in messages:
            text = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
            self._producer.produce(self.name, text, key, number)
        assert self._producer.flush(10) == 0

    def changes(self, *changes):
        """Debezium messages of (id, v); v None deletes."""
        self.send(
            *(
                (number % 2, None, {"before": {"id": number, "v": 0}, "after": None, "op": "d"} if v is None
                 else {"before": None, "after": {"id": number, "v": v}, "op": "c"})
                for number, v in changes
            )
        )  # fmt: skip

    @property
    def source(self):
        return KafkaSource(self.name, self.servers)


@pytest.fixture
def source(broker, topic):
    return Topic(broker.servers, topic)


@pytest.fixture
def table(tmp_path):
    return make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"])


def rows(table):
    return {one["id"]: one["v"] for one in reload(table).to_arrow().to_pylist()}


def take(table, source, **rules):
    return sync_from_kafka(reload(table).state, source.source, SyncRules(**rules))


def test_messages_become_rows_once(table, source):
    source.changes((1, 1), (2, 2), (3, 3), (1, 10), (2, None))
    done = take(table, source)
    assert (done.messages, done.rows, done.bad, done.commits) == (5, 5, 0, 1)
    assert rows(table) == {1: 10, 3: 3}
    assert take(table, source).commits == 0
    source.changes((3, None), (4, 4))
    assert take(table, source, batch=1).messages == 2
    assert rows(table) == {1: 10, 4: 4}
    taken = reload(table).latest_snapshot().properties
    assert taken[f"tablestore.consumed.kafka:{source.name}@{cluster_of(source.source.log)}"] == (
        f"7/3,4@{topic_id_of(source.source.log)}"
    )


def test_a_table_without_key_counts_each_message_once(tmp_path, source):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"})
    source.changes((1, 1), (1, 1))
    take(table, source)
    source.send((0, None, {"before": {"id": 1, "v": 1}, "after": {"id": 1, "v": 2}, "op": "u"}))
    take(table, source)
    assert sorted(one["v"] for one in reload(table).to_arrow().to_pylist()) == [1, 2]


@pytest.mark.parametrize("step", ["read", "written", "committed"])
def test_a_sync_is_killed(tmp_path, source, step):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"})  # without a key, a repeated message would show
    source.changes(*((number, number) for number in range(20)))
    done = subprocess.run([sys.executable, SYNCER, table.path, source.servers, source.name, step], check=False)
    assert done.returncode == -signal.SIGKILL
    take(table, source)
    assert sorted(one["id"] for one in reload(table).to_arrow().to_pylist()) == list(range(20))


def test_two_at_the_same_time_do_not_count_twice(tmp_path, source, monkeypatch):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"})
    source.changes((1, 1))
    write = sync_topic.write_arrow

    def overtaken(*given):
        monkeypatch.setattr(sync_topic, "write_arrow", write)
        take(table, source)
        return write(*given)

    monkeypatch.setattr(sync_topic, "write_arrow", overtaken)
    with pytest.raises(ConsumedElsewhereError):
        take(table, source)
    assert rows(table) == {1: 1}
    assert reload(table).to_arrow().num_rows == 1


def test_new_columns_come_by_option(table, source):
    source.send((0, None, {"after": {"id": 1, "v": 1, "note": "x", "size": 1.5}, "op": "c"}))
    assert take(table, source, new_columns=True).columns == ("note", "size")
    assert reload(table).to_arrow().to_pylist() == [{"id": 1, "v": 1, "note": "x", "size": 1.5}]
    source.send((0, None, {"after": {"id": 2, "v": 2, "other": 1}, "op": "c"}))
    assert take(table, source).columns == ()
    assert "other" not in reload(table).schema.field_names


def test_bad_messages_go_to_a_table_with_the_reason(tmp_path, table, source):
    store = TableStore(tmp_path)
    source.changes((1, 1))
    source.send((0, b"key", b"{no json"), (1, None, {"after": {"id": "x"}, "op": "c"}))
    source.changes((2, 2))
    with pytest.raises(UserError, match=r"cannot be read as debezium-json.*dead_letters"):
        take(table, source)
    assert reload(table).latest_snapshot() is None
    call = (
        f"CALL sys.sync_from_kafka(table => 't', topic => '{source.name}', servers => '{source.servers}', "
        "dead_letters => 'bad')"
    )
    assert store.execute(call).rows == [(4, 2, 2, 1, None)]
    assert rows(table) == {1: 1, 2: 2}
    letters = sorted(store.table("bad").to_arrow().to_pylist(), key=lambda one: one["kafka_partition"])
    assert [(one["message_key"], one["message"], one["kafka_offset"]) for one in letters] == [
        ("key", "{no json", 0),
        (None, '{"after": {"id": "x"}, "op": "c"}', 1),
    ]
    assert all(one["reason"] for one in letters)
    source.send((0, None, b"{no json"), (0, None, {"after": {"id": 3, "v": 3, "note": "x", "tags": []}, "op": "c"}))
    assert store.execute(call.replace(")", ", new_columns => true)")).rows == [(2, 1, 1, 1, "note, tags")]
    assert store.table("t").to_arrow().sort_by("id").to_pylist()[2] == {"id": 3, "v": 3, "note": "x", "tags": "[]"}


def test_upsert_json_deletes_by_key(table, source):
    given = KafkaSource(source.name, source.servers, "upsert-json")
    source.send((0, b'{"id":1}', {"id": 1, "v": 1}), (0, b'{"id":2}', {"id": 2, "v": 2}), (0, b'{"id":1}', None))
    sync_from_kafka(table.state, given, SyncRules())
    assert rows(table) == {2: 2}


def test_from_the_command_line(tmp_path, table, source):
    source.changes((1, 1), (2, 2))
    given = ["sync", "-w", str(tmp_path), "--servers", source.servers, source.name, "t"]
    done = CliRunner().invoke(main, given)
    assert (done.exit_code, done.output) == (0, "2 messages, 2 rows, 0 that cannot be read\n")
    assert rows(table) == {1: 1, 2: 2}


def test_start_at_the_latest(table, source):
    source.changes((1, 1))
    assert take(table, source, start="latest").messages == 0
    source.changes((2, 2))
    take(table, source, start="latest")
    assert rows(table) == {2: 2}


def test_messages_that_kafka_deleted_are_noticed(table, source, broker):
    from confluent_kafka import TopicPartition

    source.changes((1, 1), (2, 2))
    take(table, source)
    source.changes(*((2, number) for number in range(5)))
    client = AdminClient({"bootstrap.servers": broker.servers})
    for future in client.delete_records([TopicPartition(source.name, 0, 4)]).values():
        future.result(10)
    with pytest.raises(LogError, match="were deleted before the table took them"):
        take(table, source)


def test_a_published_table_can_be_copied(tmp_path, logged, broker):
    original = logged(bucket="2")
    copy = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], name="copy")
    import pyarrow as pa

    original.write(pa.table({"id": pa.array(range(50), pa.int32()), "v": pa.array(range(50), pa.int32())}))
    given = KafkaSource(original.options.log_kafka_topic, broker.servers)
    sync_from_kafka(copy.state, given, SyncRules())
    assert rows(copy) == rows(original)
