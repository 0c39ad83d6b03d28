"""The changes of a plan as Arrow rows in this process, with their kind in `ROW_KIND` first: no Spark."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.arrow_kernels.keyed_changes import ChangelogRows, keyed_changes, multiset_changes
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.changelog.change_plan import AllRows, ChangePlan, SignedFiles, key_columns
from tablestore_engine.operation.files.data_file_reader import FileColumns, StoredFile, read_batches
from tablestore_engine.operation.files.deletion_vectors import positions_in
from tablestore_engine.operation.read.arrow_read import output_schema, read_rows
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.schema.table.row_kind import KINDS, ROW_KIND
from tablestore_engine.schema.types.system_columns import COUNT, VALUE_KIND
from tablestore_engine.table_state import TableState


def read_changes(state: TableState, plan: ChangePlan) -> pa.Table:
    """The changed rows: `_row_kind`, then the table's columns."""
    changes = changelog_rows(state, plan)
    kinds = pa.array(KINDS).take(pa.array(changes.kinds))
    return changes.rows.add_column(0, ROW_KIND, kinds)


def read_recorded(state: TableState, plan: ScanPlan) -> pa.Table:
    """The rows of changelog files: `_row_kind`, then the table's columns."""
    empty = output_schema(plan.schema, plan.schema.field_names).empty_table()
    return pa.concat_tables([empty.add_column(0, ROW_KIND, pa.array([], pa.string())), *recorded_rows(state, plan)])


def recorded_rows(state: TableState, plan: ScanPlan) -> Iterator[pa.Table]:
    """The same, some at a time, in the order of the files of a bucket."""
    names = plan.schema.field_names
    schema = output_schema(plan.schema, names)
    for bucket in plan.buckets:
        for file in bucket.files:
            stored = _stored(state, bucket, file)
            for batch in read_batches(state.io, stored, state.schema, FileColumns(names, system=True)):
                rows = pa.Table.from_batches([batch])
                kinds = pa.array(KINDS).take(batch.column(batch.schema.get_field_index(VALUE_KIND.name)))
                yield rows.select(list(names)).cast(schema).add_column(0, ROW_KIND, kinds)


def changelog_rows(state: TableState, plan: ChangePlan, compared: tuple[str, ...] | None = None) -> ChangelogRows:
    """The changed rows, with the number of the kind of each. `compared`: the columns of which one must have changed in
    an updated row (default: all)."""
    if isinstance(plan, AllRows):
        rows = _rows(state, plan.rows)
        return ChangelogRows(rows, np.zeros(rows.num_rows, np.int8))
    if isinstance(plan, SignedFiles):
        return _changes_of_signed_files(state, plan)
    keys = _keys(state, plan.changed_files)
    return keyed_changes(_rows(state, plan.before, keys), _rows(state, plan.after, keys), keys, compared)


def streamed_rows(state: TableState, plan: ScanPlan) -> Iterator[pa.Table]:
    """The rows of a plan, some at a time."""
    for batch in read_rows(state, plan, plan.schema.field_names):
        yield pa.Table.from_batches([batch])


def _rows(state: TableState, plan: ScanPlan, keys: pa.Table | None = None) -> pa.Table:
    """The rows of a plan. With `keys`, most rows with another one are left out, so that few are held."""
    parts = [output_schema(plan.schema, plan.schema.field_names).empty_table()]
    name = plan.schema.trimmed_primary_keys[0] if keys is not None and plan.schema.trimmed_primary_keys else None
    wanted = keys.column(name).unique() if keys is not None and name is not None else None
    for rows in streamed_rows(state, plan):
        exact = wanted is not None and not pa.types.is_floating(wanted.type)
        parts.append(rows.filter(pc.is_in(rows.column(name), wanted)) if exact else rows)
    return pa.concat_tables(parts)


def _keys(state: TableState, plan: ScanPlan) -> pa.Table:
    """The keys that files hold."""
    names = key_columns(plan.schema)
    batches = (
        batch for bucket in plan.buckets for file in bucket.files for batch in _batches(state, bucket, file, names)
    )
    return pa.Table.from_batches(batches, output_schema(plan.schema, names))


def _stored(state: TableState, bucket: BucketScan, file: DataFileMeta) -> StoredFile:
    return StoredFile(bucket.path_of(state.paths, file), file.file_size, state.schemas.load(file.schema_id))


def _batches(
    state: TableState, bucket: BucketScan, file: DataFileMeta, names: tuple[str, ...], *, counts: bool = False
) -> Iterator[pa.RecordBatch]:
    """Some columns of all rows of a file, in the types of the current schema."""
    stored = _stored(state, bucket, file)
    deleted = positions_in(state.io, bucket.deletions, file.file_name)
    types = output_schema(state.schema, names)
    for batch in read_batches(state.io, stored, state.schema, FileColumns(names, counts=counts), deleted=deleted):
        yield batch if counts else pa.RecordBatch.from_arrays(batch.columns, schema=types)


def _changes_of_signed_files(state: TableState, plan: SignedFiles) -> ChangelogRows:
    names = plan.added.schema.field_names
    schema = output_schema(plan.added.schema, names)
    parts, counts = [schema.empty_table()], [np.zeros(0, np.int64)]
    for sign, files in ((1, plan.added), (-1, plan.removed)):
        for bucket in files.buckets:
            for file in bucket.files:
                retracts = is_retraction(file)
                for batch in _batches(state, bucket, file, names, counts=retracts):
                    own = pa.Table.from_batches([batch])
                    parts.append(own.select(list(names)).cast(schema))
                    counts.append(sign * (own.column(COUNT.name).to_numpy() if retracts else np.ones(len(batch), int)))
    return multiset_changes(pa.concat_tables(parts), np.concatenate(counts))
