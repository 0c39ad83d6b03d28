"""Lookups, for a compaction, in the files of the bucket that it does not merge.

Merged runs are the newest ones, so the files above the level of the result are *older*; others at level 0 may have come
since a plan of the compaction was made, and are newer. Of a table that keeps the first record of a key, merged records
are void where any other file has the key that is not newer. With sequence groups, a retraction without an older record
in the merged runs takes something back if its key has a row in older files, and is idle otherwise. Only the keys are
looked up that may be there: of other files and pages nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.arrow_kernels.compare_values import Mask
from tablestore_engine.mergetree.compaction.sections import Key, key_interval
from tablestore_engine.mergetree.merge.merge_runs import comparable_key
from tablestore_engine.mergetree.merge.sequence_group_deletes import OlderRows
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.compact.compact_task import CompactTask
from tablestore_engine.operation.files.data_file_reader import FileColumns, read_batches, read_rows_of_keys
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.types.system_columns import VALUE_KIND


def first_stays(task: CompactTask) -> bool:
    """Whether the other files of the bucket may hold records that make merged ones void."""
    return task.target.schema.merge_engine.rules.kept is Kept.OLDEST and bool(_not_newer(task))


def of_new_keys(task: CompactTask, table: pa.Table) -> pa.Table:
    """The rows whose keys no other file has that is not newer: readers do not merge files above level 0."""
    known = _known(task, _not_newer(task), table) if table.num_rows else None
    return table if known is None else table.filter(pa.array(~known))


def older_rows(task: CompactTask) -> OlderRows | None:
    """Looks up the rows that keys have in older files; None if there are none, or if it does not matter."""
    older = _unmerged_older(task)

    def found(records: pa.Table) -> Mask:
        known = _known(task, older, records)
        return np.zeros(records.num_rows, np.bool_) if known is None else known

    return found if older and task.target.schema.merge_engine.looks_rows_up else None


def needs_all_runs(task: CompactTask) -> bool:
    """Whether only a merge with the older files shows what a record does: a -D that removes the row if it is not late.

    It is looked for in the files that hold retractions.
    """
    older, engine = _unmerged_older(task), task.target.schema.merge_engine
    if not (older and engine.looks_rows_up and engine.removing_groups):
        return False
    suspects = [f for f in (*task.files, *older) if f.delete_row_count != 0]
    return any(pc.any(pc.equal(kinds, DELETE_KIND)).as_py() for file in suspects for kinds in _kinds(task, file))


def overlapping(task: CompactTask, file: DataFileMeta) -> list[DataFileMeta]:
    """The other files of the bucket that may hold a key of a file."""
    return _within(task, task.rest, *_span(task, file))


def _not_newer(task: CompactTask) -> list[DataFileMeta]:
    newest = max((file.max_sequence_number for file in task.files), default=0)
    return [file for file in task.rest if file.level or file.min_sequence_number <= newest]


def _unmerged_older(task: CompactTask) -> list[DataFileMeta]:
    if task.target.schema.reads_files_alone:
        return []  # with deletion vectors the old row of each key is merged, see `deletion_vectors.old_rows`
    return [file for file in task.rest if file.level > task.output.level]


def _known(task: CompactTask, files: Iterable[DataFileMeta], records: pa.Table) -> Mask | None:
    """Which of some records, sorted by key, have keys that show a row in files; None if none has."""
    names = task.target.schema.trimmed_primary_keys
    ends = [comparable_key(records.column(name)[i].as_py() for name in names) for i in (0, -1)]
    keys = RowKeys(records.select(names))
    found = [
        batch.select(names).cast(keys.values.schema)
        for file in _within(task, files, *ends)
        for batch in _ordinary(task, file, keys)
    ]
    if not found:
        return None
    known = np.zeros(records.num_rows, np.bool_)
    known[RowKeys(pa.Table.from_batches(found, keys.values.schema)).positions_in(records)] = True
    return known


def _ordinary(task: CompactTask, file: DataFileMeta, keys: RowKeys) -> Iterator[pa.RecordBatch]:
    """The records of keys in a file, without retractions."""
    target, some_retract = task.target, file.delete_row_count != 0
    columns = FileColumns(keys.names, (VALUE_KIND,) if some_retract else ())
    for batch in read_rows_of_keys(target.io, task.stored(file), target.schema, columns, keys):
        if some_retract:
            yield batch.filter(pc.equal(pc.bit_wise_and(batch.column(VALUE_KIND.name), 1), 0))
        else:
            yield batch


def _kinds(task: CompactTask, file: DataFileMeta) -> Iterator[pa.Array]:
    schema = task.target.schema
    for batch in read_batches(task.target.io, task.stored(file), schema, FileColumns((), (VALUE_KIND,))):
        yield batch.column(VALUE_KIND.name)


def _within(task: CompactTask, files: Iterable[DataFileMeta], low: Key, high: Key) -> list[DataFileMeta]:
    """Those of the files that may hold a key from `low` to `high`."""
    spans = ((file, *_span(task, file)) for file in files)
    return [file for file, first, last in spans if first <= high and low <= last]


def _span(task: CompactTask, file: DataFileMeta) -> tuple[Key, Key]:
    return key_interval(file, [f.type for f in task.target.schema.trimmed_key_fields])
