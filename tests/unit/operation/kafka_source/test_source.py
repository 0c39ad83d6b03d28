"""How far a table has taken a topic: offsets as a position in the properties of its snapshots."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.tables import keyed_arrow, keyed_table, reload

from tablestore_engine.errors import ConsumedElsewhereError, LogError, OptionError
from tablestore_engine.kafka.topic_reader import Chunk
from tablestore_engine.operation.commit.consumed_positions import positions_of
from tablestore_engine.operation.kafka_source import source as source_module
from tablestore_engine.operation.kafka_source import sync_topic
from tablestore_engine.operation.kafka_source.source import (
    KafkaSource,
    check_format,
    consumed,
    first_to_take,
    located,
    offsets_of,
    position_of,
    why_messages_lost,
)
from tablestore_engine.operation.table_commands.arrow_write import write_arrow
from tablestore_engine.operation.write_job.write_intent import WriteIntent

SOURCE = KafkaSource("Shop.Orders", "localhost:9092", cluster="X1")


def take(table, before, after, rows=None, source=SOURCE):
    before = None if before is None else position_of(before)
    rows = keyed_arrow(1, 1) if rows is None else rows
    write_arrow(reload(table).state, rows, WriteIntent(consumed=(consumed(source, before, after),)))
    return offsets_of(source, positions_of(reload(table).latest_snapshot()))


def test_offsets_are_committed_with_rows_and_carried_on(tmp_path):
    table = keyed_table(tmp_path)
    assert offsets_of(SOURCE, positions_of(None)) is None
    assert take(table, None, (3, 0)) == (3, 0)
    assert take(table, (3, 0), (3, 5)) == (3, 5)
    table.write(keyed_arrow(2, 2))
    assert offsets_of(SOURCE, positions_of(reload(table).latest_snapshot())) == (3, 5)
    assert take(table, (3, 5), (4, 6), keyed_arrow(0)) == (4, 6), "messages without rows"


@pytest.mark.parametrize("before", [None, (0, 0), (3, 1)])
def test_messages_that_another_process_took_are_refused(tmp_path, before):
    table = keyed_table(tmp_path)
    take(table, None, (3, 0))
    with pytest.raises(ConsumedElsewhereError, match=r"kafka:Shop\.Orders"):
        take(table, before, (9, 9))
    assert reload(table).latest_snapshot().id == 1


def test_topics_that_differ_in_case_or_cluster_have_their_own_offsets(tmp_path):
    table = keyed_table(tmp_path)
    take(table, None, (1000,))
    for number, other in enumerate((replace(SOURCE, topic="shop.orders"), replace(SOURCE, cluster="x1"))):
        assert offsets_of(other, positions_of(reload(table).latest_snapshot())) is None
        assert take(table, None, (number,), keyed_arrow(number), source=other) == (number,)
    assert offsets_of(SOURCE, positions_of(reload(table).latest_snapshot())) == (1000,)


def test_a_sync_asks_for_the_cluster_and_begins_at_its_own_offsets(tmp_path, monkeypatch):
    table = keyed_table(tmp_path)
    clusters = iter(["X1", "X2", "X1"])
    monkeypatch.setattr(source_module, "cluster_of", lambda log: next(clusters))
    monkeypatch.setattr(source_module, "topic_id_of", lambda log: "T1")
    monkeypatch.setattr(sync_topic, "last_stable_offsets", lambda log: [7])
    monkeypatch.setattr(sync_topic, "first_offsets", lambda log: [0])
    asked = []
    monkeypatch.setattr(sync_topic, "read_between", lambda log, starts, ends: [Chunk((), asked.append(starts) or (7,))])
    for _ in range(3):
        sync_topic.sync_from_kafka(reload(table).state, KafkaSource("orders", "b:9092"), sync_topic.SyncRules())
    assert asked == [(0,), (0,)], "of each cluster once"


def test_a_topic_that_was_made_anew_is_refused_however_many_messages_it_has(tmp_path, monkeypatch):
    table = keyed_table(tmp_path)
    ids = iter(["T1", "T1", "T2"])
    monkeypatch.setattr(source_module, "cluster_of", lambda log: "X1")
    monkeypatch.setattr(source_module, "topic_id_of", lambda log: next(ids))
    monkeypatch.setattr(sync_topic, "last_stable_offsets", lambda log: [7])
    monkeypatch.setattr(sync_topic, "first_offsets", lambda log: [0])
    monkeypatch.setattr(sync_topic, "read_between", lambda log, starts, ends: [Chunk((), (7,))])
    source = KafkaSource("orders", "b:9092")
    for _ in range(2):
        sync_topic.sync_from_kafka(reload(table).state, source, sync_topic.SyncRules())
    with pytest.raises(LogError, match=r"made anew; .* the id T1.*Load the source anew"):
        sync_topic.sync_from_kafka(reload(table).state, source, sync_topic.SyncRules())
    assert positions_of(reload(table).latest_snapshot())["kafka:orders@X1"].mark == "7@T1"


@pytest.mark.parametrize(("ids", "mark"), [(["", "T1"], "9@T1"), (["T1", ""], "9")])
def test_positions_with_and_without_the_id_of_the_topic_follow_each_other(tmp_path, monkeypatch, ids, mark):
    """Older versions, and brokers, know no ids."""
    table = keyed_table(tmp_path)
    known, ends = iter(ids), iter([7, 9])
    monkeypatch.setattr(source_module, "partitions_of", lambda log: 1)
    monkeypatch.setattr(source_module, "cluster_of", lambda log: "X1")
    monkeypatch.setattr(source_module, "topic_id_of", lambda log: next(known))
    monkeypatch.setattr(sync_topic, "last_stable_offsets", lambda log: [next(ends)])
    monkeypatch.setattr(sync_topic, "first_offsets", lambda log: [0])
    monkeypatch.setattr(sync_topic, "read_between", lambda log, starts, ends: [Chunk((), tuple(ends))])
    for _ in ids:
        sync_topic.sync_from_kafka(reload(table).state, KafkaSource("orders", "b:9092"), sync_topic.SyncRules())
    assert positions_of(reload(table).latest_snapshot())["kafka:orders@X1"].mark == mark


def test_a_topic_that_there_is_not_is_not_taken_for_a_log(monkeypatch):
    for name, answer in {"cluster_of": "X1", "topic_id_of": "", "partitions_of": 0}.items():
        monkeypatch.setattr(source_module, name, lambda log, answer=answer: answer)
    with pytest.raises(LogError, match=r"no topic 'orders' on b:9092\. Check the name"):
        located(KafkaSource("orders", "b:9092"))


@pytest.mark.parametrize(
    ("before", "first", "ends", "lost"),
    [
        ((3, 5), (0, 0), (9, 9), ""),
        ((3, 5), (3, 5), (3, 5), ""),
        ((3,), (0, 4), (9, 9), ""),  # a partition was added
        ((3, 5), (0, 6), (9, 9), "partition 1 from offset 5 on were deleted"),
        ((3, 5), (0, 0), (9, 4), "made anew"),
        ((3, 5), (0,), (9,), "made anew"),
    ],
)
def test_messages_that_are_lost_are_named(before, first, ends, lost):
    assert lost in why_messages_lost(before, first, ends)
    assert bool(lost) == bool(why_messages_lost(before, first, ends))


def test_a_table_goes_on_where_it_was():
    assert first_to_take(SOURCE, (3,), (0, 4), (9, 9)) == (3, 4)
    assert first_to_take(SOURCE, None, (1, 4), (9, 9)) == (1, 4)
    assert first_to_take(SOURCE, None, (1, 4), (9, 9), "latest") == (9, 9)
    with pytest.raises(LogError, match="were deleted before the table took them"):
        first_to_take(SOURCE, (0,), (2,), (9,))


def test_formats_are_checked():
    with pytest.raises(OptionError, match="'avro'"):
        check_format("avro", keyed=True)
    with pytest.raises(OptionError, match="needs a primary key"):
        check_format("upsert-json", keyed=False)
