"""Data files that Spark's Python workers read, one file in a task, as Arrow batches.

Invariant: file and position of a row are those that `_metadata` has in Spark's own scans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from tablestore_engine.errors import StorageError
from tablestore_engine.operation.files.deletion_vectors import DeletedRows, kept_rows, read_positions_of
from tablestore_engine.operation.formats.file_formats import read_stored
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import (
    TIMESTAMP_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
)
from tablestore_engine.spark.errors.unreadable_files import missing_file
from tablestore_engine.spark.expressions.spark_types import to_spark_schema
from tablestore_engine.spark.scan.deletion_vectors import name_in_uri
from tablestore_engine.storage.file_io import FileIO

FILE_COLUMN = "__tablestore_file"
POSITION_COLUMN = "__tablestore_position"
SIZE_COLUMN = "__tablestore_size"
POSITIONS = (FILE_COLUMN, POSITION_COLUMN)
SIZES = (*POSITIONS, SIZE_COLUMN)
_POSITION_TYPES = {FILE_COLUMN: pa.string(), POSITION_COLUMN: pa.int64(), SIZE_COLUMN: pa.int64()}
_POSITION_FIELDS = [
    T.StructField(FILE_COLUMN, T.StringType()),
    T.StructField(POSITION_COLUMN, T.LongType()),
    T.StructField(SIZE_COLUMN, T.LongType()),
]
_MOST_TASKS = 200


@dataclass(frozen=True)
class ArrowFile:
    """A file to read, its size in bytes, and where its deletion vector is."""

    path: str
    size: int
    deleted: DeletedRows | None = None


def arrow_frame(spark: SparkSession, io: FileIO, files: Sequence[ArrowFile], fields: Sequence[DataField]) -> DataFrame:
    """Columns of files, null where a file has none, and for each row its file, position and size of the file."""
    stored = pa.schema([(f.name, arrow_type_for_spark(f.type)) for f in fields])
    tasks = min(len(files), _MOST_TASKS)
    shape = T.StructType([*to_spark_schema(fields).fields, *_POSITION_FIELDS])
    return spark.range(0, len(files), 1, tasks).mapInArrow(_reader(io, tuple(files), stored), shape)


def arrow_type_for_spark(kind: DataType) -> pa.DataType:
    """The Arrow type in which Spark takes values of a table type."""
    return _with_wide_times(to_arrow_type(_as_spark_has_it(kind)))


def _with_wide_times(kind: pa.DataType) -> pa.DataType:
    """The type with times of nanoseconds, the only ones that Spark takes."""
    if pa.types.is_time32(kind):
        return pa.time64("ns")
    if pa.types.is_list(kind):
        return pa.list_(_wide_field(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(_wide_field(kind.key_field), _wide_field(kind.item_field))
    if pa.types.is_struct(kind):
        return pa.struct([_wide_field(one) for one in kind])
    return kind


def _wide_field(field: pa.Field) -> pa.Field:
    return field.with_type(_with_wide_times(field.type))


def _as_spark_has_it(kind: DataType) -> DataType:
    """Timestamps of microseconds, and fields of a ROW that may be null."""
    if isinstance(kind, AtomicType):
        return replace(kind, precision=6) if kind.root in TIMESTAMP_ROOTS else kind
    if isinstance(kind, ArrayType):
        return replace(kind, element=_as_spark_has_it(kind.element))
    if isinstance(kind, MapType):
        return replace(kind, key=_as_spark_has_it(kind.key), value=_as_spark_has_it(kind.value))
    if isinstance(kind, RowType):
        fields = (replace(f, type=_as_spark_has_it(f.type).as_nullable(True)) for f in kind.fields)
        return replace(kind, fields=tuple(fields))
    return kind


def _reader(
    io: FileIO, files: tuple[ArrowFile, ...], stored: pa.Schema
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                try:
                    yield from _rows(io, files[number], stored)
                except StorageError as error:
                    if error.missing:
                        raise missing_file(error.path) from None
                    raise

    return read


def _rows(io: FileIO, file: ArrowFile, stored: pa.Schema) -> Iterator[pa.RecordBatch]:
    whole = pa.schema([*stored, *_POSITION_TYPES.items()])
    deleted = None if file.deleted is None else next(iter(read_positions_of(io, [file.deleted])))
    uri, size = pa.scalar("file://" + name_in_uri(file.path)), pa.scalar(file.size, pa.int64())
    position = 0
    for batch in read_stored(io, file.path, file.size, dict(zip(stored.names, stored.types, strict=True))):
        count = batch.num_rows
        numbers = pa.array(np.arange(position, position + count, dtype=np.int64))
        found = [
            batch.column(f.name).cast(f.type, safe=False) if f.name in batch.schema.names else pa.nulls(count, f.type)
            for f in stored
        ]
        rows = pa.RecordBatch.from_arrays(
            [*found, pa.repeat(uri, count), numbers, pa.repeat(size, count)], schema=whole
        )
        kept = None if deleted is None else kept_rows(deleted, position, count)
        position += count
        yield rows if kept is None else rows.filter(pa.array(kept))
