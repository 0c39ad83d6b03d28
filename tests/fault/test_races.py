"""Several processes commit to one table at once; killed ones leave it whole."""

from __future__ import annotations

import random
import time

import pytest
from support.fault.racer import COMMITS, PROCESSES, start
from support.files import data_files, kept_paths, live_paths
from support.invariants import check_invariants
from support.tables import by_key, compact, keyed_table, make_table, read, rows, write

from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import PLAN_PROPERTY
from tablestore_engine.operation.expiration.orphan_files import find_orphans
from tablestore_engine.storage.clock import now_millis


@pytest.fixture
def table(tmp_path):
    options = {"bucket": "2", "num-sorted-run.compaction-trigger": "3", "commit.max-retries": "50"}
    return keyed_table(tmp_path, options)


def expected_ids():
    return {n * 1_000_000 + i * 10 + k for n in range(PROCESSES) for i in range(COMMITS) for k in range(3)} | {7}


def test_every_commit_of_every_process_counts(table, tmp_path):
    racers = [start(tmp_path, "insert", n) for n in range(PROCESSES)]
    assert sum(r.result()["commits"] for r in racers) == PROCESSES * COMMITS
    snapshots = table.snapshots()
    assert [s.id for s in snapshots] == list(range(1, PROCESSES * COMMITS + 1))
    assert len({s.uuid for s in snapshots}) == len(snapshots)
    assert len({(s.commit_user, s.commit_identifier) for s in snapshots}) == len(snapshots)
    rows = by_key(table)
    assert set(rows) == expected_ids()
    assert rows[7]["v"] % 1000 == COMMITS - 1, "the last write of some process"
    assert live_paths(table) == data_files(table)
    check_invariants(table)


def test_with_concurrent_compactions(table, tmp_path):
    compactors = [start(tmp_path, "compact") for _ in range(2)]
    racers = [start(tmp_path, "insert", n) for n in range(PROCESSES)]
    for one in racers:
        one.result()
    (tmp_path / "default.db" / "stop").touch()
    compacted = sum(one.result()["commits"] for one in compactors)
    snapshots = table.snapshots()
    assert [s.id for s in snapshots] == list(range(1, PROCESSES * COMMITS + compacted + 1))
    assert [s.commit_kind for s in snapshots].count("COMPACT") == compacted > 0
    assert set(by_key(table)) == expected_ids()
    check_invariants(table)
    before = sorted(map(repr, read(table)))
    compact(table)
    check_invariants(table)
    assert sorted(map(repr, read(table))) == before


def test_each_plan_is_carried_out_by_one(tmp_path):
    """Four processes take the plans of eight buckets at once."""
    options = {"bucket": "1", "write-only": "true"}
    table = make_table(tmp_path, {"p": "INT", "id": "INT", "v": "INT"}, ["p", "id"], ["p"], options)
    for v in range(3):
        write(table, [{"p": p, "id": n, "v": v} for p in range(8) for n in range(50)])
    plans = [schedule(table.state, "full", now_millis(), lambda values, p=p: values == (p,)) for p in range(8)]
    takers = [start(tmp_path, "take", n) for n in range(PROCESSES)]
    taken = [instant for one in takers for instant in one.result()["plans"]]
    assert sorted(taken) == [plan.instant for plan in plans]
    timeline = table.state.timeline.load()
    assert {one.state for one in timeline} == {PlanState.COMPLETED}
    assert [s.commit_kind for s in table.snapshots()] == ["APPEND"] * 3 + ["COMPACT"] * 8
    assert sorted(one.outcome.snapshot_id for one in timeline) == list(range(4, 12))
    assert len(table.live_files()) == 8
    assert {row["v"] for row in read(table)} == {2}
    check_invariants(table)


def test_with_concurrent_scheduled_compactions(table, tmp_path):
    compactors = [start(tmp_path, "schedule", n) for n in range(2)]
    racers = [start(tmp_path, "insert", n) for n in range(PROCESSES)]
    for one in racers:
        one.result()
    (tmp_path / "default.db" / "stop").touch()
    done = sorted(instant for one in compactors for instant in one.result()["plans"])
    made = [p.partition("/")[0] for s in table.snapshots() if (p := table.properties_of(s).get(PLAN_PROPERTY))]
    assert done == sorted(made)
    assert len(set(done)) == len(done) > 0, "no plan was committed twice"
    assert set(by_key(table)) == expected_ids()
    check_invariants(table)
    assert data_files(table) == kept_paths(table), "attempts that were overtaken left nothing"


def test_rows_are_marked_while_another_process_compacts(tmp_path):
    options = {"deletion-vectors.enabled": "true", "commit.max-retries": "50"}
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, options=options)
    for first in range(0, 80, 20):
        write(table, rows(range(first, first + 20)))
    compactor = start(tmp_path, "compact")
    racers = [start(tmp_path, "mark", n, 8) for n in range(PROCESSES)]
    assert sum(one.result()["commits"] for one in racers) == 32
    (tmp_path / "default.db" / "stop").touch()
    assert compactor.result()["commits"] > 0
    added = {chosen + 1000 for chosen in range(32) if chosen // PROCESSES % 2}
    assert set(by_key(table)) == {*range(32, 80), *added}
    assert table.statistics().row_count == 48 + len(added)
    assert not find_orphans(table.state, 2**62)


def test_no_increment_is_lost(table, tmp_path):
    write(table, [{"id": 1, "v": 0}])
    compactor = start(tmp_path, "compact")
    racers = [start(tmp_path, "increment", n, 10) for n in range(PROCESSES)]
    for one in racers:
        one.result()
    (tmp_path / "default.db" / "stop").touch()
    compactor.result()
    assert read(table) == [{"id": 1, "v": PROCESSES * 10}]


def test_kill_9_at_random_moments(table, tmp_path):
    """Whatever was acknowledged is there; what was not is there whole or not at all."""
    for _ in range(6):
        process = start(tmp_path, "endless")
        assert process.received.poll(300)
        time.sleep(random.uniform(0, 0.5))
        acknowledged = process.kill()
        rows = read(table)
        assert len(rows) == 50
        (generation,) = {row["v"] for row in rows}
        assert generation in (acknowledged[-1], acknowledged[-1] + 1)
        check_invariants(table)
        assert live_paths(table) <= data_files(table)
    ids = [s.id for s in table.snapshots()]
    assert ids == list(range(1, len(ids) + 1))
    for snapshot in table.snapshots():
        assert len({row["v"] for row in read(table, snapshot=snapshot)}) == 1


def test_concurrent_retractions_of_a_multiset_table(tmp_path):
    """The first of them enables retractions; the others, and the compactors, started from the snapshot before."""
    options = {"commit.max-retries": "50", "compaction.min.file-num": "4"}
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, options=options)
    compactors = [start(tmp_path, "compact") for _ in range(2)]
    racers = [start(tmp_path, "churn", n, 10) for n in range(PROCESSES)]
    for one in racers:
        one.result()
    (tmp_path / "default.db" / "stop").touch()
    for compactor in compactors:
        compactor.result()
    expected = sorted(n * 1_000_000 + i for n in range(PROCESSES) for i in range(10))
    assert sorted(row["id"] for row in read(table)) == expected
    assert [s.id for s in table.snapshots()] == list(range(1, len(table.snapshots()) + 1))
    check_invariants(table)
    compact(table)
    assert sorted(row["id"] for row in read(table)) == expected
    assert not any(e.file.delete_row_count for e in table.live_files())


def test_dynamic_buckets_have_each_key_once(tmp_path):
    """Every process gives buckets to the same new keys; those that were too late look where they are now."""
    options = {"bucket": "-1", "dynamic-bucket.target-row-num": "7", "commit.max-retries": "50"}
    table = keyed_table(tmp_path, options)
    racers = [start(tmp_path, "assign", n) for n in range(PROCESSES)]
    results = [racer.result() for racer in racers]
    assert sum(one["retries"] for one in results) >= PROCESSES - 1, "of those that met, one was first"
    assert set(by_key(table)) == set(range((COMMITS - 1) * 5 + 8))
    check_invariants(table)
    assert sum(e.row_count for e in table.index_files()) == len(by_key(table))
    compact(table)
    check_invariants(table)
