"""The rows of a DataFrame as Arrow, and Arrow rows as a DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from tablestore_engine.schema.types.arrow import from_arrow_type
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.expressions.spark_types import to_spark_type
from tablestore_engine.spark.session.session_settings import is_remote


def collect_arrow(frame: DataFrame) -> pa.Table:
    """All rows of a DataFrame as an Arrow table.

    Raises:
        SqlError, ExecutionError: Spark refused or failed.
    """
    with translated():
        return _of_variants(frame) if "variant" in frame.schema.simpleString() else frame.toArrow()


def map_in_arrow(
    frame: DataFrame, function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], types: str
) -> DataFrame:
    """`DataFrame.mapInArrow`, for all names of columns.

    PySpark looks each column up by its name, and takes a name with a dot for a field's path. Such columns have other
    names on the way; the batches that the function gets have the frame's.
    """
    names = frame.columns
    if not any("." in name or "`" in name for name in names):
        return frame.mapInArrow(function, types)

    def named(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return function(batch.rename_columns(names) for batch in batches)

    return frame.toDF(*(str(number) for number in range(len(names)))).mapInArrow(named, types)


def arrow_frame(spark: SparkSession, rows: pa.Table, schema: StructType | None = None) -> DataFrame:
    """Arrow rows as a DataFrame, of the schema or of what Spark makes of their types.

    Spark takes a batch without rows for the end of all rows, so it gets none but the only one.
    """
    batches = [one for one in rows.to_batches() if one.num_rows]
    full = pa.Table.from_batches(batches) if batches else rows.schema.empty_table()
    if not batches and schema is None and is_remote(spark):
        schema = _schema_of(rows)  # Spark Connect takes no types from a table without rows
    return spark.createDataFrame(full) if schema is None else spark.createDataFrame(full, schema)


def _schema_of(rows: pa.Table) -> StructType:
    kinds = [(one.name, to_spark_type(from_arrow_type(one.type))) for one in rows.schema]
    return StructType([StructField(name, kind) for name, kind in kinds])


def _of_variants(frame: DataFrame) -> pa.Table:
    """The rows of a DataFrame with variants, of which PySpark's own way does not take nulls."""
    payloads = map_in_arrow(frame, _written, "payload binary").toArrow().column(0)
    tables = [pa.ipc.open_stream(one.as_buffer()).read_all() for one in payloads]
    return pa.concat_tables(tables) if tables else frame.limit(0).toArrow()


def _written(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.RecordBatch.from_pydict({"payload": pa.array([sink.getvalue().to_pybytes()], pa.binary())})
