"""The root session of a process: asked for early, started once and in the background, as the profile wants it."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials
from dbt.adapters.tablestore.connection.environment import environment_of
from tablestore_engine.spark.session import session


@pytest.fixture
def started(monkeypatch):
    """The futures of the sessions that were started, each with its wish as `config`; none of them starts."""
    futures = []

    def start(config):
        future = Future()
        future.config = config
        futures.append(future)
        return future

    monkeypatch.setattr("dbt.adapters.tablestore.connection.environment._roots", {})
    monkeypatch.setattr("dbt.adapters.tablestore.connection.environment._environments", {})
    monkeypatch.setattr(session, "start_in_background", start)
    return futures


def environment(**profile):
    data = {"warehouse": "/tmp/wh", "schema": "dev", **profile}
    TableStoreCredentials.validate(data)
    return environment_of(TableStoreCredentials.from_dict(data))


def test_warming_up_starts_one_session_and_waits_for_none(started):
    environment().warm_up()
    environment().warm_up()
    environment(schema="other").warm_up()
    assert len(started) == 1
    assert not started[0].done()


def test_a_session_that_failed_to_start_is_tried_again(started):
    environment().warm_up()
    started[0].set_exception(OSError("no"))
    environment().warm_up()
    assert len(started) == 2


def test_the_profile_says_how_the_session_starts(started):
    environment(master="local[3]", class_data_sharing=False, spark_config={"spark.sql.shuffle.partitions": 3}).warm_up()
    (root,) = started
    assert root.config.class_data_sharing is False
    assert root.config.master == "local[3]"
    assert root.config.spark_config == {"spark.sql.shuffle.partitions": "3"}


def test_a_shared_session_is_of_the_warehouse(started):
    environment(session="shared", session_idle_minutes=5).warm_up()
    environment(session="shared", warehouse="/tmp/other").warm_up()
    assert [(one.config.shared, one.config.idle_minutes) for one in started] == [("/tmp/wh", 5), ("/tmp/other", 30)]


def test_after_a_shared_server_ended_another_one_is_started(started, monkeypatch):
    ended = []
    monkeypatch.setattr(session, "new_session", lambda root: f"child of {root}")
    monkeypatch.setattr(session, "server_ended", lambda root: root in ended)
    shared = environment(session="shared")
    shared.warm_up()
    started[0].set_result("first")
    working, free = shared.acquire("dev"), shared.acquire("dev")
    for lease in (working, free):
        lease.store._session_factory()
    shared.release(free)
    assert not shared.forget_ended(working)
    ended.append("first")
    assert shared.forget_ended(working)
    assert len(started) == 1
    later = shared.acquire("dev")
    assert later is not free
    started_later = threading.Thread(target=later.store._session_factory)
    started_later.start()
    while len(started) < 2:
        threading.Event().wait(0.01)
    started[1].set_result("second")
    started_later.join(60)
    assert later.session == "child of second"


def test_by_default_classes_are_shared(started):
    environment().warm_up()
    assert started[0].config.class_data_sharing is True


def test_starting_in_the_background_does_not_wait(monkeypatch):
    begun, go = threading.Event(), threading.Event()

    def start(config):
        begun.set()
        assert go.wait(300)
        return config

    monkeypatch.setattr(session, "start_session", start)
    future = session.start_in_background("wish")
    assert begun.wait(300)
    assert not future.done()
    go.set()
    assert future.result(300) == "wish"


def test_a_failed_start_in_the_background_is_raised_on_first_use(monkeypatch):
    def start(config):
        raise OSError("no Java")

    monkeypatch.setattr(session, "start_session", start)
    with pytest.raises(OSError, match="no Java"):
        session.start_in_background().result(300)
