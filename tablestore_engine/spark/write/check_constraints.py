"""CHECK constraints on the rows of a write: one row that violates one fails the query that computes them.

Spark evaluates the conditions with the value of a column that is written in any case. A filter would not do: Spark may
evaluate it on rows that a join or another filter leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from tablestore_engine.errors import SqlError, TableStoreError
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.check_constraints import CheckConstraint, check_constraints, violation_sql
from tablestore_engine.schema.table.row_kind import DELETE_KIND, UPDATE_BEFORE_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.expressions.char_text import typed

OF_SPARK = "Functions are Spark's own: those of CREATE FUNCTION are not known to every writer and reader of the table."


def checked(frame: DataFrame, schema: TableSchema, puts: str | None = None) -> DataFrame:
    """Rows with the columns of a table; evaluating them fails for one that violates a constraint.

    `puts`: SQL that is true for the rows to check; by default those whose kind puts them.

    Raises:
        SqlError: a condition cannot be evaluated, for example because a function does not exist any more.
    """
    checks = check_constraints(schema.options)
    if not checks:
        return frame
    if puts is None and ROW_KIND_COLUMN in frame.columns:
        puts = f"{quoted_name(ROW_KIND_COLUMN)} NOT IN ({UPDATE_BEFORE_KIND}, {DELETE_KIND})"
    with_types = typed(frame, schema)
    carrier, names = _carrier(schema), schema.field_names
    cases = " ".join(
        f"WHEN {f'{puts} AND ' if puts else ''}NOT ({one.sql}) THEN raise_error({violation_sql(one, names)})"
        for one in checks
    )
    items = [
        f"CASE {cases} ELSE {quoted_name(name)} END AS {quoted_name(name)}" if name == carrier else quoted_name(name)
        for name in with_types.columns
    ]
    try:
        with translated():
            return with_types.selectExpr(*items)
    except TableStoreError as error:
        shown = ", ".join(one.shown for one in checks)
        raise SqlError(
            f"The rows cannot be checked by the CHECK constraints {shown}: {error.message}",
            hint="ALTER TABLE … DROP CONSTRAINT, and add it again with another condition.",
        ) from error


def check_conditions(checks: Sequence[CheckConstraint], empty: DataFrame) -> None:
    """Raise a SqlError for a condition that is none of a row of a frame: Spark cannot resolve it, it is not boolean, or
    it aggregates."""
    for one in checks:
        try:
            with translated():
                _ = empty.where(f"({one.sql})").columns
        except TableStoreError as error:
            raise SqlError(
                f"The CHECK constraint {one.shown} cannot be evaluated: {error.message}",
                hint=f"A condition is of columns of the table, constants and functions, and true or false. {OF_SPARK}",
            ) from error


def _carrier(schema: TableSchema) -> str:
    """The column whose value is computed with the conditions: none that rows are sorted or distributed by."""
    keys = {*schema.primary_keys, *schema.partition_keys, *schema.bucket_keys}
    return next((one for one in reversed(schema.field_names) if one not in keys), schema.field_names[-1])
