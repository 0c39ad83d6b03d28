"""A topic without brokers."""

from __future__ import annotations

import pytest
from support.fake_topic import Topic

from tablestore_engine.operation.log_store import unpublished_snapshots


@pytest.fixture
def topic(monkeypatch):
    found = Topic()
    found.replace_kafka(monkeypatch)
    unpublished_snapshots._down_until.clear()
    return found
