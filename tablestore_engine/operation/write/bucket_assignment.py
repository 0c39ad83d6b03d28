"""The bucket of each row of Arrow tables: by hash, or by the index of dynamic buckets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tablestore_engine.errors import UserError
from tablestore_engine.metadata.bucket_hash import bucket_ids
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.dynamic_buckets.hash_index import (
    Buckets,
    KnownKeys,
    assigned_buckets,
    key_hashes,
    repaired,
)
from tablestore_engine.operation.write_job.write_job import WriteJob
from tablestore_engine.schema.table.table_schema import TableSchema

Positions = np.ndarray[Any, np.dtype[np.int64]]


def row_buckets(job: WriteJob, rows: pa.Table) -> tuple[WriteJob, Buckets]:
    """The bucket of each row, and the job with what it learned about the index.

    Raises:
        OptionError: new keys do not fit into the allowed buckets.
        StorageError, CorruptMetadataError: an index file cannot be read.
    """
    schema = job.schema
    _refuse_crossing(schema)
    if job.dynamic is None:
        return job, _hashed_buckets(job, rows)
    buckets: Buckets = np.zeros(rows.num_rows, dtype=np.int32)
    hashes = key_hashes(rows, schema)
    groups = list(partition_groups(rows, schema))
    dynamic = repaired(job.dynamic, job.target, [partition for partition, _ in groups])
    for partition, at in groups:
        buckets[at] = assigned_buckets(dynamic, job.target, partition, hashes[at])
    return replace(job, dynamic=dynamic), buckets


class BucketStream:
    """Assigns buckets to the rows of several tables of one write; `job` collects what is learned about the index.

    For dynamic buckets, the index of each written partition stays in memory (see `KnownKeys`).
    """

    def __init__(self, job: WriteJob) -> None:
        _refuse_crossing(job.schema)
        self.job = job
        self._known_keys: dict[bytes, KnownKeys] = {}

    def buckets(self, rows: pa.Table) -> Buckets:
        """The bucket of each row. Raises what `row_buckets` raises."""
        job = self.job
        if job.dynamic is None:
            return _hashed_buckets(job, rows)
        found: Buckets = np.zeros(rows.num_rows, dtype=np.int32)
        hashes = key_hashes(rows, job.schema)
        for partition, at in partition_groups(rows, job.schema):
            if partition not in self._known_keys:
                dynamic = repaired(job.dynamic, job.target, [partition])
                job = self.job = replace(job, dynamic=dynamic)
                self._known_keys[partition] = KnownKeys(dynamic, job.target, partition)
            found[at] = self._known_keys[partition].assigned(hashes[at])
        return found


def _refuse_crossing(schema: TableSchema) -> None:
    if schema.crosses_partitions:
        raise UserError(
            "Rows whose key may be in another partition cannot be written without Spark.",
            hint="Write them by SQL: INSERT INTO, or TableStore.write.",
        )


def _hashed_buckets(job: WriteJob, rows: pa.Table) -> Buckets:
    schema = job.schema
    if not schema.bucket_keys or job.total_buckets <= 0:
        return np.zeros(rows.num_rows, dtype=np.int32)
    arrays = [rows.column(name) for name in schema.bucket_keys]
    types = [f.type for f in schema.bucket_fields]
    buckets = bucket_ids(arrays, types, job.total_buckets)
    if job.partition_buckets:
        for partition, at in partition_groups(rows, schema):
            number = job.buckets_of(partition)
            if number != job.total_buckets:
                buckets[at] = bucket_ids([a.take(pa.array(at)) for a in arrays], types, number)
    return buckets


def partitions_of(rows: pa.Table, schema: TableSchema) -> frozenset[bytes] | None:
    """The partitions of rows; None where these do not say which files a write concerns."""
    if not schema.partition_keys or schema.crosses_partitions:
        return None
    return frozenset(partition for partition, _ in partition_groups(rows, schema))


def partition_groups(rows: pa.Table, schema: TableSchema) -> Iterator[tuple[bytes, Positions]]:
    """Each partition (a BinaryRow) of the rows, and the indices of its rows."""
    partition_format = PartitionFormat(schema)
    if not rows.num_rows:
        return
    if not schema.partition_keys:
        yield partition_format.encode(()), np.arange(rows.num_rows)
        return
    codes: Positions = np.zeros(rows.num_rows, dtype=np.int64)
    for name in schema.partition_keys:
        column = rows.column(name).combine_chunks().dictionary_encode(null_encoding="encode")
        numbers = column.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, codes = np.unique(codes * max(len(column.dictionary), 1) + numbers, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    ends = np.flatnonzero(np.diff(codes[order])) + 1
    for at in np.split(order, ends):
        values = [rows.column(name)[int(at[0])].as_py() for name in schema.partition_keys]
        yield partition_format.encode(values), at
