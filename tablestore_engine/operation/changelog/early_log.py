"""Rows that a log gets before their commit: `log.consistency` = eventual.

They are sent as they are in the files of a write, each the newest row of its key, so sending them again does no harm.
They are not sent early while the log lacks earlier commits, because older rows would follow newer ones: then
publication after the commit sends all changes in order.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import LogError, SnapshotNotFound
from tablestore_engine.kafka.settings import LogSettings, settings_of
from tablestore_engine.mergetree.arrow_kernels.keyed_changes import ChangelogRows
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import NO_ROWS
from tablestore_engine.operation.changelog.arrow_changes import read_recorded
from tablestore_engine.operation.changelog.log_position import noted_position
from tablestore_engine.operation.commit.change import LOG_SENT
from tablestore_engine.operation.scan.plan_scan import group_by_bucket
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.schema.table.row_kind import KINDS, ROW_KIND
from tablestore_engine.table_state import TableState

_INSERT, _BEFORE, _DELETE = 0, 1, 3
_log = logging.getLogger(__name__)


def send_before_commit(state: TableState, kind: str, entries: Sequence[ManifestEntry]) -> dict[str, str]:
    """Send the rows of an append. Returns the properties by which its snapshot says so.

    Raises:
        LogError: they cannot be sent, and the table has `log.on-failure` = fail.
    """
    log = settings_of(state.schema) if state.options.log_consistency == "eventual" else None
    if log is None or kind != "APPEND" or not entries or not state.options.change_tracking or _lags(state):
        return {}
    try:
        return {LOG_SENT: ",".join(map(str, _sent(state, log, entries)))}
    except LogError as error:
        if state.options.log_on_failure == "fail":
            raise
        _log.warning("Rows of table %s are published after their commit: %s", state.name, error)
        return {}


def _lags(state: TableState) -> bool:
    """Whether the log lacks changes of earlier commits; also where that is not known any more."""
    latest = state.snapshots.latest()
    with suppress(LogError, SnapshotNotFound):  # publication after the commit says what is wrong
        noted = noted_position(state).snapshot
        later = range(noted + 1, (latest.id if latest else 0) + 1)
        return any(state.snapshots.load(number).commit_kind not in NO_ROWS for number in later)
    return True


def _sent(state: TableState, log: LogSettings, entries: Sequence[ManifestEntry]) -> list[int]:
    from tablestore_engine.kafka.encode_messages import messages_of
    from tablestore_engine.kafka.topics import end_offsets
    from tablestore_engine.kafka.transactional_producer import send_early

    plan = ScanPlan(None, state.schema, tuple(group_by_bucket(entries, state.schema)))
    recorded = read_recorded(state, plan)
    retracted = pc.is_in(recorded.column(ROW_KIND), pa.array([KINDS[_BEFORE], KINDS[_DELETE]])).to_numpy()
    kinds = np.where(retracted, _DELETE, _INSERT).astype(np.int8)
    offsets = end_offsets(log)
    send_early(log, messages_of(ChangelogRows(recorded.drop_columns([ROW_KIND]), kinds), log))
    return offsets
