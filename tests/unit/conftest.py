"""Nothing below starts Spark: a test that needs a session, a real one of this process or of another, has its home in
tests/spark."""

from __future__ import annotations

import pytest

ELSEWHERE = "this test needs Spark: move it to tests/spark"


@pytest.fixture(scope="session")
def spark():
    """The session of tests/spark, which there is none of here."""
    pytest.fail(ELSEWHERE)


@pytest.fixture
def store(spark):
    """The store of tests/spark, which there is none of here."""


@pytest.fixture(autouse=True)
def _without_java(monkeypatch):
    """A session that is started regardless finds no Java, in a process of its own neither."""
    monkeypatch.setenv("JAVA_HOME", f"/{ELSEWHERE}")
