"""What the log of a table lacks does not expire, by any command or commit, and however old it is."""

from __future__ import annotations

import pytest
from support.expiring import ALL_BUT_ONE, HOUR
from support.fake_topic import Topic
from support.tables import keyed_arrow, keyed_table, reload

from tablestore_engine.errors import LogError
from tablestore_engine.operation.changelog.log_position import LogPosition, note_position
from tablestore_engine.operation.log_store import unpublished_snapshots
from tablestore_engine.operation.log_store.unpublished_snapshots import publish_log, restart_log
from tablestore_engine.operation.table_commands.metadata_commands import purge

KAFKA = {"log.system": "kafka", "log.kafka.bootstrap.servers": "127.0.0.1:1"}
FEW = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1", "snapshot.time-retained": "1 ms"}


@pytest.fixture
def topic(monkeypatch):
    found = Topic()
    found.replace_kafka(monkeypatch)
    monkeypatch.setattr(unpublished_snapshots, "_down_until", {})
    return found


def write(table, *values):
    for value in values:
        reload(table).write(keyed_arrow(value, value))


def dying_writes(table, monkeypatch, *values):
    """Writes of processes that die between their commit and its publication, and leave expiration to others."""
    with monkeypatch.context() as patch:
        patch.setattr(unpublished_snapshots, "publish_after_commit", lambda state: None)
        write(table.with_options({"write-only": "true"}, "statement"), *values)


def ids(table):
    return reload(table).state.snapshots.ids()


def test_the_snapshots_of_writers_that_died_stay_until_they_are_published(tmp_path, topic, monkeypatch):
    table = keyed_table(tmp_path, KAFKA)
    write(table, 1, 2)
    dying_writes(table, monkeypatch, 3, 4)
    assert reload(table).expire_snapshots(ALL_BUT_ONE) == 1
    assert ids(table) == [2, 3, 4], "the last published one is what the next changes are compared with"
    publish_log(reload(table).state)
    assert topic.take() == [(number, [("c", number, number)]) for number in (1, 2, 3, 4)]
    assert reload(table).expire_snapshots(ALL_BUT_ONE) == 2


def test_the_expiration_of_one_writer_leaves_what_another_publishes(tmp_path, topic, monkeypatch):
    table = keyed_table(tmp_path, {**KAFKA, **FEW})
    write(table, 1)

    def overtaken():
        topic.before_end = lambda: None
        with topic.another_process():
            dying_writes(table, monkeypatch, 3)
            reload(table).expire_snapshots(ALL_BUT_ONE)

    topic.before_end = overtaken
    write(table, 2)
    write(table, 4)
    assert [snapshot for snapshot, _ in topic.transactions] == [1, 2, 3, 4]
    assert ids(table) == [4]


def test_a_purge_leaves_what_the_log_lacks(tmp_path, topic, monkeypatch):
    table = keyed_table(tmp_path, KAFKA)
    write(table, 1, 2)
    topic.fails = [LogError("no brokers.")]
    purge(reload(table).state, 1 << 60)
    publish_log(reload(table).state)
    assert topic.take()[2:] == [(3, [("d", 1, 1), ("d", 2, 2)])]


def test_a_restart_that_was_killed_keeps_the_rows_that_it_sends(tmp_path, topic, monkeypatch):
    table = keyed_table(tmp_path, {**KAFKA, **FEW})
    write(table, 1)

    def die():
        topic.after_end = lambda: None
        raise KeyboardInterrupt

    topic.after_end = die
    with pytest.raises(KeyboardInterrupt):
        restart_log(reload(table).state)
    dying_writes(table, monkeypatch, 2)
    reload(table).expire_snapshots(ALL_BUT_ONE)
    write(table, 3)
    assert [snapshot for snapshot, _ in topic.transactions] == [1, 2, 3]


def test_after_a_time_that_the_table_sets_a_log_that_lags_keeps_nothing(tmp_path, topic, monkeypatch):
    table = keyed_table(tmp_path, {**KAFKA, "consumer.expiration-time": "1 h"})
    write(table, 1)
    now = reload(table).latest_snapshot().time_millis
    for snapshot, hours in ((2, 0), (3, 5)):
        monkeypatch.setattr("tablestore_engine.storage.clock.now_millis", lambda at=now + hours * HOUR: at)
        dying_writes(table, monkeypatch, snapshot)
    assert reload(table).expire_snapshots(ALL_BUT_ONE, now + HOUR - 1) == 0
    assert reload(table).expire_snapshots(ALL_BUT_ONE, now + HOUR + 60_000) == 2
    note_position(table.state, LogPosition("default.t", 3, reload(table).latest_snapshot().mark))
    write(table, 4)
    assert reload(table).expire_snapshots(ALL_BUT_ONE, now + 99 * HOUR) == 1, "nothing lags"


def test_a_table_whose_log_is_not_known_expires(tmp_path, topic):
    table = keyed_table(tmp_path, KAFKA)
    write(table, 1, 2)
    table.io.delete(table.paths.log_position("default.t"))
    assert reload(table).expire_snapshots(ALL_BUT_ONE) == 1


def test_without_a_log_no_position_is_looked_for(tmp_path, monkeypatch):
    table = keyed_table(tmp_path, FEW)
    monkeypatch.delattr("tablestore_engine.operation.expiration.waited_for.noted_position")
    write(table, 1, 2)
    assert ids(table) == [2]
