"""Nested values converted by the names of their fields, as BY NAME means; a cast would match fields by position."""

from __future__ import annotations

from pyspark.sql import types as T

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.types.sql_literals import quoted_name


def by_name_sql(value: str, given: T.DataType, wanted: T.DataType, column: str) -> str:
    """SQL of a value of the type `given`, with the fields of its structs in the order of `wanted`.

    `column` is what an error calls it. Keys of maps stay as they are. Raises SchemaError for other fields.
    """
    return _fitted(value, given, wanted, column, 0) or value


def _fitted(value: str, given: T.DataType, wanted: T.DataType, column: str, depth: int) -> str | None:
    """The SQL, or None when every field keeps its position."""
    if isinstance(given, T.StructType) and isinstance(wanted, T.StructType):
        return _struct(value, given, wanted, column, depth)
    one = f"one{depth}"
    if isinstance(given, T.ArrayType) and isinstance(wanted, T.ArrayType):
        inner = _fitted(one, given.elementType, wanted.elementType, column, depth + 1)
        return None if inner is None else f"transform({value}, {one} -> {inner})"
    if isinstance(given, T.MapType) and isinstance(wanted, T.MapType):
        inner = _fitted(one, given.valueType, wanted.valueType, column, depth + 1)
        return None if inner is None else f"transform_values({value}, (key{depth}, {one}) -> {inner})"
    return None


def _struct(value: str, given: T.StructType, wanted: T.StructType, column: str, depth: int) -> str | None:
    names, target = [f.name.lower() for f in given.fields], [f.name.lower() for f in wanted.fields]
    if sorted(names) != sorted(target):
        raise SchemaError(
            f"Column '{column}' is given the fields {', '.join(f.name for f in given.fields)}, "
            f"but has {', '.join(f.name for f in wanted.fields)}.",
            hint="Give the fields of the value the names that the table's have.",
        )
    parts, moves = [], names != target
    for field in wanted.fields:
        own = given.fields[names.index(field.name.lower())]
        path = f"{value}.{quoted_name(own.name)}"
        inner = _fitted(path, own.dataType, field.dataType, f"{column}.{field.name}", depth)
        moves = moves or inner is not None
        parts.append(f"{inner or path} AS {quoted_name(field.name)}")
    return f"if({value} IS NULL, NULL, struct({', '.join(parts)}))" if moves else None
