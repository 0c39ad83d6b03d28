"""One task of a write: writes rows sorted by partition, bucket and key.

The task removes duplicates of a key (the merge engine folds them, or they are an error), gives all rows the job's
sequence number and streams them into files. One number for the whole write is enough, because a key occurs once in a
write; the write then wins or loses against another one as a whole. Only rows that must not be merged with others of
their key make sequence layers (`mergetree.merge.sequence_layers`), each with its own files and number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.merge.fold_records import fold_sorted
from tablestore_engine.mergetree.merge.merge_runs import SortColumn, last_of_key_mask, sort_stable
from tablestore_engine.mergetree.merge.normalize_records import check_removable, normalize_records, without_ignored
from tablestore_engine.mergetree.merge.sequence_layers import LAYER_COLUMN, split_layers
from tablestore_engine.metadata.bucket_hash import bucket_ids
from tablestore_engine.operation.write.bucket_assignment import row_buckets
from tablestore_engine.operation.write.input_changelog import InputChangelog, records_input
from tablestore_engine.operation.write.refused_rows import check_lengths, check_not_null, check_unique
from tablestore_engine.operation.write.write_by_bucket import BucketSwitch
from tablestore_engine.operation.write_job.write_job import (
    BUCKET_COLUMN,
    ORDINAL_COLUMN,
    ROW_KIND_COLUMN,
    WriteJob,
    WriteResult,
    order_of_key,
)
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine
from tablestore_engine.schema.table.multiset_schema import check_retractable
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.table.table_schema import TableSchema

_Mask = npt.NDArray[np.bool_]


def write_table(job: WriteJob, rows: pa.Table, task: str = "") -> WriteResult:
    """Write rows that are in memory, in their order: later rows win."""
    job = job.of_rows(rows.column_names)
    schema = job.schema
    if BUCKET_COLUMN not in rows.column_names:
        job, buckets = row_buckets(job, rows)
        rows = rows.append_column(BUCKET_COLUMN, pa.array(buckets))
    order = [SortColumn(name) for name in (*schema.partition_keys, BUCKET_COLUMN, *schema.trimmed_primary_keys)]
    if schema.primary_keys:
        check_not_null(rows, schema)
        rows = sort_stable(rows, [*order, *order_of_key(job)])
    elif schema.partition_keys or job.total_buckets > 1:
        rows = sort_stable(rows, order)
    result = write_sorted(job, [rows], task)
    result.add_repaired(job)
    return result


def with_bucket(job: WriteJob, rows: pa.Table) -> pa.Table:
    """Rows of one bucket with their `BUCKET_COLUMN`, and without `ORDINAL_COLUMN`.

    Rows without `BUCKET_COLUMN` all belong to the bucket of the first one.

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
        DuplicateKeyError: a key occurs twice, and the job refuses that.
        SchemaError: a null in a NOT NULL column, a text that is too long for its column.
    """
    writer = BucketSwitch(job, task)
    changelog = InputChangelog(job, task) if records_input(job) else None
    try:
        given = tables if changelog is None else _recorded(job, tables, changelog)
        for table in _deduplicated(job, given, writer.result):
            for group in by_bucket(table, job.schema):
                writer.write(group)
        result = writer.close()
        result.changelog = changelog.close() if changelog else []
        return result
    except BaseException:
        writer.abort()
        if changelog is not None:
            changelog.abort()
        raise


def _recorded(job: WriteJob, tables: Iterable[pa.Table], changelog: InputChangelog) -> Iterator[pa.Table]:
    """The same rows, which are written to the changelog on their way."""
    for rows in tables:
        if rows.num_rows:
            check_not_null(rows, job.schema)
        for group in by_bucket(rows, job.schema):
            changelog.write(group)
        yield rows


def _deduplicated(job: WriteJob, tables: Iterable[pa.Table], result: WriteResult) -> Iterator[pa.Table]:
    """Tables with one row per key, folded by the merge engine; a table's last key is held back for the next table."""
    schema = job.schema
    keys = [*schema.partition_keys, BUCKET_COLUMN, *schema.trimmed_primary_keys]
    engine = schema.merge_engine
    held: pa.Table | None = None
    for rows in tables:
        if rows.num_rows == 0:
            continue
        result.rows_in += rows.num_rows
        given = accepted_records(rows, schema, row_level=job.row_level, settled=job.settled)
        if given.num_rows == 0:
            continue
        if not schema.primary_keys:
            yield given
            continue
        table = given if held is None else pa.concat_tables([held, given])
        last = last_of_key_mask(table, keys)
        check_unique(job, partial(_repeated, job, table, last))
        if _needs_layers(table, engine):
            table = split_layers(table, keys, engine, _kinds_of(table))
            begin = _begin_of_last_key(table, keys)
            held = table.slice(begin).drop_columns([LAYER_COLUMN])
            yield table.slice(0, begin)
            continue
        folded = fold_sorted(table, last, schema.merge_engine, ROW_KIND_COLUMN)
        held = folded.slice(folded.num_rows - 1)
        yield folded.slice(0, folded.num_rows - 1)
    if held is not None:
        yield split_layers(held, keys, engine, _kinds_of(held)) if _needs_layers(held, engine) else held


def _needs_layers(rows: pa.Table, engine: MergeEngine) -> bool:
    """Whether rows of one key may need several sequence layers."""
    return engine.folds_in_order or (engine.stores_retractions and _kinds_of(rows) is not None)


def _kinds_of(rows: pa.Table) -> str | None:
    return ROW_KIND_COLUMN if ROW_KIND_COLUMN in rows.column_names else None


def _begin_of_last_key(table: pa.Table, keys: Sequence[str]) -> int:
    ends = np.flatnonzero(last_of_key_mask(table, keys))
    return int(ends[-2]) + 1 if len(ends) > 1 else 0


def accepted_records(
    rows: pa.Table, schema: TableSchema, *, row_level: bool = False, settled: bool = False
) -> pa.Table:
    """The normalized records of rows (`mergetree.merge.normalize_records`), none of which the table refuses.

    Raises:
        PrimaryKeyError: a null in a key column.
        RowKindError: a retraction that the table does not take.
        SchemaError: a null in a NOT NULL column, a text that is too long for its column.
    """
    engine = schema.merge_engine
    if schema.primary_keys:
        if row_level and engine.removing_groups:
            check_removable(rows, engine, ROW_KIND_COLUMN)
        given = rows if settled else normalize_records(rows, engine, ROW_KIND_COLUMN)
    else:
        if ROW_KIND_COLUMN in rows.column_names and not row_level:
            rows = without_ignored(rows, engine, ROW_KIND_COLUMN)
        given = _checked_kinds(rows, schema)
    check_not_null(given, schema)
    check_lengths(given, schema)
    return given


def _checked_kinds(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """Rows of a table without a key; without their kinds if there is no retraction.

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


def _repeated(job: WriteJob, table: pa.Table, last: _Mask) -> pa.Table:
    """The rows of sorted ones that a row of the same key follows, but for removed rows that another one replaces."""
    if last.all() or (job.row_level and _only_replaced(table, last)):
        return table.slice(0, 0)
    return table.filter(pa.array(~last))


def _only_replaced(table: pa.Table, last: _Mask) -> bool:
    """Whether keys occur twice only where one row is removed and another one replaces it."""
    if ROW_KIND_COLUMN not in table.column_names:
        return False
    kinds = table.column(ROW_KIND_COLUMN).to_numpy()
    first = np.flatnonzero(~last)
    return bool((kinds[first] == DELETE_KIND).all() and (kinds[first + 1] == 0).all())


def by_bucket(table: pa.Table, schema: TableSchema) -> Iterator[pa.Table]:
    """Slices of equal partition and bucket, of rows sorted by these."""
    if table.num_rows == 0:
        return
    ends = np.flatnonzero(last_of_key_mask(table, [*schema.partition_keys, BUCKET_COLUMN])) + 1
    start = 0
    for end in ends:
        yield table.slice(start, int(end) - start)
        start = int(end)
