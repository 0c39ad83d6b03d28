"""Writing rows that come sorted by partition, bucket and key: what one task of a write does.

A *write job* is everything a task must know; it travels to executors. Rows are the table's columns plus
`BUCKET_COLUMN` and, when they are not all inserts, `ROW_KIND_COLUMN` (0 +I, 1 -U, 2 +U, 3 -D). The task removes
duplicates of a key (the merge engine folds them, or they are an error), gives all rows the job's sequence number and streams
them into files. One number for the whole write is enough, since a key stands in a write once; it makes the write
win or lose against another one as a whole. Only rows that must stay apart from others of their key make layers
(`mergetree.layers`), each with files and a number of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import (
    DuplicateKeyError,
    PrimaryKeyError,
    SchemaError,
    StorageError,
    UserError,
)
from tablestore_engine.mergetree.arrival import arrived as records_of
from tablestore_engine.mergetree.arrival import without_ignored
from tablestore_engine.mergetree.fold import fold_sorted
from tablestore_engine.mergetree.layers import LAYER_COLUMN, MOST_LAYERS, layered
from tablestore_engine.mergetree.merge import SortColumn, last_of_key_mask, sort_stable
from tablestore_engine.mergetree.retractions import settled
from tablestore_engine.metadata.bucket import bucket_ids
from tablestore_engine.metadata.data_file import FILE_SOURCE_APPEND
from tablestore_engine.metadata.index_manifest import IndexEntry
from tablestore_engine.metadata.manifest import FileKind, ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.data_file_writer import RollingWriter, WriteTarget
from tablestore_engine.operation.dynamic_bucket import BucketIndex, DynamicBuckets
from tablestore_engine.operation.index_files import index_path
from tablestore_engine.operation.placing import row_buckets
from tablestore_engine.schema.keyless import check_retractable
from tablestore_engine.schema.merge_engine import MergeEngine
from tablestore_engine.schema.system import SEQUENCE_NUMBER, VALUE_KIND, key_field
from tablestore_engine.schema.table_schema import TableSchema

BUCKET_COLUMN = "__bucket"
ROW_KIND_COLUMN = "__row_kind"
ORDINAL_COLUMN = "__ordinal"
DELETE_KIND = 3
_SAMPLE = 5
_RETRACTIONS = 1  # the layer after that of the rows


@dataclass(frozen=True)
class WriteJob:
    """What the tasks of one write share.

    `total_buckets` is the number of buckets of a partition (-1: dynamic, or none); `partition_buckets` holds that of
    partitions that have another one. `dynamic` is what is known of dynamic buckets, None for tables without an index.
    """

    target: WriteTarget
    total_buckets: int
    sequence_number: int
    occupied: frozenset[tuple[bytes, int]] = frozenset()
    refuse_duplicates: bool = False
    changes: bool = False  # rows that were computed from the table: a key stands once, or leaves and comes back
    settled: bool = False  # rows that the table itself holds, to be written again: they are records already
    partition_buckets: Mapping[bytes, int] = field(default_factory=dict)
    dynamic: DynamicBuckets | None = None

    @property
    def schema(self) -> TableSchema:
        """The schema that rows are written with."""
        return self.target.schema

    def of_rows(self, columns: Sequence[str]) -> WriteJob:
        """The job for rows with these columns: in a changelog, a key may stand any number of times."""
        is_changelog = ROW_KIND_COLUMN in columns and not self.changes
        return replace(self, refuse_duplicates=False) if is_changelog else self

    def buckets_of(self, partition: bytes) -> int:
        """The number of buckets of a partition."""
        return self.partition_buckets.get(partition, self.total_buckets)

    def level_of(self, partition: bytes, bucket: int) -> int:
        """Rows of an empty bucket land at the top level at once, others at level 0."""
        if not self.schema.primary_keys or (partition, bucket) in self.occupied:
            return 0
        return self.schema.core_options.num_levels - 1


@dataclass
class WriteResult:
    """Files of a write as ADD entries, new index files, and how many rows were given and written."""

    entries: list[ManifestEntry] = field(default_factory=list)
    index: list[IndexEntry] = field(default_factory=list)
    rows_in: int = 0
    rows_out: int = 0

    def add(self, other: WriteResult) -> None:
        """Fold in the result of another task."""
        self.entries.extend(other.entries)
        self.index.extend(other.index)
        self.rows_in += other.rows_in
        self.rows_out += other.rows_out

    def add_repaired(self, job: WriteJob) -> None:
        """Take the index files that the write had to make for buckets without one, but for those that it replaced."""
        places = {e.place for e in self.index}
        for made in job.dynamic.repaired if job.dynamic else ():
            if made.place not in places:
                self.index.append(made)
                continue
            with suppress(StorageError):
                job.target.io.delete(index_path(job.target.paths, job.schema, made))


def sequence_columns(schema: TableSchema) -> list[SortColumn]:
    """The user's sequence fields, by which the last row of a key is found."""
    options = schema.core_options
    return [SortColumn(name, options.sequence_field_descending) for name in options.sequence_field]


def order_of_key(job: WriteJob) -> list[SortColumn]:
    """What says, of rows of one key in one write, which is the last: sequence fields, and then their arrival.

    Changes have no order of arrival; a row that takes the place of a deleted one comes after it.
    """
    kinds = [SortColumn(ROW_KIND_COLUMN, descending=True)] if job.changes else []
    return [*sequence_columns(job.schema), *kinds]


def write_table(job: WriteJob, rows: pa.Table, task: str = "") -> WriteResult:
    """Write rows that are in memory and in arrival order (later rows win)."""
    job = job.of_rows(rows.column_names)
    schema = job.schema
    if BUCKET_COLUMN not in rows.column_names:
        job, buckets = row_buckets(job, rows)
        rows = rows.append_column(BUCKET_COLUMN, pa.array(buckets))
    order = [
        SortColumn(name) for name in (*schema.partition_keys, BUCKET_COLUMN, *schema.trimmed_primary_keys)
    ]
    if schema.primary_keys:
        check_not_null(rows, schema)
        rows = sort_stable(rows, [*order, *order_of_key(job)])
    elif schema.partition_keys or job.total_buckets > 1:
        rows = sort_stable(rows, order)
    result = write_sorted(job, [rows], task)
    result.add_repaired(job)
    return result


def placed(job: WriteJob, rows: pa.Table) -> pa.Table:
    """Rows of one bucket with their `BUCKET_COLUMN`, and without `ORDINAL_COLUMN`.

    Rows that have no `BUCKET_COLUMN` are all of the bucket of the first one.

    Raises:
        PrimaryKeyError, SchemaError: a null in a NOT NULL column.
    """
    if ORDINAL_COLUMN in rows.column_names:
        rows = rows.drop_columns([ORDINAL_COLUMN])
    if BUCKET_COLUMN in rows.column_names or rows.num_rows == 0:
        return rows
    check_not_null(rows, job.schema)  # a null key has no bucket, so it may be anywhere
    bucket = 0
    if job.schema.bucket_keys and job.total_buckets > 0:
        ends = rows.select(list(job.schema.bucket_keys)).take([0, rows.num_rows - 1])
        found = bucket_ids(ends.columns, [f.type for f in job.schema.bucket_fields], job.total_buckets)
        if found[0] != found[1]:
            raise AssertionError(f"rows of buckets {found[0]} and {found[1]} came to one task")
        bucket = int(found[0])
    return rows.append_column(BUCKET_COLUMN, pa.repeat(pa.scalar(bucket, pa.int32()), rows.num_rows))


def write_sorted(job: WriteJob, tables: Iterable[pa.Table], task: str) -> WriteResult:
    """Write sorted rows, given as consecutive tables. On any failure the files of this task are removed.

    Raises:
        PrimaryKeyError: a null in a key column.
        DuplicateKeyError: a key that stands twice, where the job refuses that.
        SchemaError: a null in a NOT NULL column.
    """
    writer = _BucketSwitch(job, task)
    try:
        for table in _deduplicated(job, tables, writer.result):
            for group in in_places(table, job.schema):
                writer.write(group)
        return writer.close()
    except BaseException:
        writer.abort()
        raise


def check_not_null(rows: pa.Table | pa.RecordBatch, schema: TableSchema) -> None:
    """Raise for a null in a column that is NOT NULL."""
    for column in schema.fields:
        if column.type.nullable or rows.column(column.name).null_count == 0:
            continue
        if column.name in schema.primary_keys:
            raise PrimaryKeyError(
                f"Primary key column '{column.name}' has {rows.column(column.name).null_count} null value(s).",
                hint="Filter these rows out or give them a key.",
            )
        raise SchemaError(
            f"Column '{column.name}' is NOT NULL, but {rows.column(column.name).null_count} row(s) have no value."
        )


def _deduplicated(job: WriteJob, tables: Iterable[pa.Table], result: WriteResult) -> Iterator[pa.Table]:
    """Tables with one row per key, folded as the merge engine says; a table's last key waits for the next table."""
    schema = job.schema
    keys = [*schema.partition_keys, BUCKET_COLUMN, *schema.trimmed_primary_keys]
    engine = schema.merge_engine
    held: pa.Table | None = None
    for arrived in tables:
        if arrived.num_rows == 0:
            continue
        result.rows_in += arrived.num_rows
        given = _records(job, arrived)
        if given.num_rows == 0:
            continue
        check_not_null(given, schema)
        if not schema.primary_keys:
            yield given
            continue
        table = given if held is None else pa.concat_tables([held, given])
        last = last_of_key_mask(table, keys)
        unique = bool(last.all())
        if job.refuse_duplicates and not unique and not (job.changes and _only_replaced(table, last)):
            raise _duplicates(table.filter(pa.array(~last)), schema)
        if _makes_layers(table, engine):
            table = layered(table, keys, engine, _kinds_of(table))
            begin = _begin_of_last_key(table, keys)
            held = table.slice(begin).drop_columns([LAYER_COLUMN])
            yield table.slice(0, begin)
            continue
        folded = fold_sorted(table, last, schema.merge_engine, ROW_KIND_COLUMN)
        held = folded.slice(folded.num_rows - 1)
        yield folded.slice(0, folded.num_rows - 1)
    if held is not None:
        yield layered(held, keys, engine, _kinds_of(held)) if _makes_layers(held, engine) else held


def _makes_layers(rows: pa.Table, engine: MergeEngine) -> bool:
    """Whether rows of one key may have to stay apart."""
    return engine.folds_in_order or (engine.stores_retractions and _kinds_of(rows) is not None)


def _kinds_of(rows: pa.Table) -> str | None:
    return ROW_KIND_COLUMN if ROW_KIND_COLUMN in rows.column_names else None


def _begin_of_last_key(table: pa.Table, keys: Sequence[str]) -> int:
    ends = np.flatnonzero(last_of_key_mask(table, keys))
    return int(ends[-2]) + 1 if len(ends) > 1 else 0


def _records(job: WriteJob, rows: pa.Table) -> pa.Table:
    """What the rows become, each by itself; see `mergetree.arrival`."""
    schema = job.schema
    if schema.primary_keys:
        return rows if job.settled else records_of(rows, schema.merge_engine, ROW_KIND_COLUMN)
    if ROW_KIND_COLUMN in rows.column_names and not job.changes:
        rows = without_ignored(rows, schema.merge_engine, ROW_KIND_COLUMN)
    return _checked_kinds(rows, schema)


def _checked_kinds(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """Rows of a table without a key; without their kinds when none retracts, for then they say nothing.

    Raises:
        RowKindError: a retraction for a table that cannot take it.
    """
    if ROW_KIND_COLUMN not in rows.column_names:
        return rows
    retracts = pc.equal(pc.bit_wise_and(rows.column(ROW_KIND_COLUMN), 1), 1)
    if pc.any(retracts).as_py():
        row = rows.filter(retracts).slice(0, 1).drop_columns([ROW_KIND_COLUMN]).to_pylist()[0]
        row.pop(BUCKET_COLUMN, None)
        check_retractable(schema, row)
        return rows
    return rows.drop_columns([ROW_KIND_COLUMN])


def _only_replaced(table: pa.Table, last: np.ndarray[Any, np.dtype[np.bool_]]) -> bool:
    """Whether a key stands twice only where one row is removed and another one put in its place."""
    kinds = table.column(ROW_KIND_COLUMN).to_numpy()
    first = np.flatnonzero(~last)
    return bool((kinds[first] == DELETE_KIND).all() and (kinds[first + 1] == 0).all())


def _duplicates(rows: pa.Table, schema: TableSchema) -> DuplicateKeyError:
    sample = rows.select(list(schema.primary_keys)).slice(0, _SAMPLE).to_pylist()
    shown = "; ".join(", ".join(f"{k}={v!r}" for k, v in row.items()) for row in sample)
    return DuplicateKeyError(
        f"Duplicate primary key in the rows to write: {shown}.",
        hint=f"Keep one row per ({', '.join(schema.primary_keys)}), or name a column that orders them ('sequence.field'; sequence_field in dbt).",
    )


def _too_many_layers(rows: pa.Table, schema: TableSchema) -> UserError:
    key = rows.select(list(schema.primary_keys)).slice(0, 1).to_pylist()[0]
    shown = ", ".join(f"{k}={v!r}" for k, v in key.items())
    return UserError(
        f"More than {MOST_LAYERS} records of one key are to be written at once that fold in order only: {shown}.",
        hint="Write them in parts. A product of DOUBLE, or of DECIMAL without digits after the point, folds in any order.",
    )


def in_places(table: pa.Table, schema: TableSchema) -> Iterator[pa.Table]:
    """Slices of equal partition and bucket, of rows sorted by these."""
    if table.num_rows == 0:
        return
    ends = np.flatnonzero(last_of_key_mask(table, [*schema.partition_keys, BUCKET_COLUMN])) + 1
    start = 0
    for end in ends:
        yield table.slice(start, int(end) - start)
        start = int(end)


class _BucketSwitch:
    """Sends groups to the writer of their bucket; only those of one bucket are open, because groups come in order."""

    def __init__(self, job: WriteJob, task: str) -> None:
        self.result = WriteResult()
        self._job = job
        self._task = task
        self._index = 0
        self._place: tuple[bytes, int] | None = None
        self._writers: list[RollingWriter] = []  # by layer; without a key: of rows, and of retractions
        self._bucket_index: BucketIndex | None = None
        self._level = 0
        self._path = ""
        self._done: list[RollingWriter] = []
        self._seen: set[tuple[bytes, int]] = set()
        schema = job.schema
        self._partitions = PartitionFormat(schema)
        self._renames = [(f.name, key_field(f).name) for f in schema.trimmed_key_fields]

    def write(self, group: pa.Table) -> None:
        schema = self._job.schema
        values = tuple(group.column(name)[0].as_py() for name in schema.partition_keys)
        place = self._partitions.encode(values), group.column(BUCKET_COLUMN)[0].as_py()
        if place != self._place:
            if place in self._seen:
                raise AssertionError(f"rows of bucket {place[1]} are not in one piece: they came unsorted")
            self._seen.add(place)
            self._finish()
            self._open(place, values)
        if not schema.primary_keys:
            self._write_keyless(group)
            return
        if LAYER_COLUMN not in group.column_names:
            self._write_layer(group, 0)
            return
        layers = group.column(LAYER_COLUMN).to_numpy()
        group = group.drop_columns([LAYER_COLUMN])
        if self._level:
            # The bucket was empty: these are all records of their keys.
            last = last_of_key_mask(group, schema.trimmed_primary_keys)
            self._write_layer(fold_sorted(group, last, schema.merge_engine, ROW_KIND_COLUMN), 0)
            return
        if layers.max() >= MOST_LAYERS:
            raise _too_many_layers(group.filter(pa.array(layers == layers.max())), schema)
        for layer in range(int(layers.max()) + 1):
            self._write_layer(group.filter(pa.array(layers == layer)), layer)

    def _write_keyless(self, group: pa.Table) -> None:
        """Write the rows that a group adds, and what it takes away besides."""
        taken = None
        if ROW_KIND_COLUMN in group.column_names:
            retracts = pc.equal(pc.bit_wise_and(group.column(ROW_KIND_COLUMN), 1), 1).to_numpy()
            group, taken = settled(group.select(list(self._job.schema.field_names)), retracts)
        self._write_layer(group, 0)
        if taken is not None:
            self._write_layer(taken, _RETRACTIONS)

    def _write_layer(self, group: pa.Table, layer: int) -> None:
        while len(self._writers) <= layer:
            self._writers.append(self._new_writer(len(self._writers)))
        rows = self._file_rows(group, layer)
        self.result.rows_out += rows.num_rows
        self._writers[layer].write(rows)
        if self._bucket_index is not None:
            self._bucket_index.add(rows)

    def close(self) -> WriteResult:
        self._finish()
        return self.result

    def abort(self) -> None:
        for writer in [*self._done, *self._writers]:
            writer.abort()
        for entry in self.result.index:
            with suppress(StorageError):
                self._job.target.io.delete(index_path(self._job.target.paths, self._job.schema, entry))

    def _open(self, place: tuple[bytes, int], values: Sequence[Any]) -> None:
        self._level = self._job.level_of(*place)
        self._place = place
        self._path = self._partitions.path(values) if values else ""
        if self._job.dynamic is not None:
            self._bucket_index = BucketIndex(self._job.target, place, self._job.dynamic.entry(*place))

    def _new_writer(self, layer: int) -> RollingWriter:
        assert self._place is not None
        retractions = not self._job.schema.primary_keys and layer == _RETRACTIONS
        name = "r" if retractions else f"l{layer}-"
        return RollingWriter(
            self._job.target,
            partition_path=self._path,
            bucket=self._place[1],
            level=self._level,
            file_source=FILE_SOURCE_APPEND,
            task=f"{self._task}{name}" if layer else self._task,
            first_index=self._index,
            retractions=retractions,
        )

    def _finish(self) -> None:
        if self._place is None:
            return
        partition, bucket = self._place
        total = self._job.buckets_of(partition)
        index, wrote = self._index, False
        for writer in self._writers:
            files = writer.close()
            wrote = wrote or bool(files)
            self.result.entries += [ManifestEntry(FileKind.ADD, partition, bucket, total, f) for f in files]
            self._index = max(self._index, writer.next_index)
        self._done.extend(self._writers)
        if wrote and self._bucket_index is not None:
            grown = self._bucket_index.close(f"{self._task}{index}")
            self.result.index += [grown] if grown else []
        self._writers, self._bucket_index, self._place = [], None, None

    def _file_rows(self, group: pa.Table, layer: int) -> pa.Table:
        schema = self._job.schema
        if not schema.primary_keys:
            return group
        kinds = (
            group.column(ROW_KIND_COLUMN)
            if ROW_KIND_COLUMN in group.column_names
            else pa.chunked_array([pa.repeat(pa.scalar(0, pa.int8()), group.num_rows)])
        )
        for name, key_name in self._renames:
            group = group.append_column(key_name, group.column(name))
        sequence = pa.repeat(pa.scalar(self._job.sequence_number + layer, pa.int64()), group.num_rows)
        return group.append_column(SEQUENCE_NUMBER.name, sequence).append_column(VALUE_KIND.name, kinds)
