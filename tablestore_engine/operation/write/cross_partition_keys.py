"""Routing of small writes in this process: where their keys are, of keys that cross partitions, and their buckets.

Vocabulary: a *location* is the number of the bucket scan that holds a key now, `NOWHERE` when none does. A *record* is
a key as a file holds it, with the number of its bucket scan, its sequence number and its kind; the last record of a key
in a bucket decides whether the key exists there. `routing` says which rows go where.

Only files whose key interval contains one of the keys are read, of these only the key columns and what orders the
records, and of a Parquet file only pages that may hold a key; only the records of the sought keys are kept in memory.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.arrow_kernels.row_ids import row_ids, same_floats
from tablestore_engine.mergetree.compaction.sections import key_interval
from tablestore_engine.mergetree.merge.merge_runs import comparable_key
from tablestore_engine.mergetree.merge.normalize_records import without_ignored
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.dynamic_buckets.bucket_filling import shares
from tablestore_engine.operation.dynamic_buckets.hash_index import Buckets, fill_rule, key_hashes
from tablestore_engine.operation.files.data_file_reader import (
    FileColumns,
    StoredFile,
    read_batches,
    read_rows_of_keys,
)
from tablestore_engine.operation.files.deletion_vectors import positions_in
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.formats.parquet_file import PAGE_ROWS
from tablestore_engine.operation.scan.scan_plan import BucketScan, stored_file
from tablestore_engine.operation.write.bucket_assignment import partition_groups
from tablestore_engine.operation.write.cross_partition_routing import (
    Held,
    KeptRows,
    Part,
    Target,
    routing_of,
    row_order,
    unique_kinds,
)
from tablestore_engine.operation.write.refused_rows import check_not_null, check_unique
from tablestore_engine.operation.write_job.write_job import BUCKET_COLUMN, ORDINAL_COLUMN, ROW_KIND_COLUMN, WriteJob
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS, SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.schema.types.types import has_root
from tablestore_engine.table_state import TableState

MAX_ROWS = 4_000_000
MAX_FILES = 10_000
"""Limits for reading files in this process; beyond them Spark reads."""
LOCATION_COLUMN = "__tablestore_location"
NOWHERE = -1

_MAX_SOUGHT = 10_000  # more keys are in nearly all files anyway
_THREADS = 4

Locations = npt.NDArray[np.int64]
Numbered = tuple[int, BucketScan, DataFileMeta]


def routed_rows(
    given: pa.Table, job: WriteJob, buckets: Sequence[BucketScan], records: Callable[[pa.Table], pa.Table]
) -> pa.Table:
    """The rows of a write as `write_table` takes them: those that count, each with its bucket, and deletes of keys that
    leave a partition. `records` finds the records of some rows' keys in the buckets of the table: see `records_of`.

    Raises:
        PrimaryKeyError, SchemaError: a null in a NOT NULL column.
        DuplicateKeyError: a key occurs twice, and the job refuses that.
    """
    schema = job.schema
    rows = without_ignored(with_kinds(given), schema.merge_engine, ROW_KIND_COLUMN)
    check_not_null(rows, schema)
    check_unique(job, lambda: repeated_in(rows, job))
    rows = kept_rows(rows, job)
    return route(rows, locations_of(rows, records(rows), schema), buckets, schema)


def files_with(buckets: Sequence[BucketScan], schema: TableSchema, keys: pa.Table) -> list[Numbered]:
    """The files that may hold one of the keys, with the numbers of their bucket scans."""
    files = [(number, bucket, file) for number, bucket in enumerate(buckets) for file in bucket.files]
    types = [f.type for f in schema.trimmed_key_fields]
    distinct = pc.unique(keys.column(schema.trimmed_key_fields[0].name))
    if len(distinct) > _MAX_SOUGHT:
        return files
    sought = sorted(comparable_key([value]) for value in distinct.to_pylist() if value is not None)

    def may_hold(file: DataFileMeta) -> bool:
        low, high = key_interval(file, types)
        if low[0] is None or high[0] is None:
            return True  # a time that Python does not know
        at = bisect_left(sought, low[:1])
        return at < len(sought) and sought[at] <= high[:1]

    return [one for one in files if may_hold(one[2])]


def are_few(files: Sequence[Numbered], schema: TableSchema, keys: int) -> bool:
    """Whether so many keys are worth looking up in these files in this process."""
    most = MAX_ROWS if _has_floats(schema) else keys * PAGE_ROWS
    rows = (min(f.row_count, most) if f.format == "parquet" else f.row_count for _, _, f in files)
    return len(files) <= MAX_FILES and sum(rows) <= MAX_ROWS


def _has_floats(schema: TableSchema) -> bool:
    return any(has_root(schema.field(name).type, ("FLOAT", "DOUBLE")) for name in schema.primary_keys)


def records_of(state: TableState, files: Sequence[Numbered], keys: pa.Table) -> pa.Table:
    """The records of the keys in some files: key columns, `LOCATION_COLUMN`, sequence number and kind.

    Raises:
        CorruptMetadataError, StorageError: a file cannot be read.
    """
    schema = state.schema
    sought = RowKeys(
        pa.table([same_floats(one_array(keys.column(n))) for n in schema.primary_keys], list(schema.primary_keys))
    )

    def found(one: Numbered) -> list[pa.RecordBatch]:
        return list(_records(state, one, sought))

    with ThreadPoolExecutor(_THREADS) as pool:
        batches = [batch for part in pool.map(found, files) for batch in part]
    return pa.Table.from_batches(batches, _record_schema(schema))


def _record_schema(schema: TableSchema) -> pa.Schema:
    fields = [(name, to_arrow_type(schema.field(name).type.as_nullable(True))) for name in schema.primary_keys]
    return pa.schema(
        [*fields, (LOCATION_COLUMN, pa.int32()), (SEQUENCE_NUMBER.name, pa.int64()), (VALUE_KIND.name, pa.int8())]
    )


def _records(state: TableState, one: Numbered, sought: RowKeys) -> Iterator[pa.RecordBatch]:
    number, bucket, file = one
    schema = state.schema
    kinds = _record_schema(schema)
    deleted = positions_in(state.io, bucket.deletions, file.file_name)
    columns = FileColumns(schema.primary_keys, RECORD_COLUMNS)
    stored = stored_file(state, bucket, file)
    for rows in _read(state, stored, columns, sought, deleted):
        if not rows.num_rows:
            continue
        arrays = [
            pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows)
            if f.name == LOCATION_COLUMN
            else rows.column(f.name).cast(f.type)
            for f in kinds
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=kinds)


def _read(
    state: TableState, file: StoredFile, columns: FileColumns, sought: RowKeys, deleted: Positions | None
) -> Iterator[pa.RecordBatch]:
    """The records of a file that may have one of the keys."""
    schema = state.schema
    if not _has_floats(schema):
        yield from read_rows_of_keys(state.io, file, schema, columns, sought, deleted)
        return
    # Others may have written -0.0, which equals 0.0: its bits are not looked for.
    for batch in read_batches(state.io, file, schema, columns, deleted=deleted):
        same = [same_floats(batch.column(name)) for name in sought.names]
        hits = [
            pc.is_in(column, value_set=values.cast(column.type))
            for column, values in zip(same, sought.distinct.values(), strict=True)
        ]
        yield batch.filter(reduce(pc.and_, hits))


def locations_of(rows: pa.Table, records: pa.Table, schema: TableSchema) -> Locations:
    """The location of each row's key; `records` are all records of these keys in the table."""
    ids = _key_ids([rows, records], schema)
    given, found = ids[: rows.num_rows], ids[rows.num_rows :]
    number = records.column(LOCATION_COLUMN).to_numpy()
    order = np.lexsort((records.column(SEQUENCE_NUMBER.name).to_numpy(), number, found))
    found, number = found[order], number[order]
    last = np.append((np.diff(found) != 0) | (np.diff(number) != 0), True)[: len(found)]
    alive = last & np.isin(
        records.column(VALUE_KIND.name).to_numpy()[order], routing_of(schema.merge_engine).live_kinds
    )
    locations: Locations = np.full(int(ids.max(initial=-1)) + 1, NOWHERE, np.int64)
    # Backwards: of several locations the first one is used.
    locations[found[alive][::-1]] = number[alive][::-1]
    return locations[given]


def _key_ids(tables: Sequence[pa.Table], schema: TableSchema) -> npt.NDArray[np.int64]:
    """Numbers that are equal exactly when keys are equal."""
    keys = [
        t.select(list(schema.primary_keys)).cast(pa.schema(list(_record_schema(schema))[: len(schema.primary_keys)]))
        for t in tables
    ]
    both = pa.concat_tables(keys)
    return row_ids([one_array(column) for column in both.columns], both.num_rows)


def rows_by_bucket(buckets: Sequence[BucketScan]) -> dict[bytes, dict[int, int]]:
    """The number of rows of the buckets of each partition, by which new keys are distributed."""
    counts: dict[bytes, dict[int, int]] = {}
    for one in buckets:
        counts.setdefault(one.partition_row, {})[one.bucket] = sum(f.row_count for f in one.files)
    return counts


def repeated_in(rows: pa.Table, job: WriteJob) -> pa.Table:
    """One row for each key that occurs more often than a job allows that refuses repeated ones: its key columns."""
    ids = _key_ids([rows], job.schema)
    counted = ids[np.isin(_kinds(rows), unique_kinds(job))]
    twice = np.flatnonzero(np.bincount(counted, minlength=1) > 1)
    first = np.unique(ids, return_index=True)[1]
    return rows.select(list(job.schema.primary_keys)).take(pa.array(first[twice]))


def kept_rows(rows: pa.Table, job: WriteJob) -> pa.Table:
    """The rows of each key that its merge engine needs (`KeptRows`), in their order."""
    kept = routing_of(job.schema.merge_engine).kept_rows
    if kept is KeptRows.ALL or not rows.num_rows:
        return rows
    columns = {ROW_KIND_COLUMN: _kinds(rows), ORDINAL_COLUMN: np.arange(rows.num_rows)}
    by = [-columns[c.name] if c.descending else columns[c.name] for c in row_order(job)]
    ids = _key_ids([rows], job.schema)
    order = np.lexsort((*reversed(by), ids))
    differs = np.diff(ids[order]) != 0
    chosen = np.append(differs, True) if kept is KeptRows.LAST else np.append(True, differs)
    return rows.take(pa.array(np.sort(order[chosen])))


def _kinds(rows: pa.Table) -> npt.NDArray[np.int8]:
    kinds: npt.NDArray[np.int8] = rows.column(ROW_KIND_COLUMN).to_numpy()
    return kinds


def route(rows: pa.Table, locations: Locations, buckets: Sequence[BucketScan], schema: TableSchema) -> pa.Table:
    """The parts of a write as `routing` says, with their `BUCKET_COLUMN`; `rows` are those of `kept_rows`.

    Raises:
        OptionError: new keys do not fit into the allowed buckets.
    """
    held, retracts = _held(rows, locations, buckets, schema), (_kinds(rows) & 1) == 1
    parts = []
    for part in routing_of(schema.merge_engine).parts:
        chosen = np.isin(held, list(part.held))
        if not part.retractions:
            chosen &= ~retracts
        parts.append(_routed(part, rows.filter(pa.array(chosen)), locations[chosen], buckets, schema))
    return pa.concat_tables(parts)


def _routed(
    part: Part, rows: pa.Table, locations: Locations, buckets: Sequence[BucketScan], schema: TableSchema
) -> pa.Table:
    if part.as_deletes:
        kinds = pa.repeat(pa.scalar(DELETE_KIND, pa.int8()), rows.num_rows)
        rows = rows.set_column(rows.column_names.index(ROW_KIND_COLUMN), ROW_KIND_COLUMN, kinds)
    if part.together:
        rows = _in_first_partition(rows, schema)
    if part.target is Target.LOCATION:
        return _at_location(rows, locations, buckets, schema)
    return _opened(rows, buckets, schema)


def _partition_columns(locations: Locations, buckets: Sequence[BucketScan], schema: TableSchema) -> dict[str, pa.Array]:
    """The partition of each location; null for `NOWHERE`."""
    used, at = np.unique(locations, return_inverse=True)
    columns = {}
    for i, field in enumerate(schema.partition_fields):
        values = [None if number == NOWHERE else buckets[number].partition[i] for number in used]
        columns[field.name] = pa.array(values, to_arrow_type(field.type.as_nullable(True))).take(pa.array(at))
    return columns


def _held(
    rows: pa.Table, locations: Locations, buckets: Sequence[BucketScan], schema: TableSchema
) -> npt.NDArray[np.int64]:
    """The `Held` of each row."""
    old = _partition_columns(locations, buckets, schema)
    new = [rows.column(name) for name in old]
    both = [pa.concat_arrays([one_array(a).cast(b.type), b]) for a, b in zip(new, old.values(), strict=True)]
    ids = row_ids(both, 2 * rows.num_rows)
    same = ids[: rows.num_rows] == ids[rows.num_rows :]
    return np.where(locations == NOWHERE, Held.NOWHERE, np.where(same, Held.SAME_PARTITION, Held.OTHER_PARTITION))


def _at_location(rows: pa.Table, locations: Locations, buckets: Sequence[BucketScan], schema: TableSchema) -> pa.Table:
    for name, column in _partition_columns(locations, buckets, schema).items():
        at = rows.column_names.index(name)
        rows = rows.set_column(at, name, column.cast(rows.column(at).type))
    used, at_used = np.unique(locations, return_inverse=True)
    numbers = np.array([buckets[number].bucket for number in used], np.int32)[at_used]
    return rows.append_column(BUCKET_COLUMN, pa.array(numbers, pa.int32()))


def _in_first_partition(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """Rows of a new key in the partition of the first of them."""
    ids = _key_ids([rows], schema)
    first = pa.array(np.unique(ids, return_index=True)[1][ids] if len(ids) else ids)
    for name in schema.partition_keys:
        rows = rows.set_column(rows.column_names.index(name), name, rows.column(name).take(first))
    return rows


def _opened(rows: pa.Table, buckets: Sequence[BucketScan], schema: TableSchema) -> pa.Table:
    """Rows of keys that are new in their partition, in buckets with room."""
    numbers: Buckets = np.zeros(rows.num_rows, np.int32)
    if rows.num_rows:
        counts = rows_by_bucket(buckets)
        hashes, rule = key_hashes(rows, schema), fill_rule(schema.core_options)
        for partition, at in partition_groups(rows, schema):
            unique, inverse = np.unique(hashes[at], return_inverse=True)
            given = shares(counts.get(partition, {}), len(unique), rule)
            numbers[at] = np.repeat([bucket for bucket, _ in given], [number for _, number in given])[inverse]
    return rows.append_column(BUCKET_COLUMN, pa.array(numbers, pa.int32()))


def with_kinds(rows: pa.Table) -> pa.Table:
    """Rows with `ROW_KIND_COLUMN`, which is +I if missing."""
    if ROW_KIND_COLUMN in rows.column_names:
        return rows
    return rows.append_column(ROW_KIND_COLUMN, pa.repeat(pa.scalar(0, pa.int8()), rows.num_rows))
