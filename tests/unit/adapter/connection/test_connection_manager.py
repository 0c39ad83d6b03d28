"""A cancellation of all connections, at every moment at which another thread may be about to open one."""

from multiprocessing import get_context
from threading import Thread
from types import SimpleNamespace

import pytest
from dbt.adapters.base import connections
from dbt.adapters.contracts import connection as contracts

from dbt.adapters.tablestore.connection import connection_manager
from dbt.adapters.tablestore.connection.connection_manager import TableStoreConnectionManager
from dbt.adapters.tablestore.connection.credentials import TableStoreCredentials
from dbt.adapters.tablestore.connection.environment import Environment, Lease
from dbt.adapters.tablestore.connection.errors import SparkEndedError, StatementCancelledError
from tablestore_engine.errors import SqlError
from tablestore_engine.sql.result import StatementResult


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


class _Ended(Environment):
    """An environment whose server ends when it is asked for `ends` statements, and whose session a statement changed,
    or not."""

    def __init__(self, credentials, ends, reusable):
        super().__init__(credentials)
        self.ends, self.reusable, self.statements = ends, reusable, []

    def acquire(self, database):
        return Lease(SimpleNamespace(execute=self._execute, database=database), database, reusable=self.reusable)

    def forget_ended(self, lease):
        return True

    def _execute(self, text, *, intent):
        self.statements.append(text)
        if len(self.statements) <= self.ends:
            raise SqlError("the server does not answer")
        return StatementResult("SHOW", columns=("a",), types=("int",), rows=[(1,)])


@pytest.mark.parametrize(
    ("text", "ends", "reusable", "sent"),
    [
        ("select 1", 1, True, 2),
        ("with a as (select 1) select * from a", 2, True, 3),
        ("select 1", 3, True, None),
        ("select * from a_view_of_the_session", 1, False, None),
        ("insert into t select 1", 1, True, None),
        ("select 1; select 2", 1, True, None),
    ],
)
def test_a_query_runs_again_after_its_server_ended(manager, monkeypatch, text, ends, reusable, sent):
    found = _Ended(manager.profile.credentials, ends, reusable)
    monkeypatch.setattr(connection_manager, "environment_of", lambda credentials: found)
    monkeypatch.setattr(connection_manager, "_PAUSE_SECONDS", 0)
    monkeypatch.setattr(manager, "_add_query_comment", lambda text: text)
    manager.set_connection_name("model")
    if sent is None:
        with pytest.raises(SparkEndedError, match="ended while it ran this statement"):
            manager.execute(text, fetch=True)
    else:
        _, rows = manager.execute(text, fetch=True)
        assert [tuple(one) for one in rows.rows] == [(1,)]
        assert len(found.statements) == sent
