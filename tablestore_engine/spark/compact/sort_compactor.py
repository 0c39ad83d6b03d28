"""Sort compaction: rewriting a table without a key so that rows with similar values are in the same files.

The rows are divided into ranges of the sort columns, one task for each, sorted there and rewritten; the statistics of
the new files are narrow, so queries skip more of them. It is a commit of kind COMPACT: the rows stay the same, and a
concurrent statement that removed one of the files wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tablestore_engine.errors import (
    ExecutionError,
    SqlError,
)
from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_SOURCE_COMPACT
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.append_deletion_vectors import without_removed
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.read.row_count import row_count
from tablestore_engine.operation.scan.partition_filter import PartitionValuesFilter
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.operation.transaction.transaction import begin, publish, with_retry
from tablestore_engine.operation.write.cleanup import remove_files
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.operation.write_job.write_job import BUCKET_COLUMN, WriteJob, WriteResult
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import AtomicType
from tablestore_engine.spark.compact.z_order import MAX_COLUMNS, Z_COLUMN, with_z_value
from tablestore_engine.spark.expressions.bucket_hash_column import bucket_column
from tablestore_engine.spark.read.merge_on_read import read_plan
from tablestore_engine.spark.write.bucket_assignment import with_buckets
from tablestore_engine.spark.write.writer import write_arranged
from tablestore_engine.table import Table

ORDER, Z_ORDER, HILBERT = "order", "zorder", "hilbert"
ORDERS = (ORDER, Z_ORDER, HILBERT)
_MOST_TASKS = 10_000


@dataclass(frozen=True)
class SortOrder:
    """The order of the rows: `strategy` is `ORDER` (column by column), `Z_ORDER` or `HILBERT` (all columns equally)."""

    strategy: str
    columns: tuple[str, ...]

    def of(self, schema: TableSchema) -> SortOrder:
        """The order with the columns' stored names.

        Raises:
            SqlError, ColumnNotFound: the table cannot be sorted so.
        """
        if schema.primary_keys:
            raise SqlError(
                "A table with a primary key is sorted by it, so it cannot be sorted by other columns.",
                hint="Leave order_strategy and order_by out.",
            )
        if not self.columns:
            raise SqlError(f"order_strategy '{self.strategy}' needs columns.", hint="Name them: order_by => 'a,b'.")
        fields = [schema.field(name) for name in self.columns]
        for field in fields:
            if not isinstance(field.type, AtomicType):
                raise SqlError(f"Column '{field.name}' of type {field.type} has no order to sort by.")
        names = tuple(field.name for field in fields)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise SqlError(f"Column '{twice}' occurs twice in order_by.")
        if self.strategy != ORDER and len(names) > MAX_COLUMNS:
            raise SqlError(f"The order '{self.strategy}' takes {MAX_COLUMNS} columns at most; {len(names)} were named.")
        return replace(self, columns=names)


def sort_compact(
    spark: Callable[[], SparkSession],
    table: Table,
    order: SortOrder,
    partition_filter: PartitionValuesFilter | None = None,
) -> Snapshot | None:
    """Rewrite the table, or some partitions, sorted. Returns the snapshot, None when there are no rows.

    Raises:
        SqlError, ColumnNotFound: the table cannot be sorted so; nothing was changed.
        ConflictError: others keep replacing the files.
    """
    order = order.of(table.schema)

    def attempt() -> Snapshot | None:
        plan = table.scan(partition_filter=partition_filter)
        return _rewrite(spark(), table, plan, order) if plan.files else None

    return with_retry(attempt)


def _rewrite(spark: SparkSession, table: Table, plan: ScanPlan, order: SortOrder) -> Snapshot:
    job = begin(table.state, WriteIntent(identity=new_identity(table.options, "compact")), plan.snapshot)
    try:
        rows = _arranged(spark, job, read_plan(spark, table, plan), plan, order)
        result = write_arranged(job, rows)
        _check_complete(table, plan, result)
        removed = _removed(plan)
        index = without_removed(job.target, {b.id: b.deletions for b in plan.buckets}, removed)
    except BaseException:
        remove_files(job.target)
        raise
    compacted = replace(result, entries=_compacted(result), index=list(index.written) if index else [])
    return publish(table.state, job, compacted, Change("COMPACT", removed=removed, index=index)).snapshot


def _arranged(spark: SparkSession, job: WriteJob, frame: DataFrame, plan: ScanPlan, order: SortOrder) -> DataFrame:
    """Rows with their bucket, cut into ranges of about the size of a file and sorted."""
    schema = job.schema
    keys = list(order.columns)
    if order.strategy != ORDER and len(keys) > 1:
        frame = with_z_value(spark, frame, keys, plan.row_count, hilbert=order.strategy == HILBERT)
        keys = [Z_COLUMN]
    bucketed = bool(schema.bucket_keys) and job.total_buckets > 0
    bucket = bucket_column(schema.bucket_fields, job.total_buckets) if bucketed else F.lit(0)
    by = [F.col(quoted_name(name)) for name in (*schema.partition_keys, BUCKET_COLUMN, *keys)]
    tasks = min(_MOST_TASKS, max(1, -(-plan.file_size // schema.core_options.target_file_size)))
    # A partition that was rescaled by itself keeps its number of buckets.
    _, frame = with_buckets(spark, job, frame)
    if BUCKET_COLUMN not in frame.columns:
        frame = frame.withColumn(BUCKET_COLUMN, bucket)
    return frame.repartitionByRange(tasks, *by).sortWithinPartitions(*by)


def _check_complete(table: Table, plan: ScanPlan, result: WriteResult) -> None:
    rows = row_count(table.state, plan).rows
    if result.rows_out != rows:
        raise ExecutionError(
            f"The sorted files hold {result.rows_out:,} rows instead of {rows:,}, so they were discarded."
        )


def _compacted(result: WriteResult) -> list[ManifestEntry]:
    return [replace(e, file=replace(e.file, file_source=FILE_SOURCE_COMPACT)) for e in result.entries]


def _removed(plan: ScanPlan) -> tuple[ManifestEntry, ...]:
    return tuple(entry for b in plan.buckets for entry in b.removals)
