"""CHAR and VARCHAR columns in Spark, which has texts only: their type is in the metadata of a column.

Spark itself writes and reads this metadata (`CharVarcharUtils`). With it, a comparison of a CHAR column with a text
ignores blanks at the end, and CREATE TABLE … AS keeps the type. A CHAR, also one inside of a struct, list or map, is
stored with its full length, as Spark stores it in Paimon's tables. Other writers may have stored shorter texts, which
are filled up when they are read; those of a key or a partition are not, because they would be another key.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType, has_root
from tablestore_engine.spark.expressions.spark_types import TYPE_KEY, declared_type, sql_type, to_spark_schema

_CHAR = frozenset(["CHAR"])
_SIZED = frozenset(["CHAR", "VARCHAR"])


def typed(frame: DataFrame, schema: TableSchema, fields: Sequence[DataField] | None = None) -> DataFrame:
    """The rows as they are read: with the types of CHAR and VARCHAR columns, and the full length of CHAR.

    `fields` are those of the rows, if they are not all.
    """
    as_stored = {*schema.primary_keys, *schema.partition_keys}
    columns: dict[str, Column] = {}
    for field in schema.fields if fields is None else fields:
        if not has_root(field.type, _SIZED):
            continue
        whole = has_root(field.type, _CHAR) and field.name not in as_stored
        column = F.expr(filled_sql(quoted_name(field.name), field)) if whole else F.col(quoted_name(field.name))
        columns[field.name] = column.alias(field.name, metadata={TYPE_KEY: declared_type(field.type)})
    return _with(frame, columns)


def typed_schema(fields: Sequence[DataField]) -> T.StructType:
    """Columns as a Spark schema, with the types of CHAR and VARCHAR columns."""
    plain = to_spark_schema(fields)
    for field, column in zip(fields, plain.fields, strict=True):
        if has_root(field.type, _SIZED):
            column.metadata = {TYPE_KEY: declared_type(field.type)}
    return plain


def filled(frame: DataFrame, schema: TableSchema) -> DataFrame:
    """Rows with the table's columns, with the full length of CHAR."""
    chars = [f for f in schema.fields if has_root(f.type, _CHAR)]
    return _with(frame, {f.name: F.expr(filled_sql(quoted_name(f.name), f)).alias(f.name) for f in chars})


def filled_sql(value: str, field: DataField) -> str:
    """SQL of a value as the column holds it: blanks at the end of a CHAR are added, or removed if there are too many.

    A text that does not fit stays as it is, and is refused when it is written.
    """
    if not has_root(field.type, _CHAR):
        return value
    given = value if field.type.is_atomic else f"CAST({value} AS {sql_type(field.type)})"
    return _filled(given, field.type, 0) or value


def _filled(value: str, kind: DataType, depth: int) -> str | None:
    """The SQL, or None for a type without CHAR."""
    if isinstance(kind, AtomicType):
        return _padded(value, kind) if kind.root in _CHAR else None
    one, key = f"one{depth}", f"key{depth}"
    if isinstance(kind, ArrayType):
        inner = _filled(one, kind.element, depth + 1)
        return None if inner is None else f"transform({value}, {one} -> {inner})"
    if isinstance(kind, MapType):
        keys, values = _filled(key, kind.key, depth + 1), _filled(one, kind.value, depth + 1)
        if values is not None:
            value = f"transform_values({value}, ({key}, {one}) -> {values})"
        if keys is not None:
            value = f"transform_keys({value}, ({key}, {one}) -> {keys})"
        return None if keys is None and values is None else value
    return _filled_struct(value, kind, depth) if isinstance(kind, RowType) else None


def _filled_struct(value: str, kind: RowType, depth: int) -> str | None:
    parts, changes = [], False
    for field in kind.fields:
        path = f"{value}.{quoted_name(field.name)}"
        inner = _filled(path, field.type, depth)
        changes = changes or inner is not None
        parts += [literal(field.name), inner or path]
    return f"if({value} IS NULL, NULL, named_struct({', '.join(parts)}))" if changes else None


def _padded(value: str, kind: AtomicType) -> str:
    length = kind.precision or 1
    long_enough = f"concat(rtrim(CAST({value} AS STRING)), space({length}))"
    return f"regexp_replace({long_enough}, '(?s)^(.{{{length},}}?) *$', '$1')"


def _with(frame: DataFrame, columns: dict[str, Column]) -> DataFrame:
    if not columns:
        return frame
    return frame.select(*[columns.get(name, F.col(quoted_name(name))) for name in frame.columns])
