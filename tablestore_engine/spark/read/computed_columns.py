"""Computed columns, evaluated on the rows of a table that are read."""

from __future__ import annotations

from pyspark.sql import DataFrame

from tablestore_engine.schema.table.computed_columns import all_columns, computed_columns
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import quoted_name


def with_computed(frame: DataFrame, schema: TableSchema) -> DataFrame:
    """The rows with the computed columns of a schema at their indices."""
    found = computed_columns(schema.options)
    if not found:
        return frame
    stored = [quoted_name(name) for name in frame.columns]
    return frame.selectExpr(*all_columns(stored, found, lambda one: f"({one.sql}) AS {quoted_name(one.name)}"))
