"""The system table `t$compactions`: the timeline of a table's scheduled compactions as rows, oldest first."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from tablestore_engine.metadata.compaction_plan import ScheduledCompaction
from tablestore_engine.table import Table

COMPACTIONS = (
    "instant string, state string, strategy string, group_count int, file_count int, file_size_in_bytes bigint, "
    "planned_on bigint, attempts int, owner string, requested_time timestamp, started_time timestamp, "
    "lease_until timestamp, finished_time timestamp, snapshot_id bigint, message string"
)


def compactions(table: Table) -> list[tuple[Any, ...]]:
    """The rows. `planned_on` is the snapshot that a plan was made on, `snapshot_id` the one that it made."""
    return [_row(one) for one in table.state.timeline.load()]


def _row(found: ScheduledCompaction) -> tuple[Any, ...]:
    plan, last, outcome = found.plan, found.last, found.outcome
    return (
        plan.instant,
        found.state.value,
        plan.strategy,
        len(plan.groups),
        len(plan.files),
        sum(f.size for f in plan.files),
        plan.snapshot_id,
        len(found.attempts),
        last.claim.owner if last else None,
        _time(plan.created_millis),
        _time(last.claim.started_millis) if last else None,
        _time(last.lease_until_millis) if last and found.is_pending and last.failure is None else None,
        _time(outcome.time_millis) if outcome else None,
        outcome.snapshot_id if outcome else None,
        outcome.message if outcome else last.failure if last else None,
    )


def _time(millis: int) -> datetime:
    return datetime.fromtimestamp(millis / 1000, timezone.utc)
