"""The cursor: SQL texts in, rows and a response out.

Every text that dbt, its packages, hooks and tests send goes through `Cursor.execute` to `TableStore.execute`. A
query is planned there and runs when rows are fetched, or by `drain` when they are not wanted.

Invariant: while a connection runs something in Spark, no other connection uses its session, so `cancel` stops exactly
its work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import AdapterResponse

from dbt.adapters.tablestore.connection import results
from dbt.adapters.tablestore.connection.errors import SparkEndedError, StatementCancelledError
from dbt.adapters.tablestore.connection.response import response
from dbt.adapters.tablestore.connection.statements import changes_session, in_sparks_names
from tablestore_engine.operation.write_job.write_intent import PLAIN, Evolution, WriteIntent
from tablestore_engine.sql.tokens.split_statements import split
from tablestore_engine.sql.written_tables import written_tables

if TYPE_CHECKING:
    from dbt.adapters.tablestore.connection.environment import Environment, Lease
    from dbt.adapters.tablestore.connection.model_steps import ModelSteps, TextSteps
    from dbt.adapters.tablestore.dialect.translate import Translation
    from tablestore_engine.sql.result import StatementResult
    from tablestore_engine.store import TableStore

_INTERRUPT_SECONDS = 0.5


class Handle:
    """One dbt connection: a store with a Spark session of its own, taken when first needed.

    `steps`: what the model that is built now has written, if it is computed from changes. `evolution`: what becomes of
    the schema of its table by the statement that writes its rows. `translations`: the translated texts of the node.
    """

    def __init__(self, environment: Environment, database: str) -> None:
        self.environment = environment
        self.database = database
        self.closed = False
        self._cancelled = False
        self._working = False
        self._lease: Lease | None = None
        self.steps: ModelSteps | None = None
        self.evolution: Evolution | None = None
        self.translations: tuple[Translation, ...] = ()

    def cursor(self) -> Cursor:
        return Cursor(self)

    @contextmanager
    def work(self, statement: str | None = None) -> Iterator[TableStore]:
        """The store, for one piece of work that `cancel` can stop.

        statement: the statement that will run, if it is one. If it changes the session, the session is not reused.
        """
        outermost, self._working = not self._working, True
        try:
            if self._lease is None:
                self._lease = self.environment.acquire(self.database)
            if statement is not None and changes_session(statement):
                self._lease.reusable = False
            self._refuse_when_cancelled()
            yield self._lease.store
        except Exception:
            self._refuse_when_cancelled()
            if outermost:
                self._refuse_when_spark_ended()
            raise
        finally:
            self._working = not outermost

    def cancel(self) -> None:
        """Stop what runs now, and refuse all later work of this connection."""
        self._cancelled = True
        threading.Thread(target=self._interrupt, name="tablestore-cancel", daemon=True).start()

    def _interrupt(self) -> None:
        """Interrupt until the work ends: at the first interrupt a statement may be between two Spark jobs."""
        while self._working:
            if self._lease is not None:
                self.environment.interrupt(self._lease)
            time.sleep(_INTERRUPT_SECONDS)

    def close(self) -> None:
        self.closed = True
        lease, self._lease = self._lease, None
        if lease is not None:
            self.environment.release(lease)

    def commit(self) -> None:
        """Nothing to do: every statement commits its own work."""

    def rollback(self) -> None:
        """Nothing to do: a statement that fails leaves nothing behind."""

    def _refuse_when_spark_ended(self) -> None:
        lease = self._lease
        if lease is not None and self.environment.forget_ended(lease):
            self._lease = None
            raise SparkEndedError(session_was_changed=not lease.reusable) from None

    def _refuse_when_cancelled(self) -> None:
        if self._cancelled:
            raise StatementCancelledError("The statement was cancelled.") from None


class Cursor:
    """Runs one text at a time and gives its rows."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._query: StatementResult | None = None
        self._names: list[str] | None = None
        self._types: list[str | None] = []
        self._rows: list[results.Row] | None = None
        self._position = 0
        self.response: AdapterResponse = response("OK")
        self.rowcount = -1

    def execute(self, sql: str, bindings: Sequence[Any] | WriteIntent | None = None) -> None:
        """Run a text of one or more statements; the last one's rows can be fetched.

        bindings: what dbt hands through with a text. Values for `%s` in it, as some packages pass them, are rendered as
            Spark literals; an intent says how the statements write rows.
        """
        intent = bindings if isinstance(bindings, WriteIntent) else PLAIN
        if bindings and not isinstance(bindings, WriteIntent):
            from tablestore_engine.schema.types.sql_literals import literal

            sql = sql % tuple(literal(one) for one in bindings)
        statements = split(in_sparks_names(sql))
        if not statements:
            self._take(None)
        intent = self._evolving(statements, intent)
        steps = None if self._handle.steps is None else self._steps_of(statements, intent)
        for index, statement in enumerate(statements):
            with self._handle.work(statement) as store:
                own = intent.of_statement(index) if steps is None else steps.intent_of(index)
                self._take(store.execute(statement, intent=own))
            if index + 1 < len(statements):
                self.drain()
        if steps is not None:
            steps.finish()

    def _evolving(self, statements: Sequence[str], intent: WriteIntent) -> WriteIntent:
        """The intent with the next schema of the model's table, which of several writes none has: it is made first."""
        evolution = self._handle.evolution
        if evolution is None:
            return intent
        if sum(map(bool, map(written_tables, statements))) > 1:
            self._handle.evolution = None
            self._handle.environment.catalog.alter_table(*evolution.table, evolution.changes)
            return intent
        return replace(intent, evolution=evolution)

    def _steps_of(self, statements: Sequence[str], intent: WriteIntent) -> TextSteps | None:
        """The writes of the statements, if a model is built that is computed from changes."""
        with self._handle.work() as store:
            model = self._handle.steps
            return None if model is None else model.of_text(statements, intent, store.database)

    def _take(self, result: StatementResult | None) -> None:
        self._query, self._names, self._types, self._rows, self._position = None, None, [], None, 0
        self.rowcount = -1
        if result is None:
            self.response = response("OK")
            return
        rows_affected = result.rows_affected
        has_rows = result.rows is not None or result.dataframe is not None
        self.response = response("SELECT" if has_rows else result.kind, rows_affected)
        self.rowcount = -1 if rows_affected is None else rows_affected
        if result.rows is not None:
            self._names = list(result.columns or ())
            self._types = list(result.types or [None] * len(self._names))
            self._rows = [tuple(one) for one in result.rows]
        elif result.dataframe is not None:
            self._query = result

    @property
    def description(self) -> list[tuple[Any, ...]] | None:
        """DB-API's column descriptions (name, type text, and five Nones); None when there are no rows to fetch."""
        frame = None if self._query is None else self._query.dataframe
        if frame is not None and self._names is None:
            with self._handle.work():
                self._names = list(frame.columns)
                self._types = list(results.types_of(frame))
        if self._names is None:
            return None
        return [
            (name, kind, None, None, None, None, None) for name, kind in zip(self._names, self._types, strict=False)
        ]

    def drain(self) -> None:
        """Run a query whose rows are not fetched, because of its effects and errors."""
        query = self._query
        if query is not None and self._rows is None:
            from tablestore_engine.sql.result_frame import run_query

            with self._handle.work():
                run_query(query)

    def fetchall(self) -> list[results.Row]:
        """All rows that have not been fetched yet."""
        rows = self._load()[self._position :]
        self._position += len(rows)
        return rows

    def fetchone(self) -> results.Row | None:
        """The next row; None after the last."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int = 1) -> list[results.Row]:
        """The next `size` rows, or fewer at the end."""
        rows = self._load()[self._position : self._position + size]
        self._position += len(rows)
        return rows

    def first(self, limit: int) -> list[results.Row]:
        """The first `limit` rows; no more are computed."""
        if self._rows is not None or self._query is None:
            return self._load()[:limit]
        with self._handle.work():
            return results.rows_of(self._query, limit)

    def close(self) -> None:
        self._take(None)

    def _load(self) -> list[results.Row]:
        if self._rows is None:
            if self._query is None:
                return []
            with self._handle.work():
                self._rows = results.rows_of(self._query)
            self.rowcount = len(self._rows)
        return self._rows
