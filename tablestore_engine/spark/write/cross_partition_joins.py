"""Routing of large writes by Spark's joins, and the choice between it and routing in this process.

`operation.write.cross_partition_routing` says which rows go where: a primary key that leaves partition columns out is
in one partition at a time. The *location* of a key is the partition and bucket that hold it now. Locations are found by
reading the keys of the table; for small writes, only files that may hold one of their keys. The write conflicts with
any concurrent commit.

Small writes are collected and routed in this process (`operation.write.cross_partition_keys`), larger ones by joins.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tablestore_engine.mergetree.merge.normalize_records import ignored_kinds
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.dynamic_buckets.hash_index import fill_rule
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.operation.write.align_columns import table_rows
from tablestore_engine.operation.write.cleanup import remove_files
from tablestore_engine.operation.write.cross_partition_keys import (
    LOCATION_COLUMN,
    are_few,
    files_with,
    records_of,
    routed_rows,
    rows_by_bucket,
)
from tablestore_engine.operation.write.cross_partition_routing import (
    Held,
    KeptRows,
    Target,
    routing_of,
    row_order,
    unique_kinds,
)
from tablestore_engine.operation.write.refused_rows import SHOWN_KEYS, check_unique
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_job import (
    BUCKET_COLUMN,
    ORDINAL_COLUMN,
    ROW_KIND_COLUMN,
    WriteJob,
    WriteResult,
)
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS, SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.expressions.bucket_hash_column import HASH_COLUMN, hash_column
from tablestore_engine.spark.queries.collect import arrow_frame, collect_arrow
from tablestore_engine.spark.queries.kept_rows import kept
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITIONS
from tablestore_engine.spark.scan.file_scan import FileScans
from tablestore_engine.spark.write.bucket_assignment import (
    NEW_BUCKET,
    OPENING_TYPES,
    join_lookup,
    key_counts,
    openings,
)
from tablestore_engine.spark.write.writer import Rows, few_rows, small_rows, write_rows
from tablestore_engine.table import Table

_FILE, _LOCATION = "__tablestore_file_name", "__tablestore_location"
_OLD_BUCKET, _HELD = "__tablestore_old_bucket", "__tablestore_held"


@dataclass(frozen=True)
class KeyLocations:
    """The locations of keys in a snapshot of a table; no snapshot for a table that is created anew."""

    spark: SparkSession
    table: Table
    snapshot: Snapshot | None

    @property
    def plan(self) -> ScanPlan:
        """The whole table."""
        empty = ScanPlan(None, self.table.schema, ())
        return self.table.scan(self.snapshot) if self.snapshot else empty


def write_routed(
    spark: SparkSession, table: Table, snapshot: Snapshot | None, job: WriteJob, rows: Rows
) -> WriteResult:
    """`write_rows`, after rows whose key may be in another partition were routed to its location.

    Keys are located in `snapshot`; None when the write replaces the whole table.
    """
    job = job.of_rows(rows.frame.columns)
    locations = KeyLocations(spark, table, snapshot)
    given = few_rows(rows, job.schema)
    if given is not None:
        return _write_few(locations, job, given)
    with ExitStack() as stack:
        frame = stack.enter_context(kept(rows.frame))
        with translated():
            number = frame.count()
        if number <= small_rows(job.schema):
            return _write_few(locations, job, collect_arrow(frame))
        routed = _route(locations, job, frame, stack)
        # Now each key occurs once in a bucket, unless the merge engine folds it.
        result = write_rows(spark, job, Rows(routed, rows.input_bytes))
        result.rows_in = number  # without the deletes of rows that move
        return result


def _write_few(locations: KeyLocations, job: WriteJob, given: pa.Table) -> WriteResult:
    schema, buckets = job.schema, locations.plan.buckets
    rows = routed_rows(
        table_rows(given, schema), job, buckets, lambda sought: _records(locations, schema, buckets, sought)
    )
    try:
        result = write_table(job, rows)
    except BaseException:
        remove_files(job.target)
        raise
    result.rows_in = given.num_rows  # without the deletes of rows that move
    return result


def _records(locations: KeyLocations, schema: TableSchema, buckets: Sequence[BucketScan], rows: pa.Table) -> pa.Table:
    """The records of the keys of some rows in the table: see `locations_of`."""
    files = files_with(buckets, schema, rows)
    table = locations.table
    if are_few(files, schema, rows.num_rows):
        return records_of(table.state.with_schema(schema), files, rows)
    scanned = FileScans(locations.spark, table, schema).scan(
        [(bucket, file) for _, bucket, file in files], RECORD_COLUMNS, POSITIONS
    )
    keys = list(schema.primary_keys)
    sought = arrow_frame(locations.spark, rows.select(keys)).distinct()
    columns = [*_key(schema), FILE_COLUMN, SEQUENCE_NUMBER.name, VALUE_KIND.name]
    found = collect_arrow(scanned.select(*columns).join(F.broadcast(sought), keys, "left_semi"))
    # Names of files are unique in a table.
    names = pc.replace_substring_regex(found.column(FILE_COLUMN), "^.*/", "")
    at = pc.index_in(names, value_set=pa.array([file.file_name for _, _, file in files]))
    numbers = pa.array([number for number, _, _ in files], pa.int32()).take(at.combine_chunks())
    return found.append_column(LOCATION_COLUMN, numbers)


def _route(locations: KeyLocations, job: WriteJob, frame: DataFrame, stack: ExitStack) -> DataFrame:
    """The rows with their `BUCKET_COLUMN` and kind, and deletes for those that move away, while the stack is open.

    Raises:
        DuplicateKeyError: a key occurs twice, and the job refuses that.
    """
    schema = job.schema
    frame = frame.withColumn(ORDINAL_COLUMN, F.monotonically_increasing_id())
    if ROW_KIND_COLUMN not in frame.columns:
        frame = frame.withColumn(ROW_KIND_COLUMN, F.lit(0).cast("tinyint"))
    elif ignored := ignored_kinds(schema.merge_engine):
        frame = frame.where(~F.col(ROW_KIND_COLUMN).isin(*ignored))
    check_unique(job, lambda: _repeated_in(frame, job))
    buckets = locations.plan.buckets
    # The lookup reads the keys of the table, and the rows are used several times after it.
    found = stack.enter_context(kept(_with_locations(locations, schema, _kept_rows(frame, job), buckets)))
    return _routed(locations, schema, found, buckets)


def _key(schema: TableSchema) -> list[str]:
    return [quoted_name(name) for name in schema.primary_keys]


def _repeated_in(frame: DataFrame, job: WriteJob) -> pa.Table:
    """Some keys that occur more often than a job allows that refuses repeated ones."""
    counted = F.col(ROW_KIND_COLUMN).isin(*unique_kinds(job))
    twice = (F.count_if(counted) > 1).alias("twice")
    found = frame.groupBy(*_key(job.schema)).agg(twice).where("twice").drop("twice").limit(SHOWN_KEYS)
    return collect_arrow(found)


def _kept_rows(frame: DataFrame, job: WriteJob) -> DataFrame:
    """The rows of each key that its merge engine needs (`KeptRows`)."""
    kept = routing_of(job.schema.merge_engine).kept_rows
    if kept is KeptRows.ALL:
        return frame
    order = F.struct(*(-F.col(c.name) if c.descending else F.col(c.name) for c in row_order(job)))
    chosen = F.max_by if kept is KeptRows.LAST else F.min_by
    row = F.struct(*(F.col(quoted_name(c)) for c in frame.columns))
    return frame.groupBy(*_key(job.schema)).agg(chosen(row, order).alias("row")).select("row.*")


def _routed(
    locations: KeyLocations, schema: TableSchema, found: DataFrame, buckets: tuple[BucketScan, ...]
) -> DataFrame:
    """The parts of a write as `routing` says, with their `BUCKET_COLUMN`."""
    retracts = F.col(ROW_KIND_COLUMN).bitwiseAND(F.lit(1)) == 1
    parts = []
    for part in routing_of(schema.merge_engine).parts:
        rows = found.where(F.col(_HELD).isin(*map(int, part.held)))
        if not part.retractions:
            rows = rows.where(~retracts)
        if part.as_deletes:
            rows = rows.withColumn(ROW_KIND_COLUMN, F.lit(DELETE_KIND).cast("tinyint"))
        if part.together:
            rows = _in_first_partition(schema, rows)
        at_location = part.target is Target.LOCATION
        parts.append(_at_location(schema, rows) if at_location else _opened(locations, schema, rows, buckets))
    return reduce(DataFrame.unionAll, parts)


def _columns(schema: TableSchema) -> list[str]:
    return [*schema.field_names, ROW_KIND_COLUMN, ORDINAL_COLUMN]


def _at_location(schema: TableSchema, rows: DataFrame) -> DataFrame:
    old = {name: F.col(_old(i)).alias(name) for i, name in enumerate(schema.partition_keys)}
    columns = [old[c] if c in old else F.col(quoted_name(c)) for c in _columns(schema)]
    return rows.select(*columns, F.col(_OLD_BUCKET).alias(BUCKET_COLUMN))


def _in_first_partition(schema: TableSchema, rows: DataFrame) -> DataFrame:
    """Rows of a new key in the partition of the first of them."""
    names = [quoted_name(name) for name in schema.partition_keys]
    first = F.min_by(F.struct(*names), F.col(ORDINAL_COLUMN)).alias("__tablestore_first")
    found = rows.join(rows.groupBy(*_key(schema)).agg(first), list(schema.primary_keys))
    return found.withColumns({n: F.col(f"__tablestore_first.{quoted_name(n)}") for n in schema.partition_keys})


def _opened(
    locations: KeyLocations, schema: TableSchema, rows: DataFrame, buckets: tuple[BucketScan, ...]
) -> DataFrame:
    """Rows of keys that are new in their partition, in buckets with room."""
    counts = rows_by_bucket(buckets)
    hashed = rows.withColumn(HASH_COLUMN, hash_column(schema.bucket_fields))
    new = key_counts(hashed, schema)
    rule = fill_rule(schema.core_options)
    lookup = {p: openings(counts.get(p, {}), number, rule) for p, number in new.items()}
    found = join_lookup(locations.spark, hashed, schema, lookup, OPENING_TYPES)
    bucket = F.expr(f"coalesce({NEW_BUCKET}, 0)").cast("int").alias(BUCKET_COLUMN)
    return found.select(*[F.col(quoted_name(c)) for c in _columns(schema)], bucket)


def _old(position: int) -> str:
    return f"__tablestore_old{position}"


def _with_locations(
    locations: KeyLocations, schema: TableSchema, rows: DataFrame, buckets: tuple[BucketScan, ...]
) -> DataFrame:
    """The rows with the number of their key's location (null: none), its partition and bucket, and their `Held`."""
    fields = schema.partition_fields
    arrays: list[Any] = [
        pa.array(range(len(buckets)), pa.int32()),
        pa.array([b.bucket for b in buckets], pa.int32()),
    ]
    arrays += [
        pa.array([b.partition[i] for b in buckets], to_arrow_type(f.type.as_nullable(True)))
        for i, f in enumerate(fields)
    ]
    names = [_LOCATION, _OLD_BUCKET, *(_old(i) for i in range(len(fields)))]
    buckets_by_number = locations.spark.createDataFrame(pa.table(arrays, names=names))
    keys = list(schema.primary_keys)
    if buckets:
        live = _live_keys(locations, schema, buckets).join(rows.select(*_key(schema)).distinct(), keys, "left_semi")
        found = rows.join(live, keys, "left")
    else:
        found = rows.withColumn(_LOCATION, F.lit(None).cast("int"))
    found = found.join(F.broadcast(buckets_by_number), [_LOCATION], "left")
    same: Column = F.lit(True)
    for i, name in enumerate(schema.partition_keys):
        same = same & F.col(quoted_name(name)).eqNullSafe(F.col(_old(i)))
    known = F.when(same, int(Held.SAME_PARTITION)).otherwise(int(Held.OTHER_PARTITION))
    return found.withColumn(_HELD, F.when(F.col(_LOCATION).isNull(), int(Held.NOWHERE)).otherwise(known))


def _live_keys(locations: KeyLocations, schema: TableSchema, buckets: tuple[BucketScan, ...]) -> DataFrame:
    """Each key of the table and the number of the bucket scan that holds it."""
    files = [(number, bucket, file) for number, bucket in enumerate(buckets) for file in bucket.files]
    # Names of files are unique in a table.
    names = locations.spark.createDataFrame(
        pa.table(
            [pa.array([f.file_name for _, _, f in files]), pa.array([n for n, _, _ in files], pa.int32())],
            names=[_FILE, _LOCATION],
        )
    )
    routed = [(bucket, file) for _, bucket, file in files]
    scanned = FileScans(locations.spark, locations.table, schema).scan(routed, RECORD_COLUMNS, POSITIONS)
    name = f"substring_index({FILE_COLUMN}, '/', -1) AS {_FILE}"
    scanned = scanned.selectExpr(*_key(schema), SEQUENCE_NUMBER.name, VALUE_KIND.name, name)
    scanned = scanned.join(F.broadcast(names), [_FILE]).drop(_FILE)
    last = f"max_by({VALUE_KIND.name}, {SEQUENCE_NUMBER.name}) AS kind"
    kinds = ", ".join(map(str, routing_of(schema.merge_engine).live_kinds))
    alive = scanned.groupBy(*_key(schema), _LOCATION).agg(F.expr(last)).where(f"kind IN ({kinds})")
    return alive.groupBy(*_key(schema)).agg(F.min(_LOCATION).alias(_LOCATION))
