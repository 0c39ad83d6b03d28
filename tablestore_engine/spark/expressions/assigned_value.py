"""A value that a statement assigns to a column: at any depth, the fields of its structs are those of the same name or
position, and a value that the column cannot hold is an error.

Fields of a struct that nobody named, `col1`, `col2`, … of `struct('x', 'y')`, keep their positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from pyspark.sql import types as T

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names, Resolver
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.expressions.assignable_types import LEGACY, check_assignable
from tablestore_engine.spark.expressions.checked_cast import checked_cast, may_fail
from tablestore_engine.spark.expressions.spark_types import to_spark_type, written_type

_GIVEN: Final = "given_value"


class StoreAssignment:
    """How a statement assigns values."""

    def __init__(
        self, resolver: Resolver | None, policy: Callable[[], str], fails: Callable[[], bool], *, fills: bool = False
    ) -> None:
        """`resolver` says which fields of structs have the same name; None where they match by position, as in a cast.
        `policy` says which types may be assigned (`assignable_types`), `fails` whether a value that a column cannot
        hold is an error. Both are asked once. `fills`: structs may lack fields, as where the write evolves the table:
        they are null, or keep their values."""
        self._resolver = resolver
        self._policy = policy
        self._fails = fails
        self._fills = fills

    @cached_property
    def policy(self) -> str:
        """Which types may be assigned."""
        return self._policy()

    @cached_property
    def fails(self) -> bool:
        """Whether a value that a column cannot hold is an error."""
        return self._fails()

    def sql(self, value: str, given: T.DataType, wanted: T.DataType, column: str, own: str | None = None) -> str:
        """SQL of a value of the type `given`; a cast to `wanted` gives what is stored.

        `column` is what an error calls it, and `own` SQL of the value of which fields that are not given are kept.
        Raises SchemaError for fields of other names and for a type that the column
        does not take, ColumnNotFound for names that the session does not take in this spelling.
        """
        if self._resolver is not None:
            _check_spelled(given, wanted, column, self._resolver)
        return self._assigned(value, given, wanted, column, 0, own) or value

    def casts_all(self, wanted: T.DataType) -> bool:
        """Whether a value is cast to a type whatever its own type is."""
        return self.policy == LEGACY and not self.fails and not has_named_fields(wanted)

    def _assigned(
        self, value: str, given: T.DataType, wanted: T.DataType, column: str, depth: int, own: str | None = None
    ) -> str | None:
        """The SQL, or None where a cast is enough."""
        if isinstance(given, T.StructType) and isinstance(wanted, T.StructType):
            return self._struct(value, given, wanted, column, depth, own)
        one = f"one{depth}"
        if isinstance(given, T.ArrayType) and isinstance(wanted, T.ArrayType):
            inner = self._assigned(one, given.elementType, wanted.elementType, column, depth + 1)
            return None if inner is None else f"transform({value}, {one} -> {inner})"
        if isinstance(given, T.MapType) and isinstance(wanted, T.MapType):
            return self._map(value, given, wanted, column, depth)
        check_assignable(self.policy, given, wanted, column)
        return checked_cast(value, wanted, column, given) if self.fails and may_fail(given, wanted) else None

    def _map(self, value: str, given: T.MapType, wanted: T.MapType, column: str, depth: int) -> str | None:
        key, one = f"key{depth}", f"one{depth}"
        keys = self._assigned(key, given.keyType, wanted.keyType, column, depth + 1)
        values = self._assigned(one, given.valueType, wanted.valueType, column, depth + 1)
        fitted = None if keys is None else f"transform_keys({value}, ({key}, {one}) -> {keys})"
        if values is None:
            return fitted
        return f"transform_values({fitted or value}, ({key}, {one}) -> {values})"

    def _struct(
        self, value: str, given: T.StructType, wanted: T.StructType, column: str, depth: int, own: str | None
    ) -> str | None:
        given_fields = given.fields if self._resolver is None else _of_names(given, wanted, column, self._fills)
        if self._resolver is None and (len(given_fields) != len(wanted.fields) or _has_repeated(given.fields)):
            return None  # Spark's cast says what is wrong, and knows fields of one name apart
        parts, changes = [], given_fields != given.fields
        for one, field in zip(given_fields, wanted.fields, strict=True):
            name, kept = f"{column}.{field.name}", None if own is None else f"{own}.{quoted_name(field.name)}"
            if one is None:
                parts.append(f"{kept or _null(field, name)} AS {quoted_name(field.name)}")
                continue
            path = f"{value}.{quoted_name(one.name)}"
            inner = self._assigned(path, one.dataType, field.dataType, name, depth, kept)
            changes = changes or inner is not None
            parts.append(f"{inner or path} AS {quoted_name(field.name)}")
        return f"if({value} IS NULL, NULL, struct({', '.join(parts)}))" if changes else None


def complete_columns(given: T.StructType, schema: TableSchema) -> list[str]:
    """The columns of a query that give the table's columns of the same name all fields of their structs."""
    return [
        one.name
        for one in given
        if not isinstance(one.dataType, T.StructType)
        or not schema.has_field(one.name)
        or not _lacks(one.dataType, to_spark_type(schema.field(one.name).type))
    ]


def _lacks(given: T.DataType, wanted: T.DataType) -> bool:
    """Whether a struct lacks a field, at any depth of structs."""
    if not isinstance(given, T.StructType) or not isinstance(wanted, T.StructType) or _are_unnamed(given, wanted):
        return False
    names = Names(given.names)
    found = [(names.position(one.name), one.dataType) for one in wanted]
    return any(at is None or _lacks(given.fields[at].dataType, kind) for at, kind in found)


def with_value_once(value: str, used: Callable[[str], str]) -> str:
    """SQL of what `used` makes of the SQL of a value, which is evaluated once: `rand()` is another value each time."""
    result = used(_GIVEN)
    return f"({value})" if result == _GIVEN else f"transform(array({value}), {_GIVEN} -> {result})[0]"


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


def _has_repeated(fields: list[T.StructField]) -> bool:
    return len({one.name.lower() for one in fields}) < len(fields)


def _are_unnamed(given: T.StructType, wanted: T.StructType) -> bool:
    """Whether nobody named the fields of a struct, which then keep their positions."""
    return given.names == [f"col{i + 1}" for i in range(len(wanted.fields))]


def _null(field: T.StructField, name: str) -> str:
    if not field.nullable:
        raise SchemaError(f"Field '{name}' is NOT NULL, but it is given no value.")
    return f"CAST(NULL AS {written_type(field.dataType)})"


def _of_names(
    given: T.StructType, wanted: T.StructType, column: str, fills: bool = False
) -> Sequence[T.StructField | None]:
    """The fields of a given struct in the order of the wanted one's names; None for one that it may lack."""
    key = Names(f.name for f in wanted.fields).key
    names, target = [key(f.name) for f in given.fields], [key(f.name) for f in wanted.fields]
    if _are_unnamed(given, wanted):
        return given.fields
    lacks = fills and len(set(names)) == len(names) and set(names) < set(target)
    if sorted(names) != sorted(target) and not lacks:
        raise SchemaError(
            f"Column '{column}' is given the fields {', '.join(f.name for f in given.fields)}, "
            f"but has {', '.join(f.name for f in wanted.fields)}.",
            hint="Give the fields of the value the names that the table's have.",
        )
    return [given.fields[names.index(name)] if name in names else None for name in target]
