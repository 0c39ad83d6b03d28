"""The value of a column for which a statement gives none: its default, which is null unless one was declared."""

from __future__ import annotations

from tablestore_engine.schema.types.default_values import default_value_sql
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.char_text import filled_sql
from tablestore_engine.spark.expressions.spark_types import sql_type


def default_sql(field: DataField) -> str:
    """SQL of that value, as the column holds it.

    Raises:
        SchemaError: a default that another writer stored, and that cannot be read.
    """
    found = default_value_sql(field, sql_type)
    return found if field.default_value is None else filled_sql(found, field)
