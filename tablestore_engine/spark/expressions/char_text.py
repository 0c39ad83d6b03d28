"""CHAR and VARCHAR columns in Spark, which has texts only: their type is in the metadata of a column.

Spark itself writes and reads this metadata (`CharVarcharUtils`). With it, a comparison of a CHAR column with a text
ignores blanks at the end, and CREATE TABLE … AS keeps the type. A CHAR, also one inside of a struct, list or map, is
stored with its full length, as Spark stores it in Paimon's tables. Other writers may have stored shorter texts, which
are filled up when they are read; those of a key or a partition are not, because they would be another key. Of a text
that is longer than its column by blanks at the end, Spark's writes cut these (`varcharTypeWriteSideCheck`), and so do
ours.
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
        column = F.expr(_sized_sql(quoted_name(field.name), field, _CHAR)) if whole else F.col(quoted_name(field.name))
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
    """Rows with the table's columns, with CHAR and VARCHAR as the table stores them."""
    texts = [f for f in schema.fields if has_root(f.type, _SIZED)]
    return _with(frame, {f.name: F.expr(filled_sql(quoted_name(f.name), f)).alias(f.name) for f in texts})


def filled_sql(value: str, field: DataField) -> str:
    """SQL of a value as the column stores it: a CHAR has its full length, and blanks at the end of a CHAR or VARCHAR
    that are behind its length are removed.

    A text that does not fit stays as it is, and is refused when it is written.
    """
    return _sized_sql(value, field, _SIZED)


def _sized_sql(value: str, field: DataField, roots: frozenset[str]) -> str:
    if not has_root(field.type, roots):
        return value
    given = value if field.type.is_atomic else f"CAST({value} AS {sql_type(field.type)})"
    return _sized(given, field.type, roots, 0) or value


def _sized(value: str, kind: DataType, roots: frozenset[str], depth: int) -> str | None:
    """The SQL, or None for a type without these types."""
    if isinstance(kind, AtomicType):
        if kind.root not in roots:
            return None
        return _padded(value, kind) if kind.root in _CHAR else _trimmed(value, kind)
    one, key = f"one{depth}", f"key{depth}"
    if isinstance(kind, ArrayType):
        inner = _sized(one, kind.element, roots, depth + 1)
        return None if inner is None else f"transform({value}, {one} -> {inner})"
    if isinstance(kind, MapType):
        keys, values = _sized(key, kind.key, roots, depth + 1), _sized(one, kind.value, roots, depth + 1)
        if values is not None:
            value = f"transform_values({value}, ({key}, {one}) -> {values})"
        if keys is not None:
            value = f"transform_keys({value}, ({key}, {one}) -> {keys})"
        return None if keys is None and values is None else value
    return _sized_struct(value, kind, roots, depth) if isinstance(kind, RowType) else None


def _sized_struct(value: str, kind: RowType, roots: frozenset[str], depth: int) -> str | None:
    parts, changes = [], False
    for field in kind.fields:
        path = f"{value}.{quoted_name(field.name)}"
        inner = _sized(path, field.type, roots, depth)
        changes = changes or inner is not None
        parts += [literal(field.name), inner or path]
    return f"if({value} IS NULL, NULL, named_struct({', '.join(parts)}))" if changes else None


def _padded(value: str, kind: AtomicType) -> str:
    length = kind.precision or 1
    long_enough = f"concat(rtrim(CAST({value} AS STRING)), space({length}))"
    return f"regexp_replace({long_enough}, '(?s)^(.{{{length},}}?) *$', '$1')"


def _trimmed(value: str, kind: AtomicType) -> str:
    length = kind.precision or 1
    text = f"CAST({value} AS STRING)"
    cut = f"if(rtrim(substring({text}, {length + 1})) = '', left({text}, {length}), {text})"
    return f"if(char_length({text}) > {length}, {cut}, {text})"


def _with(frame: DataFrame, columns: dict[str, Column]) -> DataFrame:
    if not columns:
        return frame
    return frame.select(*[columns.get(name, F.col(quoted_name(name))) for name in frame.columns])
