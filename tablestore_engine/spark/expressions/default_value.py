"""The value of a column for which a statement gives none: null, or the default that another tool declared."""

from __future__ import annotations

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.types.sql_literals import literal
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.evolve_sql import null_sql
from tablestore_engine.spark.expressions.types import to_spark_type


def default_sql(field: DataField) -> str:
    """SQL of that value. A default is a text, which may be in quotes, that is cast to the column's type.

    Raises:
        SchemaError: the column has a default, and is an array, map or struct.
    """
    text = field.default_value
    if text is None:
        return null_sql(field.type)
    if not field.type.is_atomic:
        raise SchemaError(
            f"Column '{field.name}' has a default value, {text}, which is not understood for its type.",
            hint="Give it a value, which may be NULL.",
        )
    if len(text) > 1 and text[0] == text[-1] == "'":
        text = text[1:-1]
    return f"cast({literal(text)} as {to_spark_type(field.type).simpleString()})"
