"""Executing CREATE [OR REPLACE] TABLE … AS at one of the levels of `ctas.atomicity`.

The level is that of a new table. `atomic`: it is written into a folder that no listing shows, which is renamed at the
end. `rollback` and `none`: it is visible and empty until its rows are committed; after a failure it is dropped, or
stays. The rows of an existing table are replaced by one snapshot at every level, with which the new schema becomes
visible, too; a statement that fails leaves what was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tablestore_engine.catalog.catalog import Guard
from tablestore_engine.catalog.log_topics import replaced_log
from tablestore_engine.errors import (
    RowKindError,
    SchemaError,
    TableAlreadyExists,
    TableNotFound,
)
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.commit.replace_table import everything, next_schema, replace_all
from tablestore_engine.operation.table_commands.write_group import forgotten_group
from tablestore_engine.operation.transaction.transaction import begin, with_retry
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.table.check_constraints import check_constraints
from tablestore_engine.schema.table.computed_columns import check_watermark
from tablestore_engine.schema.table.create_schema import Column, create_schema, with_defaults
from tablestore_engine.schema.table.row_kind import NO_ROW_KINDS, NO_ROW_KINDS_HINT, ROW_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.alike_names import check_alike_fields
from tablestore_engine.schema.types.names import Names
from tablestore_engine.spark.dml.insert_overwrite import (
    finish,
    write_files,
)
from tablestore_engine.spark.expressions.spark_types import columns_of, refuse_collations
from tablestore_engine.spark.write.align_columns import align
from tablestore_engine.spark.write.check_constraints import check_conditions, checked
from tablestore_engine.spark.write.writer import Rows, input_bytes
from tablestore_engine.sql.catalog.execute_context import is_bucketed, say_notes, table_defaults
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.statement import ColumnDefinition, Existing
from tablestore_engine.sql.statements.table import CreateTableAs
from tablestore_engine.sql.tokens.default_clause import default_text
from tablestore_engine.sql.types.types import parse_sql_type
from tablestore_engine.sql.write_statements.column_expressions import check_defaults, check_watermark_sql
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


from tablestore_engine.sql.write_statements.statement_context import RowContext, result_of

BYTES_PER_BUCKET = 128 << 20
MAX_DEFAULT_BUCKETS = 64


def execute_create_as(statement: CreateTableAs, context: RowContext) -> StatementResult:
    """CREATE [OR REPLACE] TABLE … AS: atomic: readers never see a partial table."""
    database, name = context.identifier(statement.table)
    kind, existing = context.catalog.object_kind(database, name), statement.existing
    if kind == "view":
        raise TableAlreadyExists(f"'{database}.{name}' is a view.", hint="Drop the view first.")
    if kind == "table" and not existing.is_replaced:
        if existing is Existing.KEPT:
            return StatementResult("CREATE TABLE", 0)
        raise TableAlreadyExists(f"Table '{database}.{name}' exists already.", hint="Use CREATE OR REPLACE TABLE.")
    if kind is None and existing is Existing.REQUIRED:
        raise TableNotFound(f"Table '{database}.{name}' does not exist.", hint="Use CREATE OR REPLACE TABLE.")
    frames = context.frames()
    frame = _renamed(statement, frames.query(statement.query_sql))
    size = frames.input_bytes
    if size is None:
        size = input_bytes(frame)
    schema = _schema_of_query(statement, context, frame, size)
    aligned = align(frame, schema, any_type=True)
    check_conditions(check_constraints(schema.options), aligned)
    rows = frames.rows(checked(aligned, schema), size)
    if kind is None:
        created = _create(context, database, name, schema, rows)
        if created is not None:
            return created
        if existing is Existing.KEPT:
            return StatementResult("CREATE TABLE", 0)
        if not existing.is_replaced:
            raise TableAlreadyExists(
                f"Table '{database}.{name}' was created by another process meanwhile.",
                hint="Use CREATE OR REPLACE TABLE.",
            )
    return with_retry(lambda: _replace(context, database, name, schema, rows))


def _schema_of_query(statement: CreateTableAs, context: RowContext, frame: DataFrame, size: int) -> TableSchema:
    names = Names(frame.columns)
    for position, column in enumerate(frame.columns):
        if names.position(column) != position:
            raise SchemaError(f"The query returns two columns named '{column}'.", hint="Give one another alias.")
    buckets = min(MAX_DEFAULT_BUCKETS, max(1, -(-size // BYTES_PER_BUCKET)))
    _check_kinds(ROW_KIND in names, context.intent.row_kinds)
    typed = {one.name for one in statement.columns if one.type_sql}
    refuse_collations(one for one in frame.schema if one.name not in typed)
    columns = [one for one in columns_of(frame.schema) if one[0].lower() != ROW_KIND]
    if statement.columns:
        columns = [_listed(one, column) for one, column in zip(statement.columns, columns, strict=True)]
    check_alike_fields([(name, kind) for name, kind, _ in columns], context.resolver)
    bucketed = is_bucketed(statement.primary_key, statement.options)
    options = {**table_defaults(context.session_options, bucketed=bucketed), **statement.options}
    kinds = [(name, kind) for name, kind, _ in columns]
    check_watermark(options, kinds)
    check_watermark_sql(options, kinds, lambda: frame.sparkSession)
    schema = create_schema(
        columns,
        statement.primary_key,
        statement.partition_by,
        options,
        statement.comment,
        context.now_millis(),
        default_buckets=buckets,
    )
    if ROW_KIND in names and context.intent.row_kinds is None:
        _check_applies_kinds(schema)
    say_notes(options, schema)
    return _described(_with_defaults(schema, statement.columns, context), context.intent)


def _with_defaults(schema: TableSchema, listed: Sequence[ColumnDefinition], context: RowContext) -> TableSchema:
    """The schema with the DEFAULT values that the list of columns declares, for later rows."""
    texts = {
        one.name: default_text(one.name, schema.field(one.name).type, one.default_sql)
        for one in listed
        if one.default_sql is not None
    }
    fields = with_defaults(schema.fields, texts)
    check_defaults([one for one in fields if one.name in texts], context.spark)
    return replace(schema, fields=tuple(fields))


def _described(schema: TableSchema, intent: WriteIntent) -> TableSchema:
    """The first schema of a table with the comments that the caller has for it."""
    changes = [] if intent.describe is None else intent.describe(schema)
    if not changes:
        return schema
    return replace(apply_changes(schema, changes, schema.time_millis, has_data=False), id=schema.id)


def _renamed(statement: CreateTableAs, frame: DataFrame) -> DataFrame:
    """The rows of the query with the names that the statement lists. Raises SchemaError: it lists more or fewer."""
    if not statement.columns:
        return frame
    count = sum(name.lower() != ROW_KIND for name in frame.columns)
    if len(statement.columns) != count:
        raise SchemaError(f"The statement lists {len(statement.columns)} columns, and its query returns {count}.")
    names = iter(statement.columns)
    return frame.toDF(*(name if name.lower() == ROW_KIND else next(names).name for name in frame.columns))


def _listed(definition: ColumnDefinition, of_query: Column) -> Column:
    """A column of the query, as the statement lists it."""
    name, kind, comment = of_query
    if definition.type_sql:
        kind = parse_sql_type(definition.type_sql, name)
    return name, kind if definition.nullable else kind.as_nullable(False), definition.comment or comment


def _check_kinds(has: bool, wanted: bool | None) -> None:
    if wanted is False and has:
        raise RowKindError(
            f"The query has a column {ROW_KIND}, which says what each row does to "
            f"the table, but nobody asked for that.",
            hint="In a dbt model set row_kind=true, or give the column another name.",
        )
    if wanted and not has:
        raise RowKindError(NO_ROW_KINDS, hint=NO_ROW_KINDS_HINT)


def _check_applies_kinds(schema: TableSchema) -> None:
    """Refuse kinds of rows for a table without a key: what a change removes is in no table before it."""
    if not schema.primary_keys and not schema.merge_engine.rules.is_multiset:
        raise RowKindError(
            f"The query has a column {ROW_KIND}, which says what each row does to the table: it would be applied, not "
            "stored, and the new table has no primary key by which rows are found.",
            hint=f"Give the column another name to store it ({ROW_KIND} AS kind), leave it out to store the rows (* "
            f"EXCEPT ({ROW_KIND})), or declare a PRIMARY KEY to apply the changes.",
        )


def _create(context: RowContext, database: str, name: str, schema: TableSchema, rows: Rows) -> StatementResult | None:
    """A new table with rows; None when another process created one of this name meanwhile."""
    identity = context.intent.identity or new_identity(schema.core_options)
    intent = replace(context.intent, identity=identity)

    def fill(table: Table, guard: Guard) -> StatementResult:
        job = begin(table.state, intent, None)
        result = write_files(context.spark(), table, None, job, rows)
        outcome = finish(context.spark(), table, job, result, Change("APPEND", guard=guard), result.rows_kept)
        return result_of("CREATE TABLE", outcome)

    return context.catalog.create_filled(database, name, schema, identity, fill)


def _replace(context: RowContext, database: str, name: str, wanted: TableSchema, rows: Rows) -> StatementResult:
    """Swap the contents by one snapshot; a changed schema becomes visible with it."""
    table = context.catalog.load_table(database, name)
    with (
        replaced_log(table.state, wanted, context.catalog.tables) as logged,
        forgotten_group(table.state, context.intent) as intent,
    ):
        schema = next_schema(table.schema, logged, table.schemas.list_ids()[-1])
        job = begin(table.state, intent, table.latest_snapshot(), removes=everything, schema=schema)
        result = write_files(context.spark(), table, None, job, rows)
        outcome = finish(context.spark(), table, job, result, replace_all(table.schema, schema), result.rows_kept)
    return result_of("CREATE TABLE", outcome)
