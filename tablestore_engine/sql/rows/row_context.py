"""What every statement on rows is given: the catalog, the session and what the caller asks for.

A statement has options of its own: those of its hint OPTIONS, and some of the session, `spark.paimon.<option>`.
`commit.user-prefix` and `commit.identifier` are the identity of its write. All others are options of the table that it
changes, for as long as it runs. The hint wins over the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import CommitIdentityError, ReadOnlyError
from tablestore_engine.operation.commit.identity import CommitIdentity, applied_before, chosen_identity
from tablestore_engine.operation.job.write_intent import PLAIN, WriteIntent
from tablestore_engine.options import CommitOptions
from tablestore_engine.spark.verbs.insert_overwrite import WriteOutcome
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.rows.frames import Frames
from tablestore_engine.sql.statements.row import Delete, RowChange
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMIT_USER: Final = "commit.user-prefix"
COMMIT_IDENTIFIER: Final = "commit.identifier"
_OF_SESSIONS: Final = (
    COMMIT_USER,
    COMMIT_IDENTIFIER,
    CommitOptions.write_merge_schema.key,
    CommitOptions.write_merge_schema_explicit_cast.key,
)
_SESSION_PREFIX: Final = "spark.paimon."


@dataclass(frozen=True)
class RowContext:
    """What a statement on rows needs. `spark` starts the session when it is first called."""

    catalog: Catalog
    database: str
    spark: Callable[[], SparkSession]
    now_millis: Callable[[], int]
    session_options: Mapping[str, str]
    intent: WriteIntent = PLAIN
    dynamic_options: Mapping[str, str] = field(default_factory=dict)  # of the table that the statement changes
    explaining: bool = False  # the statement is planned only

    def frames(self, *, lasting: bool = False) -> Frames:
        """A new binder, for one statement. `lasting`: Spark keeps the text and reads it again later."""
        frames = Frames(self.spark(), self.catalog, self.database, lasting=lasting)
        frames.explaining = self.explaining
        return frames

    def identifier(self, name: TableName) -> tuple[str, str]:
        """Database and name."""
        return self.catalog.require_database(name.database or self.database), name.name

    def table(self, name: TableName) -> Table:
        """A table to write to. Raises ReadOnlyError for a view."""
        database, table = self.identifier(name)
        if self.catalog.object_kind(database, table) == "view":
            raise ReadOnlyError(
                f"'{database}.{table}' is a view, which cannot be written to.",
                hint="Write to the table it reads.",
            )
        return self.catalog.load_table(database, table).with_options(self.dynamic_options, "statement")


def result_of(kind: str, outcome: WriteOutcome) -> StatementResult:
    """The result of a verb."""
    return StatementResult(kind, outcome.rows)


def with_dynamic_options(statement: RowChange, context: RowContext) -> RowContext:
    """The context of a statement, with the options that it and its session give.

    Raises:
        OptionError: an option that does not exist, or that cannot be given to one statement.
        CommitIdentityError: an identity that is none.
    """
    given = dict(statement.dynamic_options)
    # A DELETE of all rows starts no session, and nothing that is refused does.
    if _is_table(statement.table, context) and not (isinstance(statement, Delete) and statement.where_sql is None):
        given = {**_session_options(context.spark()), **given}
    identity = _identity(given)
    if identity is not None:
        del given[COMMIT_IDENTIFIER]
        given.pop(COMMIT_USER, None)
        context = replace(context, intent=replace(context.intent, identity=identity))
    return replace(context, dynamic_options=given)


def _session_options(spark: SparkSession) -> dict[str, str]:
    """The options of writes that the session sets. Others of Paimon's are not asked for: each costs a call."""
    found = {key: spark.conf.get(_SESSION_PREFIX + key, None) for key in _OF_SESSIONS}
    return {key: value for key, value in found.items() if value is not None}


def _identity(given: Mapping[str, str]) -> CommitIdentity | None:
    text = given.get(COMMIT_IDENTIFIER)
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        raise CommitIdentityError(f"'{COMMIT_IDENTIFIER}' cannot be '{text}': a whole number is expected.") from None
    return chosen_identity(given.get(COMMIT_USER), number)


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
    return applied_before(context.catalog.load_table(database, name).snapshot_store, identity) is not None


def _is_table(table: TableName, context: RowContext) -> bool:
    return context.catalog.object_kind(*context.identifier(table)) == "table"
