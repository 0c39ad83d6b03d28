"""Writing a DataFrame into a table's files.

Two ways, one writer (`operation.write.write_task`). A small result is collected as Arrow and written in this process:
one Spark job, no Python worker, no shuffle. Anything else is shuffled so that each bucket is one task's, sorted by
Spark, which spills, and streamed through `mapInArrow` into files; a task returns the metadata of its files. The batches
of a stream are not sorted by Spark, but in the write buffer of each task. Errors of the engine are returned as values,
so that a wrong row does not become a stack trace.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tablestore_engine.errors import DuplicateKeyError, ExecutionError, TableStoreError
from tablestore_engine.mergetree.merge.sequence import sequence_columns
from tablestore_engine.operation.formats.batch_size import fixed_width
from tablestore_engine.operation.write.align_columns import table_rows
from tablestore_engine.operation.write.cleanup import remove_files
from tablestore_engine.operation.write.write_buffer import BufferSizes, write_tables
from tablestore_engine.operation.write.write_task import with_bucket, write_sorted, write_table
from tablestore_engine.operation.write_job.write_job import (
    BUCKET_COLUMN,
    ORDINAL_COLUMN,
    ROW_KIND_COLUMN,
    WriteJob,
    WriteResult,
    order_in_bucket,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.expressions.bucket_hash_column import bucket_column, task_column
from tablestore_engine.spark.queries.collect import collect_arrow, map_in_arrow
from tablestore_engine.spark.queries.small_plans import planned_small
from tablestore_engine.spark.write.bucket_assignment import with_buckets
from tablestore_engine.spark.write.rows_of_files import rows_at_least
from tablestore_engine.spark.write.start_workers import start_workers

SMALL_ROWS = 200_000
_SMALL_NARROW_ROWS = 500_000
_SMALL_BYTES = 32 << 20
SMALL_INPUT_BYTES = 64 << 20
_FEW_INPUT_BYTES = 2 << 20
_CHUNK_ROWS = 100_000
_CHUNK_BYTES = 32 << 20
_WIDE_BYTES = 32  # of a text or a nested value


@dataclass(frozen=True)
class Rows:
    """A DataFrame with exactly the table's columns in order, and optionally `ROW_KIND_COLUMN`.

    `input_bytes` estimates what it reads; None when nothing is known. `is_small`: it certainly reads little.
    `is_large`: it has been found to have too many rows to be written in this process.
    """

    frame: DataFrame
    input_bytes: int | None = None
    is_small: bool = False
    is_large: bool = False


def write_rows(spark: SparkSession, job: WriteJob, rows: Rows) -> WriteResult:
    """Write rows. On failure the files of the write are removed.

    Raises:
        TableStoreError: a task found wrong rows.
        ExecutionError: Spark failed.
    """
    with _removed_on_failure(job):
        return _write_rows(spark, job, rows)


def write_held(job: WriteJob, rows: pa.Table) -> WriteResult:
    """Write rows that are in memory already, with the columns of `Rows`, as `write_rows` does."""
    with _removed_on_failure(job):
        return write_table(job.of_rows(rows.column_names), table_rows(rows, job.schema))


@contextmanager
def _removed_on_failure(job: WriteJob) -> Iterator[None]:
    try:
        yield
    except BaseException:
        remove_files(job.target)
        raise


def _write_rows(spark: SparkSession, job: WriteJob, rows: Rows) -> WriteResult:
    frame = rows.frame
    job = job.of_rows(frame.columns)
    collected = held_rows(rows, job.schema)
    if collected is not None:
        return write_table(job, collected)
    job, assigned = with_buckets(spark, job, _with_same_keys(frame, job.schema))
    result = _distributed(job, assigned)
    result.add_repaired(job)
    return result


def few_rows(rows: Rows, schema: TableSchema) -> pa.Table | None:
    """All rows, if the input is small and they are few enough to be written in this process; else None."""
    if rows.is_large:
        return None
    # The size of the input is that of the frame that may be collected: Spark optimises each frame separately.
    most = small_rows(schema)
    few = rows.frame.limit(most + 1)
    size = input_bytes(few) if rows.input_bytes is None else rows.input_bytes
    # Trying costs at most one pass over a small input, and nothing where the files say that there are more rows.
    if size > SMALL_INPUT_BYTES or (size > _FEW_INPUT_BYTES and rows_at_least(few, most + 1) > most):
        return None
    return _collected(planned_small(few, rows.is_small), most)


def held_rows(rows: Rows, schema: TableSchema) -> pa.Table | None:
    """`few_rows` as the table holds them."""
    collected = few_rows(rows, schema)
    return None if collected is None else _in_input_order(collected, schema)


def _with_same_keys(frame: DataFrame, schema: TableSchema) -> DataFrame:
    """The rows with `bitwise_columns` that are equal exactly when their bytes are, as `table_rows` makes them."""
    kinds = {f.name: str(f.type.as_nullable(True)) for f in schema.fields if f.name in schema.bitwise_columns}
    floats = {name: kind for name, kind in kinds.items() if kind in ("FLOAT", "DOUBLE")}
    if not floats:
        return frame
    return frame.withColumns(
        {
            name: F.expr(f"CASE WHEN {of} = 0 THEN cast(0 AS {kind}) WHEN isnan({of}) THEN {kind}('NaN') ELSE {of} END")
            for name, kind, of in ((name, kind, quoted_name(name)) for name, kind in floats.items())
        }
    )


def _in_input_order(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """Collected rows in the table's types, with their bucket if it was assigned."""
    if ORDINAL_COLUMN in rows.column_names:
        rows = rows.sort_by(ORDINAL_COLUMN).drop_columns([ORDINAL_COLUMN])
    if BUCKET_COLUMN not in rows.column_names:
        return table_rows(rows, schema)
    buckets = rows.column(BUCKET_COLUMN)
    return table_rows(rows.drop_columns([BUCKET_COLUMN]), schema).append_column(BUCKET_COLUMN, buckets)


def write_arranged(job: WriteJob, frame: DataFrame) -> WriteResult:
    """Write rows that are distributed to tasks already: with their `BUCKET_COLUMN`, and in each task in order of
    buckets.

    On failure files may be left. Raises TableStoreError.
    """
    return _gather(collect_arrow(map_in_arrow(frame, _task(job), "payload binary")))


def small_rows(schema: TableSchema) -> int:
    """How many rows are written in this process: more if they are narrow."""
    width = sum(fixed_width(to_arrow_type(field.type)) or _WIDE_BYTES for field in schema.fields)
    return max(SMALL_ROWS, min(_SMALL_NARROW_ROWS, _SMALL_BYTES // width))


def _collected(few: DataFrame, most: int) -> pa.Table | None:
    """All rows of a frame with a limit of `most` + 1; None if there are more, or more than Spark lets a driver collect
    (`spark.driver.maxResultSize`)."""
    try:
        rows = collect_arrow(few)
    except ExecutionError as error:
        if "maxResultSize" in str(error):
            return None
        raise
    return rows if rows.num_rows <= most else None


def input_bytes(frame: DataFrame) -> int:
    """Bytes of the local files that a DataFrame reads; 0 if unknown."""
    import os
    from urllib.parse import unquote, urlparse

    try:
        files = frame.inputFiles()
    except Exception:
        return 0
    total = 0
    for file in files:
        path = unquote(urlparse(file).path) if file.startswith("file:") else file
        try:
            total += os.path.getsize(path)
        except OSError:
            total += SMALL_INPUT_BYTES  # not on this machine: assume that it is large
    return total


def _distributed(job: WriteJob, frame: DataFrame) -> WriteResult:
    if all(column.name != ORDINAL_COLUMN for column in order_in_bucket(job)):
        return _run(job, frame)
    if not job.occupied and not sequence_columns(job.schema) and ROW_KIND_COLUMN not in frame.columns:
        # The keys of a bulk load are nearly always unique, and then the order of rows does not matter: keeping it
        # that needs another column, which costs a tenth of the load. Should they not be, the first task that sees it
        # stops the others.
        try:
            return _run(job.as_bulk_load(), frame, stops_others=True)
        except DuplicateKeyError:
            remove_files(job.target)
    if ORDINAL_COLUMN not in frame.columns:
        frame = frame.withColumn(ORDINAL_COLUMN, F.monotonically_increasing_id())
    return _run(job, frame)


def _run(job: WriteJob, frame: DataFrame, *, stops_others: bool = False) -> WriteResult:
    """Send each bucket's rows to one task, sorted, and write them there. With `stops_others`, a task that fails for a
    duplicate key stops the other ones."""
    schema = job.schema
    start_workers(frame.sparkSession)
    partitions = [F.col(quoted_name(k)) for k in schema.partition_keys]
    bucketed = bool(schema.bucket_keys) and job.total_buckets > 0
    columns = []
    if partitions or BUCKET_COLUMN in frame.columns:
        if BUCKET_COLUMN not in frame.columns:
            bucket = bucket_column(schema.bucket_fields, job.total_buckets) if bucketed else F.lit(0)
            frame = frame.withColumn(BUCKET_COLUMN, bucket)
        columns = [*partitions, F.col(BUCKET_COLUMN)]
        frame = frame.repartition(*columns)
    elif bucketed:
        # Each task has one bucket, which follows from its first row: rows need no column for it.
        frame = frame.repartition(job.total_buckets, task_column(schema.bucket_fields, job.total_buckets))
    order = [*columns, *_order(job)]
    if order and not _buffers(job):
        frame = frame.sortWithinPartitions(*order)
    # The task drops the columns that only order the rows: here that would copy every row.
    payloads = collect_arrow(map_in_arrow(frame, _task(job, stops_others=stops_others), "payload binary"))
    return _gather(payloads)


def _buffers(job: WriteJob) -> bool:
    """Whether tasks bring rows into order by the write buffer. It finds no keys in other partitions."""
    return job.intent.buffers and not job.schema.crosses_partitions


def _order(job: WriteJob) -> list[Column]:
    """`order_in_bucket` as Spark's columns."""
    named = [(F.col(quoted_name(column.name)), column.descending) for column in order_in_bucket(job)]
    return [column.desc_nulls_first() if descending else column.asc_nulls_first() for column, descending in named]


def _gather(payloads: pa.Table) -> WriteResult:
    result = WriteResult()
    errors: list[TableStoreError] = []
    for payload in payloads.column("payload").to_pylist():
        outcome = pickle.loads(payload)  # noqa: S301 - written by our own task
        if isinstance(outcome, TableStoreError):
            errors.append(outcome)
        else:
            result.add(outcome)
    if errors:
        raise errors[0]
    return result


def _task(
    job: WriteJob, *, stops_others: bool = False
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    # Its name holds the id of the write, so it is removed with the write's files.
    stop = f"{job.target.paths.root}/.duplicates-{job.target.write_id}"

    def tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        for rows in _chunked(batches):
            if stops_others and job.target.io.exists(stop):
                raise DuplicateKeyError("Another task of this write found a duplicate key.")
            yield rows if _buffers(job) else with_bucket(job, rows)

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # A retried task writes under another name: files of a lost attempt are orphans, never duplicates.
        task = f"{uuid.uuid4().hex[:8]}-"
        outcome: Any
        try:
            if _buffers(job):
                outcome = write_tables(job, tables(batches), BufferSizes.of(job.schema.core_options), task)
            else:
                outcome = write_sorted(job, tables(batches), task)
        except TableStoreError as error:
            if stops_others and isinstance(error, DuplicateKeyError):
                job.target.io.create(stop, b"")
            outcome = error
        yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(outcome)], pa.binary())], names=["payload"])

    return write


def _chunked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Several batches as one table, without copying: this saves work per table in the writer."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield pa.Table.from_batches(held)
            held, rows, size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(held)


__all__ = ["ExecutionError", "Rows", "input_bytes", "write_rows"]
