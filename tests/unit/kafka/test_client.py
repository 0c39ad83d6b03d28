"""What clients of Kafka are made with: the options of the table, before what this engine sets."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from support.tables import schema_of

from tablestore_engine.errors import LogError
from tablestore_engine.kafka import client
from tablestore_engine.kafka.settings import settings_of

OPTIONS = {
    "log.system": "kafka",
    "log.kafka.bootstrap.servers": "one:9092,two:9092",
    "log.kafka.topic": "orders",
    "log.kafka.security.protocol": "SSL",
    "log.kafka.linger.ms": "7",
}


@pytest.fixture
def made(monkeypatch):
    """The configurations of the clients that are made."""
    found = []
    fake = SimpleNamespace(
        Producer=found.append, Consumer=found.append, admin=SimpleNamespace(AdminClient=found.append)
    )
    monkeypatch.setattr(client, "kafka", lambda: fake)
    client._admin.cache_clear()
    yield found
    client._admin.cache_clear()


def test_clients_get_the_options_of_the_table(made):
    log = settings_of(schema_of({"id": "INT"}, ["id"], options=OPTIONS))
    for make in (client.admin, client.consumer, client.plain_producer, client.transactional_producer):
        make(log)
    assert {one["bootstrap.servers"] for one in made} == {"one:9092,two:9092"}
    assert {one["security.protocol"] for one in made} == {"SSL"}
    assert {one["linger.ms"] for one in made} == {"7"}  # this engine's own is 20
    assert made[-1]["transactional.id"] == "tablestore:orders"


def test_a_setting_that_the_client_does_not_know():
    unknown = {**OPTIONS, "log.kafka.nosuch.setting": "1"}
    log = settings_of(schema_of({"id": "INT"}, ["id"], options=unknown))
    for make in (client.admin, client.consumer, client.plain_producer, client.transactional_producer):
        with pytest.raises(LogError, match=r'"nosuch.setting".*Correct the options'):
            make(log)
