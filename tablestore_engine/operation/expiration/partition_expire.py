"""Partition expiration: removes partitions whose time, or last change, is older than allowed.

One commit removes their files; earlier snapshots still have them until they expire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tablestore_engine.errors import ConflictError, SnapshotNotFound, UserError
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.partition import UNKNOWN, PartitionFormat
from tablestore_engine.metadata.snapshot import NO_ROWS
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.scan.plan_scan import live_entries
from tablestore_engine.operation.transaction.transaction import Committed, publish_change
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.table.partition_time import PartitionTime
from tablestore_engine.table_state import TableState

STRATEGIES = ("values-time", "update-time")


@dataclass(frozen=True)
class PartitionRetention:
    """Which partitions are kept: those younger than `millis` by `strategy`; at most `limit` expire at once."""

    millis: int
    strategy: str
    pattern: str | None
    formatter: str | None
    limit: int

    @classmethod
    def of(cls, options: CoreOptions) -> PartitionRetention | None:
        """The retention that a table's options define; None when partitions do not expire."""
        millis = options.partition_expiration_time_millis
        if millis is None:
            return None
        return cls(
            millis,
            options.partition_expiration_strategy,
            options.partition_timestamp_pattern,
            options.partition_timestamp_formatter,
            options.partition_expiration_max_num,
        )


@dataclass(frozen=True)
class Expired:
    """The partitions that were removed, as directories such as `dt=2024-01-01/hr=3`; and the commit, if there are
    any."""

    paths: tuple[str, ...]
    committed: Committed | None


def removal_of(partitions: Iterable[bytes], guard: Callable[[], None] | None = None) -> Change:
    """The change that removes partitions, given as BinaryRows.

    Rows that others commit to them before are removed, too, unless `guard` raises.
    """
    chosen = frozenset(partitions)
    return Change("OVERWRITE", replaces=lambda entry: entry.partition in chosen, guard=guard)


def remove_expired(
    state: TableState, retention: PartitionRetention, now_millis: int, *, strict: bool = False
) -> Expired:
    """Remove the partitions that are due, and do nothing that follows a commit.

    A partition without a time is kept: null, or values that cannot be read as one.

    Args:
        state: the table.
        retention: which partitions are kept.
        now_millis: the time now.
        strict: raise when none of the partitions has a time.

    Raises:
        UserError: the table has no partitions, or the pattern or formatter cannot be used.
        ConflictError: a partition that was due by its last change was written to; or others won every time.
    """
    schema = state.schema
    if not schema.partition_keys:
        raise UserError(f"Table {state.name} is not partitioned, so it has no partitions that could expire.")
    partition_format = PartitionFormat(schema)
    times = partition_times(_live_files(state), partition_format, retention)
    if strict and times and all(one is None for one in times.values()):
        shown = ", ".join(sorted(map(partition_format.path_of, times))[:3])
        raise UserError(
            f"None of the partitions of table {state.name} can be read as a time: {shown}.",
            hint="Say how with timestamp_pattern (such as '$dt') and timestamp_formatter (such as 'yyyyMMdd'), or use "
            "expire_strategy => 'update-time'.",
        )
    due = [row for row, at in times.items() if at is not None and _is_over(at, retention, now_millis)]
    removed = sorted((partition_format.path_of(row), row) for row in due)[: retention.limit]
    chosen = [row for _, row in removed]

    def check_still_due() -> None:
        now = partition_times(_live_files(state), partition_format, retention)
        for row in chosen:
            at = now.get(row)
            if at is not None and not _is_over(at, retention, now_millis):
                partition = partition_format.path_of(row)
                raise ConflictError(
                    f"Partition {partition} of table {state.name} got new files when it was to expire.",
                    hint="Run it again.",
                )

    if not chosen:
        return Expired((), None)
    # The time in the values does not change with writes.
    guard = check_still_due if retention.strategy == "update-time" else None
    return Expired(tuple(path for path, _ in removed), drop(state, removal_of(chosen, guard)))


def drop(state: TableState, removal: Change, intent: WriteIntent = PLAIN) -> Committed:
    """Commit a removal of partitions."""
    identity = intent.identity or new_identity(state.options, "drop-partition")
    return publish_change(state, removal, replace(intent, identity=identity))


def _live_files(state: TableState) -> list[ManifestEntry]:
    latest = state.snapshots.latest()
    return live_entries(state.manifests, latest) if latest else []


def partition_times(
    entries: Sequence[ManifestEntry], partition_format: PartitionFormat, retention: PartitionRetention
) -> dict[bytes, datetime | None]:
    """The time of each partition that has files, by its BinaryRow."""
    if retention.strategy == "update-time":
        newest: dict[bytes, int] = {}
        for entry in entries:
            newest[entry.partition] = max(newest.get(entry.partition, 0), entry.file.creation_time_millis or 0)
        return {row: datetime.fromtimestamp(millis / 1000) for row, millis in newest.items()}
    times = PartitionTime(partition_format.names, retention.pattern, retention.formatter)
    values = {row: partition_format.decode(row) for row in {entry.partition for entry in entries}}
    return {row: times.of([None if v is UNKNOWN else v for v in found]) for row, found in values.items()}


def expire_when_due(state: TableState, now_millis: int) -> list[str]:
    """Expire partitions as a table's options say, if its newest commit is the first in its interval."""
    retention = PartitionRetention.of(state.options)
    latest = state.snapshots.latest() if retention is not None else None  # most tables need not read it
    if retention is None or latest is None:
        return []
    try:
        while latest.commit_kind in NO_ROWS:  # maintenance that follows a write
            latest = state.snapshots.load(latest.id - 1)
        before = state.snapshots.load(latest.id - 1).time_millis
    except SnapshotNotFound:
        before = 0
    interval = state.options.partition_expiration_check_interval_millis
    if not is_check_due(before, latest.time_millis, interval):
        return []
    return list(remove_expired(state, retention, now_millis).paths)


def is_check_due(before_millis: int, now_millis: int, interval_millis: int) -> bool:
    """Whether a commit is the first in its interval of time, the one before it being of `before_millis`.

    So the commits of any number of processes look for expired partitions once in an interval, without shared state.
    """
    if interval_millis <= 0:
        return True
    return before_millis // interval_millis < now_millis // interval_millis


def _is_over(at: datetime, retention: PartitionRetention, now_millis: int) -> bool:
    now = datetime.fromtimestamp(now_millis / 1000)
    return at < now - timedelta(milliseconds=retention.millis)
