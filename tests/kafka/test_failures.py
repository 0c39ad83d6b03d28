"""Processes that die, brokers that are down, and writers at the same time: nothing is lost, and nothing comes twice."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource
from support.kafka_broker import folded, messages
from support.tables import arrow_rows, keyed_arrow, reload

from tablestore_engine.errors import LogBehindError, LogError
from tablestore_engine.kafka.settings import settings_of
from tablestore_engine.kafka.topics import delete_topic
from tablestore_engine.kafka.transactional_producer import Publisher, forget_publisher
from tablestore_engine.operation.log_store import unpublished_snapshots
from tablestore_engine.operation.log_store.unpublished_snapshots import publish_log

WRITER = os.path.join(os.path.dirname(__file__), "writer.py")
STEPS = ("committed", "begun", "sent", "flushed", "published", "noted")


def table_rows(table):
    return {f'{{"id": {one["id"]}}}': one for one in reload(table).to_arrow().to_pylist()}


def check(table, broker, topic):
    """The topic says what the table holds, each change once."""
    assert folded(broker.servers, topic) == table_rows(table)
    sent = [(key, value["after"]["v"]) for _, _, key, value in messages(broker.servers, topic)]
    assert len(sent) == len(set(sent)), "a change came twice"


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_is_killed(logged, broker, topic, step):
    table = logged(bucket="2")
    table.write(keyed_arrow(0, *range(20)))
    forget_publisher(settings_of(table.schema))
    done = subprocess.run([sys.executable, WRITER, table.path, step], check=False)
    assert done.returncode == -signal.SIGKILL
    assert reload(table).latest_snapshot().id == 2, "it was killed after its commit"
    publish_log(reload(table).state)
    check(table, broker, topic)
    reload(table).write(keyed_arrow(2, 3, 4))
    check(table, broker, topic)


def test_writers_at_the_same_time_publish_each_change_once(logged, broker, topic):
    table = logged(bucket="2")
    writers = [subprocess.Popen([sys.executable, WRITER, table.path, "many", str(number)]) for number in range(2)]
    assert [one.wait(120) for one in writers] == [0, 0]
    publish_log(reload(table).state)
    check(table, broker, topic)
    assert len(table_rows(table)) == 10


def test_a_writer_that_was_fenced_goes_on_and_says_nothing(logged, broker, topic, capfd):
    table = logged()
    table.write(keyed_arrow(1, 1))
    Publisher(settings_of(table.schema))
    table.write(keyed_arrow(2, 2))
    check(table, broker, topic)
    assert capfd.readouterr().err == ""


def test_the_broker_is_killed_and_restarted(logged, broker, topic, caplog, monkeypatch):
    monkeypatch.setattr("tablestore_engine.kafka.client.SECONDS", 1.0)
    monkeypatch.setattr("tablestore_engine.kafka.transactional_producer.SECONDS", 1.0)
    monkeypatch.setattr("tablestore_engine.kafka.topics.SECONDS", 1.0)
    table = logged(bucket="2", **{"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2",
                                  "snapshot.time-retained": "1 ms"})  # fmt: skip
    table.write(keyed_arrow(0, *range(20)))
    broker.kill()
    asked = []
    monkeypatch.setattr(unpublished_snapshots, "publish_log", lambda state: asked.append(state) or publish_log(state))
    with caplog.at_level(logging.WARNING):
        for number in range(1, 6):
            table.write(keyed_arrow(number, number))
    assert len(asked) == 1, "it waited for the broker each time"
    assert "its log lacks the changes" in caplog.text
    assert table.state.snapshots.earliest_id() == 1, "what was not published may expire"
    with pytest.raises(LogError):
        publish_log(table.state)
    broker.start()
    monkeypatch.undo()
    done = publish_log(table.state)
    assert (done.snapshots, done.messages) == (5, 5)
    check(table, broker, topic)
    unpublished_snapshots._down_until.clear()
    table.write(keyed_arrow(7, 1))
    check(table, broker, topic)


@pytest.mark.parametrize("fault", ["too large for the client", "too large for the topic", "no topic"])
def test_a_topic_that_fails_pauses_no_other(logged, broker, topic, caplog, monkeypatch, fault):
    columns = {"id": "INT", "s": "STRING"}
    ill, other = (logged(columns, name=name, **{"log.kafka.topic": f"{topic}-{name}"}) for name in ("ill", "other"))

    def write(table, text="x"):
        number = table.to_arrow().num_rows
        reload(table).write(arrow_rows(table.schema, [{"id": number, "s": text}]))

    for table in (ill, other):
        write(table)
    # A broker's first transactions take some seconds on a busy machine; a client waits for a missing topic to the end.
    monkeypatch.setattr("tablestore_engine.kafka.transactional_producer.SECONDS", 1.0)
    log = settings_of(ill.schema)
    if fault == "no topic":
        delete_topic(log)
    if fault == "too large for the topic":
        small = ConfigEntry("max.message.bytes", "1000", incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.TOPIC, log.topic, incremental_configs=[small])
        client = AdminClient({"bootstrap.servers": broker.servers})
        client.incremental_alter_configs([resource])[resource].result(10)
    with caplog.at_level(logging.WARNING):
        write(ill, "y" * (2_000_000 if fault == "too large for the client" else 5_000))
        write(other)
    assert ("There is no topic" if fault == "no topic" else "Raise 'max.message.bytes' of the topic") in caplog.text
    assert caplog.text.count("its log lacks the changes") == 1
    assert len(messages(broker.servers, f"{topic}-other")) == 2


def test_a_table_may_want_to_know(logged, broker, topic, monkeypatch):
    table = logged(**{"log.on-failure": "fail"})

    def failing(self, snapshot, mark, messages):
        raise LogError("the broker is ill.")

    monkeypatch.setattr(Publisher, "publish", failing)
    with pytest.raises(LogBehindError, match=r"The rows were committed to table default\.t, but not published"):
        table.write(keyed_arrow(1, 1))
    monkeypatch.undo()
    assert table_rows(table) == {'{"id": 1}': {"id": 1, "v": 1}}
    table.write(keyed_arrow(2, 2))
    check(table, broker, topic)


def test_a_topic_that_was_made_anew_is_noticed(logged, broker, topic):
    from tablestore_engine.kafka.topics import create_topic

    table = logged()
    table.write(keyed_arrow(1, 1, 2))
    log = settings_of(table.schema)
    forget_publisher(log)
    delete_topic(log)
    create_topic(log)
    table.write(keyed_arrow(2, 2))  # a warning
    with pytest.raises(LogError, match=r"made anew.*restart => true"):
        publish_log(table.state)
