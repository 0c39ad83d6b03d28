"""Columns of a past type as SQL of the current one (see `schema.types.evolution`)."""

from __future__ import annotations

from tablestore_engine.schema.types.evolution import is_same, past_field
from tablestore_engine.schema.types.sql_literals import quoted_name, quoted_text
from tablestore_engine.schema.types.types import ArrayType, DataType, MapType, RowType
from tablestore_engine.spark.expressions.types import sql_type


def evolved_sql(source: str, past: DataType, current: DataType, depth: int = 0) -> str:
    """SQL of `source`, which has the type `past`, as `current`. The change is one that `check_readable` allows."""
    if is_same(past, current):
        return source
    if isinstance(past, RowType) and isinstance(current, RowType):
        parts = []
        for field in current.fields:
            stored = past_field(past, field)
            value = (
                null_sql(field.type)
                if stored is None
                else evolved_sql(f"{source}.{quoted_name(stored.name)}", stored.type, field.type, depth)
            )
            parts.append(f"{quoted_text(field.name)}, {value}")
        return f"CASE WHEN {source} IS NOT NULL THEN named_struct({', '.join(parts)}) END"
    one = f"__e{depth}"
    if isinstance(past, ArrayType) and isinstance(current, ArrayType):
        return f"transform({source}, {one} -> {evolved_sql(one, past.element, current.element, depth + 1)})"
    if isinstance(past, MapType) and isinstance(current, MapType):
        value = evolved_sql(one, past.value, current.value, depth + 1)
        return f"transform_values({source}, (__k{depth}, {one}) -> {value})"
    return f"cast({source} as {sql_type(current)})"


def null_sql(data_type: DataType) -> str:
    """SQL of a null of a type."""
    return f"cast(null as {sql_type(data_type)})"
