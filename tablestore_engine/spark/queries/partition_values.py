"""Choosing partitions by a condition, which Spark evaluates on their values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import types as T

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.partition import UNKNOWN, PartitionFormat
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.expressions.spark_types import to_spark_schema

_NUMBER = "__tablestore_partition"


def matching_partitions(
    spark: SparkSession, schema: TableSchema, partitions: Iterable[bytes], condition: str
) -> set[bytes]:
    """Those of some partitions (BinaryRows) for which a condition on partition columns is true.

    Raises:
        SqlError: the condition cannot be evaluated, for example because it speaks of other columns.
    """
    partition_format, rows = PartitionFormat(schema), sorted(partitions)
    if not rows:
        return set()

    def known(row: bytes) -> list[Any]:
        return [None if value is UNKNOWN else value for value in partition_format.decode(row)]

    columns = T.StructType([T.StructField(_NUMBER, T.IntegerType()), *to_spark_schema(schema.partition_fields)])
    try:
        with translated():
            values = spark.createDataFrame([(i, *known(r)) for i, r in enumerate(rows)], columns)
            found = values.where(condition).select(_NUMBER).collect()
    except SqlError as error:
        raise SqlError(
            f"The condition '{condition}' cannot choose partitions: {error.message.splitlines()[0]}",
            hint=f"It may speak of {', '.join(schema.partition_keys)}.",
        ) from None
    return {rows[row[0]] for row in found}
