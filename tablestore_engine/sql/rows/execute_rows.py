"""Executing INSERT, INSERT OVERWRITE, TRUNCATE and CREATE TABLE … AS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import (
    ReadOnlyError,
    RowKindError,
    SchemaError,
    SqlError,
    TableAlreadyExists,
    TableNotFound,
)
from tablestore_engine.metadata.manifest import ManifestEntry
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.replace import everything, next_schema, replace_all
from tablestore_engine.operation.job.write_intent import PLAIN, WriteIntent
from tablestore_engine.operation.transaction.transaction import begin, with_retry
from tablestore_engine.schema.table.creation import create_schema
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.spark.expressions.types import columns_of
from tablestore_engine.spark.verbs.dml import (
    WriteOutcome,
    finish,
    insert,
    overwrite,
    truncate,
    write_files,
)
from tablestore_engine.spark.write.align import align, expression
from tablestore_engine.spark.write.writer import Rows, input_bytes
from tablestore_engine.sql.catalog.execute_context import say_notes
from tablestore_engine.sql.catalog.partition_spec import clause_values, partition_field
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.rows.frames import Frames
from tablestore_engine.sql.rows.partition_pruning import files_of, written_values
from tablestore_engine.sql.statements.row import InsertInto, InsertOverwrite
from tablestore_engine.sql.statements.statement import PartitionSpec, TableName
from tablestore_engine.sql.statements.table import CreateTableAs, Truncate
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

BYTES_PER_BUCKET = 128 << 20
MAX_DEFAULT_BUCKETS = 64


@dataclass(frozen=True)
class RowContext:
    """What a statement on rows needs. `spark` starts the session when it is first called."""

    catalog: Catalog
    database: str
    spark: Callable[[], SparkSession]
    now_millis: Callable[[], int]
    session_options: Mapping[str, str]
    intent: WriteIntent = PLAIN

    def frames(self, *, lasting: bool = False) -> Frames:
        """A new binder, for one statement. `lasting`: Spark keeps the text and reads it again later."""
        return Frames(self.spark(), self.catalog, self.database, lasting=lasting)

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
        return self.catalog.load_table(database, table)


def execute_insert(statement: InsertInto, context: RowContext) -> StatementResult:
    """INSERT INTO: append rows, or upsert them by key.

    It conflicts only if the table was replaced or rescaled meanwhile; then it runs again.
    """
    return with_retry(lambda: _insert(statement, context))


def _insert(statement: InsertInto, context: RowContext) -> StatementResult:
    table = context.table(statement.table)
    frames = context.frames()
    frame = frames.query(statement.query_sql)
    static = _static_columns(statement.partition, table.schema, frames)
    aligned = align(frame, table.schema, statement.columns, static, by_name=statement.by_name)
    outcome = insert(frames.spark, table, Rows(aligned, frames.input_bytes), context.intent)
    return result_of("UPSERT" if table.schema.primary_keys else "INSERT", outcome)


def execute_overwrite(statement: InsertOverwrite, context: RowContext) -> StatementResult:
    """INSERT OVERWRITE: replace the table, the named partitions, or those of the rows."""
    table = context.table(statement.table)
    schema = table.schema
    if statement.replace_where_sql is not None:
        raise SqlError(
            "INSERT INTO … REPLACE WHERE is not supported.",
            hint="DELETE the rows first, or overwrite whole partitions.",
        )
    frames = context.frames()
    frame = frames.query(statement.query_sql)
    static = _static_columns(statement.partition, schema, frames)
    aligned = align(frame, schema, statement.columns, static, by_name=statement.by_name)
    replaces = None
    if not _by_rows(statement, schema):
        replaces = files_of(written_values(statement.partition, schema, frames), schema)
    if statement.if_not_exists and _is_there(statement, table, replaces):
        return StatementResult("OVERWRITE", 0)
    outcome = overwrite(frames.spark, table, Rows(aligned, frames.input_bytes), replaces, context.intent)
    return result_of("OVERWRITE", outcome)


def _by_rows(statement: InsertOverwrite, schema: TableSchema) -> bool:
    """Whether the partitions of the rows are replaced."""
    if not schema.partition_keys:
        return False
    if statement.partition:
        return any(v.value_sql is None for v in statement.partition)
    return schema.core_options.dynamic_partition_overwrite


def _is_there(statement: InsertOverwrite, table: Table, replaces: Callable[[ManifestEntry], bool] | None) -> bool:
    """Whether the partition of IF NOT EXISTS has files."""
    missing = set(table.schema.partition_keys) - {
        partition_field(v.column, table.schema).name for v in statement.partition
    }
    if replaces is None or missing or not statement.partition:
        raise SqlError("IF NOT EXISTS needs a PARTITION clause with a value for every partition column.")
    return any(replaces(entry) for entry in table.live_files())


def execute_truncate(statement: Truncate, context: RowContext) -> StatementResult:
    """TRUNCATE TABLE [PARTITION]: a metadata change."""
    table = context.table(statement.table)
    chosen = files_of(clause_values(table.schema, statement.partition), table.schema)
    return result_of("TRUNCATE TABLE", truncate(context.spark, table, chosen))


def _static_columns(spec: PartitionSpec, schema: TableSchema, frames: Frames) -> dict[str, Column]:
    columns = {}
    for entry in spec:
        field = partition_field(entry.column, schema)
        if entry.value_sql is not None:
            columns[field.name.lower()] = expression(frames.expression(entry.value_sql, {}))
    return columns


def result_of(kind: str, outcome: WriteOutcome) -> StatementResult:
    """The result of a verb."""
    return StatementResult(kind, outcome.rows)


# -- CREATE TABLE … AS ---------------------------------------------------------------------------------


def execute_create_as(statement: CreateTableAs, context: RowContext) -> StatementResult:
    """CREATE [OR REPLACE] TABLE … AS: atomic: readers never see a partial table."""
    database, name = context.identifier(statement.table)
    kind = context.catalog.object_kind(database, name)
    if kind == "view":
        raise TableAlreadyExists(f"'{database}.{name}' is a view.", hint="Drop the view first.")
    if kind == "table" and not statement.replace:
        if statement.if_not_exists:
            return StatementResult("CREATE TABLE", 0)
        raise TableAlreadyExists(f"Table '{database}.{name}' exists already.", hint="Use CREATE OR REPLACE TABLE.")
    if kind is None and statement.must_exist:
        raise TableNotFound(f"Table '{database}.{name}' does not exist.", hint="Use CREATE OR REPLACE TABLE.")
    frames = context.frames()
    frame = frames.query(statement.query_sql)
    size = frames.input_bytes
    if size is None:
        size = input_bytes(frame)
    schema = _schema_of_query(statement, context, frame, size)
    rows = Rows(align(frame, schema), size)
    if kind is None:
        created = _create(context, database, name, schema, rows)
        if created is not None:
            return created
        if statement.if_not_exists:
            return StatementResult("CREATE TABLE", 0)
        if not statement.replace:
            raise TableAlreadyExists(
                f"Table '{database}.{name}' was created by another process meanwhile.",
                hint="Use CREATE OR REPLACE TABLE.",
            )
    return with_retry(lambda: _replace(context, database, name, schema, rows))


def _schema_of_query(statement: CreateTableAs, context: RowContext, frame: DataFrame, size: int) -> TableSchema:
    names = [c.lower() for c in frame.columns]
    for position, column in enumerate(frame.columns):
        if names.index(column.lower()) != position:
            raise SchemaError(f"The query returns two columns named '{column}'.", hint="Give one another alias.")
    buckets = min(MAX_DEFAULT_BUCKETS, max(1, -(-size // BYTES_PER_BUCKET)))
    _check_kinds(ROW_KIND in names, context.intent.row_kinds)
    columns = [one for one in columns_of(frame.schema) if one[0].lower() != ROW_KIND]
    options = {**context.session_options, **statement.options}
    schema = create_schema(
        columns,
        statement.primary_key,
        statement.partition_by,
        options,
        statement.comment,
        context.now_millis(),
        default_buckets=buckets,
    )
    say_notes(options)
    return schema


def _check_kinds(has: bool, wanted: bool | None) -> None:
    if wanted is False and has:
        raise RowKindError(
            f"The query has a column {ROW_KIND}, which says what each row does to "
            f"the table, but nobody asked for that.",
            hint="In a dbt model set row_kind=true, or give the column another name.",
        )
    if wanted and not has:
        raise RowKindError(
            f"The query has no column {ROW_KIND} to say what each row does to the table.",
            hint="Add it to the query, or leave row_kind out.",
        )


def _create(context: RowContext, database: str, name: str, schema: TableSchema, rows: Rows) -> StatementResult | None:
    """A new table with rows; None when another process created one of this name meanwhile."""
    catalog = context.catalog
    staged = catalog.stage_table(database, name, schema)
    try:
        job = begin(staged.state, context.intent, None)
        result = write_files(context.spark(), staged, None, job, rows)
        outcome = finish(context.spark(), staged, job, result, Change("APPEND"), result.rows_kept)
        if catalog.publish(staged, database, name):
            return result_of("CREATE TABLE", outcome)
    except BaseException:
        catalog.io.delete_tree(staged.path)
        raise
    catalog.io.delete_tree(staged.path)
    return None


def _replace(context: RowContext, database: str, name: str, wanted: TableSchema, rows: Rows) -> StatementResult:
    """Swap the contents by one snapshot; a changed schema becomes visible with it."""
    table = context.catalog.load_table(database, name)
    schema = next_schema(table.schema, wanted, table.schemas.list_ids()[-1])
    job = begin(table.state, context.intent, table.latest_snapshot(), removes=everything, schema=schema)
    result = write_files(context.spark(), table, None, job, rows)
    outcome = finish(context.spark(), table, job, result, replace_all(table.schema, schema), result.rows_kept)
    return result_of("CREATE TABLE", outcome)
