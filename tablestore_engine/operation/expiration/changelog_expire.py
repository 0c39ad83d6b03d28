"""Expiration of long-lived changelogs (`changelog.num-retained…`, `changelog.time-retained`).

Like that of snapshots: metadata that names files is removed first, oldest first, so a killed expiration leaves orphans
and nothing that is incomplete. Changelogs count from the newest snapshot on, and age like snapshots: from the commit of
the next one.
"""

from __future__ import annotations

from tablestore_engine.errors import SnapshotNotFound
from tablestore_engine.operation.expiration.snapshot_expire import (
    Garbage,
    Retention,
    add_changelog,
    end_of_expired,
    refuse_unknown,
    remove_garbage,
)
from tablestore_engine.storage.metadata_files.consumer_store import consumers
from tablestore_engine.table_state import TableState


def expire_changelogs(state: TableState, now_millis: int, retention: Retention) -> int:
    """Expire old changelogs of snapshots that have expired. Returns the number of removed ones.

    Raises:
        StorageError: the storage failed; every remaining changelog is complete.
        UserError: they are those of another program.
    """
    ids = state.changelogs.ids()
    latest = state.snapshots.latest_id() if ids else None
    if latest is None:
        return 0
    refuse_unknown(state)
    needed = consumers(state.io, state.paths).values()
    end = end_of_expired(ids[0], latest, lambda one: _time_of(state, one), now_millis, retention, needed)
    expired = [one for one in ids if one < end]
    garbage = Garbage()
    for one in expired:
        kept = state.changelogs.load(one)
        if kept is not None:
            add_changelog(state, garbage, kept)
    if expired:
        state.changelogs.remove(expired, end)
        remove_garbage(state, garbage)
    return len(expired)


def _time_of(state: TableState, snapshot_id: int) -> int:
    """When a snapshot was committed, or 0 where nothing is known of it any more."""
    kept = state.changelogs.load(snapshot_id)
    try:
        return (kept or state.snapshots.load(snapshot_id)).time_millis
    except SnapshotNotFound:
        return 0
