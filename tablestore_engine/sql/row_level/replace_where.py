"""INSERT INTO … REPLACE WHERE: the rows that a condition is true for are replaced by those of a query, in one commit.

Each row of the query must match the condition, too. Under a primary key, a row of the query also replaces the row of
its key, as in every INSERT.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.dml.insert_overwrite import WriteOutcome
from tablestore_engine.spark.dml.row_level import ACTION_COLUMN
from tablestore_engine.spark.errors.raised_errors import NOT_REPLACED
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.queries.kept_rows import kept
from tablestore_engine.spark.read.computed_columns import with_computed
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.row_level.execute_update_delete import rows_of_delete
from tablestore_engine.sql.row_level.row_level_target import RowLevelTarget
from tablestore_engine.sql.statements.row import Delete, InsertOverwrite
from tablestore_engine.sql.write_statements.execute_insert import aligned_rows, query_of, with_new_columns
from tablestore_engine.sql.write_statements.statement_context import RowContext, result_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS: Final = "__tablestore_rows"


def execute_replace_where(statement: InsertOverwrite, context: RowContext) -> StatementResult:
    """INSERT INTO … REPLACE WHERE."""

    def attempt() -> WriteOutcome:
        # Spark evaluates constants of the query as soon as it plans them.
        with translated(), replacing_rows(statement, context) as (target, changed):
            return target.apply(changed)

    return result_of("OVERWRITE", with_retry(attempt))


@contextmanager
def replacing_rows(statement: InsertOverwrite, context: RowContext) -> Iterator[tuple[RowLevelTarget, DataFrame]]:
    """The target, and the rows that are removed and put, while those of the query are kept.

    Raises:
        SchemaError: the query's columns do not fit. SqlError: rows cannot be removed from this table.
        ConstraintError: a row of the query does not match the condition.
    """
    where = statement.replace_where_sql
    delete = Delete(
        sql=statement.sql, table=statement.table, dynamic_options=statement.dynamic_options, where_sql=where
    )
    target, removed = rows_of_delete(delete, context)
    query = query_of(statement, target.table.schema)
    given = target.frames.query(query)
    table = with_new_columns(target.table, statement, given)
    if table is not target.table:
        target, removed = rows_of_delete(delete, context, table)
        given = target.frames.query(query)
    target = replace(target, rows=None)  # those of the query may be many
    rows = aligned_rows(statement, given, target.table, target.frames)
    put = _checked(target, rows, str(where))
    if not target.keyed:
        yield target, removed.unionByName(put, allowMissingColumns=True)
        return
    with kept(put) as rows:  # they are read twice, and may be others the second time
        keys = [quoted_name(name) for name in target.table.schema.primary_keys]
        deleted = removed.join(rows.select(*keys), list(target.table.schema.primary_keys), "left_anti")
        yield target, deleted.unionByName(rows)


def _checked(target: RowLevelTarget, rows: DataFrame, where: str) -> DataFrame:
    """The rows of the query as changed rows; one that does not match the condition fails the write."""
    refused = literal(f"{NOT_REPLACED}{where}.")
    view = quoted_name(target.frames.register(_ROWS, with_computed(rows, target.table.schema)))
    columns = ", ".join(quoted_name(name) for name in target.table.schema.field_names)
    matches = f"CASE WHEN {target.expression(where)} THEN true ELSE raise_error({refused}) END"
    return target.frames.run(
        f"SELECT {columns}, 0 AS {ACTION_COLUMN} FROM {view} AS {quoted_name(target.alias)} WHERE {matches}"
    )
