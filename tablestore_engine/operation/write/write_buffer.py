"""The two-level write buffer: rows in any order in, data files out, in bounded memory.

Each bucket of a partition has a buffer, and all buffers together have a bound. A buffer that reaches
`write-buffer-size` is spilled: sorted by key and written to local disk as one run. When all buffers together reach
`write-buffer-total-size`, the largest are spilled first, because they make the fewest and longest runs. At the end the
runs of each bucket are merged into its files, bucket by bucket. After the two-level buffer of Hudi's Flink writer.

Without `write-buffer-spillable` a buffer is *flushed* instead: written as data files, of which those of a table with a
key have ascending sequence numbers. Rows of a table with a key spill all the same where files of one write must not
share a key, and where they do not come in their order.

Invariants: at most the total size is held between two calls of `add`, and sorting takes as much again for the buffer
that is spilled; merging holds a part of the total, however many runs there are, because batches of a run are small and
only some runs are merged at once; rows of one key keep their order; in a run, all rows of a key are in one batch, so
that a merge of runs does not separate them. In addition, a file that is written holds a row group, and with dynamic
buckets the keys of the written partitions are held (`operation.write.bucket_assignment`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.merge.merge_runs import SortColumn, last_of_key_mask, merge_sorted, sort_stable
from tablestore_engine.mergetree.merge.sequence_layers import MOST_LAYERS
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.files.spill_file import SpilledRun, SpillFile
from tablestore_engine.operation.formats.batch_size import rows_within
from tablestore_engine.operation.write.bucket_assignment import BucketStream
from tablestore_engine.operation.write.cleanup import remove_written
from tablestore_engine.operation.write.refused_rows import check_not_null
from tablestore_engine.operation.write.write_task import by_bucket, write_sorted
from tablestore_engine.operation.write_job.write_job import (
    BUCKET_COLUMN,
    ORDINAL_COLUMN,
    ROW_KIND_COLUMN,
    WriteJob,
    WriteResult,
    order_of_key,
)
from tablestore_engine.options import CoreOptions

MOST_RUNS = 16
"""Runs that are merged at once; of more, neighbours are merged into one first and spilled again."""
_BATCH_ROWS = 64_000
_ORDER = "__tablestore_order"
# Batches that the total size has room for. A merge holds one of each run, a sorted copy of what it compares, and a copy
# of that where the merge engine folds: three quarters of the total.
_BATCHES = 4 * MOST_RUNS


@dataclass(frozen=True)
class BufferSizes:
    """Bounds in bytes of Arrow memory: of one bucket, and of all buckets together."""

    bucket: int
    total: int

    @classmethod
    def of(cls, options: CoreOptions) -> BufferSizes:
        """The bounds that a table's options define."""
        return cls(options.write_buffer_size, options.write_buffer_total_size)


def to_spill(sizes: Sequence[int], bounds: BufferSizes) -> list[int]:
    """Which of some buffers, given by their sizes, to spill: those that are full, then the largest until half is free.

    Half, because a total that is barely under its bound would be reached again by the next rows.
    """
    chosen = [i for i, size in enumerate(sizes) if size >= bounds.bucket]
    others = [i for i, size in enumerate(sizes) if size < bounds.bucket]
    left = sum(sizes[i] for i in others)
    if left < bounds.total:
        return chosen
    for index in sorted(others, key=lambda i: -sizes[i]):
        chosen.append(index)
        left -= sizes[index]
        if left <= bounds.total // 2:
            break
    return chosen


@dataclass
class _BucketRows:
    tables: list[pa.Table] = field(default_factory=list)
    bytes: int = 0
    runs: list[SpilledRun] = field(default_factory=list)


class WriteBuffer:
    """Takes the rows of one task of a write; `close()` writes them. On any failure call `abort()`."""

    def __init__(self, job: WriteJob, sizes: BufferSizes, columns: Sequence[str], task: str = "") -> None:
        """`columns`: the names of the columns of all rows that will come.

        Rows may have their bucket already (`BUCKET_COLUMN`), and a number that orders those of a key
        (`ORDINAL_COLUMN`) when they do not come in their order.
        """
        self._job = job.of_rows(columns)
        self._buckets = BucketStream(self._job)
        self._sizes = sizes
        self._batch_bytes = max(sizes.total // _BATCHES, 1)
        self._task = task
        self._rows_by_bucket: dict[tuple[bytes, int], _BucketRows] = {}
        self._partitions = PartitionFormat(job.schema)
        self._spill = SpillFile()
        self._keys = job.schema.trimmed_primary_keys
        given_order = [SortColumn(_ORDER)] if ORDINAL_COLUMN in columns else []
        self._order = [*(SortColumn(name) for name in self._keys), *order_of_key(self._job), *given_order]
        self._held = 0
        self.spilled_runs = 0
        self._flushes = _can_flush(self._job, columns)
        self._flushed: list[WriteResult] = []

    def add(self, rows: pa.Table) -> None:
        """Take rows: the table's columns, and optionally row kinds.

        Raises:
            PrimaryKeyError, SchemaError: a null in a NOT NULL column.
            StorageError: the disk to spill to is full, or an index of buckets cannot be read.
            OptionError: new keys do not fit into the allowed buckets.
        """
        if rows.num_rows == 0:
            return
        check_not_null(rows, self._job.schema)
        # Sorting numbers rows by a column of that name, too.
        rows = rows.rename_columns([_ORDER if name == ORDINAL_COLUMN else name for name in rows.column_names])
        if BUCKET_COLUMN not in rows.column_names:
            rows = rows.append_column(BUCKET_COLUMN, pa.array(self._buckets.buckets(rows)))
        for key, part in self._parts(rows):
            bucket = self._rows_by_bucket.setdefault(key, _BucketRows())
            bucket.tables.append(part)
            bucket.bytes += part.nbytes
            self._held += part.nbytes
        self._make_room()

    def close(self) -> WriteResult:
        """Merge and write everything. On failure the files of this task are removed."""
        try:
            job = self._buckets.job
            result = write_sorted(self._after_flushes(job), map(_unnumbered, self._merged()), self._task)
            result.add_repaired(job)
            for one in self._flushed:
                result.add(one)
            self._flushed = []
            return result
        finally:
            self.abort()

    def abort(self) -> None:
        """Drop the rows, and remove their files."""
        for one in self._flushed:
            remove_written(self._job.target, one)
        self._flushed = []
        self._rows_by_bucket.clear()
        self._held = 0
        self._spill.close()

    def _parts(self, rows: pa.Table) -> Iterator[tuple[tuple[bytes, int], pa.Table]]:
        """The rows of each bucket, as copies: a slice would keep the memory of the whole table."""
        schema = self._job.schema
        several = bool(schema.partition_keys) or self._job.total_buckets > 1 or self._job.dynamic is not None
        ordered = (
            sort_stable(rows, [SortColumn(name) for name in (*schema.partition_keys, BUCKET_COLUMN)])
            if several
            else rows
        )
        parts = list(by_bucket(ordered, schema))
        for part in parts:
            values = tuple(part.column(name)[0].as_py() for name in schema.partition_keys)
            key = self._partitions.encode(values), part.column(BUCKET_COLUMN)[0].as_py()
            yield key, part if len(parts) == 1 else part.take(np.arange(part.num_rows))

    def _make_room(self) -> None:
        if self._held < min(self._sizes.bucket, self._sizes.total):
            return
        buckets = list(self._rows_by_bucket.values())
        for index in to_spill([bucket.bytes for bucket in buckets], self._sizes):
            if buckets[index].bytes and self._flushes and len(self._flushed) < MOST_LAYERS:
                rows, name = self._sorted(buckets[index]), f"{self._task}f{len(self._flushed)}-"
                self._flushed.append(
                    write_sorted(self._after_flushes(self._job, flush=True), [_unnumbered(rows)], name)
                )
            elif buckets[index].bytes:
                self._spill_bucket(buckets[index])

    def _after_flushes(self, job: WriteJob, *, flush: bool = False) -> WriteJob:
        """The job of the next files: their records win over those of the files before, in a run of their own."""
        if not flush and not self._flushed:
            return job
        number = job.sequence_number + len(self._flushed)
        return replace(job, sequence_number=number, occupied=job.occupied | frozenset(self._rows_by_bucket))

    def _spill_bucket(self, bucket: _BucketRows) -> None:
        rows = self._sorted(bucket)
        bucket.runs.append(self._spill.write(rows.schema, self._batches(rows)))
        self.spilled_runs += 1

    def _sorted(self, bucket: _BucketRows) -> pa.Table:
        """The rows of a bucket, sorted by key and order; the buffer is empty afterwards."""
        rows = pa.concat_tables(bucket.tables)
        self._held -= bucket.bytes
        bucket.tables, bucket.bytes = [], 0
        return sort_stable(rows, self._order) if self._keys else rows

    def _batches(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        """Batches that end where a key ends."""
        whole = rows.combine_chunks()
        ends = np.flatnonzero(last_of_key_mask(whole, self._keys)) + 1 if self._keys else None
        start, most = 0, min(_BATCH_ROWS, rows_within(whole.num_rows, whole.nbytes, self._batch_bytes))
        while start < whole.num_rows:
            end = min(start + most, whole.num_rows)
            if ends is not None:
                end = int(ends[np.searchsorted(ends, end)])
            yield from whole.slice(start, end - start).combine_chunks().to_batches()
            start = end

    def _merged(self) -> Iterator[pa.Table]:
        """All rows, bucket by bucket; those of a keyed table sorted by key and order."""
        for bucket in self._rows_by_bucket.values():
            if bucket.tables and bucket.runs:
                self._spill_bucket(bucket)  # then one batch of it is in memory, as of the runs before it
            if bucket.tables:
                yield from (pa.Table.from_batches([batch]) for batch in self._batches(self._sorted(bucket)))
            elif self._keys:
                yield from self._merge(self._few(bucket.runs))
            else:
                for run in bucket.runs:
                    yield from (pa.Table.from_batches([batch]) for batch in self._spill.read(run))

    def _few(self, runs: list[SpilledRun]) -> list[SpilledRun]:
        """The rows of runs, oldest first, in as many runs as can be merged at once."""
        while len(runs) > MOST_RUNS:
            surplus = len(runs) - MOST_RUNS
            fewer: list[SpilledRun] = []
            while runs:
                size = min(surplus + 1, MOST_RUNS)
                group, runs = runs[:size], runs[size:]
                surplus -= len(group) - 1
                fewer.append(self._joined(group) if len(group) > 1 else group[0])
            runs = fewer
        return runs

    def _joined(self, runs: Sequence[SpilledRun]) -> SpilledRun:
        """Neighbouring runs as one."""
        windows = self._merge(runs)
        first = next(windows)
        return self._spill.write(first.schema, self._rebatched(itertools.chain([first], windows)))

    def _rebatched(self, windows: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        """The tables of a merge, of any size and ending where a key ends, as the batches of a run."""
        held: list[pa.Table] = []
        size = 0
        for window in windows:
            held.append(window)
            size += window.nbytes
            if size >= self._batch_bytes:
                yield from self._batches(pa.concat_tables(held))
                held, size = [], 0
        if held:
            yield from self._batches(pa.concat_tables(held))

    def _merge(self, runs: Sequence[SpilledRun]) -> Iterator[pa.Table]:
        return merge_sorted([self._spill.read(run) for run in runs], self._keys, self._in_order)

    def _in_order(self, window: pa.Table) -> pa.Table:
        # Runs come oldest first, and the sort is stable.
        return sort_stable(window, self._order)


def _unnumbered(rows: pa.Table) -> pa.Table:
    """Rows that are in order, without what ordered them."""
    return rows.drop_columns([_ORDER]) if _ORDER in rows.column_names else rows


def _can_flush(job: WriteJob, columns: Sequence[str]) -> bool:
    """Whether rows of a key may be in several files of the write."""
    if job.schema.core_options.write_buffer_spillable or job.dynamic is not None:
        return False
    return job.may_split_keys(columns) if job.schema.primary_keys else ROW_KIND_COLUMN not in columns


def write_tables(job: WriteJob, tables: Iterable[pa.Table], sizes: BufferSizes, task: str = "") -> WriteResult:
    """Write rows that come in any order, in bounded memory. Tables have the same columns.

    Raises:
        TableStoreError: what is wrong with the rows, or with the storage; the files of the task are removed.
    """
    buffer: WriteBuffer | None = None
    try:
        for rows in tables:
            buffer = buffer or WriteBuffer(job, sizes, rows.column_names, task)
            buffer.add(rows)
        return buffer.close() if buffer else WriteResult()
    finally:
        if buffer:
            buffer.abort()
