"""Data files as Spark's own Parquet scans, with the columns of the current schema.

Expressions travel to Spark as text: a column object costs several round trips to the JVM, and a statement on a wide
table would make hundreds of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from tablestore_engine.errors import CorruptDataError
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.metadata.data_file import DataFileMeta
from tablestore_engine.operation.files.deletion_vectors import read_positions_of
from tablestore_engine.operation.scan.scan_plan import BucketScan
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.evolution import check_readable, is_same
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.system import COUNT, SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.schema.types.types import DataField, DataType
from tablestore_engine.spark.expressions.evolve_sql import evolved_sql, null_sql
from tablestore_engine.spark.expressions.types import to_spark_schema
from tablestore_engine.spark.read.deletion_vectors import without_deleted
from tablestore_engine.table import Table

FILE_COLUMN = "__tablestore_file"
POSITION_COLUMN = "__tablestore_position"
SIZE_COLUMN = "__tablestore_size"
# Spark takes these in a path for a pattern; a warehouse may lie below `/data/[1]`.
_PATTERN = re.compile(r"[\[\]{}*?\\]")
# What Spark's Parquet reader widens by itself when asked for the target type.
_NATIVE_CASTS = {
    ("TINYINT", "SMALLINT"),
    ("TINYINT", "INT"),
    ("TINYINT", "BIGINT"),
    ("SMALLINT", "INT"),
    ("SMALLINT", "BIGINT"),
    ("INT", "BIGINT"),
    ("FLOAT", "DOUBLE"),
}
# Spark's metadata columns: the file and position of a row.
_POSITIONS = (f"_metadata.file_path as {FILE_COLUMN}", f"_metadata.row_index as {POSITION_COLUMN}")
_SIZES = (f"_metadata.file_size as {SIZE_COLUMN}",)

BucketFile = tuple[BucketScan, DataFileMeta]


class FileScans:
    """Scans the files of one table in the shape of `schema`, one of its own."""

    def __init__(self, spark: SparkSession, table: Table, schema: TableSchema) -> None:
        self.spark = spark
        self._table = table
        self.schema = schema

    def empty(self, *, positions: bool = False) -> DataFrame:
        """No rows, the schema's columns."""
        columns = [f"{null_sql(f.type)} as {quoted_name(f.name)}" for f in self.schema.fields]
        if positions:
            columns += [
                f"cast(null as string) as {FILE_COLUMN}",
                f"cast(null as bigint) as {POSITION_COLUMN}",
            ]
        return self.spark.range(0).selectExpr(*columns)

    def schema_of(self, schema_id: int) -> TableSchema:
        """The schema that files were written with."""
        return self._table.schemas.load(schema_id)

    @property
    def location(self) -> str:
        """The directory of the table."""
        return self._table.path

    def scan(
        self,
        files: Sequence[BucketFile],
        *,
        system: bool = False,
        counts: bool = False,
        positions: bool = False,
        sizes: bool = False,
    ) -> DataFrame:
        """The rows of files as they are: one scan, and one more for each schema that Spark cannot bridge.

        With `system` the sequence number and row kind come first, with `counts` the counts of retractions; with
        `positions` the file and the row's number in it come last, and with `sizes` also the size of the file.

        Raises:
            CorruptDataError, StorageError: a file is empty, or is lost.
            UnsupportedTypeError: files hold a column in a type that is not read as that of today.
        """
        groups: dict[tuple[int, bool], list[BucketFile]] = {}
        for bucket, file in files:
            own = file.schema_id
            if own == self.schema.id or self._reads_by_name(own):
                own = self.schema.id
            groups.setdefault((own, file.file_name in bucket.deletions), []).append((bucket, file))
        first = (SEQUENCE_NUMBER, VALUE_KIND) if system else (COUNT,) if counts else ()
        last: tuple[str, ...] = _POSITIONS if positions or sizes else ()
        last += _SIZES if sizes else ()
        frames = [
            self._scan(own, groups[own, deletes], first, last, deletes=deletes) for own, deletes in sorted(groups)
        ]
        return reduce(DataFrame.unionAll, frames)

    def _path(self, bucket: BucketScan, file: DataFileMeta) -> str:
        return self._table.io.local_path(bucket.path_of(self._table.paths, file))

    def _checked(self, bucket: BucketScan, file: DataFileMeta) -> str:
        """The path of a file that is there and has bytes: Spark reads one without bytes as one without rows."""
        path = bucket.path_of(self._table.paths, file)
        if self._table.io.size(path) == 0:
            raise CorruptDataError(path, f"it is empty, and its manifest says {file.file_size:,} bytes")
        return self._table.io.local_path(path)

    def _reads_by_name(self, schema_id: int) -> bool:
        """Whether files of a past schema read rightly when asked for the current columns by name."""
        own = self.schema_of(schema_id)
        by_id = {f.id: f for f in own.fields}
        for field in self.schema.fields:
            past = by_id.get(field.id)
            if past is None:
                if own.has_field(field.name):
                    return False
            elif past.name.lower() != field.name.lower() or not _same_for_spark(past.type, field.type):
                return False
        return True

    def _scan(
        self,
        schema_id: int,
        files: list[BucketFile],
        first: tuple[DataField, ...],
        last: tuple[str, ...],
        *,
        deletes: bool,
    ) -> DataFrame:
        is_current = schema_id == self.schema.id
        own = self.schema if is_current else self.schema_of(schema_id)
        struct = to_spark_schema(own.fields)
        if first:
            struct = T.StructType([*to_spark_schema(first).fields, *struct.fields])
        paths = [escaped_path(self._checked(bucket, file)) for bucket, file in files]
        frame = self.spark.read.schema(struct).parquet(*paths)
        if is_current and not last and not deletes:
            return frame
        selected = [one.name for one in first]
        by_id = {f.id: f for f in own.fields}
        for field in self.schema.fields:
            past = by_id.get(field.id)
            if past is None:
                source = null_sql(field.type)
            else:
                check_readable(field.name, past.type, field.type)
                source = evolved_sql(quoted_name(past.name), past.type, field.type)
            selected.append(f"{source} as {quoted_name(field.name)}")
        selected.extend(last)
        if deletes:
            return without_deleted(self.spark, frame, selected, self._deleted(files))
        return frame.selectExpr(*selected)

    def _deleted(self, files: list[BucketFile]) -> Iterator[tuple[str, Positions]]:
        vectors = [bucket.deletions[file.file_name] for bucket, file in files]
        names = [self._path(bucket, file).rsplit("/", 1)[-1] for bucket, file in files]
        return zip(names, read_positions_of(self._table.io, vectors), strict=True)


def escaped_path(path: str) -> str:
    """A path as Spark takes it for one file, whatever characters it has."""
    return _PATTERN.sub(r"\\\g<0>", path)


def _same_for_spark(past: DataType, current: DataType) -> bool:
    if is_same(past, current):
        return True
    return (getattr(past, "root", None), getattr(current, "root", None)) in _NATIVE_CASTS
