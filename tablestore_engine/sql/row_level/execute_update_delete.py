"""Executing DELETE and UPDATE: Arrow or one query computes the changed rows, `row_level_target` writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tablestore_engine.errors import PrimaryKeyError
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.dml.insert_overwrite import WriteOutcome, truncate
from tablestore_engine.spark.dml.row_level import ACTION_COLUMN
from tablestore_engine.sql.query.hidden_columns import hidden_names
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.row_level.aggregates import aggregates_refused, set_clauses
from tablestore_engine.sql.row_level.assignments import assigned_values, of_columns
from tablestore_engine.sql.row_level.clauses.held_clauses import HeldScope, HeldSide
from tablestore_engine.sql.row_level.clauses.merge_clauses import ClauseScope
from tablestore_engine.sql.row_level.clauses.seen_columns import seen_by_delete, seen_by_update
from tablestore_engine.sql.row_level.clauses.stars import (
    assignments_without_stars,
    condition_without_stars,
    target_relation,
)
from tablestore_engine.sql.row_level.lookup_rows import looked_up
from tablestore_engine.sql.row_level.row_level_target import RowLevelTarget, check_engine, predicate_on, target_of
from tablestore_engine.sql.statements.row import Delete, Update
from tablestore_engine.sql.statements.statement import Assignment
from tablestore_engine.sql.write_statements.statement_context import RowContext, result_of
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _target(
    context: RowContext, table: Table, alias: str | None, where_sql: str | None, values: Iterable[str] = ()
) -> RowLevelTarget:
    """The target, without files in which WHERE is true for no row. `values` are the other expressions on its rows."""
    predicate = predicate_on(table, alias, where_sql) if where_sql else None
    texts, frames = [where_sql or "", *values], context.frames()
    for text in texts:
        frames.look_at(text)
    hidden = hidden_names(texts)
    return target_of(frames, table, alias, predicate, context.intent, hidden=hidden)


def execute_delete(statement: Delete, context: RowContext) -> StatementResult:
    """DELETE FROM [WHERE]."""
    if statement.where_sql is None:
        table = context.table(statement.table)
        return result_of("DELETE", truncate(context.spark, table, lambda entry: True, context.intent))
    return result_of("DELETE", with_retry(lambda: _deleted(statement, context)))


def _deleted(statement: Delete, context: RowContext) -> WriteOutcome:
    target, where = _found(statement, context)
    own = {name: _own(target, name) for name in target.table.schema.field_names}
    return _changed(target, (where, own, True), lambda: _removed_rows(target, where))


def rows_of_delete(
    statement: Delete, context: RowContext, table: Table | None = None
) -> tuple[RowLevelTarget, DataFrame]:
    """The target of a DELETE, and the rows that it removes. `table` is the target with the columns of a write."""
    target, where = _found(statement, context, table)
    return target, _removed_rows(target, where)


def _found(statement: Delete, context: RowContext, table: Table | None = None) -> tuple[RowLevelTarget, str | None]:
    """The target of a DELETE, and the condition of the rows that it removes; None for all rows that were looked up."""
    table = table or context.table(statement.table)
    check_engine(table, "DELETE", deletes=True)
    relations = [target_relation(table.identifier, statement.alias, table.schema)]
    where = condition_without_stars(statement.where_sql, relations)
    target = _target(context, table, statement.alias, where)
    with _refused(target, where):
        return (target, where) if target.marks else looked_up(target, where, seen_by_delete(table.schema))


def _removed_rows(target: RowLevelTarget, where: str | None) -> DataFrame:
    with _refused(target, where):
        items = [*_own_columns(target), f"{DELETE_KIND} AS {ACTION_COLUMN}"]
        rows_sql = f"{target.register()} AS {quoted_name(target.alias)}"
        return _select(target, rows_sql, items, where)


def _refused(target: RowLevelTarget, where: str | None) -> AbstractContextManager[None]:
    return aggregates_refused(target.frames, [] if where is None else [("WHERE", where)])


def execute_update(statement: Update, context: RowContext) -> StatementResult:
    """UPDATE SET [WHERE]."""

    def attempt() -> WriteOutcome:
        update = _updated(statement, context)
        return _changed(update.target, (update.where, update.values, False), update.rows)

    return result_of("UPDATE", with_retry(attempt))


def updated_rows(statement: Update, context: RowContext) -> tuple[RowLevelTarget, DataFrame]:
    """The target of an UPDATE, and the rows that it changes, as they will be."""
    update = _updated(statement, context)
    return update.target, update.rows()


@dataclass(frozen=True)
class _Updated:
    """An UPDATE: its target, what is left to test of its rows, and the values (SQL) of all columns."""

    statement: Update
    target: RowLevelTarget
    where: str | None
    values: Mapping[str, str]
    rows_sql: Callable[[], str]

    def rows(self) -> DataFrame:
        """The changed rows."""
        target = self.target
        items = [
            value if value == _own(target, name) else f"CAST({value} AS {target.sql_type(name)}) AS {quoted_name(name)}"
            for name, value in self.values.items()
        ]
        items += [f"{quoted_name(target.alias)}.{c}" for c in target.source_columns()]
        with _of_update(target, self.statement):
            return _select(target, self.rows_sql(), [*items, f"0 AS {ACTION_COLUMN}"], self.where)


def _updated(statement: Update, context: RowContext) -> _Updated:
    table = context.table(statement.table)
    check_engine(table, "UPDATE", deletes=False)
    assignments = of_columns(statement.assignments, table.schema, statement.table, statement.alias)
    relations = [target_relation(table.identifier, statement.alias, table.schema)]
    assignments = assignments_without_stars(assignments, relations)
    where = condition_without_stars(statement.where_sql, relations)
    statement = replace(statement, assignments=assignments, where_sql=where)
    target = _target(context, table, statement.alias, where, [one.value_sql for one in statement.assignments])
    with _of_update(target, statement):
        _check_assignable(target, statement.assignments)
        target, where = looked_up(target, where, seen_by_update(table.schema, assignments))
        rows_sql = cache(lambda: f"{target.register()} AS {quoted_name(target.alias)}")
        values = assigned_values(target, statement.assignments, target.expression, rows_sql, [target.side])
    own = {name: _own(target, name) for name in table.schema.field_names}
    return _Updated(statement, target, where, own | values, rows_sql)


def _of_update(target: RowLevelTarget, statement: Update) -> AbstractContextManager[None]:
    clauses = [] if statement.where_sql is None else [("WHERE", statement.where_sql)]
    return aggregates_refused(target.frames, [*set_clauses(statement.assignments), *clauses])


def _changed(
    target: RowLevelTarget, change: tuple[str | None, Mapping[str, str], bool], rows: Callable[[], DataFrame]
) -> WriteOutcome:
    """Write the changed rows. `change` is what is left to test of the target's rows, the values of all columns, and
    whether the rows are removed; the query `rows` is the same for Spark."""
    where, values, removes = change
    if target.rows is not None:
        condition = None if where is None else target.expression(where)
        scope = ClauseScope("true", 0, (condition,), (values,))
        side = HeldSide(target.alias, target.side.fields, target.rows)
        held = HeldScope(scope, ((side, np.arange(target.rows.num_rows)),), (removes,))
        changed = target.held_changes([held])
        if changed is not None:
            return target.write_held(changed)
    frame = rows()
    if not target.plan.buckets and target.intent.commits_nothing:
        return WriteOutcome(None, 0)  # without files there is nothing to run; the statement is checked already
    return target.apply(frame)


def _own_columns(target: RowLevelTarget) -> list[str]:
    """The columns of a row to remove; where it is only marked as deleted, those that say where it is."""
    own = () if target.marks else target.table.schema.field_names
    names = [*own, *target.source_columns()]
    return [_own(target, name) for name in names]


def _own(target: RowLevelTarget, name: str) -> str:
    return f"{quoted_name(target.alias)}.{quoted_name(name)}"


def _select(target: RowLevelTarget, rows_sql: str, items: Sequence[str], where_sql: str | None) -> DataFrame:
    where = f" WHERE {target.expression(where_sql)}" if where_sql else ""
    return target.frames.run(f"SELECT {', '.join(items)} FROM {rows_sql}{where}")


def _check_assignable(target: RowLevelTarget, assignments: Sequence[Assignment]) -> None:
    """Raise a PrimaryKeyError for a column of the key."""
    schema = target.table.schema
    for one in assignments:
        name = schema.field(one.column).name
        if name in schema.primary_keys:
            raise PrimaryKeyError(
                f"Column '{name}' belongs to the primary key, which an update cannot change.",
                hint="Delete the row and insert it under its new key.",
            )
