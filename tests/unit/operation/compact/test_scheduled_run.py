"""Scheduled compactions that are carried out without Spark: what they commit, and when they are void."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.invariants import check_invariants
from support.scheduled import (
    CANCELLED,
    COMPLETED,
    INFLIGHT,
    NOW,
    REQUESTED,
    check_done,
    in_both,
    made_by_plans,
    new_table,
    run,
)
from support.tables import (
    DELETE,
    by_key,
    compact,
    execute_and_die,
    make_table,
    new_job,
    plan_states,
    read,
    rows,
    write,
)

from tablestore_engine.errors import StorageError
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import execute_here


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
