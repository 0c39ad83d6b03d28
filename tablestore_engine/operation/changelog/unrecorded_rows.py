"""Rows whose changes a full compaction is still to record (`changelog-producer` = full-compaction).

Below the top level, such a table has rows that no changelog has. Elsewhere the commits of rows record them, or nothing
does. Options that move this border while rows are on the wrong side of it would lose their changes, or record rows
that no longer change.
"""

from __future__ import annotations

from tablestore_engine.errors import OptionError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.scan.plan_scan import live_entries
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.table_state import TableState


def check_recorded(state: TableState, before: TableSchema, after: TableSchema, snapshot: Snapshot | None) -> None:
    """Raise an OptionError if rows of a snapshot are recorded under one of two schemas, and not yet under the other."""
    low, high = sorted((before.recorded_level, after.recorded_level))
    if snapshot is None or low == high:
        return
    if not any(low <= entry.file.level < high for entry in live_entries(state.manifests, snapshot)):
        return
    hint = f"CALL sys.compact(table => '{state.name}') first."
    if before.recorded_level > after.recorded_level:
        raise OptionError(
            f"The options of '{state.name}' cannot change in this way now: it has rows whose changes the next full "
            "compaction is to record ('changelog-producer' = 'full-compaction'), and nothing would record them.",
            hint=hint,
        )
    if before.recorded_level:
        hint = f"Set 'num-levels' = '{before.recorded_level + 1}', too."
    raise OptionError(
        f"The options of '{state.name}' cannot change in this way now: with 'changelog-producer' = 'full-compaction', "
        "the next full compaction would record rows as new that were there before.",
        hint=hint,
    )
