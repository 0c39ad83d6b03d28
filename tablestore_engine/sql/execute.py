"""Executing the statements that need Spark: each kind goes to its function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tablestore_engine.catalog import View
from tablestore_engine.errors import SchemaError, SqlError, TableAlreadyExists, ViewNotFound
from tablestore_engine.metadata.warehouse.view import TYPE_EVOLUTION
from tablestore_engine.operation.scan.explain_scan import scan_text
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.compact.compactor import compact_table
from tablestore_engine.spark.errors.failed_statements import failing
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.expressions.spark_types import columns_of
from tablestore_engine.spark.queries.table_cache import drop, storage_level
from tablestore_engine.spark.queries.temp_views import (
    ends_with_session,
    named_plan,
    remember_definition,
)
from tablestore_engine.sql.catalog.partition_spec import clause_values, partition_filter
from tablestore_engine.sql.functions.execute_functions import (
    execute_create_function,
    execute_describe_function,
    execute_drop_function,
    execute_show_functions,
)
from tablestore_engine.sql.procedures.call_procedure import execute_call
from tablestore_engine.sql.query.empty_queries import returns_nothing
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.row_level.execute_merge import execute_merge, merged_rows
from tablestore_engine.sql.row_level.execute_update_delete import (
    execute_delete,
    execute_update,
    rows_of_delete,
    updated_rows,
)
from tablestore_engine.sql.row_level.former_partitions import (
    drop_partitions_or_rows,
    overwrite_partition,
    truncate_partition,
)
from tablestore_engine.sql.row_level.replace_where import execute_replace_where, replacing_rows
from tablestore_engine.sql.row_level.row_level_target import RowLevelTarget
from tablestore_engine.sql.statements.function import CreateFunction, DescribeFunction, DropFunction, ShowFunctions
from tablestore_engine.sql.statements.layout import AddPrimaryKey, AnalyzeTable, AnalyzeTables, ClusterTable, Compact
from tablestore_engine.sql.statements.partition import DropPartitions
from tablestore_engine.sql.statements.row import Delete, InsertInto, InsertOverwrite, Merge, RowStatement, Update
from tablestore_engine.sql.statements.script import QueriesInside
from tablestore_engine.sql.statements.show import ShowCatalogs
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

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
    run, words = _RUNNERS[type(statement)], _OPENINGS.get(type(statement))
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
    frame = frames.query(statement.query_sql)
    return StatementResult("SELECT", dataframe=frame, is_small=frames.is_small)


def _query_inside(statement: QueryInside, context: RowContext) -> StatementResult:
    explaining = statement.kind == "EXPLAIN"
    lasting, only_columns = statement.kind == "CACHE TABLE", statement.kind == "DESCRIBE QUERY"
    frames = replace(context, explaining=explaining).frames(lasting=lasting, only_columns=only_columns)
    answer = frames.run(frames.bound(statement.query_sql), statement.prefix)
    return StatementResult(statement.kind, dataframe=named_plan(answer, frames.scans) if explaining else answer)


def _queries_inside(statement: QueriesInside, context: RowContext) -> StatementResult:
    frames = context.frames(lasting="FUNCTION" in statement.kind)
    answer = frames.run(frames.pieces(statement))
    return StatementResult(statement.kind, dataframe=answer if answer.columns else None)


def _explain(statement: Explain, context: RowContext) -> StatementResult:
    inner, context = statement.statement, replace(context, explaining=True)
    if isinstance(inner, Change) and (made := temporary_target(inner, context)) is not None:
        there = replace(context, database=made.database)
        shown = table_shown(made.view, there)
        context, inner = shown_to(inner, shown, there), on_table(inner, shown)
    prefix = f"EXPLAIN {statement.mode} " if statement.mode else "EXPLAIN "
    words, named = _OPENINGS.get(type(inner)), getattr(inner, "table", None)
    if words is None or named is None:
        return _explain_plan(inner, prefix, context)
    with failing(f"EXPLAIN {words}", lambda: ".".join(context.identifier(named))):
        return _explain_plan(inner, prefix, context)


def _explain_plan(inner: Statement, prefix: str, context: RowContext) -> StatementResult:
    if isinstance(inner, Delete | Update):
        target, changed = rows_of_delete(inner, context) if isinstance(inner, Delete) else updated_rows(inner, context)
        return _explained(target, changed, prefix)
    if isinstance(inner, Merge):
        with merged_rows(inner, context) as (target, changed):
            return _explained(target, changed, prefix)
    if isinstance(inner, InsertOverwrite) and inner.replace_where_sql is not None:
        with replacing_rows(inner, context) as (target, changed):
            return _explained(target, changed, prefix)
    query = getattr(inner, "query_sql", None)
    if query is None:
        verb = " ".join(inner.sql.split()[:2]).upper()
        raise SqlError(
            f"{verb} has no plan: it runs no query, so there is nothing to EXPLAIN.",
            hint="EXPLAIN a query, INSERT, UPDATE, DELETE, MERGE or CREATE TABLE … AS.",
        )
    frames = context.frames()
    plan = frames.run(frames.bound(query), prefix)
    return StatementResult("EXPLAIN", dataframe=named_plan(plan, frames.scans))


def _overwrite(statement: InsertOverwrite, context: RowContext) -> StatementResult:
    found = overwrite_partition if statement.replace_where_sql is None else execute_replace_where
    return found(statement, context)


def _explained(target: RowLevelTarget, changed: DataFrame, prefix: str) -> StatementResult:
    """The plan of the query that computes the changed rows; nothing is written."""
    view = quoted_name(target.frames.register(target.table.name, changed))
    plan = target.frames.run(f"SELECT * FROM {view}", prefix)
    table = target.table
    live = table.live_files(target.snapshot) if target.snapshot else []
    own = [] if target.unread else [scan_text(table.name, live, target.plan, target.predicate)]
    return StatementResult("EXPLAIN", dataframe=named_plan(plan, [*own, *target.frames.scans]))


def _pass_through(statement: Statement, context: RowContext) -> StatementResult:
    with translated():
        frame = context.spark().sql(statement.sql)
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
            made = Made(_made_again(statement), context.database)
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
    AnalyzeTable: execute_analyze,
    AnalyzeTables: execute_analyze_tables,
    CreateView: _create_view,
    CreateFunction: execute_create_function,
    DropFunction: execute_drop_function,
    DescribeFunction: execute_describe_function,
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
