"""dbt's connections. Opening one starts nothing; cancelling it stops its session's work; closing returns its session.

There are no transactions: every statement is atomic, so beginning and committing do nothing.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState, LazyHandle
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.sql import SQLConnectionManager

from dbt.adapters.tablestore.connection.cursor import Cursor, Handle
from dbt.adapters.tablestore.connection.engine_log import hide_unclosed_pools, show_engine_warnings
from dbt.adapters.tablestore.connection.environment import environment_of
from dbt.adapters.tablestore.connection.errors import (
    OutcomeUnknownError,
    SparkEndedError,
    StatementCancelledError,
    dbt_error,
    is_expected,
)
from dbt.adapters.tablestore.connection.statements import is_query
from dbt.adapters.tablestore.dialect.sparks_errors import about_source, about_unmarked
from tablestore_engine.errors import ExecutionError, SqlError
from tablestore_engine.spark.errors.own_words import marked_line

if TYPE_CHECKING:
    import agate
    from dbt_common.exceptions import DbtRuntimeError

    from tablestore_engine.operation.write_job.write_intent import WriteIntent

logger = AdapterLogger("tablestore")
T = TypeVar("T")
_ATTEMPTS = 3
_PAUSE_SECONDS = 1.0


class TableStoreConnectionManager(SQLConnectionManager):
    """Opens, cancels and closes connections, and runs statements on them."""

    TYPE = "tablestore"
    _cancelled_by: int | None = None  # the thread that cancelled all others

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Turn any exception into one dbt error with one message."""
        try:
            yield
        except Exception as error:
            if not is_expected(error):
                logger.debug(f"Unexpected {type(error).__name__}:\n{traceback.format_exc()}")
            raise self._about_own_text(error, dbt_error(error)) from None

    def _about_own_text(self, error: Exception, made: DbtRuntimeError) -> DbtRuntimeError:
        """The error of a statement; of one whose text was translated, with the piece of the model that it is about."""
        connection = self.get_if_exists()
        translations = connection.handle.translations if connection is not None else ()
        if translations and isinstance(error, (SqlError, ExecutionError)):
            marked = marked_line(f"\n{error.message}")
            if marked is None:
                text = about_unmarked(error, translations)
            else:
                text = about_source(error, *marked, translations)
            made.msg = made.msg if text is None else text
        return made

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection. Spark starts with the first statement that needs it."""
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials = connection.credentials
        show_engine_warnings()
        hide_unclosed_pools()
        connection.handle = Handle(environment_of(credentials), credentials.schema)
        connection.state = ConnectionState.OPEN  # type: ignore[assignment]
        return connection

    def set_connection_name(self, name: str | None = None) -> Connection:
        """Give this thread a connection. After a cancellation only the thread that cancelled gets one, to clean up."""
        self._refuse_when_cancelled()
        connection = super().set_connection_name(name)
        if connection.state != ConnectionState.OPEN:
            connection.handle = LazyHandle(self._open_unless_cancelled)
        return connection

    def cancel_open(self) -> list[str]:
        """Stop the work of all other connections; those that are about to open will not."""
        self._cancelled_by = get_ident()
        mine = self.get_if_exists()
        names = []
        with self.lock:
            for connection in list(self.thread_connections.values()):  # other threads may add theirs meanwhile
                if connection is mine:
                    continue
                if connection.state == ConnectionState.OPEN:
                    self.cancel(connection)
                if connection.name is not None:
                    names.append(connection.name)
        return names

    def _open_unless_cancelled(self, connection: Connection) -> Connection:
        """Open a connection, unless all are cancelled. The lock is that of `cancel_open`: it finds a connection open,
        and cancels it, or the connection finds the cancellation."""
        with self.lock:
            self._refuse_when_cancelled()
            return self.open(connection)

    def _refuse_when_cancelled(self) -> None:
        if self._cancelled_by not in (None, get_ident()):
            raise StatementCancelledError("The statement was cancelled.")

    def cancel(self, connection: Connection) -> None:
        connection.handle.cancel()

    @classmethod
    def get_response(cls, cursor: Cursor) -> AdapterResponse:
        return cursor.response

    @classmethod
    def data_type_code_to_name(cls, type_code: int | str) -> str:
        return str(type_code)

    def execute(
        self, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run a text. A query runs to its end even when its rows are not fetched."""
        sql = self._add_query_comment(sql)

        def run() -> tuple[AdapterResponse, agate.Table]:
            with self.exception_handler(sql):
                _, cursor = self.add_query(sql, auto_begin)
                if fetch:
                    table = self.get_result_from_cursor(cursor, limit)
                else:
                    cursor.drain()
                    table = _no_rows()
            return cursor.response, table

        return self.read(sql, run)

    def read(self, sql: str, run: Callable[[], T]) -> T:
        """The result of `run`, which runs a text; a query runs again where the shared Spark server ended meanwhile."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return run()
            except SparkEndedError as error:
                if error.session_was_changed or not is_query(sql):
                    raise
                self._say_again(error)
        return run()

    def write(self, sql: str, intent: WriteIntent) -> AdapterResponse:
        """Run the statements that write a node's rows.

        When storage fails in a commit and it is not known whether it was made, they are sent again under the same
        identity, so that rows that were committed are not written twice.
        """
        sql = self._add_query_comment(sql)
        for attempt in range(_ATTEMPTS):
            try:
                # dbt hands bindings through to the cursor, which knows an intent from values.
                _, cursor = self.add_query(sql, auto_begin=False, bindings=intent)
                break
            except OutcomeUnknownError as error:
                session_is_lost = isinstance(error, SparkEndedError) and error.session_was_changed
                if attempt + 1 == _ATTEMPTS or intent.identity is None or session_is_lost:
                    raise
                self._say_again(error)
                intent = replace(intent, identity=intent.identity.sent_again())
        with self.exception_handler(sql):
            cursor.drain()
        return cursor.response

    def _say_again(self, error: OutcomeUnknownError) -> None:
        logger.warning(f"{error.msg} The statement is sent again.")
        time.sleep(_PAUSE_SECONDS)

    @classmethod
    def get_result_from_cursor(cls, cursor: Any, limit: int | None) -> agate.Table:
        """The rows, with the types that Spark gave them."""
        from dbt.adapters.tablestore.connection.results import agate_table

        description = cursor.description
        if description is None:
            return _no_rows()
        rows = cursor.first(limit) if limit else cursor.fetchall()
        return agate_table([one[0] for one in description], [one[1] for one in description], rows)

    def begin(self) -> Connection:
        return self.get_thread_connection()

    def commit(self) -> Connection:
        return self.get_thread_connection()

    def clear_transaction(self) -> None:
        """There are no transactions."""

    def rollback_if_open(self) -> None:
        """There are no transactions."""


def _no_rows() -> agate.Table:
    from dbt_common.clients.agate_helper import empty_table

    return empty_table()
