"""What the meta of a source says of its topic."""

from __future__ import annotations

import pyarrow as pa
import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.kafka_source import has_topic, topic_of


def source(kafka=None, of_source=None, **columns):
    columns = columns or {"id": "bigint", "total": "decimal(10, 2)"}
    return {
        "source_name": "shop",
        "name": "orders",
        "identifier": "orders_v2",
        "columns": {name: {"name": name, "data_type": kind} for name, kind in columns.items()},
        "source_meta": {"kafka": of_source} if of_source else {},
        "meta": {"kafka": kafka} if kafka is not None else {},
    }


def test_the_meta_of_a_table_adds_to_that_of_its_source():
    shared = {"servers": "a:1", "format": "json", "client": {"security.protocol": "SSL"}}
    topic = topic_of(source({"topic": "t", "format": "Debezium-JSON", "key": "ID", "max_messages": 5}, shared))
    assert (topic.servers, topic.topic, topic.format, topic.key) == ("a:1", "t", "debezium-json", ("id",))
    assert (topic.max_messages, topic.client, topic.start) == (5, (("security.protocol", "SSL"),), "earliest")
    assert topic.source.client == {"security.protocol": "SSL"}


def test_defaults():
    topic = topic_of(source({"servers": "a:1"}))
    assert (topic.name, topic.topic, topic.format, topic.key) == ("shop.orders", "orders_v2", "debezium-json", ())
    assert topic.arrow_schema() == pa.schema([("id", pa.int64()), ("total", pa.decimal128(10, 2))])


def test_columns_that_must_not_be_null():
    given = source({"servers": "a:1"})
    given["columns"]["total"]["constraints"] = [{"type": "not_null"}]
    assert topic_of(given).required == ("total",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (source(), "shop.orders is no Kafka topic"),
        (source("localhost"), "must be a mapping"),
        (source({"topic": "t"}), "`meta.kafka.servers` is missing"),
        (source({"servers": "a:1", "formt": "json"}), "Did you mean `format`"),
        (source({"servers": "a:1", "key": ["nr"]}), "its key 'nr' is none of its columns id, total"),
        (source({"servers": "a:1", "max_messages": 0}), "must be a whole number above 0"),
        (source({"servers": "a:1", "client": "x=y"}), "must be a mapping of settings"),
        (source({"servers": "a:1"}, id=None), "column id has no `data_type`"),
        ({**source({"servers": "a:1"}), "columns": {}}, "its columns have no `data_type`"),
    ],
)
def test_useless_configs_of_a_topic_are_refused(given, message):
    with pytest.raises(DbtRuntimeError, match=message):
        topic_of(given)


def test_a_type_that_is_unknown():
    with pytest.raises(DbtRuntimeError, match=r"shop\.orders.*blub"):
        topic_of(source({"servers": "a:1"}, id="blub")).arrow_schema()


def test_sources_that_are_tables():
    assert not has_topic(source())
    assert has_topic(source({"servers": "a:1"}))
