"""Nested values converted by the names of their fields, at any depth; a cast would match fields by position.

Fields of a struct that nobody named, `col1`, `col2`, … of `struct('x', 'y')`, keep their positions.
"""

from __future__ import annotations

from pyspark.sql import types as T

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.types.names import Names, Resolver
from tablestore_engine.schema.types.sql_literals import quoted_name


def by_name_sql(value: str, given: T.DataType, wanted: T.DataType, column: str, resolver: Resolver) -> str:
    """SQL of a value of the type `given`, with the fields of its structs in the order of `wanted`.

    `column` is what an error calls it. Raises SchemaError for other fields, ColumnNotFound for names that the session
    does not take in this spelling.
    """
    _check_spelled(given, wanted, column, resolver)
    return _fitted(value, given, wanted, column, 0) or value


def has_named_fields(kind: T.DataType) -> bool:
    """Whether a struct is anywhere in a type."""
    if isinstance(kind, T.ArrayType):
        return has_named_fields(kind.elementType)
    if isinstance(kind, T.MapType):
        return has_named_fields(kind.keyType) or has_named_fields(kind.valueType)
    return isinstance(kind, T.StructType)


def _check_spelled(given: T.DataType, wanted: T.DataType, column: str, resolver: Resolver) -> None:
    """Check the spelling of the fields of the structs in a type, at any depth."""
    if isinstance(given, T.ArrayType) and isinstance(wanted, T.ArrayType):
        _check_spelled(given.elementType, wanted.elementType, column, resolver)
    elif isinstance(given, T.MapType) and isinstance(wanted, T.MapType):
        _check_spelled(given.keyType, wanted.keyType, column, resolver)
        _check_spelled(given.valueType, wanted.valueType, column, resolver)
    elif isinstance(given, T.StructType) and isinstance(wanted, T.StructType):
        names = Names(one.name for one in wanted.fields)
        for one in given.fields:
            at = names.position(one.name)
            if at is not None:
                found = wanted.fields[at]
                resolver.check_spelling(f"{column}.{one.name}", f"{column}.{found.name}")
                _check_spelled(one.dataType, found.dataType, f"{column}.{found.name}", resolver)


def _fitted(value: str, given: T.DataType, wanted: T.DataType, column: str, depth: int) -> str | None:
    """The SQL, or None when every field keeps its position."""
    if isinstance(given, T.StructType) and isinstance(wanted, T.StructType):
        return _struct(value, given, wanted, column, depth)
    one = f"one{depth}"
    if isinstance(given, T.ArrayType) and isinstance(wanted, T.ArrayType):
        inner = _fitted(one, given.elementType, wanted.elementType, column, depth + 1)
        return None if inner is None else f"transform({value}, {one} -> {inner})"
    if isinstance(given, T.MapType) and isinstance(wanted, T.MapType):
        return _map(value, given, wanted, column, depth)
    return None


def _map(value: str, given: T.MapType, wanted: T.MapType, column: str, depth: int) -> str | None:
    key, one = f"key{depth}", f"one{depth}"
    keys = _fitted(key, given.keyType, wanted.keyType, column, depth + 1)
    values = _fitted(one, given.valueType, wanted.valueType, column, depth + 1)
    fitted = None if keys is None else f"transform_keys({value}, ({key}, {one}) -> {keys})"
    if values is None:
        return fitted
    return f"transform_values({fitted or value}, ({key}, {one}) -> {values})"


def _struct(value: str, given: T.StructType, wanted: T.StructType, column: str, depth: int) -> str | None:
    key = Names(f.name for f in wanted.fields).key
    names, target = [key(f.name) for f in given.fields], [key(f.name) for f in wanted.fields]
    if names == [f"col{i + 1}" for i in range(len(target))]:
        names = target
    if sorted(names) != sorted(target):
        raise SchemaError(
            f"Column '{column}' is given the fields {', '.join(f.name for f in given.fields)}, "
            f"but has {', '.join(f.name for f in wanted.fields)}.",
            hint="Give the fields of the value the names that the table's have.",
        )
    parts, moves = [], names != target
    for field in wanted.fields:
        own = given.fields[names.index(key(field.name))]
        path = f"{value}.{quoted_name(own.name)}"
        inner = _fitted(path, own.dataType, field.dataType, f"{column}.{field.name}", depth)
        moves = moves or inner is not None
        parts.append(f"{inner or path} AS {quoted_name(field.name)}")
    return f"if({value} IS NULL, NULL, struct({', '.join(parts)}))" if moves else None
