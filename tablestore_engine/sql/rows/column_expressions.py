"""Expressions in the definitions of columns, checked by Spark before a statement changes the catalog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tablestore_engine.errors import SqlError, TableStoreError
from tablestore_engine.schema.types.default_values import Expression, parsed_default
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.default_value import default_sql
from tablestore_engine.spark.run.errors import translated

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
                spark().sql(f"SELECT {default_sql(field)} AS v").collect()
        except TableStoreError as error:
            raise SqlError(
                f"Column '{field.name}' cannot have DEFAULT {found.sql}: {error.message}",
                hint="A default is an expression of constants and functions that fits the column's type.",
            ) from error
