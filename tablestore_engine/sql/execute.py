"""Executing the statements that need Spark: each kind goes to its function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tablestore_engine.catalog import View
from tablestore_engine.errors import SchemaError, SqlError, TableAlreadyExists, ViewNotFound
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.compact.compactor import compact_table
from tablestore_engine.spark.expressions.types import columns_of
from tablestore_engine.spark.run.errors import translated
from tablestore_engine.spark.run.temp_views import ends_with_session, named_plan
from tablestore_engine.sql.catalog.partition_spec import clause_values, partition_filter
from tablestore_engine.sql.procedures.procedures import execute_call
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.rows.execute_analyze import execute_analyze
from tablestore_engine.sql.rows.execute_changes import execute_delete, execute_update
from tablestore_engine.sql.rows.execute_create_as import execute_create_as
from tablestore_engine.sql.rows.execute_insert import execute_insert, execute_overwrite, execute_truncate
from tablestore_engine.sql.rows.execute_layout import execute_add_primary_key, execute_cluster
from tablestore_engine.sql.rows.execute_merge import execute_merge
from tablestore_engine.sql.rows.row_context import RowContext
from tablestore_engine.sql.statements.layout import AddPrimaryKey, AnalyzeTable, ClusterTable, Compact
from tablestore_engine.sql.statements.row import Delete, InsertInto, InsertOverwrite, Merge, Update
from tablestore_engine.sql.statements.script import QueriesInside
from tablestore_engine.sql.statements.statement import (
    Call,
    Explain,
    PassThrough,
    Query,
    QueryInside,
    Statement,
)
from tablestore_engine.sql.statements.table import CreateTableAs, ForeignStatement, Truncate
from tablestore_engine.sql.statements.view import CreateView


def execute(statement: Statement, context: RowContext) -> StatementResult:
    """Run a statement. Raises SqlError for one that managed tables do not have."""
    runner = _RUNNERS.get(type(statement))
    if runner is None:
        raise SqlError(f"{type(statement).__name__} is not supported on managed tables.")
    return runner(statement, context)


def _query(statement: Query, context: RowContext) -> StatementResult:
    return StatementResult("SELECT", dataframe=context.frames().query(statement.query_sql))


def _query_inside(statement: QueryInside, context: RowContext) -> StatementResult:
    frames = context.frames(lasting=statement.kind == "CACHE TABLE")
    answer = frames.run(frames.bound(statement.query_sql), statement.prefix)
    return StatementResult(statement.kind, dataframe=named_plan(answer) if statement.kind == "EXPLAIN" else answer)


def _queries_inside(statement: QueriesInside, context: RowContext) -> StatementResult:
    frames = context.frames(lasting="FUNCTION" in statement.kind)
    bound = frames.pieces(statement)
    if statement.kind == "CREATE FUNCTION" and bound.references:
        raise SqlError(
            f"A function that outlives the session cannot read {bound.references[0].name}.",
            hint="Use CREATE TEMPORARY FUNCTION, or a VIEW.",
        )
    answer = frames.run(bound)
    return StatementResult(statement.kind, dataframe=answer if answer.columns else None)


def _explain(statement: Explain, context: RowContext) -> StatementResult:
    inner = statement.statement
    query = getattr(inner, "query_sql", None)
    if query is None:
        raise SqlError(f"EXPLAIN of {type(inner).__name__} is not supported.", hint="EXPLAIN its query.")
    mode = f"{statement.mode} " if statement.mode else ""
    frames = context.frames()
    plan = frames.run(frames.bound(query), f"EXPLAIN {mode}")
    return StatementResult("EXPLAIN", dataframe=named_plan(plan))


def _pass_through(statement: PassThrough | ForeignStatement, context: RowContext) -> StatementResult:
    with translated():
        frame = context.spark().sql(statement.sql)
    return StatementResult("OK", dataframe=frame if frame.columns else None)


def _compact(statement: Compact, context: RowContext) -> StatementResult:
    table = context.table(statement.table)
    chosen = partition_filter(table.schema, clause_values(table.schema, statement.partition))
    compact_table(context.spark, table, chosen)
    return StatementResult("COMPACT")


def _create_view(statement: CreateView, context: RowContext) -> StatementResult:
    frames = context.frames(lasting=statement.temporary)
    if statement.temporary:
        frames.run(frames.bound(statement.query_sql), statement.prefix)
        return StatementResult("CREATE VIEW")
    catalog = context.catalog
    database, name = context.identifier(statement.view)
    exists = catalog.view_exists(database, name)
    if statement.must_exist and not exists:
        raise ViewNotFound(f"View '{database}.{name}' does not exist.")
    if exists and statement.if_not_exists:
        return StatementResult("CREATE VIEW")
    if catalog.table_exists(database, name):
        raise TableAlreadyExists(f"'{database}.{name}' is a table, so it cannot become a view.")
    frame = frames.query(statement.query_sql)
    for one in frames.temporaries:
        if ends_with_session(frames.spark, one):
            raise SqlError(
                f"View '{database}.{name}' cannot read the temporary view '{one}', which ends with the session.",
                hint=f"Create '{one}' as a view or a table, or this one as a temporary view.",
            )
    if frames.reads_view(database, name):
        raise SqlError(f"View '{database}.{name}' would read itself.", hint="Read what it reads, or use another name.")
    columns = columns_of(frame.schema)
    if statement.columns and len(statement.columns) != len(columns):
        raise SqlError(f"The view names {len(statement.columns)} columns, its query returns {len(columns)}.")
    named = statement.columns or tuple((n, c) for n, _, c in columns)
    _check_once([n for n, _ in named])
    fields = tuple(
        DataField(i, n, kind, comment)
        for i, ((n, comment), (_, kind, _)) in enumerate(zip(named, columns, strict=True))
    )
    view = View(
        statement.query_sql,
        context.database,
        fields,
        statement.comment,
        statement.options,
        tuple(n for n, _, _ in columns),
    )
    if statement.must_exist:  # ALTER VIEW … AS
        before = catalog.load_view(database, name)
        view = replace(view, comment=before.comment, options=before.options)
    catalog.create_view(database, name, view, statement.replace or statement.must_exist)
    return StatementResult("CREATE VIEW")


def _check_once(names: Sequence[str]) -> None:
    """Raise a SchemaError for two columns of a view with the same name."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise SchemaError(
                f"The view would have two columns named '{name}'.",
                hint="Give one another alias, or name the columns: CREATE VIEW v (a, b) AS ….",
            )
        seen.add(name.lower())


_RUNNERS: dict[type[Statement], Callable[[Any, RowContext], StatementResult]] = {
    Query: _query,
    QueryInside: _query_inside,
    QueriesInside: _queries_inside,
    Explain: _explain,
    PassThrough: _pass_through,
    ForeignStatement: _pass_through,
    Compact: _compact,
    ClusterTable: execute_cluster,
    AddPrimaryKey: execute_add_primary_key,
    Call: execute_call,
    AnalyzeTable: execute_analyze,
    CreateView: _create_view,
    CreateTableAs: execute_create_as,
    InsertInto: execute_insert,
    InsertOverwrite: execute_overwrite,
    Truncate: execute_truncate,
    Delete: execute_delete,
    Update: execute_update,
    Merge: execute_merge,
}
