"""CHECK constraints of a definition, checked by Spark, and ALTER TABLE … ADD CONSTRAINT … CHECK, which checks rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tablestore_engine.errors import ConstraintError
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.schema.table.check_constraints import (
    VIOLATED,
    CheckConstraint,
    unnamed_check,
    violation_sql,
    with_check,
)
from tablestore_engine.schema.table.schema_changes import AddCheckConstraint
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import DataType
from tablestore_engine.spark.expressions.spark_types import sql_type
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.spark.read.computed_columns import with_computed
from tablestore_engine.spark.read.merge_on_read import read_plan
from tablestore_engine.spark.write.check_constraints import check_conditions
from tablestore_engine.sql.pinned_queries.temporary_objects import refuse_temporary
from tablestore_engine.sql.query.row_expressions import read_expression
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.table import AddCheck
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.sql.write_statements.violating_rows import violating_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tablestore_engine.metadata.snapshot import Snapshot
    from tablestore_engine.schema.table.table_schema import TableSchema
    from tablestore_engine.table import Table


def check_declared(
    checks: Sequence[CheckConstraint], columns: Sequence[tuple[str, DataType]], spark: SparkSession
) -> None:
    """Raise a SqlError for a constraint of a new table with these columns that Spark cannot evaluate, or
    that needs this session."""
    items = ", ".join(f"CAST(NULL AS {sql_type(kind)}) AS {quoted_name(name)}" for name, kind in columns)
    check_conditions(checks, spark.sql(f"SELECT {items}"))
    for check in checks:
        text = f"SELECT ({check.sql})"
        refuse_temporary(spark, f"The CHECK constraint {check.shown}", text, f"{text} FROM (SELECT {items})")


def execute_add_check(statement: AddCheck, context: RowContext) -> StatementResult:
    """Add a constraint to a table whose rows do not violate it.

    Raises:
        SqlError: Spark cannot evaluate the condition. SchemaError: there is a constraint of that name.
        ConstraintError: a row violates it.
    """

    def attempt() -> StatementResult:
        table = context.table(statement.table)
        frames = context.frames()
        snapshot = frames.pin(table)
        schema, sql = table.present_schema_of(snapshot), statement.condition_sql
        named = CheckConstraint(statement.name, sql)
        check = named if statement.name else unnamed_check(sql, schema.field_names, schema.options)
        with_check(schema.options, check)
        check_declared([check], [(one.name, one.type) for one in schema.fields], frames.spark)
        if snapshot is not None:
            _check_rows(check, table, snapshot, schema, frames.spark)
        change = AddCheckConstraint(check.name, sql, 0 if snapshot is None else snapshot.id, schema.id)
        context.catalog.alter_table(*table.identifier, [change])
        return StatementResult("ALTER TABLE")

    return with_retry(attempt)


def _check_rows(
    check: CheckConstraint, table: Table, snapshot: Snapshot, schema: TableSchema, spark: SparkSession
) -> None:
    """Raise a ConstraintError for a row that violates a constraint. Files whose statistics exclude one are not read."""
    table.options.check_readable()
    violating = violating_rows(read_expression(check.sql, schema.field_names))
    plan = table.scan(snapshot, violating, schema=schema)
    if not plan.files:
        return
    rows = with_computed(read_plan(spark, table, plan, violating), schema)
    wrong = rows.where(f"NOT ({check.sql})").limit(1)
    shown = wrong.selectExpr(f"{violation_sql(check, schema.field_names)} AS violation")
    found = collect_arrow(shown).column(0)
    if len(found):
        raise ConstraintError(
            f"{table.name} has rows that violate the new CHECK constraint {found[0].as_py().removeprefix(VIOLATED)}",
            hint="Change or delete them first.",
        )
