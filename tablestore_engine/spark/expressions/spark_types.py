"""Between table types and Spark's types."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from pyspark.sql import types as T

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import (
    INTEGER_ROOTS,
    MAX_TIME_PRECISION,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    with_nulls,
)

TYPE_KEY: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""The metadata of a column in which Spark keeps a type with CHAR or VARCHAR, as SQL."""

_COLLATED = re.compile(r"(?<![^<,:])string collate (?!UTF8_BINARY\b)(\w+)")
_SIZED = re.compile(r"(char|varchar)\((\d+)\)")
_NESTED: dict[type[T.DataType], str] = {T.ArrayType: "array<", T.MapType: "map<", T.StructType: "struct<"}
_TO_SPARK: dict[str, T.DataType] = {
    "BOOLEAN": T.BooleanType(),
    "TINYINT": T.ByteType(),
    "SMALLINT": T.ShortType(),
    "INT": T.IntegerType(),
    "BIGINT": T.LongType(),
    "FLOAT": T.FloatType(),
    "DOUBLE": T.DoubleType(),
    "DATE": T.DateType(),
    "TIMESTAMP": T.TimestampNTZType(),
    "TIMESTAMP_LTZ": T.TimestampType(),
    "STRING": T.StringType(),
    "CHAR": T.StringType(),
    "VARCHAR": T.StringType(),
    "BINARY": T.BinaryType(),
    "VARBINARY": T.BinaryType(),
    "BYTES": T.BinaryType(),
    "VARIANT": T.VariantType(),
}
INTEGER_TYPES: Final = {type(_TO_SPARK[root]): root for root in INTEGER_ROOTS}
"""Spark's integer types, and the names of them here."""
_FROM_SPARK: dict[type[T.DataType], str] = {
    T.BooleanType: "BOOLEAN",
    T.ByteType: "TINYINT",
    T.ShortType: "SMALLINT",
    T.IntegerType: "INT",
    T.LongType: "BIGINT",
    T.FloatType: "FLOAT",
    T.DoubleType: "DOUBLE",
    T.DateType: "DATE",
    T.TimestampNTZType: "TIMESTAMP",
    T.TimestampType: "TIMESTAMP_LTZ",
    T.StringType: "STRING",
    T.BinaryType: "BYTES",
    T.VariantType: "VARIANT",
    T.NullType: "STRING",  # a column of NULLs has no type of its own; a string column takes it
}


def to_spark_type(data_type: DataType) -> T.DataType:
    """The Spark type that reads a table type.

    Raises:
        UnsupportedTypeError: this Spark has none (TIME before 4.1).
    """
    if isinstance(data_type, AtomicType):
        if data_type.root == "DECIMAL":
            return T.DecimalType(data_type.precision or 10, data_type.scale or 0)
        if data_type.root == "TIME":
            return _time_type(data_type)
        return _TO_SPARK[data_type.root]
    if isinstance(data_type, ArrayType):
        return T.ArrayType(to_spark_type(data_type.element), data_type.element.nullable)
    if isinstance(data_type, MapType):
        return T.MapType(to_spark_type(data_type.key), to_spark_type(data_type.value), data_type.value.nullable)
    if isinstance(data_type, RowType):
        return to_spark_schema(data_type.fields)
    raise UnsupportedTypeError(f"Spark cannot read the type {data_type}.")


def _time_type(kind: AtomicType) -> T.DataType:
    if not hasattr(T, "TimeType"):
        raise UnsupportedTypeError(
            f"This version of Spark cannot read the type {kind}.", hint="Use PySpark 4.1 or later, or read it as Arrow."
        )
    return T.TimeType(min(kind.precision or 0, MAX_TIME_PRECISION))


def sql_type(data_type: DataType) -> str:
    """The Spark type that reads a table type, as SQL writes it: fields may have any name.

    Raises:
        UnsupportedTypeError: this Spark has none (TIME before 4.1).
    """
    return written_type(to_spark_type(data_type))


def written_type(kind: T.DataType) -> str:
    if isinstance(kind, T.ArrayType):
        return f"array<{written_type(kind.elementType)}>"
    if isinstance(kind, T.MapType):
        return f"map<{written_type(kind.keyType)}, {written_type(kind.valueType)}>"
    if isinstance(kind, T.StructType):
        return f"struct<{', '.join(f'{quoted_name(f.name)}: {written_type(f.dataType)}' for f in kind.fields)}>"
    # The meaning of `timestamp` is a setting of the session.
    return "timestamp_ltz" if isinstance(kind, T.TimestampType) else kind.simpleString()


def declared_type(data_type: DataType) -> str:
    """The type as SQL declares it, with CHAR and VARCHAR, which Spark reads as texts.

    Raises:
        UnsupportedTypeError: this Spark has none (TIME before 4.1).
    """
    if isinstance(data_type, ArrayType):
        return f"array<{declared_type(data_type.element)}>"
    if isinstance(data_type, MapType):
        return f"map<{declared_type(data_type.key)}, {declared_type(data_type.value)}>"
    if isinstance(data_type, RowType):
        return f"struct<{', '.join(f'{quoted_name(f.name)}: {declared_type(f.type)}' for f in data_type.fields)}>"
    sized = isinstance(data_type, AtomicType) and data_type.root in ("CHAR", "VARCHAR")
    return str(data_type.as_nullable(True)).lower() if sized else sql_type(data_type)


def to_spark_schema(fields: Iterable[DataField]) -> T.StructType:
    """Columns as a Spark schema. All are nullable, because a file may lack a column."""
    return T.StructType([T.StructField(f.name, to_spark_type(f.type), True) for f in fields])


def from_spark_type(spark_type: T.DataType, column: str, nullable: bool = True) -> DataType:
    """The table type that holds a Spark type.

    Raises:
        UnsupportedTypeError: the table format has none (interval); names the column.
    """
    if isinstance(spark_type, T.DecimalType):
        return AtomicType("DECIMAL", nullable, spark_type.precision, spark_type.scale)
    if isinstance(spark_type, T.CharType):
        return AtomicType("CHAR", nullable, spark_type.length)
    if isinstance(spark_type, T.VarcharType):
        return AtomicType("VARCHAR", nullable, spark_type.length)
    if isinstance(spark_type, T.ArrayType):
        return ArrayType(from_spark_type(spark_type.elementType, column, spark_type.containsNull), nullable)
    if isinstance(spark_type, T.MapType):
        return MapType(
            from_spark_type(spark_type.keyType, column, False),
            from_spark_type(spark_type.valueType, column, spark_type.valueContainsNull),
            nullable,
        )
    if isinstance(spark_type, T.StructType):
        fields = (
            DataField(i, f.name, from_spark_type(f.dataType, f"{column}.{f.name}", f.nullable))
            for i, f in enumerate(spark_type.fields)
        )
        return RowType(tuple(fields), nullable)
    if hasattr(T, "TimeType") and isinstance(spark_type, T.TimeType):
        return AtomicType("TIME", nullable, min(spark_type.precision, MAX_TIME_PRECISION))
    precision = 6 if isinstance(spark_type, (T.TimestampType, T.TimestampNTZType)) else None
    for kind, root in _FROM_SPARK.items():
        if type(spark_type) is kind or (kind is T.StringType and isinstance(spark_type, kind)):
            return AtomicType(root, nullable, precision)
    raise UnsupportedTypeError(
        f"Column '{column}' has the type {spark_type.simpleString()}, which a table cannot hold.",
        hint=f"Cast it, for example: cast({column} as string).",
    )


def refuse_collations(fields: Iterable[T.StructField]) -> None:
    """Raise an UnsupportedTypeError for a column of a query whose texts have a collation: a table's have none, so they
    would compare otherwise."""
    for field in fields:
        found = _COLLATED.search(field.dataType.simpleString())
        if found is not None:
            raise UnsupportedTypeError(
                f"Column '{field.name}' of the query has texts of the collation {found[1]}, which a table cannot hold.",
                hint=f"Compare in the query, and write the texts without it: collate({field.name}, 'UTF8_BINARY'), or "
                "cast the column to an array, map or struct of STRING. A view keeps collations.",
            )


def columns_of(schema: Iterable[T.StructField]) -> list[tuple[str, DataType, str | None]]:
    """A query's result columns as (name, type, comment); all nullable at any depth, as a query's nullability is a
    guess."""
    columns = []
    for field in schema:
        comment = (field.metadata or {}).get("comment")
        columns.append((field.name, with_nulls(from_spark_type(declared_as(field), field.name)), comment))
    return columns


def declared_as(field: T.StructField) -> T.DataType:
    """The type of a query's column, with CHAR and VARCHAR where Spark knows of them."""
    text = str((field.metadata or {}).get(TYPE_KEY, ""))
    sized = _SIZED.fullmatch(text)
    if sized and isinstance(field.dataType, T.StringType):
        return (T.CharType if sized[1] == "char" else T.VarcharType)(int(sized[2]))
    return T.DataType.fromDDL(text) if text.startswith(_NESTED.get(type(field.dataType), " ")) else field.dataType
