"""One broker for all tests of the log. `KAFKA_JARS` names the folder of its jars (make kafka)."""

from __future__ import annotations

import os
import re

import pytest
from support.kafka_broker import Broker
from support.tables import make_table

from tablestore_engine.kafka.settings import settings_of
from tablestore_engine.kafka.transactional_producer import forget_publisher
from tablestore_engine.operation.log_store import unpublished_snapshots


@pytest.fixture(scope="session")
def only_broker(tmp_path_factory):
    jars = os.environ.get("KAFKA_JARS")
    if not jars:
        pytest.skip("KAFKA_JARS is not set; `make kafka` sets it")
    found = Broker(jars, tmp_path_factory.mktemp("broker"))
    yield found
    found.stop()


@pytest.fixture
def broker(only_broker):
    """The broker; it runs, also if the test before left it dead."""
    if not only_broker.runs:
        only_broker.start()
    unpublished_snapshots._down_until.clear()
    return only_broker


@pytest.fixture
def topic(request):
    """A topic of the test's own."""
    return re.sub(r"[^a-zA-Z0-9._-]+", "_", request.node.name)[:200]


@pytest.fixture
def logged(tmp_path, broker, topic):
    """Makes a table with a log: columns, keys and options."""
    made = []

    def make(columns=None, keys=("id",), partitions=(), name="t", **options):
        given = {
            "log.system": "kafka",
            "log.kafka.bootstrap.servers": broker.servers,
            "log.kafka.topic": topic,
            **options,
        }
        table = make_table(tmp_path, columns or {"id": "INT", "v": "INT"}, keys, partitions, given, name=name)
        made.append(table)
        return table

    yield make
    for table in made:
        forget_publisher(settings_of(table.schema))
