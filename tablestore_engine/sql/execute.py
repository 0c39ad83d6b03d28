"""Executing the statements that need Spark: each kind goes to its function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tablestore_engine.catalog import View
from tablestore_engine.errors import SchemaError, SqlError, TableAlreadyExists, ViewNotFound
from tablestore_engine.metadata.warehouse.view import TYPE_EVOLUTION
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.compact.compactor import compact_table
from tablestore_engine.spark.errors.failed_statements import failing
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.expressions.spark_types import columns_of
from tablestore_engine.spark.queries.session_variables import may_have_made, note_made
from tablestore_engine.spark.queries.table_cache import drop, storage_level
from tablestore_engine.spark.queries.temp_views import remember_definition, remembered
from tablestore_engine.sql.catalog.partition_spec import clause_values, partition_filter
from tablestore_engine.sql.counts.known_counts import known_counts
from tablestore_engine.sql.functions.execute_functions import (
    execute_create_function,
    execute_describe_function,
    execute_drop_function,
    execute_refresh_function,
    execute_show_functions,
)
from tablestore_engine.sql.pinned_queries.explained_query import plan_of
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.pinned_queries.temporary_objects import (
    refuse_replaced,
    refuse_temporary,
    refuse_temporary_views,
)
from tablestore_engine.sql.procedures.call_procedure import describe_procedure, execute_call, show_procedures
from tablestore_engine.sql.query.empty_queries import returns_nothing
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.row_level.execute_explain import explained, through_view
from tablestore_engine.sql.row_level.execute_merge import execute_merge
from tablestore_engine.sql.row_level.execute_update_delete import (
    execute_delete,
    execute_update,
)
from tablestore_engine.sql.row_level.former_partitions import (
    drop_partitions_or_rows,
    overwrite_partition,
    truncate_partition,
)
from tablestore_engine.sql.row_level.replace_where import execute_replace_where
from tablestore_engine.sql.statements.function import (
    CreateFunction,
    DescribeFunction,
    DropFunction,
    RefreshFunction,
    ShowFunctions,
)
from tablestore_engine.sql.statements.layout import AddPrimaryKey, AnalyzeTable, AnalyzeTables, ClusterTable, Compact
from tablestore_engine.sql.statements.partition import DropPartitions
from tablestore_engine.sql.statements.row import Delete, InsertInto, InsertOverwrite, Merge, RowStatement, Update
from tablestore_engine.sql.statements.script import QueriesInside
from tablestore_engine.sql.statements.show import DescribeProcedure, ShowCatalogs, ShowProcedures
from tablestore_engine.sql.statements.statement import (
    Call,
    Existing,
    Explain,
    PassThrough,
    Query,
    QueryInside,
    Statement,
    TableName,
)
from tablestore_engine.sql.statements.table import (
    AddCheck,
    CacheTable,
    CreateTableAs,
    ForeignStatement,
    Truncate,
    UncacheTable,
)
from tablestore_engine.sql.statements.view import CreateView
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS
from tablestore_engine.sql.tokens.patterns import matching
from tablestore_engine.sql.write_statements.evolving_catalog import EvolvingCatalog, is_of
from tablestore_engine.sql.write_statements.execute_analyze import execute_analyze, execute_analyze_tables
from tablestore_engine.sql.write_statements.execute_check_constraint import execute_add_check
from tablestore_engine.sql.write_statements.execute_create_as import execute_create_as
from tablestore_engine.sql.write_statements.execute_insert import execute_insert
from tablestore_engine.sql.write_statements.execute_layout import execute_add_primary_key, execute_cluster
from tablestore_engine.sql.write_statements.statement_context import (
    RowContext,
    was_sent_before,
    with_dynamic_options,
    with_session_identity,
)
from tablestore_engine.sql.write_statements.through_view import (
    Change,
    Made,
    on_table,
    shown_to,
    table_shown,
    temporary_target,
)
from tablestore_engine.table import Table


def execute(statement: Statement, context: RowContext) -> StatementResult:
    """Run a statement. Raises SqlError for one that managed tables do not have."""
    if type(statement) not in _RUNNERS:
        raise SqlError(f"{type(statement).__name__} is not supported on managed tables.")
    if not isinstance(statement, Change) or (made := temporary_target(statement, context)) is None:
        return _run(statement, context)
    there = replace(context, database=made.database)
    shown = table_shown(made.view, there)
    result = _run(on_table(statement, shown), shown_to(statement, shown, context))
    _create_view(made.view, there)  # the view shows the rows as they are now
    return result


def _run(statement: Statement, context: RowContext) -> StatementResult:
    """Run a statement on managed tables, unless its identity says that it was run before."""
    if isinstance(statement, RowStatement):
        context = with_dynamic_options(statement, context)
    elif isinstance(statement, (CreateTableAs, Truncate, DropPartitions)):
        context = with_session_identity(statement.table, context)
    if isinstance(statement, (RowStatement, CreateTableAs, Truncate, DropPartitions)) and was_sent_before(
        statement.table, context
    ):
        return StatementResult("ALREADY APPLIED", 0)
    context = _evolving(statement, context)
    run, words = _RUNNERS[type(statement)], _opening(statement)
    if words is None:
        return run(statement, context)
    named: Any = statement
    with failing(words, lambda: ".".join(context.identifier(named.table))):
        return run(statement, context)


def _evolving(statement: Statement, context: RowContext) -> RowContext:
    """The context in which a table has the schema that it gets by the statement, or by the write that follows a
    query."""
    evolution = context.intent.evolution
    if evolution is None:
        return context
    if isinstance(statement, Query):
        return replace(context, catalog=EvolvingCatalog(context.catalog, evolution, context.now_millis))
    if isinstance(statement, (InsertInto, InsertOverwrite, Merge)):
        identifier = context.identifier(statement.table)
        if is_of(evolution, *identifier):
            table = context.catalog.load_table(*identifier)
            if not context.dynamic_options and not table.schema.crosses_partitions:
                return replace(context, catalog=EvolvingCatalog(context.catalog, evolution, context.now_millis))
            # The schema of such a write is not the one to store: it has options of the statement, or routes keys.
            context.catalog.alter_table(*identifier, evolution.changes)
    return replace(context, intent=replace(context.intent, evolution=None))


def _query(statement: Query, context: RowContext) -> StatementResult:
    frames = context.frames(only_columns=returns_nothing(statement.query_sql))
    counted = known_counts(statement.query_sql, frames)
    if counted is not None:
        return counted
    frame = frames.query(statement.query_sql)
    return StatementResult("SELECT", dataframe=frame, is_small=frames.is_small)


def _query_inside(statement: QueryInside, context: RowContext) -> StatementResult:
    explaining = statement.kind == "EXPLAIN"
    lasting, only_columns = statement.kind == "CACHE TABLE", statement.kind == "DESCRIBE QUERY"
    frames = replace(context, explaining=explaining).frames(lasting=lasting, only_columns=only_columns)
    run = plan_of if explaining else Frames.run
    return StatementResult(statement.kind, dataframe=run(frames, frames.bound(statement.query_sql), statement.prefix))


def _queries_inside(statement: QueriesInside, context: RowContext) -> StatementResult:
    frames = context.frames(lasting="FUNCTION" in statement.kind)
    note_made(frames.spark, statement.sql)
    answer = frames.run(frames.pieces(statement))
    return StatementResult(statement.kind, dataframe=answer if answer.columns else None)


def _explain(statement: Explain, context: RowContext) -> StatementResult:
    inner, context = through_view(statement.statement, replace(context, explaining=True))
    prefix = f"EXPLAIN {statement.mode} " if statement.mode else "EXPLAIN "
    words, named = _opening(inner), getattr(inner, "table", None)
    if words is None or named is None:
        return explained(inner, prefix, context)
    with failing(f"EXPLAIN {words}", lambda: ".".join(context.identifier(named))):
        return explained(inner, prefix, context)


def _opening(statement: Statement) -> str | None:
    """The words in front of the table's name, for errors that name no table; None for other statements."""
    if isinstance(statement, InsertOverwrite) and statement.replace_where_sql is not None:
        return "INSERT INTO"
    return _OPENINGS.get(type(statement))


def _overwrite(statement: InsertOverwrite, context: RowContext) -> StatementResult:
    found = overwrite_partition if statement.replace_where_sql is None else execute_replace_where
    return found(statement, context)


def _pass_through(statement: Statement, context: RowContext) -> StatementResult:
    spark = context.spark()
    note_made(spark, statement.sql)
    with translated():
        frame = spark.sql(statement.sql)
    return StatementResult("OK", dataframe=frame if frame.columns else None)


def _show_catalogs(statement: ShowCatalogs, context: RowContext) -> StatementResult:
    """The warehouse's catalog, and those of Spark's session."""
    with translated():
        found = {row[0] for row in context.spark().sql("SHOW CATALOGS").collect()}
    names = matching(sorted({*found, OWN_CATALOGS[-1]}), statement.like)
    rows = [(name,) for name in names]
    return StatementResult("SHOW CATALOGS", columns=("catalog",), types=("string",), rows=rows)


def _cache(statement: CacheTable, context: RowContext) -> StatementResult:
    level = storage_level(statement.storage_level)
    table = _cached_table(statement.table, context)
    if table is None:
        return _pass_through(statement, context)
    frame = context.frames().cache(table, level)
    if frame is not None and not statement.lazy:
        with translated():
            frame.count()
    return StatementResult("CACHE TABLE")


def _uncache(statement: UncacheTable, context: RowContext) -> StatementResult:
    table = _cached_table(statement.table, context)
    if table is None:
        return _pass_through(statement, context)
    drop(context.spark(), table.path)
    return StatementResult("UNCACHE TABLE")


def _cached_table(name: TableName, context: RowContext) -> Table | None:
    """The managed table of a name; None for a name that is Spark's."""
    database, bare = name.database or context.database, name.name
    kind = context.catalog.object_kind(database, bare)
    if kind == "view":
        raise SqlError(
            f"'{database}.{bare}' is a view, whose rows are not cached under its own name.",
            hint=f"Cache the tables that it reads, or CACHE TABLE name AS SELECT * FROM {name}.",
        )
    return None if kind is None else context.catalog.load_table(database, bare)


def _compact(statement: Compact, context: RowContext) -> StatementResult:
    table = context.table(statement.table)
    wanted = clause_values(table.schema, statement.partition, context.resolver)
    chosen = partition_filter(table.schema, wanted)
    compact_table(context.spark, table, chosen)
    return StatementResult("COMPACT")


def _create_view(statement: CreateView, context: RowContext) -> StatementResult:
    frames = context.frames(lasting=statement.temporary, only_columns=True)
    if statement.temporary:
        frames.run(frames.bound(statement.query_sql), statement.prefix)
        if not statement.is_global:  # which a bare name does not reach
            below = {name: remembered(frames.spark, name) for name in frames.temporaries}
            again = lambda view: _create_view(view, context)  # noqa: E731
            made = Made(_made_again(statement), context.database, frames, below, again)
            remember_definition(frames.spark, statement.view.name, made)
        return StatementResult("CREATE VIEW")
    catalog = context.catalog
    database, name = context.identifier(statement.view)
    exists = catalog.view_exists(database, name)
    if statement.existing is Existing.REQUIRED and not exists:
        raise ViewNotFound(f"View '{database}.{name}' does not exist.")
    if exists and statement.existing is Existing.KEPT:
        return StatementResult("CREATE VIEW")
    if catalog.table_exists(database, name):
        raise TableAlreadyExists(f"'{database}.{name}' is a table, so it cannot become a view.")
    bound = frames.bound(statement.query_sql)
    frame = frames.run(bound)
    what = f"View '{database}.{name}'"
    refuse_temporary_views(frames.spark, what, frames.temporaries)
    refuse_replaced(frames.spark, what, statement.query_sql)
    if may_have_made(frames.spark):
        refuse_temporary(frames.spark, what, statement.query_sql, bound.text)
    if (database, name.lower()) in frames.read_views:
        raise SqlError(f"{what} would read itself.", hint="Read what it reads, or use another name.")
    columns = columns_of(frame.schema)
    if statement.columns and len(statement.columns) != len(columns):
        raise SqlError(f"The view names {len(statement.columns)} columns, its query returns {len(columns)}.")
    named = statement.columns or tuple((n, c) for n, _, c in columns)
    _check_once([n for n, _ in named], context)
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
        statement.mode or TYPE_EVOLUTION,
    )
    if statement.existing is Existing.REQUIRED:  # ALTER VIEW … AS
        before = catalog.load_view(database, name)
        view = replace(view, comment=before.comment, options=before.options, mode=before.mode)
    catalog.create_view(database, name, view, statement.existing.is_replaced)
    return StatementResult("CREATE VIEW")


def _made_again(statement: CreateView) -> CreateView:
    """The statement that makes a temporary view over again, wherever it is run."""
    columns = f" ({', '.join(quoted_name(name) for name, _ in statement.columns)})" if statement.columns else ""
    prefix = f"CREATE OR REPLACE TEMPORARY VIEW {quoted_name(statement.view.name)}{columns} AS "
    return replace(statement, prefix=prefix, existing=Existing.REPLACED)


def _check_once(names: Sequence[str], context: RowContext) -> None:
    """Raise a SchemaError for two columns of a view with the same name."""
    known = Names(names)
    context.resolver.check_alike(names)
    for at, name in enumerate(names):
        if not name.strip():
            raise SchemaError("A column of the view has no name.", hint="Give it an alias.")
        if known.position(name) != at:
            raise SchemaError(
                f"The view would have two columns named '{name}'.",
                hint="Give one another alias, or name the columns: CREATE VIEW v (a, b) AS ….",
            )


_RUNNERS: dict[type[Statement], Callable[[Any, RowContext], StatementResult]] = {
    Query: _query,
    QueryInside: _query_inside,
    QueriesInside: _queries_inside,
    Explain: _explain,
    PassThrough: _pass_through,
    ForeignStatement: _pass_through,
    ShowCatalogs: _show_catalogs,
    Compact: _compact,
    CacheTable: _cache,
    UncacheTable: _uncache,
    ClusterTable: execute_cluster,
    AddPrimaryKey: execute_add_primary_key,
    AddCheck: execute_add_check,
    Call: execute_call,
    ShowProcedures: show_procedures,
    DescribeProcedure: describe_procedure,
    AnalyzeTable: execute_analyze,
    AnalyzeTables: execute_analyze_tables,
    CreateView: _create_view,
    CreateFunction: execute_create_function,
    DropFunction: execute_drop_function,
    DescribeFunction: execute_describe_function,
    RefreshFunction: execute_refresh_function,
    ShowFunctions: execute_show_functions,
    CreateTableAs: execute_create_as,
    InsertInto: execute_insert,
    InsertOverwrite: _overwrite,
    Truncate: truncate_partition,
    DropPartitions: drop_partitions_or_rows,
    Delete: execute_delete,
    Update: execute_update,
    Merge: execute_merge,
}
_OPENINGS: dict[type[Statement], str] = {
    InsertInto: "INSERT INTO",
    InsertOverwrite: "INSERT OVERWRITE",
    Update: "UPDATE",
    Delete: "DELETE FROM",
    Merge: "MERGE INTO",
    CreateTableAs: "CREATE TABLE",
    Truncate: "TRUNCATE TABLE",
    DropPartitions: "ALTER TABLE",
    AddCheck: "ALTER TABLE",
    AddPrimaryKey: "ALTER TABLE",
    ClusterTable: "ALTER TABLE",
    Compact: "COMPACT TABLE",
    AnalyzeTable: "ANALYZE TABLE",
}
