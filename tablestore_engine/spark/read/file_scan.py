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
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.system import COUNT, SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.column_source import Source, sources_of
from tablestore_engine.spark.expressions.evolve_sql import null_sql
from tablestore_engine.spark.expressions.types import to_spark_schema
from tablestore_engine.spark.read.deletion_vectors import without_deleted
from tablestore_engine.table import Table

FILE_COLUMN = "__tablestore_file"
POSITION_COLUMN = "__tablestore_position"
SIZE_COLUMN = "__tablestore_size"
# Spark takes these in a path for a pattern; a warehouse may lie below `/data/[1]`.
_PATTERN = re.compile(r"[\[\]{}*?\\]")
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
        self._sources = {schema.id: tuple(Source(field, None) for field in schema.fields)}
        self._known = {schema.id: schema.id}

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
        """The rows of files as they are: one scan, and one more for each set of schemas that Spark cannot bridge.

        With `system` the sequence number and row kind come first, with `counts` the counts of retractions; with
        `positions` the file and the row's number in it come last, and with `sizes` also the size of the file.

        Raises:
            CorruptDataError, StorageError: a file is empty, or is lost.
            UnsupportedTypeError: files hold a column in a type from which no cast leads to that of today.
        """
        groups: dict[tuple[int, bool], list[BucketFile]] = {}
        for bucket, file in files:
            alike = self._alike(file.schema_id)
            groups.setdefault((alike, file.file_name in bucket.deletions), []).append((bucket, file))
        first = (SEQUENCE_NUMBER, VALUE_KIND) if system else (COUNT,) if counts else ()
        last: tuple[str, ...] = _POSITIONS if positions or sizes else ()
        last += _SIZES if sizes else ()
        frames = [
            self._scan(self._sources[alike], groups[alike, deletes], first, last, deletes=deletes)
            for alike, deletes in sorted(groups)
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

    def _alike(self, schema_id: int) -> int:
        """The schema whose files are read like those of another one: the columns have the same sources."""
        if schema_id not in self._known:
            sources = sources_of(self.schema_of(schema_id), self.schema)
            alike = next((known for known, those in self._sources.items() if those == sources), schema_id)
            self._sources[alike] = sources
            self._known[schema_id] = alike
        return self._known[schema_id]

    def _scan(
        self,
        sources: tuple[Source, ...],
        files: list[BucketFile],
        first: tuple[DataField, ...],
        last: tuple[str, ...],
        *,
        deletes: bool,
    ) -> DataFrame:
        stored = [one.stored for one in sources if one.stored is not None]
        struct = to_spark_schema(stored)
        if first:
            struct = T.StructType([*to_spark_schema(first).fields, *struct.fields])
        paths = [escaped_path(self._checked(bucket, file)) for bucket, file in files]
        frame = self.spark.read.schema(struct).parquet(*paths)
        if all(one.sql is None for one in sources) and not last and not deletes:
            return frame
        selected = [one.name for one in first]
        for field, one in zip(self.schema.fields, sources, strict=True):
            name = quoted_name(field.name)
            selected.append(name if one.sql is None else f"{one.sql} as {name}")
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
