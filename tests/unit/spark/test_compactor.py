"""Compaction as writes and statements ask for it, where it is small enough for this process: no JVM."""

from __future__ import annotations

import time

import pytest
from engine_support import by_key, data_files, live_paths, make_table, write

from tablestore_engine.errors import CorruptMetadataError, StorageError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.schedule import schedule
from tablestore_engine.operation.scheduled_run import execute_here, run_next
from tablestore_engine.spark.compactor import compact_after_write, compact_table
from tablestore_engine.spark.due import compact_due


def no_spark():
    raise AssertionError("Spark was started")


def table_of(tmp_path, **options):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=options)
    for v in range(2):
        write(table, [{"id": 1, "v": v}, {"id": 2, "v": v}])
    return table


def touched(table):
    return {(e.partition, e.bucket) for e in table.live_files()}


@pytest.mark.parametrize(
    ("prefix", "user"), [({}, "compact-"), ({"commit.user-prefix": "me"}, "me_compact-")]
)
def test_a_compaction_is_told_by_its_user(tmp_path, prefix, user):
    table = table_of(tmp_path, **prefix)
    snapshot = compact_table(no_spark, table)
    assert (snapshot.id, snapshot.commit_kind) == (3, "COMPACT")
    assert snapshot.commit_user.startswith(user)
    assert compact_table(no_spark, table) is None


@pytest.mark.parametrize(
    ("options", "compacts"),
    [
        ({}, False),  # two runs are fewer than the trigger
        ({"num-sorted-run.compaction-trigger": "2"}, True),
        ({"compaction.total-size-threshold": "1 mb"}, True),
        ({"compaction.incremental-size-threshold": "1 b"}, True),
        ({"compaction.incremental-size-threshold": "1 mb"}, False),
        ({"compaction.optimization-interval": "1 h"}, False),
        ({"compaction.total-size-threshold": "1 mb", "write-only": "true"}, False),
    ],
    ids=str,
)
def test_what_is_due_after_a_write(tmp_path, options, compacts):
    table = table_of(tmp_path, **options)
    snapshot = compact_after_write(None, table, touched(table))
    assert (snapshot is not None) is compacts
    assert by_key(table)[1]["v"] == 1
    assert len(table.live_files()) == (1 if compacts else 2)


def test_only_buckets_that_were_written_to(tmp_path):
    table = table_of(tmp_path, **{"compaction.total-size-threshold": "1 mb"})
    assert compact_after_write(None, table, set()) is None
    assert compact_after_write(None, table, {(b"elsewhere", 0)}) is None


@pytest.mark.parametrize("error", [RuntimeError("a fault of ours"), StorageError("/disk", "it is full")])
def test_a_write_does_not_fail_because_of_its_compaction(tmp_path, monkeypatch, caplog, error):
    table = table_of(tmp_path, **{"num-sorted-run.compaction-trigger": "2"})

    def fail(task, name):
        raise error

    monkeypatch.setattr("tablestore_engine.spark.compactor.run_compaction", fail)
    files = data_files(table)
    assert compact_after_write(None, table, touched(table)) is None
    assert "default.t" in caplog.text
    assert str(error) in caplog.text
    assert data_files(table) == files


def test_of_a_failed_compaction_no_file_is_left(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options={"bucket": "3"})
    for v in range(2):
        write(table, [{"id": n, "v": v} for n in range(30)])
    before = data_files(table)
    damaged = max(path for path in live_paths(table) if "bucket-2" in path)
    with open(damaged, "r+b") as file:
        file.truncate(100)
    with pytest.raises(CorruptMetadataError, match="bucket-2"):
        compact_table(no_spark, table)
    assert data_files(table) == before


def test_minor_compaction_merges_what_is_due(tmp_path):
    table = table_of(tmp_path)
    assert compact_table(no_spark, table, full=False) is None
    for v in range(3):
        write(table, [{"id": 1, "v": v}])
    assert compact_table(no_spark, table, full=False, skip=touched(table)) is None
    assert compact_table(no_spark, table, full=False).commit_kind == "COMPACT"


# -- what is due, for a whole table ----------------------------------------------------------------------


def test_a_write_schedules_instead_of_compacting(tmp_path):
    options = {
        "compaction.schedule.enabled": "true",
        "compaction.delta-commits": "2",
        "num-sorted-run.compaction-trigger": "2",
        "write-only": "true",
    }
    table = table_of(tmp_path, **options)
    assert compact_after_write(None, table, touched(table)) is None
    assert [s.commit_kind for s in table.snapshots()] == ["APPEND", "APPEND"]
    (found,) = table.compactions.timeline.load()
    assert found.state is PlanState.REQUESTED
    assert compact_due(no_spark, table) == [f"plan {found.plan.instant} completed as snapshot 3"]
    assert compact_due(no_spark, table) == []
    assert by_key(table)[1]["v"] == 1


def test_plans_come_before_what_the_thresholds_ask_for(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options={"bucket": "2"})
    for v in range(6):
        write(table, [{"id": n, "v": v} for n in range(20)])
    plan = schedule(table.compactions, "full", 1)
    write(table, [], kind="OVERWRITE", replaces=lambda entry: entry.bucket == 0)
    assert compact_due(no_spark, table) == [f"plan {plan.instant} was void", "compacted as snapshot 8"]
    assert compact_due(no_spark, table, full=True) == []
    assert {row["v"] for row in by_key(table).values()} == {5}


def test_buckets_of_a_running_plan_are_left_to_it(tmp_path):
    table = table_of(tmp_path, **{"num-sorted-run.compaction-trigger": "2"})
    schedule(table.compactions, "full", 1)
    seen = []

    def look(tasks):
        seen.append(compact_after_write(None, table, touched(table)))
        seen.append(compact_due(no_spark, table, full=True))
        return execute_here(tasks)

    now = int(time.time() * 1000)
    assert run_next(table.compactions, "me", lambda: now, look).outcome.state is PlanState.COMPLETED
    assert seen == [None, []]
