"""The engine's warnings in dbt's log."""

from __future__ import annotations

import io
import logging
import sys
from multiprocessing.pool import ThreadPool
from types import SimpleNamespace

import pytest

from dbt.adapters.tablestore.connection.engine_log import EngineLog, hide_unclosed_pools, show_engine_warnings


def test_warnings_of_the_engine_are_shown_once(monkeypatch):
    said = []
    monkeypatch.setattr("dbt.adapters.events.logging.AdapterLogger.warning", lambda _self, text: said.append(text))
    log = logging.getLogger("tablestore_engine")
    before = list(log.handlers)
    # As snowplow_tracker adds one, which dbt imports.
    root, stream = logging.getLogger(), logging.StreamHandler(io.StringIO())
    root.addHandler(stream)
    log.handlers[:] = [one for one in before if not isinstance(one, EngineLog)]
    try:
        show_engine_warnings()
        show_engine_warnings()
        logging.getLogger("tablestore_engine.sql").warning("Option '%s' is kept.", "x")
        logging.getLogger("tablestore_engine.sql").info("nothing to see")
        logging.getLogger("tablestore_engines").warning("of another package")
    finally:
        log.handlers[:] = before
        root.removeHandler(stream)
    assert said == ["Option 'x' is kept."]
    assert stream.stream.getvalue() == "of another package\n", "a stream of the root logger does not repeat them"


class Failing:
    def __del__(self):
        raise OSError("of others")


def collect_an_open_pool():
    """As Python's garbage collector does when it closes the pool's pipe first."""
    pool = ThreadPool(1)
    pipe, end = pool._change_notifier, pool._terminate
    pool._change_notifier = SimpleNamespace(put=closed)
    del pool
    pipe.put(None)
    end()


def closed(_value):
    raise OSError(9, "Bad file descriptor")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_unclosed_pool_prints_nothing(monkeypatch):
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: found.append(str(one.exc_value)))
    collect_an_open_pool()
    assert found == ["[Errno 9] Bad file descriptor"]
    hide_unclosed_pools()
    hide_unclosed_pools()
    collect_an_open_pool()
    assert len(found) == 1
    Failing()
    assert found[1:] == ["of others"]
