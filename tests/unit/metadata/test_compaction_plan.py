"""Plans and their states, which follow from the notes about them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tablestore_engine.metadata.compaction_plan import (
    CONFLICT,
    INTERRUPTED,
    LOST,
    Attempt,
    Claim,
    CompactionPlan,
    MergeOutput,
    Outcome,
    PlanGroup,
    PlannedFile,
    PlanState,
    ScheduledCompaction,
    in_order,
    instant_of,
    millis_of,
)

LEASE = 1_000
FILES = (PlannedFile("data-ü.parquet", 0, 10), PlannedFile("b", 5, 20))
GROUP = PlanGroup(b"\0\1\xff", 3, MergeOutput(5, drop_deletes=True), FILES)
PLAN = CompactionPlan("20260102030405678", 7, "minor", "user", "me", 12, (GROUP, replace(GROUP, bucket=4)))


def attempt(number=1, started=0, **more):
    return Attempt(number, Claim("me", "w", started, LEASE), **more)


def test_persisted_values_are_read_again():
    assert CompactionPlan.from_json(PLAN.to_json()) == PLAN
    claim = Claim("host-1", "id", 5, 6)
    assert Claim.from_json(claim.to_json()) == claim
    outcome = Outcome(PlanState.CANCELLED, 5, None, "File ü is missing.")
    assert Outcome.from_json(PlanState.CANCELLED, outcome.to_json()) == outcome


def test_the_persisted_form_stays():
    data = json.loads(PLAN.to_json())
    assert list(data) == [
        "version", "instant", "snapshotId", "strategy", "commitUser", "scheduler", "createdMillis", "groups"
    ]  # fmt: skip
    assert list(data["groups"][0]) == ["partition", "bucket", "outputLevel", "dropDeletes", "files"]
    data["version"] = 2
    with pytest.raises(ValueError, match="newer"):
        CompactionPlan.from_json(json.dumps(data).encode())


def test_a_plan_knows_its_buckets_and_files():
    assert PLAN.bucket_ids == {(b"\0\1\xff", 3), (b"\0\1\xff", 4)}
    assert len(PLAN.files) == 4


@pytest.mark.parametrize("millis", [0, 999, 1_767_323_045_678, 4_102_444_800_000])
def test_instants_are_times_and_sort_by_them(millis):
    assert millis_of(instant_of(millis)) == millis
    assert len(instant_of(millis)) == 17
    assert instant_of(millis) < instant_of(millis + 1)


@pytest.mark.parametrize(
    ("attempts", "outcome", "state"),
    [
        ((), None, "REQUESTED"),
        ((attempt(),), None, "INFLIGHT"),
        ((attempt(failure="full disk"),), None, "REQUESTED"),
        ((attempt(failure="full disk"), attempt(2)), None, "INFLIGHT"),
        ((attempt(revoked=True),), None, "INFLIGHT"),
        ((attempt(),), Outcome(PlanState.COMPLETED, 1, 8), "COMPLETED"),
        ((), Outcome(PlanState.CANCELLED, 1), "CANCELLED"),
    ],
)
def test_states(attempts, outcome, state):
    assert ScheduledCompaction(PLAN, attempts, outcome).state.value == state


@pytest.mark.parametrize(
    ("one", "now", "running"),
    [
        (attempt(), LEASE - 1, True),
        (attempt(), LEASE, False),
        (attempt(heartbeat_millis=500), LEASE + 499, True),
        (attempt(heartbeat_millis=500), LEASE + 500, False),
        (attempt(revoked=True), 1, False),
        (attempt(failure="x"), 1, False),
    ],
)
def test_a_lease_lives_from_the_last_sign_of_life(one, now, running):
    assert ScheduledCompaction(PLAN, (one,)).is_running(now) is running


def test_the_oldest_comes_first_but_behind_those_that_were_not_tried():
    def found(instant, *attempts, outcome=None):
        return ScheduledCompaction(replace(PLAN, instant=instant), attempts, outcome)

    plans = [
        found("1", outcome=Outcome(PlanState.COMPLETED, 1)),
        found("2", attempt(failure="x")),
        found("3", attempt()),
        found("4", attempt(started=-LEASE)),
        found("5"),
    ]
    assert [one.plan.instant for one in in_order(plans, 1)] == ["4", "5", "2"]


@pytest.mark.parametrize(
    ("before", "kind", "hopeless"),
    [
        ([], "StorageError", False),
        (["StorageError"], "StorageError", False),
        (["StorageError", "StorageError"], "StorageError", True),
        # Those of other kinds do not count: it may be the table, or the machine.
        (["StorageError", CONFLICT, LOST, INTERRUPTED], "StorageError", False),
        (["StorageError", "ExecutionError"], "StorageError", False),
        (["StorageError", CONFLICT, LOST, "StorageError"], "StorageError", True),
        ([CONFLICT] * 18, CONFLICT, False),
        ([CONFLICT] * 19, CONFLICT, True),
        ([LOST] * 18, LOST, False),
        ([LOST] * 19, LOST, True),
        ([CONFLICT] * 10 + [LOST] * 10, INTERRUPTED, False),
        ([None] * 9, "", False),
    ],
)
def test_a_plan_is_given_up_after_enough_failures(before, kind, hopeless):
    attempts = tuple(attempt(number, failure="x", kind=one) for number, one in enumerate(before, 1))
    assert ScheduledCompaction(PLAN, attempts).is_hopeless(kind) is hopeless


def test_the_attempt_that_is_failing_counts_once():
    attempts = (attempt(failure="x", kind=LOST), attempt(2), attempt(3))
    assert not ScheduledCompaction(PLAN, attempts).is_hopeless("StorageError")
