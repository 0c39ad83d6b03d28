"""The changes that an append makes in a bucket of a table that keeps the newest record of each key.

All records of the keys, those that were there and those that were added, are sorted once. The last one of a key is its
row after the append, and the last one that was there already is its row before.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.keyed_changes import ChangelogRows, changes_between
from tablestore_engine.mergetree.merge.merge_runs import SortColumn, last_of_key_mask, sort_stable
from tablestore_engine.mergetree.merge.sequence import sequence_columns
from tablestore_engine.operation.changelog.arrow_changes import sought_keys
from tablestore_engine.operation.changelog.change_plan import KeyedDiff, key_columns
from tablestore_engine.operation.files.data_file_reader import FileColumns
from tablestore_engine.operation.read.arrow_read import file_rows, records_of_keys
from tablestore_engine.operation.read.held_files import HeldRecords, hold
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS, SEQUENCE_NUMBER, VALUE_KIND, key_field
from tablestore_engine.table_state import TableState

_ROW = "__tablestore_row"


def newest_changes(
    state: TableState, plan: KeyedDiff, compared: tuple[str, ...] | None, held: HeldRecords
) -> ChangelogRows | None:
    """The changes of a plan whose changed files were added to one bucket, in the order of keys; see `changelog_rows`.

    None where others were removed, rows are not the newest records, or they are not found by their keys.
    """
    schema = plan.after.schema
    before, after = ({f.file_name for f in one.files} for one in (plan.before, plan.after))
    only_added = after - before == {f.file_name for f in plan.changed_files.files} and before <= after
    if schema.merge_engine.rules.kept is not Kept.NEWEST or not only_added:
        return None
    columns = FileColumns(schema.field_names, RECORD_COLUMNS)
    (bucket,) = plan.changed_files.buckets
    added: dict[str, pa.Table] = {}
    for file in bucket.files:
        source = file_rows(state, schema, (bucket, file), columns)
        rows = added[file.file_name] = pa.Table.from_batches(source.batches())
        hold(source, rows, held.within)
    keys = sought_keys(pa.concat_tables(added.values()).select(key_columns(schema)), schema)
    if keys is None:
        return None

    def records() -> Iterator[tuple[bool, pa.RecordBatch]]:
        """The records, the oldest run first, and whether each was added."""
        for scan, section in plan.after.sections:
            for file in (f for run in reversed(section.runs) for f in run.files):
                if file.file_name in added:
                    yield from ((True, batch) for batch in added[file.file_name].to_batches())
                else:
                    source = file_rows(state, schema, (scan, file), columns)
                    yield from ((False, batch) for batch in records_of_keys(source, (scan, file), keys, held))

    fresh, batches = zip(*records(), strict=True)
    is_added = np.repeat(fresh, [batch.num_rows for batch in batches])
    found = pa.Table.from_batches(batches)
    by = [key_field(f).name for f in schema.trimmed_key_fields]
    order = [*map(SortColumn, by), *sequence_columns(schema), SortColumn(SEQUENCE_NUMBER.name)]
    numbered = found.select([one.name for one in order]).append_column(_ROW, pa.array(np.arange(found.num_rows)))
    ordered = sort_stable(numbered, order)
    row = ordered.column(_ROW).to_numpy()
    ends = np.flatnonzero(last_of_key_mask(ordered, by))
    starts = np.append(0, ends[:-1] + 1)
    was = np.maximum.reduceat(np.where(is_added[row], -1, np.arange(len(row))), starts)
    changed = np.logical_or.reduceat(is_added[row], starts)
    alive = (found.column(VALUE_KIND.name).to_numpy() & 1) == 0
    old, new = (np.where((at >= 0) & alive[row[at]], row[at], -1)[changed] for at in (was, ends))
    return changes_between(found.select(schema.field_names), old, new, compared)
