"""One Spark session for all tests of a process."""

from __future__ import annotations

import pytest
from support.spark_settings import small_session


@pytest.fixture(scope="session")
def spark():
    """The process's session: small, and shared by all tests."""
    return small_session()


@pytest.fixture
def store(spark, tmp_path):
    """A store with an empty warehouse, and a session whose temporary views are its own."""
    from tablestore_engine.spark.session.session import new_session
    from tablestore_engine.store import TableStore

    return TableStore(tmp_path / "warehouse", new_session(spark))


@pytest.fixture(params=["small", "distributed"])
def path(request, monkeypatch):
    """Runs a test twice: writing in this process, and through executors."""
    if request.param == "distributed":
        monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    return request.param
