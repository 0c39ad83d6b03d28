"""Retractions that come from the messages of topics, in a table without a key: each must have its row.

A message may hold a part of the row that it takes away, and the table would be unreadable after it. The changes of
other tables are complete, so they are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tablestore_engine.errors import NegativeCountError
from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.arrow_kernels.row_ids import first_rows, row_ids
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.consumed_positions import KAFKA
from tablestore_engine.operation.files.data_file_reader import FileColumns, read_batches
from tablestore_engine.operation.read.arrow_read import file_rows, output_schema
from tablestore_engine.operation.read.row_copies import copies_of
from tablestore_engine.operation.scan.plan_scan import group_by_bucket, plan_scan
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.table_state import TableState


def check_retractions(
    state: TableState, intent: WriteIntent, added: Sequence[ManifestEntry], before: Snapshot | None
) -> None:
    """Raise a NegativeCountError if a write that reads topics takes away rows that are not there after it.

    `added` are its files; `before` is the snapshot that they are added to, None where they replace all rows.
    """
    if state.schema.primary_keys:
        return
    topics = [one.source.removeprefix(KAFKA) for one in intent.consumed if one.source.startswith(KAFKA)]
    retracting = [entry for entry in added if is_retraction(entry.file)]
    if not topics or intent.retractions_checked or not retracting:
        return
    rows = _rows(state, retracting)
    counts = copies_of(state, (*plan_scan(state, before).buckets, *group_by_bucket(added, state.schema)), rows)
    if (counts >= 0).all():
        return
    row = rows.slice(int(counts.argmin()), 1).to_pylist()[0]
    raise NegativeCountError(
        f"The messages of {', '.join(topics)} take away a row that table {state.name} does not have: {row}. "
        "Nothing was written.",
        hint="Debezium gives whole rows with a full replica identity. If the columns of the source have the "
        "constraint `not_null`, such messages go to its `dead_letters`; with a `key`, and a model with a unique_key, "
        "the key is enough.",
    )


def _rows(state: TableState, entries: Sequence[ManifestEntry]) -> pa.Table:
    """The different rows of some files, in their present types."""
    names = state.schema.field_names
    wanted, columns = output_schema(state.schema, names), FileColumns(names)
    batches = []
    for bucket in group_by_bucket(entries, state.schema):
        for file in bucket.files:
            source = file_rows(state, state.schema, (bucket, file), columns)
            batches += [one.cast(wanted) for one in read_batches(state.io, source.file, state.schema, columns)]
    rows = pa.Table.from_batches(batches, wanted)
    ids = row_ids([one_array(one) for one in rows.columns], rows.num_rows)
    return rows.take(pa.array(first_rows(ids)))
