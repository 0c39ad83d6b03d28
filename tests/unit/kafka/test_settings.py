"""Which options of a log fit each other, and what they say of it; nothing here talks to a broker."""

from __future__ import annotations

import pytest
from support.tables import make_table, schema_of

from tablestore_engine.catalog import Catalog
from tablestore_engine.catalog.log_topics import with_topic
from tablestore_engine.errors import LogDependencyError, LogError, OptionError, SchemaError
from tablestore_engine.kafka import client
from tablestore_engine.kafka.settings import settings_of
from tablestore_engine.schema.table.schema_changes import SetOption
from tablestore_engine.store import TableStore

KAFKA = {"log.system": "kafka", "log.kafka.bootstrap.servers": "127.0.0.1:1"}


def settings(keys=("id",), **options):
    schema = schema_of({"id": "INT", "v": "INT"}, keys, options={**KAFKA, **options})
    return settings_of(with_topic(schema, ("shop", "orders")))


def test_options_become_the_settings_of_a_log():
    log = settings(bucket="4", **{"log.kafka.security.protocol": "SSL", "log.retention": "1 d"})
    assert (log.topic, log.servers, log.client) == ("shop.orders", "127.0.0.1:1", {"security.protocol": "SSL"})
    assert (log.partitions, [one.name for one in log.bucket_fields], log.retention_millis) == (4, ["id"], 86_400_000)
    assert (log.primary_keys, log.sends_before) == (("id",), False)
    assert settings(**{"log.changelog-mode": "all"}).sends_before
    assert settings(keys=()).sends_before
    assert settings(bucket="-1").partitions == 1
    assert settings(**{"log.topic": "other"}).topic == "other"
    assert settings_of(schema_of({"id": "INT"})) is None


@pytest.mark.parametrize(
    ("options", "keys", "message"),
    [
        ({"log.kafka.bootstrap.servers": ""}, ("id",), "needs the option 'log.kafka.bootstrap.servers'"),
        ({"log.changelog-mode": "upsert"}, (), "needs a primary key"),
        ({"log.consistency": "eventual"}, (), "needs a primary key"),
        ({"log.consistency": "eventual", "log.changelog-mode": "all"}, ("id",), "transactional"),
        ({"log.consistency": "eventual", "merge-engine": "partial-update"}, ("id",), "deduplicate"),
        ({"log.kafka.topic": "or ders"}, ("id",), "cannot be the name of a Kafka topic"),
        ({"log.format": "csv"}, ("id",), "debezium-json is expected"),
        ({"log.consistency": "sometimes"}, ("id",), "transactional, eventual"),
        ({"log.system": "pulsar"}, ("id",), "none, kafka"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_made(tmp_path, options, keys, message):
    with pytest.raises((OptionError, SchemaError), match=message):
        make_table(tmp_path, {"id": "INT", "v": "INT"}, keys, options={**KAFKA, **options})
    assert Catalog(tmp_path).list_tables("default") == []


def test_without_brokers_no_table_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr("tablestore_engine.kafka.topics.SECONDS", 0.3)
    with pytest.raises(LogError, match=r"Topic 'default\.t' was not made"):
        make_table(tmp_path, {"id": "INT"}, ["id"], options=KAFKA)
    assert Catalog(tmp_path).list_tables("default") == []


def test_a_missing_client_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "confluent_kafka", None)
    with pytest.raises(LogDependencyError, match=r"pip install 'dbt-tablestore\[kafka\]'"):
        client.kafka()
    with pytest.raises(LogDependencyError):
        make_table(tmp_path, {"id": "INT"}, ["id"], options=KAFKA)
    assert Catalog(tmp_path).list_tables("default") == []


@pytest.mark.parametrize("key", ["log.system", "log.kafka.topic", "log.consistency", "log.retention"])
def test_options_of_the_topic_are_fixed(tmp_path, key):
    table = make_table(tmp_path, {"id": "INT"}, ["id"])
    value = {"log.system": "kafka", "log.kafka.topic": "x", "log.retention": "1 d"}.get(key, "eventual")
    with pytest.raises(OptionError, match="made with its table"):
        table.alter(SetOption(key, value))


def test_a_copy_of_a_definition_does_not_take_the_topic(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr("tablestore_engine.catalog.log_topics.create_topic", lambda log: made.append(log.topic))
    store = TableStore(tmp_path)
    options = ", ".join(f"'{key}' = '{value}'" for key, value in KAFKA.items())
    store.execute(f"CREATE TABLE a (id INT PRIMARY KEY) WITH ({options})")
    store.execute("CREATE TABLE b LIKE a")
    assert made == ["default.a", "default.b"]
    rows = {label: value for label, value, _ in store.execute("DESCRIBE TABLE EXTENDED b").rows}
    assert (rows["log.system"], rows["log.kafka.topic"]) == ("kafka", "default.b")
