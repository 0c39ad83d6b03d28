"""CHAR and VARCHAR columns in Spark, which has texts only: their type is in the metadata of a column.

Spark itself writes and reads this metadata (`CharVarcharUtils`). With it, a comparison of a CHAR column with a text
ignores blanks at the end, and CREATE TABLE … AS keeps the type. A CHAR is stored with its full length, as Spark stores
it in Paimon's tables. Other writers may have stored shorter texts, which are filled up when they are read; those of a
key or a partition are not, because they would be another key.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import AtomicType, DataField, DataType

TYPE_KEY: Final = "__CHAR_VARCHAR_TYPE_STRING"


def is_sized(kind: DataType) -> bool:
    """Whether a type is CHAR or VARCHAR."""
    return isinstance(kind, AtomicType) and kind.root in ("CHAR", "VARCHAR")


def typed(frame: DataFrame, schema: TableSchema) -> DataFrame:
    """The rows as they are read: with the types of CHAR and VARCHAR columns, and the full length of CHAR."""
    as_stored = {*schema.primary_keys, *schema.partition_keys}
    columns: dict[str, Column] = {}
    for field in schema.fields:
        if not is_sized(field.type):
            continue
        whole = _is_char(field) and field.name not in as_stored
        column = F.expr(filled_sql(quoted_name(field.name), field)) if whole else F.col(quoted_name(field.name))
        columns[field.name] = column.alias(field.name, metadata={TYPE_KEY: _type_text(field)})
    return _with(frame, columns)


def filled(frame: DataFrame, schema: TableSchema) -> DataFrame:
    """Rows with the table's columns, with the full length of CHAR."""
    chars = [f for f in schema.fields if _is_char(f)]
    return _with(frame, {f.name: F.expr(filled_sql(quoted_name(f.name), f)).alias(f.name) for f in chars})


def filled_sql(value: str, field: DataField) -> str:
    """SQL of a value as the column holds it: blanks at the end of a CHAR are added, or removed if there are too many.

    A text that does not fit stays as it is, and is refused when it is written.
    """
    if not _is_char(field):
        return value
    length = _length(field)
    long_enough = f"concat(rtrim(CAST({value} AS STRING)), space({length}))"
    return f"regexp_replace({long_enough}, '(?s)^(.{{{length},}}?) *$', '$1')"


def sized_type(field: T.StructField) -> str | None:
    """The type `char(n)` or `varchar(n)` of a query's column."""
    text = (field.metadata or {}).get(TYPE_KEY)
    return str(text) if text and isinstance(field.dataType, T.StringType) else None


def _with(frame: DataFrame, columns: dict[str, Column]) -> DataFrame:
    if not columns:
        return frame
    return frame.select(*[columns.get(name, F.col(quoted_name(name))) for name in frame.columns])


def _is_char(field: DataField) -> bool:
    return isinstance(field.type, AtomicType) and field.type.root == "CHAR"


def _length(field: DataField) -> int:
    assert isinstance(field.type, AtomicType)
    return field.type.precision or 1


def _type_text(field: DataField) -> str:
    assert isinstance(field.type, AtomicType)
    return f"{field.type.root.lower()}({_length(field)})"
