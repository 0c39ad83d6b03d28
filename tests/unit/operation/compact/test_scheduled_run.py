"""Scheduled compactions without Spark: what is planned, which process carries it out, and what happens when it dies."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from support.files import data_files, kept_paths, live_paths
from support.invariants import check_invariants
from support.tables import (
    DELETE,
    arrow_rows,
    by_key,
    compact,
    execute_and_die,
    make_table,
    new_job,
    partitioned_table,
    plan_states,
    read,
    row,
    rows,
    write,
)

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import CommitOutcomeUnknownError, ConflictError, StorageError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.compact.schedule import enough_commits, schedule, schedule_after_commit
from tablestore_engine.operation.compact.scheduled_run import PLAN_PROPERTY, beating, execute_here, run_next
from tablestore_engine.operation.history.snapshot_expire import Retention
from tablestore_engine.storage.file_io import LocalFileIO

NOW, LATER = 1_800_000_000_000, 1_800_000_000_000 + 3_600_000
REQUESTED, INFLIGHT = PlanState.REQUESTED, PlanState.INFLIGHT
COMPLETED, CANCELLED = PlanState.COMPLETED, PlanState.CANCELLED


def in_both(v):
    return [row(number, v, p) for p in "ab" for number in range(6)]


def new_table(warehouse, io=None, **options):
    return partitioned_table(warehouse, {"bucket": "1", **options}, io=io)


@pytest.fixture
def table(tmp_path):
    """Two partitions of three runs each."""
    made = new_table(tmp_path)
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


# -- planning ------------------------------------------------------------------------------------------


def test_a_plan_names_files_and_changes_nothing(table):
    before = table.latest_snapshot()
    plan = schedule(table.state, "minor", NOW)
    assert table.latest_snapshot() == before
    assert (plan.snapshot_id, len(plan.groups), len(plan.files)) == (3, 2, 6)
    assert plan_states(table) == [REQUESTED]
    assert schedule(table.state, "full", NOW) is None, "every bucket waits for the first plan"


def test_nothing_is_due(tmp_path):
    table = new_table(tmp_path)
    assert schedule(table.state, "full", NOW) is None
    write(table, rows(range(6), p="a"))
    write(table, rows(range(6), p="a"))
    assert schedule(table.state, "minor", NOW) is None, "one file at level 0 is no pile"
    assert run(table) is None
    assert schedule(table.state, "full", NOW) is not None


def test_buckets_of_pending_plans_are_left_out(table):
    only_a = schedule(table.state, "minor", NOW, lambda values: values == ("a",))
    rest = schedule(table.state, "minor", NOW)
    assert len(only_a.groups) == len(rest.groups) == 1
    assert not only_a.bucket_ids & rest.bucket_ids
    assert rest.instant > only_a.instant, "made in the same millisecond"
    assert [run(table).plan, run(table).plan] == [only_a, rest]
    check_done(table)


@pytest.mark.parametrize(
    ("kinds", "most", "wanted", "enough"),
    [
        ([], 0, 1, False),
        (["APPEND"], 1, 1, True),
        (["APPEND"], 1, 2, False),
        (["APPEND", "OVERWRITE"], 2, 2, True),
        # What only moves rows is no commit to count.
        (["COMPACT", "APPEND", "ANALYZE", "APPEND"], 4, 2, True),
        (["COMPACT", "APPEND", "COMPACT"], 3, 2, False),
        # Those before the last plan were counted then.
        (["APPEND", "APPEND", "APPEND"], 1, 2, False),
        # Expired ones, and all before them, count.
        (["APPEND", None], 2, 2, True),
        (["APPEND", None], 9, 9, True),
        (["APPEND", None], 9, 10, False),
        (["COMPACT", None], 2, 2, False),
    ],
)
def test_how_many_commits_are_enough(kinds, most, wanted, enough):
    assert enough_commits(kinds, most, wanted) is enough


def test_every_so_many_commits_a_plan_is_made(tmp_path):
    table = new_table(tmp_path, **{"compaction.delta-commits": "3"})
    planned = []
    for v in range(8):
        write(table, rows(range(6), v, p="a"))
        if schedule_after_commit(table.state, NOW + v):
            planned.append(v)
            run(table)
    assert planned == [2, 5]
    assert by_key(table)[1]["v"] == 7
    check_invariants(table)


def test_a_write_without_spark_schedules_too(tmp_path):
    table = new_table(tmp_path, **{"compaction.schedule.enabled": "true", "compaction.delta-commits": "3"})
    for v in range(3):
        table.write(arrow_rows(table.schema, rows(range(6), v, p="a")))
    assert plan_states(table) == [REQUESTED]


# -- carrying out --------------------------------------------------------------------------------------


def test_a_plan_is_committed_as_a_whole(table):
    plan = schedule(table.state, "full", NOW)
    write(table, rows(range(6), p="c"))  # writers go on
    result = run(table, NOW + 5)
    assert (result.plan, result.outcome.state, result.outcome.snapshot_id) == (plan, COMPLETED, 5)
    (snapshot,) = made_by_plans(table)
    assert (snapshot.id, snapshot.commit_kind, snapshot.commit_user) == (5, "COMPACT", plan.commit_user)
    assert sorted(e.file.level for e in table.live_files()) == [5, 5, 5]
    (found,) = table.state.timeline.load()
    assert (found.last.claim.owner, found.outcome.time_millis) == ("me", NOW + 5)
    assert run(table) is None


@pytest.mark.parametrize("strikes", [0, 1])
def test_a_failed_attempt_leaves_nothing_and_the_plan_can_be_taken_again(table, strikes):
    schedule(table.state, "full", NOW)

    def fail(tasks):
        execute_here(tasks[:strikes])
        raise StorageError("/disk", "it is full")

    with pytest.raises(StorageError, match="it is full"):
        run(table, execute=fail)
    check_done(table, REQUESTED)
    (found,) = table.state.timeline.load()
    assert "it is full" in found.last.failure
    assert run(table).outcome.state is COMPLETED
    check_done(table)


def test_an_interrupted_attempt_leaves_nothing(table):
    schedule(table.state, "full", NOW)

    with pytest.raises(KeyboardInterrupt):
        run(table, execute=execute_and_die)
    check_done(table, REQUESTED)
    assert table.state.timeline.load()[0].last.failure == "KeyboardInterrupt"


def test_a_plan_that_fails_is_queued_behind_others(table):
    first = schedule(table.state, "minor", NOW, lambda values: values == ("a",))
    second = schedule(table.state, "minor", NOW)

    def fail(tasks):
        raise StorageError("/disk", "it is full")

    with pytest.raises(StorageError):
        run(table, execute=fail)
    assert [run(table).plan, run(table).plan] == [second, first]


def test_a_plan_is_void_when_one_of_its_files_was_removed(table):
    schedule(table.state, "full", NOW)
    write(table, in_both(2), kind="OVERWRITE", replaces=lambda entry: True)
    result = run(table)
    assert result.outcome.state is CANCELLED
    assert "no longer part of the table" in result.outcome.message
    check_done(table, CANCELLED)
    assert run(table) is None


def test_a_plan_is_void_when_older_records_come_that_could_take_values_back(tmp_path):
    """They would stay above what the plan merges; the next plan takes them along, in their order."""
    options = {"bucket": "1", "merge-engine": "aggregation", "fields.l.aggregate-function": "collect"}
    table = make_table(tmp_path, {"id": "INT", "l": {"type": "ARRAY", "element": "INT"}}, ["id"], (), options)
    for number in range(3):
        write(table, [{"id": 1, "l": [number]}])
    slow = new_job(table)
    write(table, [{"id": 1, "l": [8]}], job=replace(slow, sequence_number=slow.sequence_number + 1))
    schedule(table.state, "full", NOW)
    write(table, [{"id": 1, "l": [2]}], [1], job=slow)
    result = run(table)
    assert result.outcome.state is CANCELLED
    assert "older records" in result.outcome.message
    assert read(table) == [{"id": 1, "l": [0, 1, 8]}]
    schedule(table.state, "minor", NOW)
    assert run(table).outcome.state is COMPLETED
    assert read(table) == [{"id": 1, "l": [0, 1, 8]}]
    check_invariants(table)


def test_a_plan_is_void_when_a_row_comes_that_a_delete_of_it_hides(tmp_path):
    table = new_table(tmp_path)
    write(table, rows(range(6), p="a"))
    slow = new_job(table, sequence=100)
    write(table, rows([9], p="a"), [DELETE], job=new_job(table, sequence=101))
    assert schedule(table.state, "full", NOW) is not None
    write(table, rows([9], p="a"), job=slow)
    assert 9 not in by_key(table)
    result = run(table)
    assert result.outcome.state is CANCELLED
    assert "older records" in result.outcome.message
    assert 9 not in by_key(table)
    assert compact(table) is not None
    assert 9 not in by_key(table)


def test_a_plan_that_becomes_void_while_it_runs(table):
    schedule(table.state, "full", NOW)

    def overtaken(tasks):
        entries = execute_here(tasks)
        assert compact(table) is not None
        return entries

    assert run(table, execute=overtaken).outcome.state is CANCELLED
    check_done(table, CANCELLED)
    assert made_by_plans(table) == []


def test_a_running_plan_is_left_alone(table):
    schedule(table.state, "full", NOW)
    seen = []

    def look(tasks):
        seen.extend((plan_states(table), run(table, NOW + 599_999, owner="other")))
        seen.append(table.state.timeline.busy_buckets(NOW))
        return execute_here(tasks)

    plan = run(table, execute=look).plan
    assert seen == [[INFLIGHT], None, plan.bucket_ids]
    assert table.state.timeline.busy_buckets(NOW) == frozenset()


# -- those that die, or sleep --------------------------------------------------------------------------


class Died(BaseException):
    """Ends a process, as far as a test can: nothing after it is done."""


class DyingIO(LocalFileIO):
    """Dies before or after a file whose path holds `at` is created; from then on all writing fails."""

    def __init__(self, at, when):
        super().__init__()
        self.at, self.when, self.dead = at, when, []

    def create(self, path, data):
        self._check()
        if self.at in path and self.when == "before":
            self.dead.append(path)
            raise Died
        created = super().create(path, data)
        if self.at in path:
            self.dead.append(path)
            raise Died
        return created

    def delete(self, path):
        self._check()
        return super().delete(path)

    def _check(self):
        if self.dead:
            raise Died


def die(tmp_path, at, when):
    table = Catalog(tmp_path, DyingIO(at, when)).load_table("default", "t")
    with pytest.raises(Died):
        run(table)


@pytest.mark.parametrize(
    ("at", "when", "attempts"),
    [
        (".inflight", "before", 1),
        (".inflight", "after", 2),
        ("snapshot-4", "before", 2),
        # It was committed: nobody commits it again.
        ("snapshot-4", "after", 1),
        (".completed", "before", 1),
        (".completed", "after", 1),
    ],
)
def test_a_process_that_died(table, tmp_path, at, when, attempts):
    schedule(table.state, "full", NOW)
    die(tmp_path, at, when)
    if attempts == 2 or ".completed" in at:
        assert run(table) is None, "its lease has not run out"
    result = run(table, LATER, owner="other")
    if (at, when) == (".completed", "after"):
        assert result is None
    else:
        assert result.outcome.state is COMPLETED
    assert len(made_by_plans(table)) == 1
    (found,) = table.state.timeline.load()
    assert len(found.attempts) == attempts
    check_done(table)


def test_a_sleeper_cannot_commit_what_was_taken_over(table):
    """The first process wakes up when its plan has been carried out by another one."""
    schedule(table.state, "full", NOW)
    others = []

    def sleep(tasks):
        entries = execute_here(tasks)
        others.append(run(table, LATER, owner="other"))
        return entries

    result = run(table, execute=sleep, owner="sleeper")
    assert others[0].outcome.snapshot_id == result.outcome.snapshot_id == made_by_plans(table)[0].id
    assert len(made_by_plans(table)) == 1
    check_done(table)


class SleepingIO(LocalFileIO):
    """Sleeps right before a snapshot is created, which is when all checks have been passed."""

    def __init__(self, meanwhile):
        super().__init__()
        self.meanwhile, self.slept = meanwhile, []

    def create(self, path, data):
        if "snapshot-" in path and not self.slept:
            self.slept.append(path)
            self.meanwhile()
        return super().create(path, data)


def test_a_sleeper_that_has_passed_all_checks_cannot_commit_either(table, tmp_path):
    """Its files were removed meanwhile, and the process that did it failed: nothing but the fence is in the way."""
    schedule(table.state, "full", NOW)

    def fail(tasks):
        raise StorageError("/disk", "it is full")

    def meanwhile():
        with pytest.raises(StorageError):
            run(table, LATER, fail, "other")

    io = SleepingIO(meanwhile)
    with pytest.raises(ConflictError, match="ran out"):
        run(Catalog(tmp_path, io).load_table("default", "t"), owner="sleeper")
    assert io.slept
    assert made_by_plans(table) == []
    check_done(table, REQUESTED)
    assert run(table, LATER).outcome.state is COMPLETED
    check_done(table)


def test_a_commit_is_known_after_its_snapshot_has_expired(table, tmp_path):
    schedule(table.state, "full", NOW)
    die(tmp_path, ".completed", "before")
    write(table, rows([0], 2, p="a"))
    table.expire_snapshots(Retention(1, 1, 0, 100))
    assert made_by_plans(table) == []
    live = live_paths(table)
    result = run(table, LATER)
    assert (result.outcome.state, result.outcome.snapshot_id) == (COMPLETED, None)
    assert live_paths(table) == live <= data_files(table)
    assert len(read(table)) == 12


def test_orphan_removal_leaves_what_may_yet_be_committed(table, tmp_path):
    schedule(table.state, "full", NOW)
    die(tmp_path, "snapshot-4", "before")
    unnamed = data_files(table) - {p for s in table.snapshots() for p in live_paths(table, s)}
    assert len(unnamed) == 2
    far = NOW * 2
    removed = table.remove_orphan_files(far)
    assert not unnamed & set(removed)
    assert unnamed <= data_files(table)
    assert run(table, LATER).outcome.state is COMPLETED
    check_done(table)


def test_a_commit_whose_outcome_is_unknown_touches_nothing(table, tmp_path):
    schedule(table.state, "full", NOW)

    class Failing(LocalFileIO):
        def create(self, path, data):
            if "snapshot-4" in path:
                raise StorageError(path, "connection lost")
            return super().create(path, data)

    with pytest.raises(CommitOutcomeUnknownError):
        run(Catalog(tmp_path, Failing()).load_table("default", "t"))
    assert plan_states(table) == [INFLIGHT]
    assert len(data_files(table)) == 6 + 2
    assert run(table, LATER).outcome.state is COMPLETED
    check_done(table)


def test_a_heart_beats_while_the_work_lasts(table):
    beats = threading.Semaphore(0)

    def beat():
        beats.release()
        raise StorageError("/disk", "a beat that fails is made up for by the next one")

    with beating(beat, 0.001):
        assert beats.acquire(timeout=300)
        assert beats.acquire(timeout=300)
    assert "compaction-heartbeat" not in {one.name for one in threading.enumerate()}
