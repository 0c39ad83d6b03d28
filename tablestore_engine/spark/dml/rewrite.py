"""Rewriting a table's rows in another layout, as one atomic commit: with other buckets, or with a primary key.

The current rows, and the deletes that must be kept, become new files, which replace those that were read. The commit
conflicts if files were added or removed there meanwhile; then the rewrite starts again. A schema that changes with the
layout is valid only once the snapshot exists (`schema.table.layout`), so a killed rewrite leaves the table unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession

from tablestore_engine.errors import OptionError
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.replace_table import restarts
from tablestore_engine.operation.compact.auto_compaction import merge_unread
from tablestore_engine.operation.scan.partition_filter import PartitionValuesFilter
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.transaction.transaction import begin, publish_change, with_retry
from tablestore_engine.operation.write_job.write_intent import PLAIN
from tablestore_engine.schema.table.layout import with_buckets, with_primary_key
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.spark.compact.compactor import execute_tasks
from tablestore_engine.spark.dml.insert_overwrite import WriteOutcome, finish, write_files
from tablestore_engine.spark.read.merge_on_read import read_plan
from tablestore_engine.spark.read.records_for_rewrite import read_records
from tablestore_engine.spark.write.writer import Rows
from tablestore_engine.table import Table


def rescale(
    spark: Callable[[], SparkSession],
    load: Callable[[], Table],
    number: int | None,
    chosen: PartitionValuesFilter | None = None,
    *,
    now_millis: Callable[[], int],
) -> WriteOutcome:
    """Rewrite partitions into `number` buckets each (None: the table's option, -1: dynamic).

    Without `chosen`, all partitions are rewritten, and new ones will have the same number. Partitions that have it
    already are left unchanged.

    Raises:
        OptionError, SchemaError: the table cannot have this number.
        ConflictError: others changed the rows every time.
    """

    def attempt() -> WriteOutcome:
        table = load()
        merge_unread(table.state, partial(execute_tasks, spark))
        wanted = table.options.bucket if number is None else number
        newest = table.schemas.list_ids()[-1]
        schema = with_buckets(table.schema, wanted, newest, now_millis())
        if chosen is not None:
            _check_of_a_kind(table.schema, schema)
            schema = table.schema
        plan = table.scan(partition_filter=chosen)
        buckets = tuple(b for b in plan.buckets if b.total_buckets != wanted)
        return _rewrite(spark, table, schema, replace(plan, buckets=buckets), wanted, whole=chosen is None)

    return with_retry(attempt)


def _check_of_a_kind(current: TableSchema, wanted: TableSchema) -> None:
    if current.has_dynamic_buckets != wanted.has_dynamic_buckets:
        raise OptionError(
            "Dynamic buckets are for all partitions of a table or for none.",
            hint="Rescale the whole table: leave the partition out.",
        )


def add_primary_key(
    spark: Callable[[], SparkSession],
    load: Callable[[], Table],
    keys: tuple[str, ...],
    bytes_per_bucket: int,
    most_buckets: int,
    *,
    now_millis: Callable[[], int],
) -> WriteOutcome:
    """Rewrite a table without a key under a primary key. The number of buckets follows from its size, unless its
    options set it.

    Raises:
        PrimaryKeyError: a null or duplicate key, which the message shows, or the table has a key.
        SchemaError, OptionError: the key does not fit the table.
        ConflictError: others changed the rows every time.
    """

    def attempt() -> WriteOutcome:
        table = load()
        plan = table.scan()
        buckets = min(most_buckets, max(1, -(-plan.file_size // bytes_per_bucket)))
        newest = table.schemas.list_ids()[-1]
        schema = with_primary_key(table.schema, keys, buckets, newest, now_millis())
        return _rewrite(spark, table, schema, plan, schema.core_options.bucket, whole=True, unique=True)

    return with_retry(attempt)


def _rewrite(
    spark: Callable[[], SparkSession],
    table: Table,
    schema: TableSchema,
    plan: ScanPlan,
    number: int,
    *,
    whole: bool,
    unique: bool = False,
) -> WriteOutcome:
    """Rewrite the rows of a plan with a schema and a number of buckets in each partition."""
    state = table.state
    base = plan.snapshot.id if plan.snapshot else 0
    anew = restarts(state.schema, schema)
    if not plan.buckets:
        if schema is state.schema:
            return WriteOutcome(None, 0)
        change = Change("OVERWRITE", read_snapshot=base, restarts=anew)
        return WriteOutcome(follow(publish_change(state, change, schema=schema)), 0)
    rewritten = {b.partition_row for b in plan.buckets}
    job = begin(state, PLAIN, plan.snapshot, removes=lambda entry: entry.partition in rewritten, schema=schema)
    # Rows of a table that already has the key are merged records.
    job = job.of_unique_keys() if unique else replace(job, settled=True)
    if not whole:
        job = replace(job, partition_buckets={**job.partition_buckets, **dict.fromkeys(rewritten, number)})
    session = spark()
    read = read_plan if unique else read_records
    rows = Rows(read(session, table, plan), plan.input_bytes)
    result = write_files(session, table, None, job, rows)
    change = Change(
        "OVERWRITE",
        removed=() if anew else tuple(_removed(plan.buckets)),
        restarts=anew,
        read_snapshot=base,
        read_buckets=None if whole else _bucket_ids(plan.buckets),
    )
    return finish(session, table, job, result, change, result.rows_kept)


def _removed(buckets: tuple[BucketScan, ...]) -> list[ManifestEntry]:
    return [entry for b in buckets for entry in b.removals]


def _bucket_ids(buckets: tuple[BucketScan, ...]) -> frozenset[tuple[bytes, int]]:
    """All buckets of these partitions, also those without files."""
    return frozenset((b.partition_row, n) for b in buckets for n in range(max(b.total_buckets, b.bucket + 1)))
