"""The front door: a warehouse with SQL.

    store = TableStore("/data/warehouse")
    store.sql("CREATE TABLE orders (id BIGINT, total DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)")
    store.sql("INSERT INTO orders VALUES (1, 9.50)")
    store.sql("SELECT * FROM orders").show()

A store keeps the current database; its Spark session starts when the first statement needs one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tablestore_engine.catalog import DEFAULT_DATABASE, Catalog
from tablestore_engine.errors import in_one_message
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.schema.table.check_constraints import check_constraints
from tablestore_engine.schema.table.computed_columns import watermark_of
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.schema.types.alike_names import check_alike_fields
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import DataType
from tablestore_engine.sql.catalog.execute_catalog import CatalogContext, named
from tablestore_engine.sql.catalog.execute_catalog import execute as execute_catalog
from tablestore_engine.sql.catalog.execute_columns import declared_columns, declared_expressions
from tablestore_engine.sql.catalog.execute_context import is_bucketed, say_notes, table_defaults
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.query.row_expressions import read_expression
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.partition import DropPartitions
from tablestore_engine.sql.statements.script import ExecuteImmediate, Script
from tablestore_engine.sql.statements.statement import Noop, PassThrough, Statement
from tablestore_engine.sql.statements.table import CreateTable
from tablestore_engine.sql.tokens.parameters import Parameters, with_parameters
from tablestore_engine.sql.types.type_names import with_spark_types
from tablestore_engine.sql.types.types import parse_sql_type
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.store_session import StoreSession
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tablestore_engine.operation.history.change_range import Bound

__all__ = ["StatementResult", "TableStore"]


class TableStore(StoreSession):
    """SQL and tables of one warehouse.

    Args:
        warehouse: directory of the warehouse; created with the first schema or table.
        spark: a running session; without one, `session_factory` (default: an embedded session) starts one when needed.
        database: the current database.
        session_factory: starts the session.
        options: defaults for the options of new tables, as `SET table-storage.<option>` gives them.
    """

    def __init__(
        self,
        warehouse: str | os.PathLike[str],
        spark: SparkSession | None = None,
        *,
        database: str = DEFAULT_DATABASE,
        session_factory: Callable[[], SparkSession] | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        catalog = Catalog(warehouse, read_expression=read_expression)
        super().__init__(catalog, spark, database, session_factory, options or {})

    @in_one_message
    def sql(self, text: str, args: Parameters | None = None) -> DataFrame:
        """Run one statement. Queries return a lazy DataFrame; other statements have run when this returns.

        `args` are the values of its parameters: a mapping for `:name`, a sequence for `?`.

        Raises:
            TableStoreError: with a readable message.
        """
        from tablestore_engine.sql.result_frame import result_frame

        return result_frame(self.spark, self.execute(text, args=args))

    def execute(
        self,
        text: str,
        *,
        args: Parameters | None = None,
        refuse_duplicates: bool = False,
        row_kinds: bool | None = None,
        properties: Mapping[str, str] | None = None,
        intent: WriteIntent | None = None,
    ) -> StatementResult:
        """Run one statement and return what it did; starts Spark only when rows are needed.

        Args:
            text: one statement.
            args: values of its parameters: a mapping for `:name`, a sequence for `?`.
            refuse_duplicates: a key that occurs twice in the rows to write is an error instead of an update.
            row_kinds: whether the rows of a new table must have a row kind (`_row_kind`), or must not; None for either.
            properties: stored with the snapshot of the statement.
            intent: the last three and the committing user, in one value, which replaces them.
        """
        text = text if args is None else with_parameters(text, args)
        text = with_spark_types(text)
        statement = parse(self._with_backquotes(text))
        if isinstance(statement, Noop):
            return StatementResult("OK")
        if isinstance(statement, (Script, ExecuteImmediate)):
            from tablestore_engine.sql.result_frame import run_query

            result = StatementResult("OK")
            for number, inner in enumerate(self._statements_of(statement)):
                run_query(result)
                result = self.execute(
                    inner,
                    refuse_duplicates=refuse_duplicates,
                    row_kinds=row_kinds,
                    properties=properties,
                    intent=intent and intent.of_statement(number),
                )
            return result
        answered = self._about_session(statement)
        if answered is not None:
            return answered
        context = CatalogContext(
            catalog=self.catalog,
            database=self.database,
            session_options=self._options,
            now_millis=now_millis,
            resolver=self._resolver,
            temporary_views=self._temporary_views,
        )
        if self._is_of_temporary(statement):
            # As in Spark, a temporary view of the session hides a table or view of the same name.
            statement = PassThrough(sql=text)
        with named(statement, context):
            statement = self._checked(statement, context)
        # A session may give the statement an identity.
        in_session = isinstance(statement, DropPartitions) and self._spark is not None
        answered = None if in_session else execute_catalog(statement, context)
        if answered is not None:
            return answered
        wanted = intent or WriteIntent(refuse_duplicates, row_kinds, properties)
        return self._execute_in_spark(statement, wanted)

    def _checked(self, statement: Statement, context: CatalogContext) -> Statement:
        """The statement, with the expressions in definitions of columns checked by Spark."""
        if any(one.computed_sql is not None for one in declared_columns(statement)):
            from tablestore_engine.sql.write_statements.column_expressions import with_computed_types

            statement = with_computed_types(statement, context, lambda: self.spark)
        fields = declared_expressions(statement, context)
        if fields:
            from tablestore_engine.sql.write_statements.column_expressions import check_defaults

            check_defaults(fields, lambda: self.spark)
        if isinstance(statement, CreateTable) and watermark_of(statement.options) is not None:
            from tablestore_engine.sql.write_statements.column_expressions import check_watermark_sql

            kinds = [(one.name, parse_sql_type(one.type_sql, one.name)) for one in statement.columns]
            check_watermark_sql(statement.options, kinds, lambda: self.spark)
        if isinstance(statement, CreateTable) and (checks := check_constraints(statement.options)):
            from tablestore_engine.sql.write_statements.execute_check_constraint import check_declared

            stored = [one for one in statement.columns if one.computed_sql is None]
            kinds = [(one.name, parse_sql_type(one.type_sql, one.name)) for one in stored]
            check_declared(checks, kinds, self.spark)
        return statement

    def _statements_of(self, statement: Script | ExecuteImmediate) -> Sequence[str]:
        """The texts of the statements that a statement consists of."""
        if isinstance(statement, Script):
            return statement.statements
        from tablestore_engine.sql.write_statements.execute_immediate import immediate_text

        return [immediate_text(statement, lambda: self.spark)]

    def _execute_in_spark(self, statement: Statement, intent: WriteIntent) -> StatementResult:
        from tablestore_engine.spark.errors.translate_errors import translated
        from tablestore_engine.sql.execute import execute
        from tablestore_engine.sql.write_statements.statement_context import RowContext

        context = RowContext(
            catalog=self.catalog,
            database=self.database,
            spark=lambda: self.spark,
            now_millis=now_millis,
            session_options=self._options,
            intent=intent,
            running=lambda: self._spark,
        )
        with translated():
            return execute(statement, context)

    def create_table(
        self,
        name: str,
        columns: Mapping[str, str | DataType] | Sequence[tuple[str, str | DataType]],
        *,
        primary_key: str | Sequence[str] = (),
        partition_by: str | Sequence[str] = (),
        options: Mapping[str, str | float] | None = None,
        comment: str | None = None,
        if_not_exists: bool = False,
    ) -> Table:
        """Create an empty table. Column types are table types or Spark type texts (`"decimal(10, 2)"`).

        `primary_key` and `partition_by` are one column or several.

        Raises:
            SchemaError, OptionError, TableAlreadyExists, DatabaseNotFound
            SqlError: Spark cannot evaluate a CHECK constraint of the options.
        """
        pairs = columns.items() if isinstance(columns, Mapping) else columns
        typed = [(n, parse_sql_type(t, n) if isinstance(t, str) else t, None) for n, t in pairs]
        texts = {name: _option_text(value) for name, value in (options or {}).items()}
        keys = _names(primary_key)
        all_options = {**table_defaults(self._options, bucketed=is_bucketed(keys, texts)), **texts}
        check_alike_fields([(name, kind) for name, kind, _ in typed], self._resolver)
        schema = create_schema(
            typed,
            keys,
            _names(partition_by),
            all_options,
            comment,
            now_millis(),
        )
        if checks := check_constraints(all_options):
            from tablestore_engine.sql.write_statements.execute_check_constraint import check_declared

            check_declared(checks, [(n, kind) for n, kind, _ in typed], self.spark)
        say_notes(all_options, schema)
        database, _, table = name.rpartition(".")
        return self._of_session(self.catalog.create_table(database or self.database, table, schema, if_not_exists))

    @in_one_message
    def read(self, name: str, snapshot_id: int | None = None, *, options: Mapping[str, str] | None = None) -> DataFrame:
        """A table's rows as a DataFrame, pinned to its latest snapshot or to the one given.

        `options` are options of this read, those of a hint: `scan.snapshot-id` and its kin, or `incremental-between`
        and its kin for the rows that a range of snapshots added or changed. So are those of the session,
        `spark.paimon.<option>`.
        """
        from tablestore_engine.spark.errors.guarded_frames import guarded
        from tablestore_engine.sql.pinned_queries.pinned_query import Frames

        frames = Frames(self.spark, self.catalog, self.database)
        return guarded(frames.read(self.table(name), snapshot_id, options or {}))

    @in_one_message
    def changes(
        self,
        name: str,
        start: Bound,
        end: Bound | None = None,
        *,
        recorded: bool = False,
        columns: Sequence[str] | None = None,
        where: str | None = None,
    ) -> DataFrame:
        """The changes of a table after the snapshot `start`, up to and including `end` (default: the latest).

        Bounds are ids of snapshots (0: before the first one), names of tags, or times. The rows have the kind of
        change (`+I`, `-U`, `+U`, `-D`) in `_row_kind`, then the table's columns. With `recorded` they are what the
        table's changelog files hold (`changelog-producer`), each change of each commit. `columns` are those of the
        table to be read; `_row_kind` comes first, named or not. `where` is SQL of a condition on the rows: files that
        cannot fulfil it are not read.

        Raises:
            ChangesNotFound: a snapshot has expired; the message says which there are.
            TagNotFound: no such tag. UserError: the range ends before it begins.
            SqlError: a column or a condition that the changes do not have.
        """
        from tablestore_engine.spark.changelog.read_changes import read_changes
        from tablestore_engine.spark.errors.guarded_frames import guarded
        from tablestore_engine.sql.row_level.row_level_target import predicate_on

        table = self.table(name)
        mode = "changelog" if recorded else "auto"
        between = table.change_range(start, end, recorded=recorded)
        predicate = None if where is None else predicate_on(table, None, where)
        found = guarded(read_changes(self.spark, table, between, predicate, mode=mode))
        found = found if where is None else found.where(where)
        if columns is None:
            return found
        named = (one for one in _names(columns) if one.lower() != ROW_KIND)
        return found.select(ROW_KIND, *map(quoted_name, named))

    @in_one_message
    def write(
        self,
        name: str,
        frame: DataFrame,
        *,
        overwrite: bool = False,
        refuse_duplicates: bool = False,
        properties: Mapping[str, str] | None = None,
        commit_user: str | None = None,
        commit_identifier: int | None = None,
        options: Mapping[str, str | float] | None = None,
    ) -> int:
        """Append a DataFrame by column name, or upsert it by key; returns the number of rows given.

        It has all columns of the table, unless they have a default value or a merge engine keeps the values of missing
        ones. `commit_identifier` numbers the writes of `commit_user` (growing): a write that is sent again is not
        applied again, and returns 0. `options` are options of the table for this write; `write.merge-schema` adds
        columns that the table does not have. The session may set options and identity, too: `spark.paimon.<option>`.

        Raises:
            CommitIdentityError: no number, or a write that is so old that nobody knows whether it was applied.
            SchemaError: rows of another kind, or columns that do not fit. PrimaryKeyError: null or duplicate keys.
            ConflictError: others changed the table at every attempt.
        """
        from tablestore_engine.operation.commit.commit_identity import chosen_identity
        from tablestore_engine.sql.dataframe_writes.write_frame import write_in_session

        identity = chosen_identity(commit_user, commit_identifier)
        intent = WriteIntent(refuse_duplicates, properties=properties, identity=identity)
        texts = {key: _option_text(value) for key, value in (options or {}).items()}
        load = lambda: self.table(name)  # noqa: E731
        return write_in_session(self.spark, load, frame, texts, intent=intent, overwrite=overwrite)

    @in_one_message
    def read_stream(self, name: str, *, options: Mapping[str, str | float] | None = None) -> DataFrame:
        """A table as a stream: first all of its rows, then what changes, for `writeStream` or `write_stream`.

        The rows have the kind of change (`+I`, `-U`, `+U`, `-D`) in `_row_kind`, then the table's columns. `options`
        are Paimon's: `scan.mode`, `scan.snapshot-id`, `scan.timestamp-millis`, `consumer-id`,
        `consumer.ignore-progress`, `read.stream.maxFilesPerTrigger` and `read.stream.maxRowsPerTrigger`.

        Raises:
            OptionError: an option that is none of these, or a wrong value.
        """
        from tablestore_engine.spark.errors.guarded_frames import guarded
        from tablestore_engine.spark.stream.stream_source import read_stream

        texts = {key: _option_text(value) for key, value in (options or {}).items()}
        return guarded(read_stream(self.spark, self.table(name), texts))

    @in_one_message
    def write_stream(
        self,
        name: str,
        frame: DataFrame,
        *,
        checkpoint_location: str | os.PathLike[str] | None = None,
        output_mode: str = "append",
        query_name: str | None = None,
        trigger: Mapping[str, Any] | None = None,
        options: Mapping[str, str | float] | None = None,
    ) -> StreamingQuery:
        """Write a streaming DataFrame into a table, batch by batch, each exactly once. Returns the running query.

        `append` and `update` append rows, or upsert them by key, and honour `_row_kind`; `complete` replaces all rows
        by those of each batch. `trigger` are the arguments of Spark's trigger, such as `{"availableNow": True}`;
        `options` are options of the table for these writes. A query that is started again with its checkpoint location
        goes on where it was.

        Raises:
            OptionError: no checkpoint location, or an output mode that the table cannot take.
            SchemaError: no streaming DataFrame, or columns that do not fit.
        """
        from tablestore_engine.sql.dataframe_writes.write_stream import StreamWrite, start_stream

        texts = {key: _option_text(value) for key, value in (options or {}).items()}
        stream = StreamWrite(self.catalog, self.table(name).identifier, output_mode.lower(), texts)
        where = None if checkpoint_location is None else os.fspath(checkpoint_location)
        return start_stream(stream, frame, where, query_name, trigger)


def _names(columns: str | Sequence[str]) -> Sequence[str]:
    return [columns] if isinstance(columns, str) else columns


def _option_text(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
