"""Connections and cursors over a store that answers from memory."""

import threading

import pytest

from dbt.adapters.tablestore.connection.cursor import Handle
from dbt.adapters.tablestore.connection.environment import Lease
from dbt.adapters.tablestore.connection.errors import SparkEndedError, StatementCancelledError
from tablestore_engine.errors import SqlError
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.sql.result import StatementResult

SHOWN = StatementResult("SHOW", columns=("a", "b"), types=("int", "string"), rows=[(1, "x"), (2, "y"), (3, "z")])


class FakeStore:
    """Remembers statements; answers by their first word."""

    def __init__(self):
        self.statements = []
        self.intents = []
        self.begun = threading.Event()
        self.interrupted = threading.Event()

    def execute(self, text, *, intent):
        self.statements.append(text)
        self.intents.append(intent)
        if text.startswith("show"):
            return SHOWN
        if text.startswith("wait"):
            self.begun.set()
            self.interrupted.wait(300)
            raise SqlError("the job was cancelled")
        if text.startswith("fail"):
            raise SqlError("no")
        return StatementResult("UPSERT", 2)


class FakeEnvironment:
    def __init__(self):
        self.store = FakeStore()
        self.released = []
        self.ended = False

    def acquire(self, database):
        return Lease(self.store, database)

    def release(self, lease):
        self.released.append(lease)

    def forget_ended(self, lease):
        return self.ended

    def interrupt(self, lease):
        lease.reusable = False
        lease.store.interrupted.set()


@pytest.fixture
def handle():
    return Handle(FakeEnvironment(), "dev")


def test_nothing_is_acquired_until_a_statement_comes(handle):
    cursor = handle.cursor()
    assert cursor.description is None
    assert cursor.fetchall() == []
    cursor.execute("-- nothing; /* at all */")
    handle.close()
    assert handle.environment.released == []


def test_rows_are_fetched_in_order(handle):
    cursor = handle.cursor()
    cursor.execute("show it")
    assert [one[:2] for one in cursor.description] == [("a", "int"), ("b", "string")]
    assert cursor.first(2) == [(1, "x"), (2, "y")]
    assert cursor.fetchone() == (1, "x")
    assert cursor.fetchmany(5) == [(2, "y"), (3, "z")]
    assert cursor.fetchone() is None
    assert str(cursor.response) == "OK"


def test_the_last_of_several_statements_answers(handle):
    cursor = handle.cursor()
    cursor.execute("show it; commit; upsert it;")
    assert handle.environment.store.statements == ["show it", "upsert it"]
    assert str(cursor.response) == "UPSERT 2 rows"
    assert cursor.rowcount == 2
    assert cursor.fetchall() == []


def test_bindings_become_literals(handle):
    handle.cursor().execute("insert %s, %s", ["its", None])
    assert handle.environment.store.statements == ["insert 'its', NULL"]


def test_an_intent_goes_along_with_its_statement_only(handle):
    intent = WriteIntent(refuse_duplicates=True)
    handle.cursor().execute("upsert it", intent)
    handle.cursor().execute("upsert it")
    assert handle.environment.store.intents == [intent, WriteIntent()]


def test_errors_pass_and_the_connection_goes_on(handle):
    with pytest.raises(SqlError):
        handle.cursor().execute("fail")
    handle.cursor().execute("upsert it")
    handle.close()
    (lease,) = handle.environment.released
    assert lease.reusable


def test_after_spark_ended_the_connection_goes_on_in_another_session(handle):
    handle.environment.ended = True
    with pytest.raises(SparkEndedError):
        handle.cursor().execute("fail")
    handle.environment.ended = False
    lost = handle.environment.store
    handle.environment.store = FakeStore()
    handle.cursor().execute("upsert it")
    assert (lost.statements, handle.environment.store.statements) == (["fail"], ["upsert it"])


def test_a_session_that_was_changed_is_not_lent_again(handle):
    handle.cursor().execute("set x = 1")
    handle.close()
    (lease,) = handle.environment.released
    assert not lease.reusable


def test_cancel_stops_what_runs_and_refuses_what_comes(handle):
    caught = []

    def work():
        try:
            handle.cursor().execute("wait")
        except StatementCancelledError as error:
            caught.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    assert handle.environment.store.begun.wait(300)
    handle.cancel()
    worker.join(300)
    assert len(caught) == 1
    with pytest.raises(StatementCancelledError):
        handle.cursor().execute("upsert it")
    handle.close()
    assert not handle.environment.released[0].reusable
