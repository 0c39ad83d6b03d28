"""Models that are computed from the messages of Kafka topics: `{{ kafka_changes(source('shop', 'orders')) }}`.

While a model is compiled, the end of each topic is pinned, and its messages since the model's last run become a
temporary view of the model's session. The statement that writes the model's rows records the offsets in the snapshot
that it commits.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.kafka_source import KafkaTopic
from tablestore_engine.operation.commit.consumed_positions import KAFKA, Consumed, Position
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.storage import clock

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from tablestore_engine.catalog import Catalog
    from tablestore_engine.operation.kafka_source.dead_letters import Letter
    from tablestore_engine.operation.kafka_source.take_batch import TopicNow

_numbers = itertools.count(1)


@dataclass
class _Run:
    """One model in one dbt command: its topics as they are in this run, what it reads of them, and their views."""

    topics: dict[KafkaTopic, TopicNow] = field(default_factory=dict)
    consumed: dict[KafkaTopic, Consumed] = field(default_factory=dict)
    views: dict[KafkaTopic, str] = field(default_factory=dict)
    letters: dict[KafkaTopic, Sequence[Letter]] = field(default_factory=dict)


class ModelTopics:
    """The messages that the models of one dbt command read of topics."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._runs: dict[str, _Run] = {}

    def view_of(self, model: str, topic: KafkaTopic) -> str | None:
        """The view in which a model has the rows of a topic already."""
        return self._run(model).views.get(topic)

    def take(self, model: str, topic: KafkaTopic, positions: Mapping[str, Position] | None) -> tuple[str, pa.Table]:
        """The rows of the messages after the model's position, and the name for their view.

        positions: those of the model's table; None when it is built anew. Raises DbtRuntimeError when its rows come
            from elsewhere.
        """
        from tablestore_engine.operation.kafka_source.dead_letters import refuse_letters
        from tablestore_engine.operation.kafka_source.source import (
            consumed,
            first_to_take,
            offsets_of,
            refuse_lost,
            why_another_topic,
        )
        from tablestore_engine.operation.kafka_source.take_batch import take_batch, up_to, wanted_rows

        now, before = self._now(model, topic), None
        if positions is not None:
            before = offsets_of(now.source, positions)
            if before is None:
                raise DbtRuntimeError(_unknown_position(model, topic, positions))
            refuse_lost(now.source, why_another_topic(now.source, positions))
        starts = first_to_take(now.source, before, now.first, now.ends, topic.start)
        ends = up_to(starts, now.ends, topic.max_messages)
        wanted = wanted_rows(topic.arrow_schema(), topic.key, topic.required)
        batch = take_batch(now.source, starts, ends, wanted, anew=before is None)
        if batch.letters and topic.dead_letters is None:
            hint = f"Name a table for such messages in the meta of source {topic.name}: `dead_letters: schema.table`."
            refuse_letters(now.source, batch.letters, hint)
        run, view = self._run(model), f"__dbt_kafka_{next(_numbers)}"
        one = consumed(now.source, (positions or {}).get(now.source.name), ends)
        if any(other.key == one.key and other.after != one.after for other in run.consumed.values()):
            # The model's table keeps one position for a topic.
            raise DbtRuntimeError(
                f"Two sources of {model} read the topic of {topic.name} up to different messages. Read it by one"
                " `kafka_changes` in the model, and use its rows twice."
            )
        run.consumed[topic] = Consumed(one.source, one.before, one.after)
        run.letters[topic], run.views[topic] = batch.letters, view
        return view, batch.rows

    def lost(self, model: str, topics: Sequence[KafkaTopic], positions: Mapping[str, Position]) -> str:
        """Why the messages that a model reads cannot be continued; empty when they can."""
        from tablestore_engine.operation.kafka_source.source import offsets_of, why_another_topic, why_messages_lost

        for topic in topics:
            now = self._now(model, topic)
            before = offsets_of(now.source, positions)
            if before is None:
                reason = "it belongs to another cluster now" if _elsewhere(topic, positions) else ""
            else:
                reason = why_another_topic(now.source, positions) or why_messages_lost(before, now.first, now.ends)
            if reason:
                return f"The messages of topic '{topic.topic}' ({topic.name}) cannot be continued: {reason}."
        return ""

    def consumed_by(self, model: str) -> tuple[Consumed, ...]:
        """The messages that the statement which writes a model's rows uses."""
        return tuple(self._runs.get(model, _Run()).consumed.values())

    def bury(self, model: str, schema: str) -> None:
        """Store the messages that could not be read. Before the model's commit: written twice, they replace
        themselves."""
        from tablestore_engine.operation.kafka_source.dead_letters import dead_letter_schema, write_dead_letters

        run = self._runs.get(model)
        for topic, letters in run.letters.items() if run else ():
            if letters and topic.dead_letters:
                database, _, name = topic.dead_letters.rpartition(".")
                self._catalog.create_database(database or schema, if_not_exists=True)
                made = dead_letter_schema(clock.now_millis())
                table = self._catalog.create_table(database or schema, name, made, if_not_exists=True)
                write_dead_letters(table.state, letters)

    def keep(self, model: str) -> tuple[str, ...]:
        """After a model's rows were written: the views that are not needed any more."""
        run = self._runs.pop(model, _Run())
        return tuple(run.views.values())

    def lags(self, topics: Sequence[KafkaTopic], positions: Mapping[str, Position]) -> list[str]:
        """How many messages a model is behind each of its topics."""
        from tablestore_engine.operation.kafka_source.source import offsets_of
        from tablestore_engine.operation.kafka_source.take_batch import topic_now

        found = []
        for topic in topics:
            now = topic_now(topic.source, topic.start, keyed=bool(topic.key))
            taken = offsets_of(now.source, positions)
            if taken is not None:
                behind = sum(now.ends) - sum(taken)
                state = "up to date" if behind == 0 else f"{behind:,} message{'' if behind == 1 else 's'} behind"
                found.append(f"{topic.name} (topic {topic.topic}): {state}")
        return found

    def _now(self, model: str, topic: KafkaTopic) -> TopicNow:
        from tablestore_engine.operation.kafka_source.take_batch import topic_now

        run = self._run(model)
        if topic not in run.topics:
            now = topic_now(topic.source, topic.start, keyed=bool(topic.key))
            # Sources of one topic are read up to the same messages: the model's table keeps one position for it.
            pinned = next((one for one in run.topics.values() if one.source.name == now.source.name), now)
            run.topics[topic] = replace(now, first=pinned.first, ends=pinned.ends)
        return run.topics[topic]

    def _run(self, model: str) -> _Run:
        return self._runs.setdefault(model, _Run())


def no_rows(topic: KafkaTopic) -> str:
    """A query without rows that has the columns of a topic's rows: for commands that only compile."""
    columns = [(ROW_KIND, "string"), *topic.columns]
    items = ", ".join(f"cast(null as {kind}) as {quoted_name(name)}" for name, kind in columns)
    return f"(select {items} where false)"


def frame_of(spark: SparkSession, rows: pa.Table, topic: KafkaTopic) -> DataFrame:
    """The rows of messages, with the types of the source's columns: Spark's own reading of Arrow moves times without a
    zone that the session's zone skips, and knows neither TIME nor VARIANT."""
    from tablestore_engine.schema.types.types import DataField, parse_type
    from tablestore_engine.spark.read.lookup_rows import frame_of_fields

    kind = DataField(len(topic.columns), ROW_KIND, parse_type("STRING"))
    return frame_of_fields(spark, rows, (kind, *topic.fields()))


def _unknown_position(model: str, topic: KafkaTopic, positions: Mapping[str, Position]) -> str:
    other = " on this cluster" if _elsewhere(topic, positions) else ""
    return (
        f"{model} has rows, but does not say up to which messages of topic '{topic.topic}'{other} they were computed."
        " Run the model once with --full-refresh; later runs then read only new messages."
    )


def _elsewhere(topic: KafkaTopic, positions: Mapping[str, Position]) -> bool:
    return any(name.startswith(f"{KAFKA}{topic.topic}@") for name in positions)
