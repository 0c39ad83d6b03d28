"""Data files as Spark's own scans, with the columns of the current schema.

Spark reads Parquet and ORC files itself. Its Python workers read the rest (`arrow_scan`): other formats, and
from ORC files positions of rows, timestamps and old dates.

Expressions travel to Spark as text: a column object costs several round trips to the JVM, and a statement on a wide
table would make hundreds of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import compress
from types import MappingProxyType

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.errors import CorruptDataError
from tablestore_engine.metadata.bitmaps.roaring import NO_POSITIONS, Positions
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.files.deletion_vectors import read_positions_of
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.spark.expressions.cast_old_columns_sql import null_sql
from tablestore_engine.spark.expressions.char_text import typed
from tablestore_engine.spark.expressions.column_source import FilesRead, Source, combined_scans, sources_of, unread
from tablestore_engine.spark.expressions.spark_types import to_spark_schema
from tablestore_engine.spark.scan.arrow_scan import (
    FILE_COLUMN,
    POSITION_COLUMN,
    POSITIONS,
    SIZE_COLUMN,
    ArrowFile,
    arrow_frame,
)
from tablestore_engine.spark.scan.deletion_vector_words import all_words, sized_files
from tablestore_engine.spark.scan.deletion_vectors import ROW_NUMBER, items_of, without_deleted, without_words
from tablestore_engine.spark.scan.orc_files import may_have_old_dates, spark_reads_orc, with_dates
from tablestore_engine.spark.scan.signed_zeros import reader_options, without_pushed_floats
from tablestore_engine.spark.scan.stored_integers import (
    MOST_FOOTERS,
    is_double_of_decimal,
    of_integers,
    stores_integers,
)
from tablestore_engine.spark.session.session_settings import check_distinct, fills_structs
from tablestore_engine.table import Table

# Spark takes these in a path for a pattern; a warehouse may lie below `/data/[1]`.
_PATTERN = re.compile(r"[\[\]{}*?\\]")
# Spark's metadata columns: the file and position of a row.
_METADATA = {
    FILE_COLUMN: "_metadata.file_path",
    POSITION_COLUMN: "_metadata.row_index",
    SIZE_COLUMN: "_metadata.file_size",
}

_MANY_SCHEMAS = 8  # that differ in the columns read: up to so many of them, each has a scan of its own

_WHOLE_SHARE = 4  # times the rows of whole files are those of the others, where one scan reads both

BucketFile = tuple[BucketScan, DataFileMeta]
_ROW_NUMBER = DataField(0, ROW_NUMBER, AtomicType("BIGINT"))
NONE_LEFT_OUT: Mapping[str, Positions] = MappingProxyType({})


@dataclass(frozen=True, order=True)
class _Group:
    """The properties that the files of one scan share: their schema, their format, whether rows of theirs are deleted,
    whether they are ORC files that may hold old dates, and whether decimals of theirs are read as integers."""

    schema_id: int
    format: str
    deletes: bool
    old_dates: bool
    integers: bool


@dataclass(frozen=True)
class _Read:
    """The columns that a scan reads of its files, and the sources of the table's columns in them."""

    sources: tuple[Source, ...]
    stored: tuple[DataField, ...]


@dataclass(frozen=True)
class _Found:
    """A file as it is stored: its local path, and its size in bytes."""

    path: str
    size: int


class FileScans:
    """Scans the files of one table in the shape of `schema`, one of its own. Of Parquet files, rows at positions that
    are `left_out`, by the names of the files, are not scanned."""

    def __init__(
        self,
        spark: SparkSession,
        table: Table,
        schema: TableSchema,
        named: frozenset[str] | None = None,
        left_out: Mapping[str, Positions] = NONE_LEFT_OUT,
        filtered: frozenset[str] | None = None,
    ) -> None:
        """`named` are the names that the query has, in lower case: no other column is read. None for all columns.
        `filtered` are the names of those that it has conditions on, likewise; None where that is not known."""
        check_distinct(spark, schema.alike_names, table.name)
        self.spark = spark
        self._table = table
        self.schema = schema
        self._named = named
        self._left_out = left_out
        self._filtered = filtered
        self.unites = False
        """Whether a scan was a union of several."""
        # By a schema, and whether files are read by a reader that widens types.
        self._sources = {(schema.id, widens): self._sources_of(schema, widens=widens) for widens in (False, True)}
        self._known = dict.fromkeys(self._sources, schema.id)
        self._dated: dict[int, tuple[DataField, ...]] = {}  # columns of dates in ORC files, by a schema
        self._doubles: dict[int, tuple[DataField, ...]] = {}  # decimals of Parquet files that are doubles today

    @property
    def table_name(self) -> str:
        """The name of the table, for messages."""
        return self._table.name

    def empty(self, last: tuple[str, ...] = ()) -> DataFrame:
        """No rows, the schema's columns and `last`, nothing or `POSITIONS`."""
        columns = [f"{null_sql(f.type)} as {quoted_name(f.name)}" for f in self.schema.fields]
        if last:
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
        first: tuple[DataField, ...] = (),
        last: tuple[str, ...] = (),
    ) -> DataFrame:
        """The rows of files as they are: one scan, and one more for each set of schemas that Spark cannot bridge.

        What comes `first` are `RECORD_COLUMNS` of a keyed table, or `COUNT_COLUMNS` of retraction files. What comes
        `last` are `POSITIONS`, the file and the row's number in it, or `SIZES`, which has the size of the file, too.

        Raises:
            CorruptDataError, StorageError: a file is empty, or is lost.
            UnsupportedTypeError: files hold a column in a type from which no cast leads to that of today.
        """
        groups: dict[_Group, list[BucketFile]] = {}
        for bucket, file, integers in self._with_integers(files):
            groups.setdefault(self._group(bucket, file, integers=integers), []).append((bucket, file))
        groups = _with_few_whole_files(groups)
        scans = [self._scan(one, groups[one], read, first, last) for one, read in self._combine(groups)]
        self.unites = self.unites or len(scans) > 1
        return reduce(DataFrame.unionAll, scans)

    def _combine(self, groups: dict[_Group, list[BucketFile]]) -> list[tuple[_Group, _Read]]:
        """The groups in order, with what is read of each. Groups of files of one format become fewer ones, by scans of
        more columns, as each scan has tasks of its own. Filters on renamed columns skip no row groups there: where the
        query may have one, only many groups do, of which hundreds of scans would take longer to plan."""
        found: list[tuple[_Group, _Read]] = []
        alike: dict[_Group, list[_Group]] = {}
        for one in sorted(groups):
            alike.setdefault(replace(one, schema_id=0), []).append(one)
        for kind, several in alike.items():
            many = len({one.schema_id for one in groups if one.format == kind.format}) > _MANY_SCHEMAS
            apart = len(several) == 1 or not (many or self._are_filtered_alike(several))
            if apart or any(self.schema_of(one.schema_id).names.alike for one in several):
                found += [(one, self._read(one)) for one in several]
                continue
            by_schema = {one.schema_id: one for one in several}
            for combined in combined_scans(self._files_read(groups[one], one) for one in several):
                members = [by_schema[one.schema_id] for one in combined.members]
                groups[members[0]] = [file for one in members for file in groups[one]]
                found.append((members[0], _Read(combined.sources(), tuple(combined.stored()))))
        return found

    def _are_filtered_alike(self, groups: list[_Group]) -> bool:
        """Whether the columns that the query has conditions on have the same sources in the files of all groups."""
        if self._filtered is None:
            return False
        filtered = [field.name.lower() in self._filtered for field in self.schema.fields]
        return len({tuple(compress(self._read(one).sources, filtered)) for one in groups}) == 1

    def _files_read(self, files: list[BucketFile], group: _Group) -> FilesRead:
        schemas = (self.schema_of(one) for one in {file.schema_id for _, file in files})
        names = frozenset(name.lower() for schema in schemas for name in schema.field_names)
        return FilesRead(group.schema_id, names, self._read(group).sources)

    def _group(self, bucket: BucketScan, file: DataFileMeta, *, integers: bool) -> _Group:
        alike = self._alike(file.schema_id, file.format)
        deletes = file.file_name in bucket.deletions or file.file_name in self._left_out
        return _Group(alike, file.format, deletes, self._has_old_dates(file, alike), integers)

    def _with_integers(self, files: Sequence[BucketFile]) -> Iterator[tuple[BucketScan, DataFileMeta, bool]]:
        """Files, and whether those columns that are doubles of decimals are integers in them."""
        left = MOST_FOOTERS
        for bucket, file in files:
            decimals = self._decimals(file) if left else ()
            left -= bool(decimals)
            yield bucket, file, bool(decimals) and self._stores_integers(bucket, file, decimals)

    def _stores_integers(self, bucket: BucketScan, file: DataFileMeta, decimals: tuple[DataField, ...]) -> bool:
        path = bucket.path_of(self._table.paths, file)
        return stores_integers(self._table.io, path, file.file_size, decimals)

    def _decimals(self, file: DataFileMeta) -> tuple[DataField, ...]:
        """The columns that are read of a file and are doubles of decimals."""
        if file.format != "parquet" or file.schema_id == self.schema.id:
            return ()
        alike = self._alike(file.schema_id, file.format)
        if alike not in self._doubles:
            pairs = zip(self._sources[alike, True], self.schema.fields, strict=True)
            self._doubles[alike] = tuple(
                one.stored for one, field in pairs if one.stored is not None and is_double_of_decimal(one, field)
            )
        return self._doubles[alike]

    def _has_old_dates(self, file: DataFileMeta, alike: int) -> bool:
        if file.format != "orc":
            return False
        if alike not in self._dated:
            self._dated[alike] = with_dates(_read(self._sources[alike, False]).stored)
        return may_have_old_dates(file, self._dated[alike], self.schema_of)

    def _read(self, group: _Group) -> _Read:
        """The columns that are read of the files of a group."""
        sources = self._sources[group.schema_id, group.format == "parquet"]
        if group.integers:
            sources = tuple(of_integers(*pair) for pair in zip(sources, self.schema.fields, strict=True))
        return _read(sources)

    def _checked(self, bucket: BucketScan, file: DataFileMeta) -> _Found:
        """A file that is there and has bytes: Spark finds no rows in an empty file, nor in a folder."""
        path, io = bucket.path_of(self._table.paths, file), self._table.io
        size = io.size(path)
        if size == 0:
            raise CorruptDataError(path, f"it is empty, and its manifest says {file.file_size:,} bytes")
        if size != file.file_size:
            io.open_input(path).close()  # a folder raises
        return _Found(io.local_path(path), size)

    def _alike(self, schema_id: int, file_format: str) -> int:
        """The schema whose files are read like those of another one: the columns have the same sources."""
        widens = file_format == "parquet"
        known = (schema_id, widens)
        if known not in self._known:
            own = self.schema_of(schema_id)
            sources = self._sources_of(own, widens=widens)
            self._check_distinct(own, sources)
            alike = (one for (one, as_wide), those in self._sources.items() if as_wide == widens and those == sources)
            self._known[known] = next(alike, schema_id)
            self._sources[self._known[known], widens] = sources
        return self._known[known]

    def _sources_of(self, own: TableSchema, *, widens: bool) -> tuple[Source, ...]:
        fills = partial(fills_structs, self.spark)
        found = sources_of(own, self.schema, widens=widens, fills_structs=fills)
        if self._named is None:
            return found
        pairs = list(zip(found, self.schema.fields, strict=True))
        reads = [one.name.lower() in self._named for one in self.schema.fields]
        if not any(one.stored for one, read in zip(found, reads, strict=True) if read):
            # One column at least, which has the number of rows.
            reads[next((at for at, one in enumerate(found) if one.stored), 0)] = True
        return tuple(one if read else unread(field) for (one, field), read in zip(pairs, reads, strict=True))

    def _check_distinct(self, own: TableSchema, sources: tuple[Source, ...]) -> None:
        """Raise a SchemaError if a column that is read has a name in files of this schema which the session does not
        distinguish from that of another one."""
        read = {one.stored.name.lower() for one in sources if one.stored is not None}
        spellings = Names(name for name in own.field_names if name.lower() in read)
        check_distinct(self.spark, spellings.alike, self._table.name, "older files of table")

    def _scan(
        self,
        group: _Group,
        files: list[BucketFile],
        read: _Read,
        first: tuple[DataField, ...],
        last: tuple[str, ...],
    ) -> DataFrame:
        stored, sources = (*first, *read.stored), read.sources
        native = group.format == "parquet" or (
            group.format == "orc" and not (last or group.deletes or group.old_dates) and spark_reads_orc(stored)
        )
        selected = {one.name: quoted_name(one.name) for one in first}
        for field, one in zip(self.schema.fields, sources, strict=True):
            selected[field.name] = quoted_name(field.name) if one.sql is None else one.sql
        selected |= {one: _METADATA[one] if native else one for one in last}
        if not native:
            return self._arrow(files, stored).selectExpr(*items_of(selected))
        found = [self._checked(bucket, file) for bucket, file in files]
        if group.deletes:
            return self._live(files, found, stored, selected)
        frame = self._native(group.format, [one.path for one in found], stored)
        return frame if all(one.sql is None for one in sources) and not last else frame.selectExpr(*items_of(selected))

    def _live(
        self, files: list[BucketFile], found: list[_Found], stored: tuple[DataField, ...], selected: dict[str, str]
    ) -> DataFrame:
        """Columns of those rows of Parquet files that are not deleted."""
        sizes, row_counts = [one.size for one in found], [file.row_count for _, file in files]
        apart = sized_files(sizes, row_counts)
        if apart is None:
            frame = self._native("parquet", [one.path for one in found], stored)
            names = (one.path.rsplit("/", 1)[-1] for one in found)
            deleted = zip(names, self._deleted(files), strict=True)
            return without_deleted(self.spark, frame, selected, deleted)
        if POSITION_COLUMN in selected:  # Spark numbers rows once
            selected[POSITION_COLUMN] = ROW_NUMBER
        scans = []
        for one in apart:
            words = all_words(self._deleted([files[i] for i in one.files]), [row_counts[i] for i in one.files])
            frame = self._native("parquet", [found[i].path for i in one.files], (*stored, _ROW_NUMBER))
            starts = one.starts(sizes, row_counts)
            scans.append(without_words(self.spark, frame, selected, one, words, starts))
        return reduce(DataFrame.unionAll, scans)

    def _native(self, file_format: str, paths: list[str], fields: tuple[DataField, ...]) -> DataFrame:
        """The files' columns as they were written, read by Spark itself."""
        reader = self.spark.read.schema(to_spark_schema(fields)).format(file_format)
        frame = reader.options(**reader_options(file_format, fields)).load([escaped_path(path) for path in paths])
        return without_pushed_floats(frame, file_format, fields)

    def _arrow(self, files: list[BucketFile], fields: tuple[DataField, ...]) -> DataFrame:
        """The same, read by Spark's Python workers: without deleted rows."""
        checked = ((self._checked(bucket, file), bucket, file) for bucket, file in files)
        arrow_files = [
            ArrowFile(one.path, file.file_size, bucket.deletions.get(file.file_name)) for one, bucket, file in checked
        ]
        return arrow_frame(self.spark, self._table.io, arrow_files, fields)

    def _deleted(self, files: list[BucketFile]) -> Iterator[Positions]:
        """The positions of the rows of each file that are deleted or left out."""
        vectors = [bucket.deletions.get(file.file_name) for bucket, file in files]
        positions = read_positions_of(self._table.io, [one for one in vectors if one is not None])
        for one, (_, file) in zip(vectors, files, strict=True):
            deleted = NO_POSITIONS if one is None else next(positions)
            left_out = self._left_out.get(file.file_name)
            yield deleted if left_out is None else np.union1d(deleted, left_out)


def _read(sources: tuple[Source, ...]) -> _Read:
    return _Read(sources, tuple(one.stored for one in sources if one.stored is not None))


def _with_few_whole_files(groups: dict[_Group, list[BucketFile]]) -> dict[_Group, list[BucketFile]]:
    """Groups in which whole Parquet files are scanned with those that have deleted rows, where they are few: a scan
    costs more than the look-up of their rows."""
    for group in [one for one in groups if one.deletes and one.format == "parquet"]:
        whole = replace(group, deletes=False)
        rows, few = (sum(file.row_count for _, file in groups.get(one, ())) for one in (group, whole))
        if few * _WHOLE_SHARE <= rows:
            groups[group] += groups.pop(whole, [])
    return groups


def escaped_path(path: str) -> str:
    """A path as Spark takes it for one file, whatever characters it has."""
    return _PATTERN.sub(r"\\\g<0>", path)


def read_positions(spark: SparkSession, table: Table, plan: ScanPlan) -> DataFrame:
    """Rows of an append table's plan with the file (`FILE_COLUMN`) and row number of each."""
    files = [(b, f) for b in plan.buckets for f in b.files]
    scans = FileScans(spark, table, plan.schema)
    return typed(scans.scan(files, last=POSITIONS) if files else scans.empty(POSITIONS), plan.schema)
