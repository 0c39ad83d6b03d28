"""Merge-on-read as DataFrame algebra over Spark's own Parquet scan: no row crosses into Python.

With B the oldest run of the sections that need merging and U the runs above it:

    single-run files  ∪  (B anti-join keys(U))  ∪  newest(U)

When a row of B may beat one of U (a user's sequence field, or sequence numbers that overlap), `newest` also takes the
rows of B that share a key with U. Spark sees plain scans, so column pruning, filter push-down and vectorised reading
stay its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tablestore_engine.mergetree.sections import Section
from tablestore_engine.metadata.data_file import DataFileMeta
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.scan import BucketScan, ScanPlan
from tablestore_engine.schema.predicate import Predicate
from tablestore_engine.schema.system import SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.schema.table_schema import TableSchema
from tablestore_engine.schema.types import DataType
from tablestore_engine.spark.names import quoted
from tablestore_engine.spark.types import to_spark_schema, to_spark_type
from tablestore_engine.table import Table

BROADCAST_ROWS = 2_000_000
FILE_COLUMN = "__file"
POSITION_COLUMN = "__position"
_ROW = "__row"
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


def read_table(
    spark: SparkSession,
    table: Table,
    snapshot: Snapshot | None = None,
    predicate: Predicate | None = None,
    *,
    schema: TableSchema | None = None,
) -> DataFrame:
    """The rows of one snapshot (default: the latest), pinned to it.

    `predicate` prunes partitions, buckets and files; the rows are not filtered by it.
    """
    table.options.refuse_unsupported(for_write=False)
    return read_plan(spark, table, table.scan(snapshot, predicate, schema=schema))


def read_plan(spark: SparkSession, table: Table, plan: ScanPlan) -> DataFrame:
    """The merged rows of a scan plan."""
    return _Reader(spark, table, plan).frame()


def read_positions(spark: SparkSession, table: Table, plan: ScanPlan) -> DataFrame:
    """Rows of an append table's plan with the file (`FILE_COLUMN`) and row number that each stands at."""
    files = [(b, f) for b in plan.buckets for f in b.files]
    if not files:
        nowhere = (
            F.lit(None).cast("string").alias(FILE_COLUMN),
            F.lit(None).cast("bigint").alias(POSITION_COLUMN),
        )
        return empty_frame(spark, plan.schema).select("*", *nowhere)
    return _Reader(spark, table, plan).raw(files, positions=True)


def empty_frame(spark: SparkSession, schema: TableSchema) -> DataFrame:
    """No rows, the table's columns."""
    columns = [F.lit(None).cast(to_spark_type(f.type)).alias(f.name) for f in schema.fields]
    return spark.range(0).select(*columns)


Placed = tuple[BucketScan, DataFileMeta]


@dataclass(frozen=True)
class _Merge:
    """The files of the sections that need merging."""

    bottom: list[Placed]
    upper: list[Placed]
    one_upper_run: bool
    upper_is_newer: bool


class _Reader:
    def __init__(self, spark: SparkSession, table: Table, plan: ScanPlan) -> None:
        self._spark = spark
        self._table = table
        self._schema = plan.schema
        self._plan = plan

    def frame(self) -> DataFrame:
        if not self._schema.primary_keys:
            files = [(b, f) for b in self._plan.buckets for f in b.files]
            return self.raw(files) if files else empty_frame(self._spark, self._schema)
        single: list[Placed] = []
        with_deletes: list[Placed] = []
        merging: list[tuple[BucketScan, Section]] = []
        for bucket, section in self._plan.sections:
            if section.needs_merge:
                merging.append((bucket, section))
                continue
            for file in section.files:
                (with_deletes if file.delete_row_count != 0 else single).append((bucket, file))
        parts = []
        if single:
            parts.append(self.raw(single))
        if with_deletes:
            parts.append(self._alive(self.raw(with_deletes, system=True)))
        if merging:
            parts.extend(self._merged(_merge_of(merging)))
        if not parts:
            return empty_frame(self._spark, self._schema)
        return reduce(DataFrame.unionAll, parts)

    def _merged(self, merge: _Merge) -> list[DataFrame]:
        keys = [quoted(k) for k in self._schema.primary_keys]
        upper = self.raw(merge.upper, system=True)
        changed = upper.select(*keys)
        if not merge.one_upper_run:
            changed = changed.distinct()
        if sum(f.row_count for _, f in merge.upper) <= BROADCAST_ROWS:
            changed = F.broadcast(changed)
        names = list(self._schema.primary_keys)
        newest_wins = merge.upper_is_newer and not self._schema.core_options.sequence_field
        deletes = any(f.delete_row_count != 0 for _, f in merge.bottom)
        bottom = self.raw(merge.bottom, system=deletes)
        untouched = bottom.join(changed, names, "left_anti").select(*self._columns(bottom))
        untouched = self._alive(untouched) if deletes else untouched
        if not newest_wins:
            older = self.raw(merge.bottom, system=True)
            matched = older.join(changed, names, "left_semi").select(*self._columns(older))
            upper = upper.unionAll(matched)
        newest = upper if newest_wins and merge.one_upper_run else self._newest(upper)
        return [untouched, self._alive(newest)]

    def _newest(self, rows: DataFrame) -> DataFrame:
        """Per key the row with the greatest sequence."""
        options = self._schema.core_options
        descending = options.sequence_field_descending
        number = F.col(SEQUENCE_NUMBER.name)
        # A struct compares field by field with nulls first. Descending, the smallest is the best (but never a
        # null), and of equals still the latest written.
        order: list[Column] = []
        for name in options.sequence_field:
            field = F.col(quoted(name))
            order += [field.isNull().alias(f"{name}_null"), field] if descending else [field]
        rank = F.struct(*order, (-number if descending else number).alias("n"))
        best = F.min_by if descending else F.max_by
        row = F.struct(*[F.col(quoted(c)) for c in rows.columns])
        keys = [F.col(quoted(k)) for k in self._schema.primary_keys]
        return rows.groupBy(*keys).agg(best(row, rank).alias(_ROW)).select(f"{_ROW}.*")

    def _alive(self, rows: DataFrame) -> DataFrame:
        kept = rows.where(F.col(VALUE_KIND.name).isin(0, 2))
        return kept.select(*[quoted(n) for n in self._schema.field_names])

    def _columns(self, frame: DataFrame) -> list[str]:
        return [quoted(c) for c in frame.columns]

    def raw(self, files: Sequence[Placed], *, system: bool = False, positions: bool = False) -> DataFrame:
        """The rows of files as they are: one scan, and one more for each schema that Spark cannot bridge."""
        groups: dict[int, list[str]] = {}
        for bucket, file in files:
            own = file.schema_id
            if own == self._schema.id or self._reads_by_name(own):
                own = self._schema.id
            groups.setdefault(own, []).append(self._path(bucket, file))
        frames = [self._scan(own, paths, system, positions) for own, paths in sorted(groups.items())]
        return reduce(DataFrame.unionAll, frames)

    def _path(self, bucket: BucketScan, file: DataFileMeta) -> str:
        if file.external_path:
            return file.external_path
        directory = self._table.paths.bucket_dir(bucket.partition_path, bucket.bucket)
        return self._table.io.local_path(f"{directory}/{file.file_name}")

    def _reads_by_name(self, schema_id: int) -> bool:
        """Whether files of a past schema read rightly when asked for the current columns by name."""
        own = self._table.schemas.load(schema_id)
        by_id = {f.id: f for f in own.fields}
        for field in self._schema.fields:
            past = by_id.get(field.id)
            if past is None:
                if own.has_field(field.name):
                    return False
            elif past.name.lower() != field.name.lower() or not _same_for_spark(past.type, field.type):
                return False
        return True

    def _scan(self, schema_id: int, paths: list[str], system: bool, positions: bool) -> DataFrame:
        own = self._schema if schema_id == self._schema.id else self._table.schemas.load(schema_id)
        struct = to_spark_schema(own.fields)
        if system:
            struct = T.StructType([*to_spark_schema((SEQUENCE_NUMBER, VALUE_KIND)).fields, *struct.fields])
        frame = self._spark.read.schema(struct).parquet(*[_PATTERN.sub(r"\\\g<0>", p) for p in paths])
        extra = [SEQUENCE_NUMBER.name, VALUE_KIND.name] if system else []
        selected: list[Column] = [F.col(name) for name in extra]
        by_id = {f.id: f for f in own.fields}
        for field in self._schema.fields:
            past = by_id.get(field.id)
            target = to_spark_type(field.type)
            if past is None:
                column = F.lit(None).cast(target)
            else:
                column = F.col(quoted(past.name))
                if own is not self._schema:
                    column = column.cast(target)
            selected.append(column.alias(field.name))
        if positions:
            selected.append(F.col("_metadata.file_path").alias(FILE_COLUMN))
            selected.append(F.col("_metadata.row_index").alias(POSITION_COLUMN))
        elif own is self._schema:
            return frame
        return frame.select(*selected)


def _merge_of(merging: list[tuple[BucketScan, Section]]) -> _Merge:
    bottom: list[Placed] = []
    upper: list[Placed] = []
    newer = True
    for bucket, section in merging:
        *above, last = section.runs
        bottom.extend((bucket, f) for f in last.files)
        upper.extend((bucket, f) for run in above for f in run.files)
        least = min(f.min_sequence_number for run in above for f in run.files)
        newer = newer and max(f.max_sequence_number for f in last.files) < least
    return _Merge(bottom, upper, all(len(s.runs) <= 2 for _, s in merging), newer)


def _same_for_spark(past: DataType, current: DataType) -> bool:
    if past.as_nullable(True) == current.as_nullable(True):
        return True
    return (getattr(past, "root", None), getattr(current, "root", None)) in _NATIVE_CASTS
