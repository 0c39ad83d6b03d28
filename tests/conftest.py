"""Settings of Hypothesis, and one Spark session for all tests of a process."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings
from support.scratch import memory_folder
from support.spark_settings import FEW_ROWS

# A deadline is an assertion on time, which a busy machine breaks.
settings.register_profile("tests", settings.default, deadline=None)
settings.load_profile("tests")

ROOM = 4 << 30
"""More than all tests together leave in their folders."""


def pytest_configure(config):
    """Puts the folders of tests into memory."""
    folder = memory_folder(ROOM)
    if folder:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", folder)


@pytest.fixture(autouse=True)
def warn_anew():
    """A process shows the same warning once; this resets it, so each test sees its own warnings."""
    from tablestore_engine.operation.table_commands.after_commit import _warn_once
    from tablestore_engine.sql.catalog.execute_context import _say_once

    _warn_once.cache_clear()
    _say_once.cache_clear()


@pytest.fixture(scope="session")
def spark():
    """The process's session: small, and shared by all tests."""
    from tablestore_engine.spark.session.session import SessionConfig, start_session

    return start_session(SessionConfig(master="local[2]", spark_config=FEW_ROWS))


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
