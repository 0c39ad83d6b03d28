"""Tables whose compactions are scheduled, and how these end."""

from __future__ import annotations

from support.files import data_files, kept_paths
from support.invariants import check_invariants
from support.tables import (
    partitioned_table,
    plan_states,
    read,
    row,
    write,
)
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.compact.scheduled_run import PLAN_PROPERTY, execute_here, run_next

NOW, LATER = 1_800_000_000_000, 1_800_000_000_000 + 3_600_000
REQUESTED, INFLIGHT = PlanState.REQUESTED, PlanState.INFLIGHT
COMPLETED, CANCELLED = PlanState.COMPLETED, PlanState.CANCELLED


def in_both(v):
    return [row(number, v, p) for p in "ab" for number in range(6)]


def new_table(warehouse, io=None, **options):
    return partitioned_table(warehouse, {"bucket": "1", **options}, io=io)


def three_runs(warehouse):
    """Two partitions of three runs each."""
    made = new_table(warehouse)
    for v in range(3):
        write(made, in_both(v))
    return made


def run(table, now=NOW, execute=execute_here, owner="me"):
    return run_next(table.state, owner, lambda: now, execute)


def made_by_plans(table):
    return [s for s in table.snapshots() if PLAN_PROPERTY in table.properties_of(s)]


def check_done(table, state=COMPLETED):
    """The newest plan's state, rows as written, and no files but those that a snapshot names."""
    assert plan_states(table)[-1] is state
    assert {row["v"] for row in read(table)} == {2}
    assert len(read(table)) == 12
    check_invariants(table)
    assert data_files(table) == kept_paths(table)
