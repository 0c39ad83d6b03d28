"""What a model reads of a topic, and where it goes on: decided from offsets, without a broker."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.kafka_source import KafkaTopic
from dbt.adapters.tablestore.models.kafka_changes_since_last_run import ModelTopics, no_rows
from tablestore_engine.operation.commit.consumed_positions import Position, with_news
from tablestore_engine.operation.kafka_source import take_batch
from tablestore_engine.operation.kafka_source.take_batch import TakenBatch, TopicNow

TOPIC = KafkaTopic("shop.orders", "localhost:9092", "orders", (("id", "int"), ("of", "string")), key=("id",))
NAME = "kafka:orders@C1"
MODEL = "model.shop.orders"


@pytest.fixture
def asked(monkeypatch):
    """A topic whose messages are those from (2, 0) to (9, 9); what was read of it."""
    read = []

    def now(source, start, *, keyed):
        return TopicNow(replace(source, cluster="C1"), (2, 0), (9, 9))

    def take(source, starts, ends, wanted, *, anew):
        read.append((starts, ends, anew))
        return TakenBatch(wanted.schema.empty_table())

    monkeypatch.setattr(take_batch, "topic_now", now)
    monkeypatch.setattr(take_batch, "take_batch", take)
    return read


def at(*offsets, name=NAME):
    return {name: Position(sum(offsets), ",".join(map(str, offsets)))}


def test_a_run_reads_what_came_since_the_last_one(asked):
    topics = ModelTopics(None)
    view, _ = topics.take(MODEL, TOPIC, at(4, 5))
    assert asked == [((4, 5), (9, 9), False)]
    assert topics.view_of(MODEL, TOPIC) == view
    (one,) = topics.consumed_by(MODEL)
    assert (one.source, one.before, one.after) == (NAME, Position(9, "4,5"), Position(18, "9,9"))
    assert topics.keep(MODEL) == (view,)
    assert with_news(topics.consumed_by(MODEL)) == ()


def test_a_position_without_the_id_of_the_topic_is_continued(asked, monkeypatch):
    now = take_batch.topic_now
    monkeypatch.setattr(take_batch, "topic_now", lambda *a, **k: with_id(now(*a, **k)))
    topics = ModelTopics(None)
    topics.take(MODEL, TOPIC, at(4, 5))
    (one,) = topics.consumed_by(MODEL)
    assert (one.before, one.after) == (Position(9, "4,5"), Position(18, "9,9@T1"))


def with_id(now):
    return replace(now, source=replace(now.source, topic_id="T1"))


def test_a_model_that_is_built_anew_reads_from_the_start(asked):
    topics = ModelTopics(None)
    topics.take(MODEL, replace(TOPIC, max_messages=4), None)
    assert asked == [((2, 0), (4, 2), True)]
    (one,) = topics.consumed_by(MODEL)
    assert (one.before, one.after) == (None, Position(6, "4,2"))


def test_two_sources_of_one_topic_read_the_same_messages(asked):
    """The table keeps one position for a topic: the other source's messages would be lost, or read again."""
    topics = ModelTopics(None)
    topics.take(MODEL, TOPIC, at(4, 5))
    topics.take(MODEL, replace(TOPIC, key=()), at(4, 5))
    with pytest.raises(DbtRuntimeError, match=r"Two sources of model.shop.orders read the topic of shop.orders"):
        topics.take(MODEL, replace(TOPIC, max_messages=4), at(4, 5))


def test_the_ends_of_a_topic_are_pinned_for_all_its_sources(asked, monkeypatch):
    topics = ModelTopics(None)
    topics.take(MODEL, TOPIC, at(4, 5))
    later = take_batch.topic_now
    monkeypatch.setattr(take_batch, "topic_now", lambda *a, **k: replace(later(*a, **k), ends=(12, 9)))
    topics.take(MODEL, replace(TOPIC, key=()), at(4, 5))
    assert [ends for _, ends, _ in asked] == [(9, 9), (9, 9)]


def test_nothing_new_is_nothing_to_say(asked):
    topics = ModelTopics(None)
    topics.take(MODEL, TOPIC, at(9, 9))
    assert with_news(topics.consumed_by(MODEL)) == ()


@pytest.mark.parametrize(
    ("positions", "message"), [({}, "messages of topic 'orders' they"), (at(1, 1, name="kafka:orders@C2"), "cluster")]
)
def test_rows_that_come_from_elsewhere(asked, positions, message):
    with pytest.raises(DbtRuntimeError, match=f"{message}.*full-refresh"):
        ModelTopics(None).take(MODEL, TOPIC, positions)


@pytest.mark.parametrize(
    ("positions", "reason"),
    [
        (at(4, 5), ""),
        ({}, ""),
        (at(1, 5), "were deleted"),
        (at(4, 10), "made anew"),
        (at(4, 5, name="kafka:orders@C2"), "another cluster"),
    ],
)
def test_lost_positions_are_found_with_their_reason(asked, positions, reason):
    found = ModelTopics(None).lost(MODEL, [TOPIC], positions)
    assert reason in found
    assert bool(found) == bool(reason)


def test_the_lag_is_in_messages(asked):
    topics = ModelTopics(None)
    assert topics.lags([TOPIC], at(9, 8)) == ["shop.orders (topic orders): 1 message behind"]
    assert topics.lags([TOPIC], at(9, 9)) == ["shop.orders (topic orders): up to date"]
    assert topics.lags([TOPIC], {}) == []


def test_commands_that_only_compile_get_the_columns():
    assert no_rows(TOPIC) == (
        "(select cast(null as string) as `_row_kind`, cast(null as int) as `id`, cast(null as string) as `of`"
        " where false)"
    )
