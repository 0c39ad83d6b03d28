"""Reading the merged rows of a scan as Arrow batches in this process: small tables, single columns, no Spark."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.merge.fold_records import reducer
from tablestore_engine.mergetree.merge.merge_runs import SortColumn, merge_sorted
from tablestore_engine.mergetree.merge.sequence import sequence_columns
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.files.data_file_reader import (
    FileColumns,
    StoredFile,
    read_batches,
    read_rows_of_keys,
    rows_at_positions,
)
from tablestore_engine.operation.files.deletion_vectors import positions_in
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.read.held_files import (
    FileRows,
    HeldRecords,
    held_file,
    rows_by_pages,
    rows_of_many_keys,
)
from tablestore_engine.operation.read.multiset_read import multiset_rows
from tablestore_engine.operation.scan.key_lookup import keys_in
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS, SEQUENCE_NUMBER, VALUE_KIND, key_field
from tablestore_engine.table_state import TableState


def output_schema(schema: TableSchema, names: tuple[str, ...]) -> pa.Schema:
    """Arrow schema of the rows that `read_rows` returns."""
    return pa.schema([(n, to_arrow_type(schema.field(n).type)) for n in names])


def read_rows(
    state: TableState,
    plan: ScanPlan,
    names: tuple[str, ...],
    keys: RowKeys | None = None,
    held: HeldRecords | None = None,
) -> Iterator[pa.RecordBatch]:
    """Merged rows of a plan, one batch per run in memory at a time.

    With `keys` only the rows of these; in a keyed table they are values of columns of the primary key, by which the
    records of a row are all found. Files of which `held` has their records are not read; those of the others are added
    to it, for a read of the same columns and keys in another state of the table.
    """
    schema = plan.schema
    out = output_schema(schema, names)

    def batches(bucket: BucketScan, file: DataFileMeta, columns: FileColumns) -> Iterable[pa.RecordBatch]:
        source = file_rows(state, schema, (bucket, file), columns)
        if keys is not None:
            return records_of_keys(source, (bucket, file), sought[bucket.id], held)
        deleted = positions_in(state.io, bucket.deletions, file.file_name)
        return read_batches(state.io, source.file, schema, columns, deleted=deleted)

    sought: dict[tuple[bytes, int], RowKeys] = {}
    if keys is not None:
        sought = {b.id: keys_in(b, keys, schema, state.schemas.load) for b in plan.buckets}
        plan = replace(plan, buckets=tuple(b for b in plan.buckets if sought[b.id].values.num_rows))

    if not schema.primary_keys:
        for bucket in plan.buckets:
            if any(is_retraction(f) for f in bucket.files):
                found = multiset_rows(state.name, bucket, schema, state.schemas.load, batches, names)
            else:
                plain = (batches(bucket, f, FileColumns(names)) for f in bucket.files)
                found = itertools.chain.from_iterable(plain)
            for batch in found:
                yield pa.RecordBatch.from_arrays(batch.columns, schema=out)
        return
    order = sequence_columns(schema)
    wanted = (*names, *(c.name for c in order if c.name not in names))
    wanted = schema.merge_engine.columns_for(wanted)
    by = [key_field(f).name for f in schema.trimmed_key_fields]
    reduce = reducer(by, [*order, SortColumn(SEQUENCE_NUMBER.name)], schema.merge_engine.only(wanted))
    for bucket, section in plan.sections:
        runs = [
            itertools.chain.from_iterable(batches(bucket, f, FileColumns(wanted, RECORD_COLUMNS)) for f in run.files)
            for run in reversed(section.runs)
        ]
        settle = schema.merge_engine.settles_retractions and any(f.delete_row_count != 0 for f in section.files)
        for table in merge_sorted(runs, by, reduce, always=settle):
            alive = pc.equal(pc.bit_wise_and(table.column(VALUE_KIND.name), 1), 0)
            for batch in table.filter(alive).select(list(names)).to_batches():
                yield pa.RecordBatch.from_arrays(batch.columns, schema=out)


def file_rows(
    state: TableState, schema: TableSchema, stored: tuple[BucketScan, DataFileMeta], columns: FileColumns
) -> FileRows:
    """Columns of a file of a bucket, in a schema of the table."""
    bucket, file = stored
    path = bucket.path_of(state.paths, file)
    own = StoredFile(path, file.file_size, state.schemas.load(file.schema_id))
    return FileRows(state.io, own, schema, columns)


def records_of_keys(
    source: FileRows, stored: tuple[BucketScan, DataFileMeta], keys: RowKeys, held: HeldRecords | None
) -> Iterable[pa.RecordBatch]:
    """The rows of a file of a bucket that have some keys, as far as they are not deleted; see `read_rows`."""
    bucket, file = stored
    known = source.file.path, bucket.deletions.get(file.file_name)
    if held is not None and known in held.found:
        return held.found[known]
    deleted = positions_in(source.io, bucket.deletions, file.file_name)
    if held is None:
        return read_rows_of_keys(source.io, source.file, source.current, source.columns, keys, deleted)
    by_pages = rows_by_pages(file, source.current, keys)
    whole = held_file(source, file.row_count, by_pages, held.within)
    if whole is not None:
        found: Iterable[pa.RecordBatch] = [whole.of_keys(keys, deleted)]
    elif deleted is None and by_pages >= file.row_count:
        found = rows_of_many_keys(source, keys)
    else:
        found = read_rows_of_keys(source.io, source.file, source.current, source.columns, keys, deleted)
    held.found[known] = list(found)
    return held.found[known]


def read_rows_at(
    state: TableState, schema: TableSchema, stored: tuple[BucketScan, DataFileMeta], positions: Positions
) -> Iterator[pa.RecordBatch]:
    """The rows of one file of an append table at ascending positions, deleted or not."""
    names = schema.field_names
    source = file_rows(state, schema, stored, FileColumns(names))
    out = output_schema(schema, names)
    for batch in rows_at_positions(state.io, source.file, schema, source.columns, positions):
        yield pa.RecordBatch.from_arrays(batch.columns, schema=out)
