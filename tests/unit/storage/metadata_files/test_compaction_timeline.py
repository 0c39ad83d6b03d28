"""The timeline's files: which claim was first, what is read back, and what is removed."""

from __future__ import annotations

import os

import pytest

from tablestore_engine.errors import CorruptMetadataError
from tablestore_engine.metadata.compaction_plan import (
    Claim,
    CompactionPlan,
    MergeOutput,
    Outcome,
    PlanGroup,
    PlannedFile,
    PlanState,
    instant_of,
)
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files.compaction_timeline import TimelineStore
from tablestore_engine.storage.paths import TablePaths

GROUP = PlanGroup(b"\0\0\0\0", 0, MergeOutput(5, drop_deletes=True), (PlannedFile("a", 0, 1),))


def plan(number):
    return CompactionPlan(instant_of(number), number, "full", "user", "me", number, (GROUP,))


@pytest.fixture
def timeline(tmp_path):
    return TimelineStore(LocalFileIO(), TablePaths(str(tmp_path)))


def names(tmp_path):
    return sorted(os.listdir(tmp_path / "tablestore" / "compaction"))


def test_a_plan_from_request_to_completion(timeline, tmp_path):
    assert timeline.load() == timeline.pending() == timeline.instants() == []
    assert timeline.newest() is None
    one = plan(5)
    assert timeline.request(one)
    assert not timeline.request(one)
    assert timeline.newest() == one
    assert [found.state for found in timeline.pending()] == [PlanState.REQUESTED]
    assert timeline.claim(one.instant, 1, Claim("a", "w1", 10, 100))
    assert not timeline.claim(one.instant, 1, Claim("b", "w2", 11, 100)), "somebody else was first"
    timeline.beat(one.instant, 1, 50)
    timeline.beat(one.instant, 1, 60)
    (found,) = timeline.pending()
    assert (found.state, found.last.claim.owner, found.last.lease_until_millis) == (
        PlanState.INFLIGHT, "a", 160
    )  # fmt: skip
    assert not timeline.is_revoked(one.instant, 1)
    timeline.revoke(one.instant, 1, "b")
    assert timeline.is_revoked(one.instant, 1)
    timeline.roll_back(one.instant, 1, "not heard of", "lost")
    timeline.roll_back(one.instant, 1, "said twice", "lost")
    assert timeline.claim(one.instant, 2, Claim("b", "w2", 200, 100))
    (found,) = timeline.pending()
    assert [(a.failure, a.kind) for a in found.attempts] == [("not heard of", "lost"), (None, None)]
    timeline.finish(one.instant, Outcome(PlanState.COMPLETED, 300, 9))
    assert timeline.pending() == []
    (found,) = timeline.load()
    assert (found.state, found.outcome.snapshot_id, found.is_pending) == (PlanState.COMPLETED, 9, False)
    instant = one.instant
    assert names(tmp_path) == [
        f"{instant}.{note}"
        for note in ("completed", "heartbeat.1", "inflight.1", "inflight.2", "requested", "revoked.1", "rolledback.1")
    ]


def test_a_completed_plan_was_not_cancelled(timeline):
    """An attempt that lost its lease may think the plan void, when another one has just committed it."""
    timeline.request(plan(1))
    timeline.finish(plan(1).instant, Outcome(PlanState.CANCELLED, 3, message="void"))
    timeline.finish(plan(1).instant, Outcome(PlanState.COMPLETED, 2, 9))
    assert timeline.load()[0].state is PlanState.COMPLETED


def test_a_failure_that_an_older_version_noted(timeline, tmp_path):
    timeline.request(plan(1))
    timeline.claim(plan(1).instant, 1, Claim("a", "w", 0, 1))
    path = tmp_path / "tablestore" / "compaction" / f"{plan(1).instant}.rolledback.1"
    path.write_text('{"reason": "full disk"}')
    (found,) = timeline.load()
    assert (found.last.failure, found.last.kind) == ("full disk", "")


def test_pruning_keeps_the_newest_and_all_that_are_pending(timeline, tmp_path):
    for number in range(6):
        timeline.request(plan(number))
        timeline.claim(plan(number).instant, 1, Claim("a", "w", 0, 1))
        if number not in (0, 5):
            timeline.finish(plan(number).instant, Outcome(PlanState.COMPLETED, 1))
    stray = tmp_path / "tablestore" / "compaction" / f"{instant_of(99)}.completed"
    stray.write_text("left by a pruning that was killed")
    timeline.prune(keep=2)
    assert timeline.instants() == [instant_of(number) for number in (0, 3, 4, 5)]
    assert {name.split(".")[0] for name in names(tmp_path)} == set(timeline.instants())


def test_files_of_others_are_not_looked_at(timeline, tmp_path):
    timeline.request(plan(1))
    (tmp_path / "tablestore" / "compaction" / "notes.txt").write_text("x")
    timeline.prune(keep=0)
    assert len(timeline.load()) == 1
    assert "notes.txt" in names(tmp_path)


@pytest.mark.parametrize(("text", "reason"), [("{}", "is missing"), ("[]", "not the JSON object"), ("", "Expecting")])
@pytest.mark.parametrize("note", ["requested", "inflight.1", "heartbeat.1", "rolledback.1", "completed"])
def test_damage_names_the_file(timeline, tmp_path, note, text, reason):
    one = plan(1)
    timeline.request(one)
    timeline.claim(one.instant, 1, Claim("a", "w", 0, 1))
    path = tmp_path / "tablestore" / "compaction" / f"{one.instant}.{note}"
    path.write_text(text)
    with pytest.raises(CorruptMetadataError) as raised:
        timeline.load()
    assert path.name in str(raised.value)
    assert reason in str(raised.value)
