"""EXPLAIN of statements that are no queries: the plan of the query that computes the rows. Nothing is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tablestore_engine.errors import SqlError
from tablestore_engine.operation.scan.explain_scan import replaced_text, scan_text
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.pinned_queries.explained_query import plan_of
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.row_level.execute_merge import merged_rows
from tablestore_engine.sql.row_level.execute_update_delete import rows_of_delete, updated_rows
from tablestore_engine.sql.row_level.replace_where import replacing_rows
from tablestore_engine.sql.row_level.row_level_target import RowLevelTarget
from tablestore_engine.sql.statements.row import Delete, Insertion, InsertOverwrite, Merge, RowStatement, Update
from tablestore_engine.sql.statements.statement import Statement
from tablestore_engine.sql.write_statements.execute_insert import replaced_files, rows_of_insert
from tablestore_engine.sql.write_statements.statement_context import RowContext, with_dynamic_options
from tablestore_engine.sql.write_statements.through_view import (
    Change,
    on_table,
    shown_to,
    table_shown,
    temporary_target,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def explained(inner: Statement, prefix: str, context: RowContext) -> StatementResult:
    """The plan of a statement, whose text follows `prefix`. Raises SqlError for one that has none."""
    if isinstance(inner, RowStatement):
        context = with_dynamic_options(inner, context)
    if isinstance(inner, Delete | Update):
        target, changed = rows_of_delete(inner, context) if isinstance(inner, Delete) else updated_rows(inner, context)
        return _of_changes(target, changed, prefix)
    if isinstance(inner, Merge):
        with merged_rows(inner, context) as (target, changed):
            return _of_changes(target, changed, prefix)
    if isinstance(inner, InsertOverwrite) and inner.replace_where_sql is not None:
        with replacing_rows(inner, context) as (target, changed):
            return _of_changes(target, changed, prefix)
    if isinstance(inner, Insertion):
        table, frames, rows = rows_of_insert(inner, context)
        notes = []
        if isinstance(inner, InsertOverwrite):
            live = table.live_files() if table.latest_snapshot() else []
            notes = [replaced_text(table.name, live, table.schema, replaced_files(inner, table.schema, frames))]
        plan = plan_of(frames, f"SELECT * FROM {quoted_name(frames.register(table.name, rows))}", prefix, notes)
        return StatementResult("EXPLAIN", dataframe=plan)
    query = getattr(inner, "query_sql", None)
    if query is None:
        verb = " ".join(inner.sql.split()[:2]).upper()
        raise SqlError(
            f"{verb} has no plan: it runs no query, so there is nothing to EXPLAIN.",
            hint="EXPLAIN a query, INSERT, UPDATE, DELETE, MERGE or CREATE TABLE … AS.",
        )
    frames = context.frames()
    return StatementResult("EXPLAIN", dataframe=plan_of(frames, frames.bound(query), prefix))


def through_view(inner: Statement, context: RowContext) -> tuple[Statement, RowContext]:
    """A statement that changes the table of a temporary view, as one that names the table."""
    if not isinstance(inner, Change) or (made := temporary_target(inner, context)) is None:
        return inner, context
    there = replace(context, database=made.database)
    shown = table_shown(made.view, there)
    return on_table(inner, shown), shown_to(inner, shown, there)


def _of_changes(target: RowLevelTarget, changed: DataFrame, prefix: str) -> StatementResult:
    """The plan of the query that computes the changed rows."""
    view = quoted_name(target.frames.register(target.table.name, changed))
    table = target.table
    live = table.live_files(target.snapshot) if target.snapshot else []
    own = [] if target.unread else [scan_text(table.name, live, target.plan, target.predicate)]
    if target.keys_of_source:
        own[-1] += (
            f"\nkeys: when it runs, the rows are looked up by {', '.join(target.keys_of_source)} of the source, as long"
            " as these values are few: buckets and files that cannot have them are not read"
        )
    plan = plan_of(target.frames, f"SELECT * FROM {view}", prefix, own)
    return StatementResult("EXPLAIN", dataframe=plan)
