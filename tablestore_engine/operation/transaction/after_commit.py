"""What follows a commit: one list. Later systems (changelogs, a log store, consumers) add their step to it.

Invariant: the commit has succeeded, so a failure here is not its failure. It is logged, and the next commit tries
again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TypeVar

from tablestore_engine.errors import TableStoreError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.compact.auto_compaction import Execute, compact_written, execute_small
from tablestore_engine.operation.history.expire import Retention, expire_snapshots
from tablestore_engine.operation.history.partition_expire import expire_when_due
from tablestore_engine.operation.history.tags import expire_tags
from tablestore_engine.storage import clock
from tablestore_engine.table_state import TableState

T = TypeVar("T")
_KEPT_TEXTS = 1_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Committed:
    """A commit to a table, and the buckets (partition, number) that it added rows to.

    `execute` runs the compactions that are due in them.
    """

    state: TableState
    snapshot: Snapshot
    buckets: frozenset[tuple[bytes, int]] = frozenset()
    execute: Execute = execute_small


@dataclass(frozen=True)
class FollowUp:
    """One step after a commit. `failure` is what a warning says when it fails; `{table}` is the table's name."""

    failure: str
    step: Callable[[Committed], object]


def _compact(done: Committed) -> None:
    compact_written(done.state, done.buckets, done.execute)


def _expire_partitions(done: Committed) -> None:
    if not done.state.options.write_only:
        expire_when_due(done.state, clock.now_millis())


def _expire_tags(done: Committed) -> None:
    if not done.state.options.write_only:
        expire_tags(done.state, clock.now_millis())


def _expire_snapshots(done: Committed) -> None:
    if not done.state.options.write_only:
        expire_snapshots(done.state, clock.now_millis(), Retention.of(done.state.options))


FOLLOW_UPS = (
    FollowUp("Table {table} was written to, but not compacted", _compact),
    FollowUp("Old partitions of table {table} were not removed after a commit", _expire_partitions),
    FollowUp("Old tags of table {table} were not removed after a commit", _expire_tags),
    FollowUp("Old snapshots of table {table} were not removed after a commit", _expire_snapshots),
)
"""In this order: files that a compaction replaces may expire at once."""


def follow(done: Committed, follow_ups: Sequence[FollowUp] = FOLLOW_UPS) -> None:
    """Do what follows a commit, with the schema that came with it. Never raises an `Exception`: it warns.

    A compaction is itself what follows a write, so nothing follows it.
    """
    if done.snapshot.commit_kind == "COMPACT":
        return
    name = done.state.name
    now = warned_of(f"Table {name} was not looked after when it had been written to", lambda: _with_its_schema(done))
    if now is None:
        return
    for one in follow_ups:
        warned_of(one.failure.format(table=name), partial(one.step, now))


def _with_its_schema(done: Committed) -> Committed:
    state, schema_id = done.state, done.snapshot.schema_id
    if schema_id == state.schema.id:
        return done
    return replace(done, state=state.with_schema(state.schemas.load(schema_id)))


def warned_of(failure: str, step: Callable[[], T]) -> T | None:
    """Run a step that never fails its caller; None when it failed. Errors are logged, with `failure` as what was not
    done.

    A process logs the same warning once. Conflicts are not logged: the next commit tries again.
    """
    try:
        return step()
    except Exception as error:
        if isinstance(error, TableStoreError) and error.retryable:
            _log.info("%s: %s", failure, error)
        else:
            _warn_once(f"{failure}: {error}")
        return None


@lru_cache(_KEPT_TEXTS)
def _warn_once(text: str) -> None:
    _log.warning("%s", text)
