"""Which changes are meant: those after one snapshot, up to and including another one (Paimon's `incremental-between`).

A *bound* is a snapshot id, the name of a tag, or a time; a time means the newest snapshot that is not younger. The
bound 0, and a time before the first snapshot, mean the empty table before its first commit. The snapshots in between
need not exist any more: the state of a table at its two ends is enough to compute what changed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date, datetime
from numbers import Integral

from tablestore_engine.errors import ChangesNotFound, SnapshotNotFound, UserError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.changelog.change_plan import ChangeRange, recorded_commit, recorded_commits
from tablestore_engine.operation.expiration.dead_tags import load_living
from tablestore_engine.table_state import TableState

Bound = int | str | date  # a datetime, too
_HINT = "Begin at one of these, or at 0 for all rows; 'snapshot.time-retained' and tags keep snapshots longer."


def change_range(state: TableState, start: Bound, end: Bound | None = None) -> ChangeRange:
    """The range between two bounds; without `end`, up to the latest snapshot.

    Raises:
        ChangesNotFound: a snapshot has expired, or was never there; the message says which there are.
        TagNotFound: a text that is the name of no tag.
        UserError: the range ends before it begins, or the table was replaced by another one within it.
    """
    before = _snapshot_of(state, checked_bound(state, start))
    after = state.snapshots.latest() if end is None else _snapshot_of(state, checked_bound(state, end))
    found = ChangeRange(before, after)
    _check_order(state, found.first_id, after.id if after else 0)
    _check_lineage(state, found)
    return found


def recorded_range(state: TableState, start: Bound, end: Bound | None = None) -> ChangeRange:
    """The same where each commit of the range is asked for its changelog, which may outlive its snapshot: of the
    snapshot before the range nothing need be there. Raises as `change_range`."""
    kept, latest = state.changelogs.ids(), state.snapshots.latest_id() or 0
    first = _recorded_id(state, checked_bound(state, start), kept)
    last = latest if end is None else _recorded_id(state, checked_bound(state, end), kept)
    _check_order(state, first, last)
    if first == last:
        return ChangeRange(None, None, first)
    earliest = kept[0] if kept else state.snapshots.earliest_id() or 0
    if first + 1 < earliest or last > latest:
        raise ChangesNotFound(
            f"Table {state.name} does not have the changelogs of all snapshots from {first + 1} to {last}."
            f" There are those of {earliest} to {latest}.",
            hint=f"Begin at {earliest - 1}. 'changelog.num-retained.max' and 'changelog.time-retained' keep changelogs"
            " longer than snapshots.",
        )
    before = recorded_commit(state, first) if first >= earliest else None
    found = ChangeRange(before, recorded_commit(state, last), first)
    _check_lineage(state, found)
    _check_recorded(state, found)
    return found


def checked_bound(state: TableState, bound: Bound) -> int | str | datetime:
    """A bound as SQL understands it: a date is its midnight, and so is a text of a date or time that is no tag's name,
    in the zone of this process. Raises UserError for anything else."""
    if isinstance(bound, datetime):
        return bound
    if isinstance(bound, date):
        return datetime(bound.year, bound.month, bound.day)
    number: object = bound  # of NumPy, too
    if not isinstance(number, bool) and isinstance(number, Integral) and int(number) >= 0:
        return int(number)
    if isinstance(bound, str):
        text = bound.strip()
        if state.tags.names_snapshot(text) or text in state.tags.names():
            return text
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return text  # then there is no such tag
    raise UserError(
        f"{bound!r} is neither a snapshot nor a tag nor a time of table {state.name}.",
        hint="Give the id of a snapshot (0 is before the first one), the name of a tag, or a date or datetime.",
    )


def _check_recorded(state: TableState, found: ChangeRange) -> None:
    """Refuse a range of a table that records no changes, and recorded none in the range: it is not one without
    changes."""
    if state.schema.core_options.changelog_producer != "none":
        return
    if not any(one.changelog_manifest_list for one in recorded_commits(state, found)):
        raise ChangesNotFound(
            f"Table {state.name} records no changes ('changelog-producer' = 'none'), and has no changelog of its"
            f" snapshots {found.first_id + 1} to {found.after.id if found.after else 0}.",
            hint="table_changes, and the scan mode 'diff', compare the states at both ends. A table with a primary key"
            " records the changes of later commits with 'changelog-producer' = 'lookup'.",
        )


def _recorded_id(state: TableState, bound: int | str | datetime, kept: Sequence[int]) -> int:
    """The id of the commit of a bound."""
    if isinstance(bound, datetime):
        millis = int(bound.timestamp() * 1000)
        older = (state.changelogs.load(one) for one in reversed(kept))
        commits = (state.snapshots.at_or_before(millis), *older)
        return next((one.id for one in commits if one and one.time_millis <= millis), 0)
    text = str(bound).strip()
    return int(text) if state.tags.names_snapshot(text) else load_living(state, text).id


def _snapshot_of(state: TableState, bound: int | str | datetime) -> Snapshot | None:
    """The snapshot of a bound; None for the empty table."""
    if isinstance(bound, datetime):
        return _snapshot_at(state, int(bound.timestamp() * 1000))
    text = str(bound).strip()
    if not state.tags.names_snapshot(text):
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


def _check_order(state: TableState, first: int, last: int) -> None:
    if last < first:
        raise UserError(
            f"Changes from snapshot {first} to {last} of table {state.name}: the range ends before it begins.",
            hint="Give the older bound first; it does not belong to the range, and the other one does.",
        )


def _snapshot_at(state: TableState, millis: int) -> Snapshot | None:
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
    """Refuse a range in which the table was replaced by another one, or got a primary key: their rows have nothing to
    do with each other."""
    if found.before is None or found.after is None:
        return
    if not state.schemas.are_of_one_table(found.before.schema_id, found.after.schema_id):
        keys = [state.schemas.load(one.schema_id).primary_keys for one in (found.before, found.after)]
        what = "was replaced by another one" if keys[0] or not keys[1] else "got a primary key, or was replaced,"
        raise ChangesNotFound(
            f"Table {state.name} {what} between its snapshots {found.before.id} and"
            f" {found.after.id}, so there are no changes that lead from one to the other.",
            hint="Read all rows, which are the changes from 0.",
        )
