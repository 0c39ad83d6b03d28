"""The context of every statement on rows: the catalog, the session and the request of the caller.

A statement has options of its own: those of its hint OPTIONS, and those of the session (`session_options`).
`commit.user-prefix` and `commit.identifier` are the identity of its write. All others are options of the table that it
changes, for as long as it runs. The hint wins over the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ReadOnlyError
from tablestore_engine.operation.table_commands.after_commit import sent_before
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.schema.types.names import Resolver
from tablestore_engine.spark.compact.compactor import execute_tasks
from tablestore_engine.spark.dml.insert_overwrite import WriteOutcome
from tablestore_engine.spark.session.session_settings import check_distinct, session_resolver
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.pinned_queries.session_options import (
    besides_identity,
    identity_of,
    of_write,
    session_options,
)
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.row import Delete, RowStatement
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class RowContext:
    """The context of a statement on rows. `spark` starts the session when it is first called."""

    catalog: Catalog
    database: str
    spark: Callable[[], SparkSession]
    now_millis: Callable[[], int]
    session_options: Mapping[str, str]
    intent: WriteIntent = PLAIN
    running: Callable[[], SparkSession | None] = lambda: None  # the session, if it was started
    dynamic_options: Mapping[str, str] = field(default_factory=dict)  # of the table that the statement changes
    explaining: bool = False  # the statement is planned only
    shown_names: tuple[str, ...] | None = None  # of the table's columns, in the view that the statement changes
    settings: Mapping[str, str] | None = None  # `spark.paimon.…` of the session, if they were fetched

    def frames(self, *, lasting: bool = False, only_columns: bool = False) -> Frames:
        """A new binder, for one statement. `lasting`: Spark keeps the text and reads it again later. `only_columns`:
        the rows of its queries are not asked for."""
        frames = Frames(
            self.spark(),
            self.catalog,
            self.database,
            lasting=lasting,
            only_columns=only_columns,
            settings=self.settings,
            reads=self.intent.reads,
        )
        frames.explaining = self.explaining
        frames.looks_up &= not self.explaining
        return frames

    def identifier(self, name: TableName) -> tuple[str, str]:
        """Database and name."""
        return self.catalog.require_database(name.database or self.database), name.name

    @property
    def resolver(self) -> Resolver:
        """Which names of columns are the same in the session, which starts where two differ in case."""
        return Resolver(lambda: session_resolver(self.spark()).distinguishes)

    def table(self, name: TableName) -> Table:
        """A table to write to. Raises ReadOnlyError for a view, SchemaError for columns that the session does
        not distinguish."""
        database, table = self.identifier(name)
        if self.catalog.object_kind(database, table) == "view":
            raise ReadOnlyError(
                f"'{database}.{table}' is a view, which cannot be written to.",
                hint="Write to the table it reads.",
            )
        found = self.catalog.load_table(database, table).with_options(self.dynamic_options, "statement")
        if found.schema.alike_names:
            check_distinct(self.spark(), found.schema.alike_names, found.name)
        return found if self.shown_names is None else found.with_names(self.shown_names)


def result_of(kind: str, outcome: WriteOutcome) -> StatementResult:
    """The result of a verb."""
    return StatementResult(kind, outcome.rows)


def with_dynamic_options(statement: RowStatement, context: RowContext) -> RowContext:
    """The context of a statement, with the options that it and its session give.

    Raises:
        OptionError: an option that does not exist, or that cannot be given to one statement.
        CommitIdentityError: an identity that is none.
    """
    # A DELETE of all rows starts no session, and nothing that is refused does.
    whole = isinstance(statement, Delete) and statement.where_sql is None
    context = _with_settings(statement.table, context, start=not whole)
    given = {**_of_session(statement.table, context), **statement.dynamic_options}
    return replace(_with_identity(given, context), dynamic_options=besides_identity(given))


def with_session_identity(table: TableName, context: RowContext) -> RowContext:
    """The context of a statement that takes no options, with the identity that its session gives."""
    session = context.running()
    if session is None:
        return context
    return _with_identity(of_write(session_options(session), *context.identifier(table)), context)


def _with_identity(given: Mapping[str, str], context: RowContext) -> RowContext:
    identity = identity_of(given)
    return context if identity is None else replace(context, intent=replace(context.intent, identity=identity))


def _with_settings(table: TableName, context: RowContext, *, start: bool) -> RowContext:
    """The context with what the session sets, for a write to a table. `start`: a session is started for it."""
    if not _is_table(table, context):
        return context
    session = context.spark() if start else context.running()
    return context if session is None else replace(context, settings=session_options(session))


def _of_session(table: TableName, context: RowContext) -> Mapping[str, str]:
    return {} if context.settings is None else of_write(context.settings, *context.identifier(table))


def was_sent_before(table: TableName, context: RowContext) -> bool:
    """Whether a statement on a table is not to be executed, because it was: its identity has a snapshot.

    Raises:
        CommitIdentityError: that is not known.
    """
    identity = context.intent.identity
    if identity is None or not identity.check_duplicate:
        return False
    if not _is_table(table, context):
        return False
    database, name = context.identifier(table)
    state = context.catalog.load_table(database, name).state
    return sent_before(state, identity, partial(execute_tasks, context.spark)) is not None


def _is_table(table: TableName, context: RowContext) -> bool:
    return context.catalog.object_kind(*context.identifier(table)) == "table"
