"""Which changes are meant: those after one snapshot, up to and including another one (Paimon's `incremental-between`).

A *bound* is a snapshot id, the name of a tag, or a time; a time means the newest snapshot that is not younger. The
bound 0, and a time before the first snapshot, mean the empty table before its first commit. The snapshots in between
need not exist any more: the state of a table at its two ends is enough to compute what changed.
"""

from __future__ import annotations

import time
from datetime import datetime

from tablestore_engine.errors import ChangesNotFound, SnapshotNotFound, UserError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.changelog.change_plan import ChangeRange
from tablestore_engine.operation.history.history import load_living
from tablestore_engine.storage.stores.tags import is_number
from tablestore_engine.table_state import TableState

Bound = int | str | datetime
_HINT = "Begin at one of these, or at 0 for all rows; 'snapshot.time-retained' and tags keep snapshots longer."


def change_range(state: TableState, start: Bound, end: Bound | None = None) -> ChangeRange:
    """The range between two bounds; without `end`, up to the latest snapshot.

    Raises:
        ChangesNotFound: a snapshot has expired, or was never there; the message says which there are.
        TagNotFound: a text that is the name of no tag.
        UserError: the range ends before it begins, or the table was replaced by another one within it.
    """
    before = _snapshot_of(state, start)
    after = state.snapshots.latest() if end is None else _snapshot_of(state, end)
    found = ChangeRange(before, after)
    if (after.id if after else 0) < found.first_id:
        last = after.id if after else 0
        raise UserError(
            f"Changes from snapshot {found.first_id} to {last} of table {state.name}: the range ends before it begins.",
            hint="Give the older bound first; it does not belong to the range, and the other one does.",
        )
    _check_lineage(state, found)
    return found


def between_times(state: TableState, start_millis: int, end_millis: int) -> ChangeRange:
    """The range between two times, in milliseconds since 1970. Raises as `change_range`."""
    return change_range(state, datetime.fromtimestamp(start_millis / 1000), datetime.fromtimestamp(end_millis / 1000))


def _snapshot_of(state: TableState, bound: Bound) -> Snapshot | None:
    """The snapshot of a bound; None for the empty table."""
    if isinstance(bound, datetime):
        return _at(state, int(bound.timestamp() * 1000))
    text = str(bound).strip()
    if not is_number(text):
        return load_living(state, text)
    if int(text) == 0:
        return None
    try:
        return state.snapshots.load(int(text))
    except SnapshotNotFound:
        tagged = [one for one in state.tags.all().values() if one.id == int(text)]
        if tagged:
            return tagged[0]
        raise ChangesNotFound(
            f"Table {state.name} has no snapshot {text} to compare with. {_what_is_there(state)}", hint=_HINT
        ) from None


def _at(state: TableState, millis: int) -> Snapshot | None:
    found = state.snapshots.at_or_before(millis)
    if found is not None or state.snapshots.earliest_id() in (None, 1):
        return found
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(millis / 1000))
    raise ChangesNotFound(
        f"Table {state.name} has no snapshot any more that was committed by {when}. {_what_is_there(state)}",
        hint=_HINT,
    )


def _what_is_there(state: TableState) -> str:
    """Which bounds a range may have."""
    ids = state.snapshots.ids()
    tags = ", ".join(f"{name} ({one.id})" for name, one in sorted(state.tags.all().items()))
    snapshots = f"snapshots {ids[0]} to {ids[-1]}" if ids else "no snapshots"
    return f"There are {snapshots}{f', and the tags {tags}' if tags else ''}."


def _check_lineage(state: TableState, found: ChangeRange) -> None:
    """Refuse a range in which the table was replaced by another one: their rows have nothing to do with each other."""
    if found.before is None or found.after is None:
        return
    if not state.schemas.descends(*sorted((found.after.schema_id, found.before.schema_id), reverse=True)):
        raise ChangesNotFound(
            f"Table {state.name} was replaced by another one between its snapshots {found.before.id} and"
            f" {found.after.id}, so there are no changes that lead from one to the other.",
            hint="Read all rows, which are the changes from 0.",
        )
