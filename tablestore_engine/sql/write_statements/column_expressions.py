"""Expressions in the definitions of columns, checked by Spark before a statement changes the catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tablestore_engine.errors import SqlError, TableStoreError
from tablestore_engine.schema.table.computed_columns import watermark_of
from tablestore_engine.schema.types.default_values import Expression, parsed_default
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import DataField, DataType
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.expressions.default_value import default_sql
from tablestore_engine.spark.expressions.spark_types import sql_type
from tablestore_engine.spark.write.check_constraints import OF_SPARK
from tablestore_engine.sql.catalog.execute_columns import declared_columns, with_columns
from tablestore_engine.sql.catalog.execute_context import CatalogContext
from tablestore_engine.sql.pinned_queries.temporary_objects import refuse_temporary
from tablestore_engine.sql.statements.columns import AlterColumns
from tablestore_engine.sql.statements.statement import ColumnDefinition, Statement
from tablestore_engine.sql.tokens.lexer import tokenize
from tablestore_engine.sql.types.types import parse_sql_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def with_computed_types(statement: Statement, context: CatalogContext, spark: Callable[[], SparkSession]) -> Statement:
    """CREATE TABLE or ALTER TABLE with the types that Spark gives to the computed columns.

    Raises:
        SqlError: Spark cannot resolve an expression.
    """
    columns = declared_columns(statement)
    known = context.table(statement.table, "ALTER TABLE").schema.fields if isinstance(statement, AlterColumns) else ()
    kinds = {one.name: one.type for one in known}
    kinds |= {one.name: parse_sql_type(one.type_sql, one.name) for one in columns if one.computed_sql is None}
    items = ", ".join(f"CAST(NULL AS {sql_type(kind)}) AS {quoted_name(name)}" for name, kind in kinds.items())
    typed = [one if one.computed_sql is None else _typed(one, items, spark()) for one in columns]
    return with_columns(statement, typed)


def check_watermark_sql(
    options: Mapping[str, str], columns: Iterable[tuple[str, DataType]], spark: Callable[[], SparkSession]
) -> None:
    """Raise a SqlError for the watermark of a new table's options if its expression names a column that the table does
    not have. Functions that Spark does not know may be those of another engine, for which it is kept."""
    watermark, kinds = watermark_of(options), dict(columns)
    if watermark is None or _is_plain(watermark.sql, Names(kinds)):
        return
    items = ", ".join(f"CAST(NULL AS {sql_type(kind)}) AS {quoted_name(name)}" for name, kind in kinds.items())
    try:
        with translated():
            _ = spark().sql(f"SELECT ({watermark.sql}) AS v FROM (SELECT {items})").schema
    except TableStoreError as error:
        if "UNRESOLVED_COLUMN" in error.message:
            raise SqlError(
                f"WATERMARK FOR {watermark.column} AS {watermark.sql} names what the table does not have:"
                f" {error.message}"
            ) from error


def _is_plain(sql: str, names: Names) -> bool:
    """Whether an expression is a column, or one less an interval, so that Spark need not be asked."""
    tokens = tokenize(sql)
    rest = [one.key for one in tokens[1:]]
    return tokens[0].name in names and (len(rest) == 1 or (rest[:2] == ["-", "INTERVAL"] and len(rest) == 5))


def _typed(column: ColumnDefinition, items: str, spark: SparkSession) -> ColumnDefinition:
    try:
        with translated():
            source = f" FROM (SELECT {items})" if items else ""  # all columns may be computed
            planned = f"SELECT ({column.computed_sql}) AS v{source}"
            found = spark.sql(planned).schema
    except TableStoreError as error:
        raise SqlError(
            f"Column '{column.name}' AS {column.computed_sql} cannot be computed: {error.message}",
            hint=f"Use columns of the table, constants and functions. {OF_SPARK}",
        ) from error
    refuse_temporary(spark, f"Column '{column.name}'", f"SELECT ({column.computed_sql})", planned)
    return replace(column, type_sql=found[0].dataType.simpleString())


def check_defaults(fields: Sequence[DataField], spark: Callable[[], SparkSession]) -> None:
    """Evaluate the default values that are expressions.

    Raises:
        SqlError: Spark cannot, for example because a column or function does not exist, or the type does not fit.
    """
    for field in fields:
        found = parsed_default(field)
        if not isinstance(found, Expression):
            continue
        try:
            with translated():
                planned = f"SELECT {default_sql(field)} AS v"
                spark().sql(planned)
                # For a row in memory, Spark computes it without a job.
                spark().sql(f"{planned} FROM VALUES (0)").collect()
        except TableStoreError as error:
            raise SqlError(
                f"Column '{field.name}' cannot have DEFAULT {found.sql}: {error.message}",
                hint=f"A default is an expression of constants and functions that fits the column's type. {OF_SPARK}",
            ) from error
        refuse_temporary(spark(), f"The default value of column '{field.name}'", f"SELECT ({found.sql})", planned)
