"""Unit tests do not start Spark: a test that needs a session, in this process or another, is in tests/spark."""

from __future__ import annotations

import pytest

from tablestore_engine.catalog import Catalog

ELSEWHERE = "this test needs Spark: move it to tests/spark"


@pytest.fixture(scope="session")
def spark():
    """Replaces the session of tests/spark, which unit tests must not use."""
    pytest.fail(ELSEWHERE)


@pytest.fixture
def store(spark):
    """Replaces the store of tests/spark, which unit tests must not use."""


@pytest.fixture
def catalog(tmp_path):
    """The catalog of an empty warehouse."""
    return Catalog(tmp_path)


@pytest.fixture
def folder(tmp_path):
    """An empty folder, by its name."""
    return str(tmp_path)


@pytest.fixture(autouse=True)
def _without_java(monkeypatch):
    """A session that a test starts in spite of this finds no Java, also in another process."""
    monkeypatch.setenv("JAVA_HOME", f"/{ELSEWHERE}")
