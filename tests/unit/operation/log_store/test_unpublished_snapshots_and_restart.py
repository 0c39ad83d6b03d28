"""Several publishers of one log, logs that are made anew, and tables that are replaced: each change is sent once."""

from __future__ import annotations

import shutil
import threading
import time
from contextlib import suppress

import pytest
from support.tables import compact, keyed_arrow, keyed_table, reload, schema_of

from tablestore_engine.catalog import Catalog, log_topics
from tablestore_engine.errors import LogBehindError, LogError, LogFencedError
from tablestore_engine.operation.changelog import early_log
from tablestore_engine.operation.changelog.log_position import LogPosition, note_position, noted_position
from tablestore_engine.operation.commit.change import LOG_SENT
from tablestore_engine.operation.log_store import unpublished_snapshots
from tablestore_engine.operation.log_store.unpublished_snapshots import publish_log, restart_log
from tablestore_engine.operation.table_commands.metadata_commands import replace_empty

KAFKA = {"log.system": "kafka", "log.kafka.bootstrap.servers": "127.0.0.1:1"}


def snapshots_of(topic):
    return [snapshot for snapshot, _ in topic.transactions]


def lagging(table, topic, *values):
    """Writes that are not published yet."""
    topic.fails = [LogError("no brokers.")]
    for value in values:
        table.write(keyed_arrow(value, value))
    topic.fails = []
    unpublished_snapshots._down_until.clear()


def expire_all_but_latest(table):
    for number in table.state.snapshots.ids()[:-1]:
        table.io.delete(table.paths.snapshot(number))


def test_two_threads_publish_a_snapshot_once(tmp_path, topic):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    lagging(table, topic, 2)
    publish_log(table.state)
    lagging(table, topic, 3)
    topic.before_end = lambda: time.sleep(0.1)
    threads = [threading.Thread(target=publish_log, args=(table.state,)) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert snapshots_of(topic) == [1, 2, 3]


@pytest.mark.parametrize("reader_first", [False, True])
def test_a_slow_process_does_not_take_the_log_back(tmp_path, topic, reader_first):
    """Between its transaction and its note, another process publishes the next snapshot."""
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    overtaken = []

    def overtake():
        topic.after_end = lambda: None
        with topic.another_process():
            reload(table).write(keyed_arrow(3, 3))
            overtaken.append(noted_position(table.state))

    topic.after_end = overtake
    table.write(keyed_arrow(2, 2))
    assert [one.snapshot for one in overtaken] == [3]
    assert noted_position(table.state) == overtaken[0], "the newer note stays"
    if reader_first:
        note_position(table.state, LogPosition("default.t", 2, offsets=(3,)))
    with topic.another_process():
        publish_log(reload(table).state)
        reload(table).write(keyed_arrow(4, 4))
    table.write(keyed_arrow(5, 5))
    assert snapshots_of(topic) == [1, 2, 3, 4, 5]


def test_the_noted_offsets_are_not_behind_messages_of_others(tmp_path, topic):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1, 2))
    assert topic.sent_for == [1, 1, None]
    assert noted_position(table.state).offsets == (2,), "the end of the transaction comes after it"


def test_a_note_that_goes_back_is_read_again(tmp_path, topic, monkeypatch):
    """A slow process notes its own position over a newer one, before which snapshots have expired."""
    monkeypatch.setattr(unpublished_snapshots, "sleep", lambda seconds: None)
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    old = noted_position(table.state)
    with topic.another_process():
        reload(table).write(keyed_arrow(2, 2))
    expire_all_but_latest(reload(table))
    note_position(table.state, old)
    table.write(keyed_arrow(3, 3))
    assert snapshots_of(topic) == [1, 2, 3]


def test_a_publisher_is_done_when_another_one_has_published_its_commit(tmp_path, topic, monkeypatch):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))

    def overtake(seconds):
        with topic.another_process():
            reload(table).write(keyed_arrow(3, 3))

    monkeypatch.setattr(unpublished_snapshots, "sleep", overtake)
    topic.fails = [LogFencedError("fenced")]
    table.write(keyed_arrow(2, 2))
    assert snapshots_of(topic) == [1, 2, 3]
    assert topic.process not in topic.publishers, "it has not begun again"


def test_a_snapshot_that_another_one_published_may_expire_meanwhile(tmp_path, topic, monkeypatch):
    """The newest snapshot in the topic expires between the look at the topic and the look at the table."""
    monkeypatch.setattr(unpublished_snapshots, "sleep", lambda seconds: None)
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    note = noted_position(table.state)
    table.write(keyed_arrow(2, 2))
    note_position(table.state, note)
    topic.publishers.clear()

    def overtake(log, offsets):
        monkeypatch.setattr(unpublished_snapshots, "newest_snapshot", topic.newest)
        found = topic.newest(log, offsets)
        with topic.another_process():
            reload(table).write(keyed_arrow(3, 3))
        expire_all_but_latest(reload(table))
        return found

    monkeypatch.setattr(unpublished_snapshots, "newest_snapshot", overtake)
    assert publish_log(table.state).last == 3
    assert snapshots_of(topic) == [1, 2, 3]


def test_a_table_that_was_restored_stays_apart_from_its_log(tmp_path, topic):
    """Its later snapshots get the numbers of those that the log has from before."""
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    shutil.copytree(table.path, tmp_path / "backup")
    for number in (2, 3):
        table.write(keyed_arrow(number, number))
    shutil.rmtree(table.path)
    shutil.copytree(tmp_path / "backup", table.path)
    for number in range(4):
        with topic.another_process(f"process {number}"):
            reload(table).write(keyed_arrow(number, 100))
            with pytest.raises(LogError, match=r"has changes of snapshot 3, which .* does not have"):
                publish_log(reload(table).state)
    assert snapshots_of(topic) == [1, 2, 3]
    with topic.another_process("the last one"):
        restart_log(reload(table).state)
        assert publish_log(reload(table).state).snapshots == 0
    assert topic.transactions[-1][0] == reload(table).state.snapshots.latest().id


@pytest.mark.parametrize("last", ["compact", "untracked", "sent"])
def test_a_log_that_is_made_anew_has_all_rows(tmp_path, topic, last):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    if last == "untracked":
        table.with_options({"change-tracking": "false"}, "statement").write(keyed_arrow(2, 2))
    else:
        table.write(keyed_arrow(2, 2), {LOG_SENT: "0"} if last == "sent" else None)
    if last == "compact":
        compact(table)
        expire_all_but_latest(table)
    done = restart_log(reload(table).state)
    latest = table.latest_snapshot().id
    assert (done.snapshots, done.messages, done.last) == (1, 2, latest)
    assert topic.take() == [(latest, [("c", 1, 1), ("c", 2, 2)])]
    table.write(keyed_arrow(3, 3))
    assert topic.take()[1:] == [(latest + 1, [("c", 3, 3)])]


@pytest.mark.parametrize("published", [False, True])
def test_a_restart_that_was_killed_goes_on(tmp_path, topic, published):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    table.with_options({"change-tracking": "false"}, "statement").write(keyed_arrow(2, 2))

    def die():
        raise KeyboardInterrupt

    setattr(topic, "after_end" if published else "before_end", die)
    with suppress(KeyboardInterrupt):
        restart_log(table.state)
    topic.before_end = topic.after_end = lambda: None
    assert noted_position(table.state).snapshot == 0
    table.write(keyed_arrow(3, 3))
    sent = [row for _, rows in topic.take() for row in rows]
    assert sent == [("c", 1, 1), ("c", 2, 2), ("c", 3, 3)]


def test_changes_of_expired_snapshots_are_sent_with_the_next(tmp_path, topic):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    lagging(table, topic, 2, 3)
    topic.fails = [LogError("no brokers.")]
    compact(table)
    topic.fails = []
    unpublished_snapshots._down_until.clear()
    assert table.latest_snapshot().commit_kind == "COMPACT"
    for number in (2, 3):
        table.io.delete(table.paths.snapshot(number))
    publish_log(table.state)
    assert topic.take()[1:] == [(4, [("c", 2, 2), ("c", 3, 3)])]


@pytest.mark.parametrize("failure", ["before", "after", "killed"])
def test_a_replacement_that_fails_leaves_the_old_log(tmp_path, topic, failure):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    old = noted_position(table.state)
    wanted = schema_of({"id": "INT", "v": "INT"}, ["id"], options={**KAFKA, "log.kafka.topic": "another"})
    if failure == "killed":
        log_topics.replaced_log(table.state, wanted, list).__enter__()
    with suppress(LogBehindError, LogError), log_topics.replaced_log(table.state, wanted, list) as schema:
        if failure == "after":
            replace_empty(table.state, schema)
            raise LogBehindError("committed.")
        raise LogError("no.")
    table = reload(table)
    if failure == "after":
        assert (table.options.log_kafka_topic, noted_position(table.state).topic) == ("another", "another")
        assert not table.io.exists(table.paths.log_position("default.t"))
        return
    assert noted_position(table.state) == old
    assert not table.io.exists(table.paths.log_position("another"))
    table.write(keyed_arrow(2, 2))
    assert snapshots_of(topic) == [1, 2]


def test_a_dropped_table_loses_its_topic_first(tmp_path, topic, monkeypatch):
    table, catalog, seen = keyed_table(tmp_path, KAFKA), Catalog(tmp_path), []
    monkeypatch.setattr(
        log_topics, "delete_topic", lambda log: seen.append((log.topic, catalog.table_exists("default", "t")))
    )
    catalog.drop_table(*table.identifier)
    assert seen == [("default.t", True)]
    assert not catalog.table_exists("default", "t")
    keyed_table(tmp_path, KAFKA, name="u")
    catalog.drop_database("default", cascade=True)
    assert seen[1:] == [("default.u", False)]


@pytest.mark.parametrize("lost", ["note", "snapshot"])
def test_rows_are_not_sent_early_when_it_is_not_known_what_the_log_has(tmp_path, topic, lost, monkeypatch):
    sent = []
    monkeypatch.setattr(early_log, "_sent", lambda *given: sent.append(given) or [0])
    table = keyed_table(tmp_path, {**KAFKA, "log.consistency": "eventual"})
    table.write(keyed_arrow(1, 1))
    table.write(keyed_arrow(2, 2))
    assert (len(sent), topic.transactions) == (2, [])
    if lost == "note":
        table.io.delete(table.paths.log_position("default.t"))
    else:
        note_position(table.state, LogPosition("default.t"))
        table.io.delete(table.paths.snapshot(1))
    table.write(keyed_arrow(3, 3))
    assert len(sent) == 2
    assert table.to_arrow().num_rows == 3
