"""dbt's connections: opened without work, cancelled by tag, closed back into a pool.

There are no transactions: every statement is atomic by itself, so beginning and committing do nothing.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.sql import SQLConnectionManager

from dbt.adapters.tablestore.cursor import Cursor, Handle
from dbt.adapters.tablestore.environment import environment_of

if TYPE_CHECKING:
    import agate


logger = AdapterLogger("tablestore")


class TableStoreConnectionManager(SQLConnectionManager):
    TYPE = "tablestore"

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Turn whatever goes wrong into one message of dbt's."""
        try:
            yield
        except Exception as error:
            from dbt.adapters.tablestore.errors import dbt_error, is_expected

            if not is_expected(error):
                logger.debug(f"Unexpected {type(error).__name__}:\n{traceback.format_exc()}")
            raise dbt_error(error) from None

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection. Nothing is started: that waits for the first statement that needs it."""
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials = connection.credentials
        connection.handle = Handle(environment_of(credentials), credentials.schema)
        connection.state = ConnectionState.OPEN  # type: ignore[assignment]
        return connection

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
        """Run a text; a query is read to its end even when nobody fetches its rows."""
        sql = self._add_query_comment(sql)
        with self.exception_handler(sql):
            _, cursor = self.add_query(sql, auto_begin)
            if fetch:
                table = self.get_result_from_cursor(cursor, limit)
            else:
                cursor.drain()
                table = _no_rows()
        return cursor.response, table

    @classmethod
    def get_result_from_cursor(cls, cursor: Any, limit: int | None) -> agate.Table:
        """The rows, with the types that Spark gave them."""
        from dbt.adapters.tablestore.results import agate_table

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
