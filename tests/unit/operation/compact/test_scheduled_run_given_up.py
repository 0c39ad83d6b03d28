"""Scheduled compactions that keep failing: when they are given up, and what that leaves."""

from __future__ import annotations

import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.scheduled import NOW, run
from support.tables import make_table, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConflictError, StorageError
from tablestore_engine.metadata.compaction_plan import CONFLICT, INTERRUPTED, LOST, Claim, PlanState
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import (
    PlanFailure,
    PlanResult,
    execute_here,
    run_each,
)
from tablestore_engine.storage.file_io import LocalFileIO

LEASE = 600_000


@pytest.fixture
def table(tmp_path):
    """Two partitions of three runs each."""
    made = make_table(tmp_path, {"p": "STRING", "id": "INT"}, ["p", "id"], ["p"], {"bucket": "1"})
    for _ in range(3):
        write(made, [{"p": p, "id": n} for p in "ab" for n in range(3)])
    return made


def failing(error):
    def fail(tasks):
        execute_here(tasks)
        raise error

    return fail


def check_as_before(table):
    assert len(read(table)) == 6
    assert data_files(table) == live_paths(table)
    check_invariants(table)


def load(table):
    (found,) = table.state.timeline.load()
    return found


def test_three_failures_of_one_kind(table):
    plan = schedule(table.state, "full", NOW)
    busy = [ConflictError("busy")] * 3 + [KeyboardInterrupt()]
    for error in (StorageError("/d", "full"), *busy, StorageError("/d", "full"), StorageError("/d", "still full")):
        assert load(table).state is PlanState.REQUESTED
        with pytest.raises(type(error)):
            run(table, execute=failing(error))
    found = load(table)
    assert found.state is PlanState.CANCELLED
    assert found.outcome.message == "Given up after 7 attempts. Storage failure at /d: still full."
    assert [one.kind for one in found.attempts] == ["StorageError", *[CONFLICT] * 3, INTERRUPTED, *["StorageError"] * 2]
    check_as_before(table)
    assert run(table) is None
    again = schedule(table.state, "full", NOW)
    assert again.bucket_ids == plan.bucket_ids
    assert run(table).outcome.state is PlanState.COMPLETED


def test_too_many_that_were_lost(table):
    instant = schedule(table.state, "full", NOW).instant
    timeline = table.state.timeline
    for number in range(1, 20):
        timeline.claim(instant, number, Claim("gone", f"w{number}", NOW, LEASE))
        timeline.roll_back(instant, number, "gone", LOST)
    timeline.claim(instant, 20, Claim("the last", "w20", NOW, LEASE))
    assert run(table, now=NOW + LEASE - 1) is None
    result = run(table, now=NOW + LEASE)
    assert result.outcome.state is PlanState.CANCELLED
    assert result.outcome.message == "Given up after 20 attempts. the lease of the last ran out"
    assert timeline.is_revoked(instant, 20)
    assert load(table).last.failure == "the lease of the last ran out"
    check_as_before(table)


def test_each_plan_is_taken_once(table):
    plans = [schedule(table.state, "minor", NOW, lambda values, p=p: values == (p,)) for p in "ab"]

    def fail_in_a(tasks):
        if "p=a" in tasks[0].partition_path:
            raise StorageError("/d", "full")
        return execute_here(tasks)

    for _ in range(2):
        taken = list(run_each(table.state, "me", lambda: NOW, fail_in_a))
        failed = next(one for one in taken if isinstance(one, PlanFailure))
        assert failed.plan == plans[0]
        assert [one.plan for one in taken if isinstance(one, PlanResult)] == plans[1:]
        plans = plans[:1]
    assert table.state.timeline.pending()[0].failures == 2


def test_a_plan_is_given_up_before_its_last_attempt_is_over(table):
    """Or another process could begin an attempt at it in between."""
    instant = schedule(table.state, "full", NOW).instant
    for _ in range(2):
        with pytest.raises(StorageError):
            run(table, execute=failing(StorageError("/d", "full")))
    made = []

    class Watching(LocalFileIO):
        def create(self, path, data):
            made.append(path.rpartition("/")[2])
            return super().create(path, data)

    warehouse = table.path.removesuffix("/default.db/t")
    with pytest.raises(StorageError):
        run(Catalog(warehouse, Watching()).load_table("default", "t"), execute=failing(StorageError("/d", "full")))
    notes = [name for name in made if name.startswith(instant)]
    assert notes == [f"{instant}.inflight.3", f"{instant}.cancelled", f"{instant}.rolledback.3"]
