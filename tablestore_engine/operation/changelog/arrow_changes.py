"""The changes of a plan as Arrow rows in this process, with their kind in `ROW_KIND` first: no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.keyed_changes import (
    ChangelogRows,
    changes_of_columns,
    ends_of_rows,
    keyed_changes,
    multiset_changes,
)
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.changelog.change_plan import (
    AllRows,
    ChangePlan,
    KeyedDiff,
    SignedFiles,
    changed_positions,
    key_columns,
)
from tablestore_engine.operation.files.data_file_reader import FileColumns, read_batches
from tablestore_engine.operation.files.deletion_vectors import positions_in
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.read.arrow_read import output_schema, read_rows, read_rows_at
from tablestore_engine.operation.read.held_files import HeldRecords
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan, stored_file
from tablestore_engine.schema.table.row_kind import KINDS, ROW_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.system_columns import COUNT, COUNT_COLUMNS, RECORD_COLUMNS, VALUE_KIND
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.table_state import TableState


def read_changes(state: TableState, plan: ChangePlan, names: tuple[str, ...] | None = None) -> pa.Table:
    """The changed rows: `_row_kind`, then the table's columns; of a keyed diff some of them, with those of the key."""
    if names is None or not isinstance(plan, KeyedDiff) or len(names) == len(plan.after.schema.fields):
        changes = changelog_rows(state, plan)
    else:
        changes = _changes_of_columns(state, plan, names)
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
            stored = stored_file(state, bucket, file)
            for batch in read_batches(state.io, stored, state.schema, FileColumns(names, RECORD_COLUMNS)):
                rows = pa.Table.from_batches([batch])
                kinds = pa.array(KINDS).take(batch.column(batch.schema.get_field_index(VALUE_KIND.name)))
                yield rows.select(list(names)).cast(schema).add_column(0, ROW_KIND, kinds)


def changelog_rows(
    state: TableState, plan: ChangePlan, compared: tuple[str, ...] | None = None, held: HeldRecords | None = None
) -> ChangelogRows:
    """The changed rows, with the number of the kind of each.

    `compared`: the columns of which one must have changed in an updated row (default: all). `held`: what is held of the
    files in which keys are looked up.
    """
    if isinstance(plan, AllRows):
        rows = _rows(state, plan.rows)
        return ChangelogRows(rows, np.zeros(rows.num_rows, np.int8))
    if isinstance(plan, SignedFiles):
        return _changes_of_signed_files(state, plan)
    keys = _keys(state, plan.changed_files)
    return keyed_changes(*_states(state, plan, keys, held), keys, compared)


def _changes_of_columns(state: TableState, plan: KeyedDiff, names: tuple[str, ...]) -> ChangelogRows:
    """Some columns of the changed rows. All columns are read of those keys only of which these columns are equal before
    and after: others may have changed."""
    keys = _keys(state, plan.changed_files)

    def others(equal: pa.Table) -> ChangelogRows:
        changes = keyed_changes(*_states(state, plan, equal), equal)
        return ChangelogRows(changes.rows.select(names), changes.kinds)

    return changes_of_columns(*_states(state, plan, keys, names=names), keys, others)


def _states(
    state: TableState,
    plan: KeyedDiff,
    keys: pa.Table,
    held: HeldRecords | None = None,
    names: tuple[str, ...] | None = None,
) -> tuple[pa.Table, pa.Table]:
    """The rows of keys before and after, and maybe those of others."""
    if plan.recorded is not None:
        return _recorded_states(state, plan.recorded, plan.after.schema, names)
    sought, held = sought_keys(keys, state.schema), held or HeldRecords()
    return _rows(state, plan.before, sought, held, names), _rows(state, plan.after, sought, held, names)


def _recorded_states(
    state: TableState, commits: Sequence[ScanPlan], schema: TableSchema, names: tuple[str, ...] | None
) -> tuple[pa.Table, pa.Table]:
    """The rows before and after that changelogs of commits, the oldest first, hold: those of the first change of each
    key, and those of the last."""
    names = schema.field_names if names is None else names
    rows = [output_schema(schema, names).empty_table()]
    kinds = [np.zeros(0, np.int8)]
    for plan in commits:
        for bucket in plan.buckets:
            for file in bucket.files:
                for batch in read_batches(
                    state.io, stored_file(state, bucket, file), state.schema, FileColumns(names, RECORD_COLUMNS)
                ):
                    rows.append(pa.Table.from_batches([batch]).select(list(names)).cast(rows[0].schema))
                    kinds.append(batch.column(VALUE_KIND.name).to_numpy())
    found, kind = pa.concat_tables(rows), np.concatenate(kinds)
    first, last = ends_of_rows(found.select(key_columns(schema)))
    before, after = (at[(kind[at] & 1) == side] for at, side in ((first, 1), (last, 0)))
    return found.take(pa.array(before)), found.take(pa.array(after))


def streamed_rows(state: TableState, plan: ScanPlan) -> Iterator[pa.Table]:
    """The rows of a plan, some at a time."""
    for batch in read_rows(state, plan, plan.schema.field_names):
        yield pa.Table.from_batches([batch])


def _rows(
    state: TableState,
    plan: ScanPlan,
    keys: RowKeys | None = None,
    held: HeldRecords | None = None,
    names: tuple[str, ...] | None = None,
) -> pa.Table:
    """The rows of a plan, or those of some keys, with all columns or some."""
    names = plan.schema.field_names if names is None else names
    return pa.Table.from_batches(read_rows(state, plan, names, keys, held), output_schema(plan.schema, names))


def sought_keys(keys: pa.Table, schema: TableSchema) -> RowKeys | None:
    """The values by which rows with one of the keys, and maybe others, are looked up; None when none is exact."""
    exact = [f.name for f in keys.schema if not pa.types.is_floating(f.type) and not keys.column(f.name).null_count]
    return RowKeys(keys.select(exact)) if set(exact) & set(schema.primary_keys) else None


def _keys(state: TableState, plan: ScanPlan) -> pa.Table:
    """The keys that files hold."""
    names = key_columns(plan.schema)
    batches = (
        batch for bucket in plan.buckets for file in bucket.files for batch in _batches(state, bucket, file, names)
    )
    return pa.Table.from_batches(batches, output_schema(plan.schema, names))


def _batches(
    state: TableState, bucket: BucketScan, file: DataFileMeta, names: tuple[str, ...], added: tuple[DataField, ...] = ()
) -> Iterator[pa.RecordBatch]:
    """Some columns of all rows of a file, in the types of the current schema."""
    stored = stored_file(state, bucket, file)
    deleted = positions_in(state.io, bucket.deletions, file.file_name)
    types = output_schema(state.schema, names)
    for batch in read_batches(state.io, stored, state.schema, FileColumns(names, added), deleted=deleted):
        yield batch if added else pa.RecordBatch.from_arrays(batch.columns, schema=types)


def marked_rows(state: TableState, plan: SignedFiles) -> Iterator[tuple[int, pa.Table]]:
    """The rows of files that stayed which are there since (1), or not any more (-1)."""
    for one, *changed in changed_positions(state.io, plan.marked):
        for sign, positions in zip((1, -1), changed, strict=True):
            if len(positions):
                batches = read_rows_at(state, state.schema, (one.after, one.after.files[0]), positions)
                yield sign, pa.Table.from_batches(batches)


def _changes_of_signed_files(state: TableState, plan: SignedFiles) -> ChangelogRows:
    names = plan.added.schema.field_names
    schema = output_schema(plan.added.schema, names)
    parts, counts = [schema.empty_table()], [np.zeros(0, np.int64)]
    for sign, files in ((1, plan.added), (-1, plan.removed)):
        for bucket in files.buckets:
            for file in bucket.files:
                retracts = is_retraction(file)
                for batch in _batches(state, bucket, file, names, COUNT_COLUMNS if retracts else ()):
                    own = pa.Table.from_batches([batch])
                    parts.append(own.select(list(names)).cast(schema))
                    counts.append(sign * (own.column(COUNT.name).to_numpy() if retracts else np.ones(len(batch), int)))
    for sign, rows in marked_rows(state, plan):
        parts.append(rows)
        counts.append(np.full(rows.num_rows, sign))
    return multiset_changes(pa.concat_tables(parts), np.concatenate(counts))
