"""A cancellation of all connections, at every moment at which another thread may be about to open one."""

from multiprocessing import get_context
from threading import Thread
from types import SimpleNamespace

import pytest
from dbt.adapters.base import connections
from dbt.adapters.contracts import connection as contracts

from dbt.adapters.tablestore.connection.connection_manager import TableStoreConnectionManager
from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials
from dbt.adapters.tablestore.connection.errors import StatementCancelledError


@pytest.fixture
def manager(tmp_path):
    data = {"warehouse": str(tmp_path), "schema": "dev"}
    TableStoreCredentials.validate(data)
    profile = SimpleNamespace(credentials=TableStoreCredentials.from_dict(data))
    return TableStoreConnectionManager(profile, get_context("spawn"))


def cancelled_at(manager, module, event, monkeypatch):
    """Cancels, in another thread, when dbt logs an event of a kind in this thread."""
    fire = module.fire_event

    def cancel(one, *rest):
        fire(one, *rest)
        if type(one).__name__ == event:
            thread = Thread(target=manager.cancel_open)
            thread.start()
            thread.join()

    monkeypatch.setattr(module, "fire_event", cancel)


def refuse(handle):
    """Whether a connection's statements are refused before they reach Spark."""
    with pytest.raises(StatementCancelledError, match="cancelled"), handle().work():
        pytest.fail("The work began.")


def test_a_connection_that_is_named_during_a_cancellation_does_no_work(manager, monkeypatch):
    cancelled_at(manager, connections, "NewConnection", monkeypatch)
    connection = manager.set_connection_name("model")
    refuse(lambda: connection.handle)


def test_a_connection_that_opens_during_a_cancellation_does_no_work(manager, monkeypatch):
    connection = manager.set_connection_name("model")
    cancelled_at(manager, contracts, "NewConnectionOpening", monkeypatch)
    refuse(lambda: connection.handle)


def test_a_closed_connection_is_not_opened_again_after_a_cancellation(manager, monkeypatch):
    connection = manager.set_connection_name("model")
    assert connection.handle is not None
    manager.release()
    cancelled_at(manager, connections, "ConnectionReused", monkeypatch)
    manager.set_connection_name("other")
    refuse(lambda: connection.handle)


def test_an_open_connection_is_cancelled(manager):
    connection = manager.set_connection_name("model")
    handle = connection.handle
    thread = Thread(target=manager.cancel_open)
    thread.start()
    thread.join()
    refuse(lambda: handle)
    with pytest.raises(StatementCancelledError):
        manager.set_connection_name("other")


def test_the_thread_that_cancels_may_open_a_connection_to_clean_up(manager):
    manager.cancel_open()
    with manager.set_connection_name("master").handle.work() as store:
        assert store.database == "dev"
