"""The bucket of each row of a DataFrame, if it is not just a hash of the key.

Vocabulary: the *partition number* numbers the partitions of the rows; *bounds* divide the hashes of a partition into as
many ranges as buckets are *open* to its new keys, in proportion to the number of keys each bucket takes. So the bucket
of a new key is a function of its hash, and no list of new keys is needed.

The query runs once for each of these passes. If it yields a partition only in the last pass, the tasks that write
refuse it (`DynamicBuckets.check_sought`); other keys that were not counted do no harm.

Cost for tables with an index: one more pass over the key columns, which counts the keys of each partition, and, if
partitions have an index already, a join of the rows with their index, which tasks read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.dynamic_buckets.bucket_filling import FillRule, shares
from tablestore_engine.operation.dynamic_buckets.hash_index import DynamicBuckets, repaired
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.write_job.write_job import BUCKET_COLUMN, ORDINAL_COLUMN, WriteJob
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.expressions.bucket_hash_column import HASH_COLUMN, hash_column
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.hash_index_file import read_hashes

BROADCAST_HASHES = 2_000_000
_CHUNK = 1 << 20
_READERS = 64
_PARTITION_NUMBER, _BOUNDS, _OPEN = "__tablestore_partition_number", "__tablestore_bounds", "__tablestore_open"
_KNOWN, _NUMBER, _KEYS = "__tablestore_known", "__tablestore_number", "__tablestore_keys"

OPENING_TYPES = f"{_BOUNDS} array<int>, {_OPEN} array<int>"
# SQL of the bucket of a new key, from the openings of its partition.
NEW_BUCKET = f"get({_OPEN}, size(filter({_BOUNDS}, one -> {HASH_COLUMN} >= one)))"

# For each partition: the values of the lookup's columns.
Lookup = Mapping[bytes, Mapping[str, Any]]


def with_buckets(spark: SparkSession, job: WriteJob, frame: DataFrame) -> tuple[WriteJob, DataFrame]:
    """The rows, with `BUCKET_COLUMN` if it is not one hash for all, and the job with what it learned of the index."""
    if BUCKET_COLUMN in frame.columns:
        return job, frame
    if job.dynamic is not None:
        return _dynamic(spark, job, job.dynamic, frame)
    if job.partition_buckets:
        return job, _mixed(spark, job, frame)
    return job, frame


def _mixed(spark: SparkSession, job: WriteJob, frame: DataFrame) -> DataFrame:
    """Each partition has its own number of buckets."""
    schema = job.schema
    lookup = {partition: {_NUMBER: number} for partition, number in job.partition_buckets.items()}
    number = F.coalesce(F.col(_NUMBER), F.lit(job.total_buckets))
    found = join_lookup(spark, frame, schema, lookup, f"{_NUMBER} int")
    bucket = F.abs(hash_column(schema.bucket_fields) % number)
    return found.select(*_columns(frame), bucket.alias(BUCKET_COLUMN))


def _dynamic(
    spark: SparkSession, job: WriteJob, dynamic: DynamicBuckets, frame: DataFrame
) -> tuple[WriteJob, DataFrame]:
    schema = job.schema
    # Numbered before anything moves the rows: of several rows of a key the last one counts.
    frame = frame.withColumn(ORDINAL_COLUMN, F.monotonically_increasing_id())
    hashed = frame.withColumn(HASH_COLUMN, hash_column(schema.bucket_fields))
    key_totals = key_counts(hashed, schema)
    dynamic = replace(repaired(dynamic, job.target, list(key_totals)), sought=frozenset(key_totals))
    numbers = {partition: number for number, partition in enumerate(sorted(key_totals))}
    index = _index(spark, replace(job, dynamic=dynamic), dynamic, numbers)
    if index is not None:
        lookup = {partition: {_PARTITION_NUMBER: number} for partition, number in numbers.items()}
        keys = join_lookup(
            spark, hashed.select(*_partition(schema), HASH_COLUMN), schema, lookup, f"{_PARTITION_NUMBER} int"
        )
        new = keys.join(index, [_PARTITION_NUMBER, HASH_COLUMN], "left").where(F.col(_KNOWN).isNull())
        key_totals = {**dict.fromkeys(key_totals, 0), **key_counts(new, schema)}
    rows = {partition: {e.bucket: e.row_count for e in dynamic.of(partition)} for partition in numbers}
    lookup = {p: {_PARTITION_NUMBER: n, **openings(rows[p], key_totals[p], dynamic.rule)} for p, n in numbers.items()}
    found = join_lookup(spark, hashed, schema, lookup, f"{_PARTITION_NUMBER} int, {OPENING_TYPES}")
    bucket = f"coalesce({NEW_BUCKET}, 0)"
    if index is not None:
        found = found.join(index, [_PARTITION_NUMBER, HASH_COLUMN], "left")
        bucket = f"coalesce({_KNOWN}, {NEW_BUCKET}, 0)"
    assigned = found.select(*_columns(frame), F.expr(bucket).cast("int").alias(BUCKET_COLUMN))
    return replace(job, dynamic=dynamic), assigned


def openings(rows: Mapping[int, int], new: int, rule: FillRule) -> dict[str, Any]:
    """The buckets that take the new keys of a partition, by ranges of the hash (see `shares`)."""
    # For a key that was not counted, any bucket of the partition will do.
    given = shares(rows, new, rule) or [(min(rows, default=0), 1)]
    ends = list(accumulate(number for _, number in given))
    bounds = [end * 2**32 // ends[-1] - 2**31 for end in ends[:-1]]
    return {_BOUNDS: bounds, _OPEN: [bucket for bucket, _ in given]}


def key_counts(keys: DataFrame, schema: TableSchema) -> dict[bytes, int]:
    """The approximate number of distinct keys of each partition."""
    key_totals = F.approx_count_distinct(HASH_COLUMN, 0.02).alias(_KEYS)
    rows = collect_arrow(keys.groupBy(*_partition(schema)).agg(key_totals))
    types = [to_arrow_type(f.type) for f in schema.partition_fields]
    values = [rows.column(i).cast(kind).to_pylist() for i, kind in enumerate(types)]
    numbers = rows.column(_KEYS).to_pylist()
    partition_format = PartitionFormat(schema)
    return {partition_format.encode(tuple(v[i] for v in values)): number for i, number in enumerate(numbers)}


def _index(
    spark: SparkSession, job: WriteJob, dynamic: DynamicBuckets, numbers: Mapping[bytes, int]
) -> DataFrame | None:
    """The known keys of some partitions: partition number, hash and bucket; None when there are none."""
    paths, schema = job.target.paths, job.schema
    files = [
        (number, e.bucket, index_path(paths, schema, e), e.row_count)
        for partition, number in numbers.items()
        for e in dynamic.of(partition)
    ]
    if not files:
        return None
    columns = f"{_PARTITION_NUMBER} int, {_KNOWN} int, path string, hashes bigint"
    frame = spark.createDataFrame(files, columns)
    frame = frame.repartition(min(len(files), _READERS))
    types = f"{_PARTITION_NUMBER} int, {HASH_COLUMN} int, {_KNOWN} int"
    known = frame.mapInArrow(_reader(job.target.io), types)
    # A hash that another writer put into two buckets must not double a row.
    known = known.groupBy(_PARTITION_NUMBER, HASH_COLUMN).agg(F.min(_KNOWN).alias(_KNOWN))
    return F.broadcast(known) if sum(f[3] for f in files) <= BROADCAST_HASHES else known


def _reader(io: FileIO) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number, bucket, path, count in zip(*(c.to_pylist() for c in batch.columns), strict=True):
                hashes = read_hashes(io, path, count)
                for at in range(0, len(hashes), _CHUNK):
                    part = pa.array(hashes[at : at + _CHUNK])
                    sides = [pa.repeat(pa.scalar(one, pa.int32()), len(part)) for one in (number, bucket)]
                    yield pa.RecordBatch.from_arrays(
                        [sides[0], part, sides[1]], names=[_PARTITION_NUMBER, HASH_COLUMN, _KNOWN]
                    )

    return read


def join_lookup(spark: SparkSession, frame: DataFrame, schema: TableSchema, lookup: Lookup, types: str) -> DataFrame:
    """The frame with the lookup's columns for each row's partition; null for other partitions.

    `types` are the Spark types of the lookup's columns, in their order.
    """
    fields = schema.partition_fields
    names = [name for name, _, _ in (one.strip().partition(" ") for one in types.split(", "))]
    partition_format = PartitionFormat(schema)
    rows = [
        [*partition_format.decode(partition), *(values[name] for name in names)]
        for partition, values in lookup.items()
        if partition_format.is_current(partition)
    ]
    if not fields:
        (values,) = rows or [[None] * len(names)]
        literals = zip(names, types.split(", "), values, strict=True)
        return frame.withColumns({name: _literal(value, kind) for name, kind, value in literals})
    keys = [f"__tablestore_p{i}" for i in range(len(fields))]
    arrays = [pa.array([row[i] for row in rows], to_arrow_type(field.type)) for i, field in enumerate(fields)]
    for at, name in enumerate(names, len(fields)):
        kind = pa.list_(pa.int32()) if f"{name} array" in types else pa.int32()
        arrays.append(pa.array([row[at] for row in rows], kind))
    side = spark.createDataFrame(pa.table(arrays, names=[*keys, *names]))
    same = [F.col(quoted_name(f.name)).eqNullSafe(F.col(k)) for f, k in zip(fields, keys, strict=True)]
    condition = same[0]
    for one in same[1:]:
        condition = condition & one
    return frame.join(F.broadcast(side), condition, "left").drop(*keys)


def _literal(value: Any, kind: str) -> Column:
    text = f"array({', '.join(map(literal, value))})" if isinstance(value, list) else literal(value)
    return F.expr(f"cast({text} as {kind.partition(' ')[2]})")


def _partition(schema: TableSchema) -> list[Column]:
    return [F.col(quoted_name(name)) for name in schema.partition_keys]


def _columns(frame: DataFrame) -> Sequence[Column]:
    return [F.col(quoted_name(name)) for name in frame.columns]
