"""Which changes of which snapshots are published, with a topic that is a list."""

from __future__ import annotations

import json
import logging

import pytest
from support.tables import DELETE, PUT, arrow_rows, compact, keyed_arrow, keyed_table, make_table, reload, schema_of

from tablestore_engine.catalog import log_topics
from tablestore_engine.errors import LogBehindError, LogError, LogFencedError, OptionError
from tablestore_engine.kafka.client import BROKER_FAILED, UNREACHABLE
from tablestore_engine.operation.changelog.log_position import note_position, noted_position
from tablestore_engine.operation.log_store import unpublished_snapshots
from tablestore_engine.operation.log_store.unpublished_snapshots import publish_log
from tablestore_engine.operation.table_commands.metadata_commands import replace_empty
from tablestore_engine.schema.table.layout import with_buckets
from tablestore_engine.schema.table.schema_changes import SetNullability, SetOption

KAFKA = {"log.system": "kafka", "log.kafka.bootstrap.servers": "127.0.0.1:1"}


def test_each_snapshot_that_changes_rows_is_one_transaction(tmp_path, topic):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1, 2))
    table.write(keyed_arrow(1, 2))  # as it was
    table.write(arrow_rows(table.schema, [{"id": 1, "v": 0}, {"id": 3, "v": 3}], [DELETE, PUT]))
    compact(table)
    assert topic.take() == [(1, [("c", 1, 1), ("c", 2, 1)]), (3, [("c", 3, 3), ("d", 1, 1)])]
    table.write(keyed_arrow(5, 2))
    assert topic.take()[2:] == [(5, [("c", 2, 5)])]
    assert noted_position(table.state).snapshot == 5
    assert publish_log(table.state).snapshots == 0


@pytest.mark.parametrize(("keys", "key"), [(["id"], {"id": 1}), ([], None)])
def test_keys_and_values_have_the_formats_of_the_options(tmp_path, topic, keys, key):
    formats = {"log.format": "debezium-json", "log.key.format": "json"}
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, keys, options={**KAFKA, **formats})
    table.write(keyed_arrow(7, 1))
    ((sent, value),) = topic.messages
    assert (sent and json.loads(sent)) == key
    assert json.loads(value) == {"before": None, "after": {"id": 1, "v": 7}, "op": "c"}


def test_a_statement_may_not_be_published(tmp_path, topic):
    quiet = keyed_table(tmp_path, {**KAFKA, "change-tracking": "false"}, name="quiet")
    quiet.write(keyed_arrow(1, 1))
    assert topic.transactions == []
    table = keyed_table(tmp_path, KAFKA)
    table.with_options({"change-tracking": "false"}, "statement").write(keyed_arrow(1, 1))
    table.write(keyed_arrow(2, 2))
    assert topic.take() == [(2, [("c", 2, 2)])]


def test_unpublished_commits_come_first_with_the_next_one(tmp_path, topic, caplog):
    options = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1", "snapshot.time-retained": "1 ms"}
    table = keyed_table(tmp_path, {**KAFKA, **options})
    table.write(keyed_arrow(1, 1))
    topic.fails = [LogError("no brokers.")]
    with caplog.at_level(logging.WARNING):
        for value in (2, 3, 4):  # the second and third do not ask again
            table.write(keyed_arrow(value, 1))
    assert len(topic.transactions) == 1
    assert "its log lacks the changes: no brokers" in caplog.text
    assert table.state.snapshots.ids() == [1, 2, 3, 4]
    unpublished_snapshots._down_until.clear()
    table.write(keyed_arrow(5, 1))
    assert topic.take() == [(number, [("c", 1, number)]) for number in range(1, 6)]
    assert table.state.snapshots.earliest_id() == 5


@pytest.mark.parametrize("answers", [True, False], ids=["one topic failed", "no brokers"])
def test_only_brokers_that_do_not_answer_pause_other_tables(tmp_path, topic, answers, caplog):
    ill, other = keyed_table(tmp_path, KAFKA, name="ill"), keyed_table(tmp_path, KAFKA, name="other")
    topic.answers, topic.fails = answers, [LogError("too large.")]
    with caplog.at_level(logging.WARNING):
        for table in (ill, ill, other):
            table.write(keyed_arrow(1, 1))
    assert topic.take() == ([(1, [("c", 1, 1)])] if answers else [])
    assert ("Topic 'default.ill' was not written to a short while ago" in caplog.text) == answers
    assert ("The brokers 127.0.0.1:1 did not answer a short while ago" in caplog.text) != answers


def test_a_publication_that_was_not_noted_is_not_repeated(tmp_path, topic):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    note = noted_position(table.state)
    table.write(keyed_arrow(2, 1))
    note_position(table.state, note)
    assert publish_log(table.state).snapshots == 0
    assert noted_position(table.state).snapshot == 2, "it is noted now"
    table.write(keyed_arrow(3, 1))
    assert [snapshot for snapshot, _ in topic.transactions] == [1, 2, 3]


def failure(code):
    found = LogError("EndTxn commit failed.")
    found.code = code
    return found


@pytest.mark.parametrize(
    ("error", "times", "published"),
    [
        (LogFencedError("fenced"), 4, True),
        (LogFencedError("fenced"), 5, False),
        (failure(BROKER_FAILED), 4, True),
        (failure(BROKER_FAILED), 5, False),
        (failure(UNREACHABLE), 1, False),
    ],
)
def test_a_writer_that_is_fenced_begins_again(tmp_path, topic, monkeypatch, error, times, published):
    monkeypatch.setattr(unpublished_snapshots, "sleep", lambda seconds: None)
    table = keyed_table(tmp_path, KAFKA)
    topic.fails = [error] * times
    table.write(keyed_arrow(1, 1))
    assert topic.take() == ([(1, [("c", 1, 1)])] if published else [])
    assert topic.fails == []


def test_a_table_may_want_an_error(tmp_path, topic):
    table = keyed_table(tmp_path, {**KAFKA, "log.on-failure": "fail"})
    topic.fails = [LogError("no brokers.")]
    with pytest.raises(LogBehindError, match=r"committed to table default\.t, but not published: no brokers"):
        table.write(keyed_arrow(1, 1))
    table.write(keyed_arrow(2, 2))
    assert [snapshot for snapshot, _ in topic.transactions] == [1, 2]


def test_a_replaced_table_deletes_its_old_rows(tmp_path, topic):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1, 2))
    wanted = schema_of({"id": "INT", "name": "STRING"}, ["id"], options=KAFKA)
    with log_topics.replaced_log(table.state, wanted, list) as schema:
        replace_empty(table.state, schema)
    reload(table).write(arrow_rows(reload(table).schema, [{"id": 1, "name": "x"}]))
    assert topic.take()[1:] == [(2, [("d", 1, 1), ("d", 2, 1)]), (3, [("c", 1, "x")])]
    assert reload(table).options.log_kafka_topic == "default.t"


def test_a_constraint_in_between_deletes_no_rows(tmp_path, topic):
    table = make_table(tmp_path, {"id": "INT NOT NULL", "v": "INT"}, ["id"], options=KAFKA)
    table.write(keyed_arrow(1, 1, 2))
    table = table.alter(SetNullability("v", nullable=False))
    table.write(keyed_arrow(3, 2))
    assert topic.take() == [(1, [("c", 1, 1), ("c", 2, 1)]), (3, [("c", 2, 3)])]


def test_a_log_that_does_not_fit_says_how_to_make_it_anew(tmp_path, topic):
    table = keyed_table(tmp_path, KAFKA)
    table.write(keyed_arrow(1, 1))
    topic.sent_for += [9, None]
    topic.publishers.clear()
    table.write(keyed_arrow(2, 2))
    with pytest.raises(LogError, match=r"snapshot 9, which table default\.t does not have.*restart => true"):
        publish_log(table.state)


def test_the_bucket_number_of_a_logged_table_is_fixed(tmp_path, topic):
    table = make_table(tmp_path, {"id": "INT"}, ["id"], options={**KAFKA, "bucket": "2"})
    with pytest.raises(Exception, match="number of buckets of a table with a log"):
        table.alter(SetOption("bucket", "4"))
    for number in (4, -1):
        with pytest.raises(OptionError, match="number of buckets of a table with a log"):
            with_buckets(table.schema, number, 0, 0)
    assert with_buckets(table.schema, 2, 0, 0) == table.schema
