"""Who carries out scheduled compactions and dies, or sleeps: what others do, and what is left."""

from __future__ import annotations

import threading

import pytest
from support.files import data_files, live_paths
from support.scheduled import (
    COMPLETED,
    INFLIGHT,
    LATER,
    NOW,
    REQUESTED,
    check_done,
    made_by_plans,
    run,
)
from support.tables import (
    plan_states,
    read,
    rows,
    write,
)

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import CommitOutcomeUnknownError, ConflictError, StorageError
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import beating, execute_here
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.storage.file_io import LocalFileIO


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


def test_a_commit_whose_outcome_is_unknown_removes_nothing(table, tmp_path):
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
