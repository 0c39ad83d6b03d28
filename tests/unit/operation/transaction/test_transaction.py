"""A transaction that loses runs again, one that fails leaves no file, and one of unknown outcome leaves all files."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.files import data_files, kept_paths
from support.tables import by_key, identity, keyed_table, new_job, row, write, write_files

from tablestore_engine.errors import (
    CommitOutcomeUnknownError,
    CommitTimeoutError,
    ConflictError,
    ConsumedElsewhereError,
    StorageError,
)
from tablestore_engine.operation.commit.change import Change
from tablestore_engine.operation.commit.commit import Committer
from tablestore_engine.operation.transaction import transaction
from tablestore_engine.operation.transaction.transaction import ATTEMPTS, publish, with_retry
from tablestore_engine.operation.write_job.write_intent import WriteIntent


@pytest.fixture
def waits(monkeypatch):
    """The pauses between attempts, which nobody waits for."""
    found = []
    monkeypatch.setattr(transaction, "sleep", found.append)
    return found


def failing(*errors):
    """An action that fails with these errors, one each time, and then succeeds."""
    left = list(errors)

    def action():
        if left:
            raise left.pop(0)
        return "done"

    return action


@pytest.mark.parametrize("losses", [0, 1, ATTEMPTS - 1])
def test_a_lost_attempt_runs_again(waits, losses):
    assert with_retry(failing(*[ConflictError("others")] * losses)) == "done"
    assert len(waits) == losses
    assert all(0.05 * (n + 1) <= wait < 0.2 * (n + 1) for n, wait in enumerate(waits)), "longer each time"


def test_a_conflict_at_every_attempt_is_raised(waits):
    with pytest.raises(ConflictError, match="others"):
        with_retry(failing(*[ConflictError("others")] * ATTEMPTS))
    assert len(waits) == ATTEMPTS - 1


@pytest.mark.parametrize(
    "error",
    [CommitTimeoutError("no"), ConsumedElsewhereError("no"), StorageError("/f", "no"), CommitOutcomeUnknownError("no")],
    ids=lambda error: type(error).__name__,
)
def test_errors_that_a_retry_cannot_help_are_raised_at_once(waits, error):
    with pytest.raises(type(error)):
        with_retry(failing(error))
    assert waits == []


@pytest.mark.parametrize(
    ("error", "stays"),
    [(ConflictError("no"), False), (StorageError("/f", "no"), False), (CommitOutcomeUnknownError("?"), True)],
)
def test_files_of_a_commit_that_fails(tmp_path, monkeypatch, error, stays):
    table = keyed_table(tmp_path, {"bucket": "1"})
    write(table, [{"id": 1, "v": 1}])
    before = data_files(table)
    job = new_job(table)
    result = write_files(job, [{"id": 2, "v": 2}])
    written = data_files(table) - before
    assert written
    monkeypatch.setattr(Committer, "commit", failing_method(error))
    with pytest.raises(type(error)):
        publish(table.state, job, result, Change("APPEND"))
    assert data_files(table) - before == (written if stays else set())
    assert by_key(table) == {1: {"id": 1, "v": 1}}


def failing_method(error):
    def commit(*_, **__):
        raise error

    return commit


def test_the_loser_of_two_writes_of_one_identity_removes_its_files(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1"})
    mine = identity("me")
    once = WriteIntent(identity=replace(mine, check_duplicate=True))
    jobs = [transaction.begin(table.state, once, None) for _ in range(2)]
    results = [write_files(job, [{"id": 1, "v": number}]) for number, job in enumerate(jobs)]
    first, second = (
        publish(table.state, job, result, Change("APPEND")) for job, result in zip(jobs, results, strict=True)
    )
    assert first.snapshot == second.snapshot
    assert len(table.snapshots()) == 1
    assert by_key(table) == {1: {"id": 1, "v": 0}}
    assert data_files(table) == kept_paths(table)


def test_a_commit_says_which_buckets_got_rows(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1"})
    for kind, number in (("APPEND", 1), ("OVERWRITE", 0)):
        job = new_job(table)
        committed = publish(table.state, job, write_files(job, [row(1)]), Change(kind))
        assert len(committed.buckets) == number, kind
        assert committed.snapshot == table.latest_snapshot()
