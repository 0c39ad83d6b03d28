"""Automatic tags: after a commit, tags for the periods that are over, or one for the commit itself.

By process time or watermark, the first snapshot after the end of a period and its delay gets the tag of the period.
The tags alone say what was done, so the commits of any number of processes make each tag once.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from tablestore_engine.errors import TagAlreadyExists, TagNotFound
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.metadata.tag_lifetime import Lifetime
from tablestore_engine.operation.tags.tag_periods import TagPeriods, time_of
from tablestore_engine.operation.tags.tags import create_tag, delete_tag, replace_tag
from tablestore_engine.table_state import TableState

# Paimon counts, and removes, all tags of a table that has the mode batch; those that somebody made are kept here.
_OF_A_DAY = re.compile(r"batch-write-\d{4}-\d{2}-\d{2}")


def create_automatic_tags(state: TableState, now_millis: int) -> list[str]:
    """Make the tags that a table's options ask for. Returns their names; tags beyond the largest number are removed.

    Raises:
        StorageError: the storage failed; the next commit tries again.
    """
    mode = state.options.tag_automatic_creation
    if mode == "none":
        return []
    return _of_the_commit(state, now_millis) if mode == "batch" else _of_periods(state, now_millis)


def _of_the_commit(state: TableState, now_millis: int) -> list[str]:
    latest = state.snapshots.latest()
    at = time_of(latest, state.options) if latest is not None else None
    if latest is None or at is None:
        return []
    name = state.options.tag_batch_customized_name or f"batch-write-{at:%Y-%m-%d}"
    lifetime = _lifetime(state, now_millis)
    try:
        replace_tag(state, name, latest, lifetime)
    except TagNotFound:
        create_tag(state, name, latest, lifetime)
    _remove_oldest(
        state, {tag: one for tag, one in state.tags.all().items() if tag == name or _OF_A_DAY.fullmatch(tag)}
    )
    return [name]


def _of_periods(state: TableState, now_millis: int) -> list[str]:
    periods, made = TagPeriods.of(state.options), []
    tags = _automatic(state, periods)
    latest = max(tags, key=lambda name: tags[name].id, default=None)
    following = None if latest is None else periods.begin_of(latest)
    after = 0 if latest is None else tags[latest].id
    due = None if following is None else following + periods.length
    newest = state.snapshots.latest()
    if newest is None or _period_of(state, periods, newest, due) is None:
        return []  # nor is an earlier one due
    for snapshot in state.snapshots.iter():
        begin = _period_of(state, periods, snapshot, due) if snapshot.id > after else None
        if begin is None:
            continue
        name = periods.name_of(begin)
        try:
            create_tag(state, name, snapshot, _lifetime(state, now_millis))
            made.append(name)
        except TagAlreadyExists:
            pass  # another process made it
        due = begin + periods.length
    if made:
        _remove_oldest(state, _automatic(state, periods))
    return made


def _period_of(state: TableState, periods: TagPeriods, snapshot: Snapshot, due: datetime | None) -> datetime | None:
    """When the period begins whose tag a snapshot gets; None when it gets none. `due` is the next period."""
    options, at = state.options, time_of(snapshot, state.options)
    if at is None:
        return None
    if due is None:
        return periods.last_before(at)
    if at - timedelta(milliseconds=options.tag_creation_delay_millis) < due + periods.length:
        return None
    return due if options.tag_automatic_completion else periods.last_before(at)


def _automatic(state: TableState, periods: TagPeriods) -> dict[str, Snapshot]:
    return {name: one for name, one in state.tags.all().items() if periods.begin_of(name) is not None}


def _lifetime(state: TableState, now_millis: int) -> Lifetime | None:
    retained = state.options.tag_default_time_retained_millis
    return None if retained is None else Lifetime(now_millis, retained)


def _remove_oldest(state: TableState, tags: dict[str, Snapshot]) -> None:
    most = state.options.tag_num_retained_max
    if most is None:
        return
    for name in sorted(tags, key=lambda one: (tags[one].id, one))[: max(0, len(tags) - most)]:
        try:
            delete_tag(state, name)
        except TagNotFound:
            continue  # another process removes it
