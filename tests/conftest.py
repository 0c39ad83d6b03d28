"""Settings of Hypothesis, folders in memory, and no Java where tests need no Spark."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings
from support.scratch import memory_folder
from support.soak import examples, mark_soak

# A deadline is an assertion on time, which a busy machine breaks. Each run draws other examples.
settings.register_profile("tests", settings.default, deadline=None, max_examples=examples(25))
settings.load_profile("tests")

TESTS = Path(__file__).parent
WITHOUT_SPARK = ("unit", "property")
"""Folders of tests that start no session. Those next to them do, for what is more than the engine and Spark: dbt,
processes that are killed, a cluster, other readers, a broker."""
ROOM = 4 << 30
"""More than all tests together leave in their folders."""


def pytest_configure(config):
    """Puts the folders of tests into memory. Thousands of tests are collected without a search for garbage."""
    gc.disable()
    folder = memory_folder(ROOM)
    if folder:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", folder)


def pytest_addoption(parser):
    parser.addoption("--one-case", action="store_true", help="run one case of each test: that it runs on this Python")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    mark_soak(items)
    if config.getoption("one_case"):
        chosen = set({item.nodeid.partition("[")[0]: item for item in reversed(items)}.values())
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]


def pytest_collection_finish(session):
    """Keeps what was imported and collected out of every later search for garbage."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def warn_anew():
    """A process shows the same warning once; this resets it, so each test sees its own warnings."""
    from tablestore_engine.operation.table_commands.after_commit import _warn_once
    from tablestore_engine.sql.catalog.execute_context import _say_once

    _warn_once.cache_clear()
    _say_once.cache_clear()


@pytest.fixture(autouse=True)
def _without_java(request, monkeypatch):
    """A session that a test outside of tests/spark starts finds no Java, also in another process."""
    if request.path.relative_to(TESTS).parts[0] in WITHOUT_SPARK:
        monkeypatch.setenv("JAVA_HOME", "/this test needs Spark: move it to tests/spark")
