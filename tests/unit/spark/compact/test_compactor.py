"""Compaction as writes and statements ask for it, where it is small enough for this process: no JVM."""

from __future__ import annotations

import time

import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.tables import by_key, keyed_table, make_table, no_spark, read, write

from tablestore_engine.errors import ConflictError, CorruptDataError, ExecutionError, StorageError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.compact.pick_tasks import Extent
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import execute_here, run_next
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.transaction.transaction import Committed
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine
from tablestore_engine.spark.compact.compact_due import compact_due
from tablestore_engine.spark.compact.compactor import compact_table, execute_tasks


def table_of(tmp_path, **options):
    table = keyed_table(tmp_path, options)
    for v in range(2):
        write(table, [{"id": 1, "v": v}, {"id": 2, "v": v}])
    return table


def compact_after_write(table, buckets):
    """What follows a write into some buckets. Returns the snapshot of its compaction, None when there is none."""
    before = table.latest_snapshot()
    follow(Committed(table.state, before, frozenset(buckets)), lambda chosen: execute_tasks(no_spark, chosen))
    after = table.latest_snapshot()
    return after if after.id > before.id else None


def written_buckets(table):
    return {(e.partition, e.bucket) for e in table.live_files()}


@pytest.mark.parametrize(("prefix", "user"), [({}, "compact-"), ({"commit.user-prefix": "me"}, "me_compact-")])
def test_a_compaction_is_known_by_its_user(tmp_path, prefix, user):
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
def test_a_write_compacts_when_due(tmp_path, options, compacts):
    table = table_of(tmp_path, **options)
    snapshot = compact_after_write(table, written_buckets(table))
    assert (snapshot is not None) is compacts
    assert by_key(table)[1]["v"] == 1
    assert len(table.live_files()) == (1 if compacts else 2)


def test_only_buckets_that_were_written_to(tmp_path):
    table = table_of(tmp_path, **{"compaction.total-size-threshold": "1 mb"})
    assert compact_after_write(table, set()) is None
    assert compact_after_write(table, {(b"elsewhere", 0)}) is None


@pytest.mark.parametrize("error", [RuntimeError("a fault of ours"), StorageError("/disk", "it is full")])
def test_a_write_does_not_fail_because_of_its_compaction(tmp_path, monkeypatch, caplog, error):
    table = table_of(tmp_path, **{"num-sorted-run.compaction-trigger": "2"})

    def fail(task, name):
        raise error

    monkeypatch.setattr("tablestore_engine.spark.compact.compactor.run_compaction", fail)
    files = data_files(table)
    assert compact_after_write(table, written_buckets(table)) is None
    assert "default.t" in caplog.text
    assert str(error) in caplog.text
    assert data_files(table) == files


def test_of_a_failed_compaction_no_file_is_left_and_other_buckets_are_compacted(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "3"})
    for v in range(2):
        write(table, [{"id": n, "v": v} for n in range(30)])
    before = data_files(table)
    damaged = max(path for path in live_paths(table) if "bucket-2" in path)
    with open(damaged, "r+b") as file:
        file.truncate(100)
    with pytest.raises(CorruptDataError, match="bucket-2"):
        compact_table(no_spark, table)
    assert {one for one in data_files(table) if "bucket-2" in one} == {one for one in before if "bucket-2" in one}
    assert {one.bucket: len(one.files) for one in table.scan().buckets} == {0: 1, 1: 1, 2: 2}
    assert len(data_files(table)) == len(before) + 2


def test_minor_compaction_merges_what_is_due(tmp_path):
    table = table_of(tmp_path)
    assert compact_table(no_spark, table, extent=Extent.DUE) is None
    for v in range(3):
        write(table, [{"id": 1, "v": v}])
    assert compact_table(no_spark, table, extent=Extent.DUE, skip=written_buckets(table)) is None
    assert compact_table(no_spark, table, extent=Extent.DUE).commit_kind == "COMPACT"


# -- what is due, for a whole table ----------------------------------------------------------------------


def test_a_write_schedules_instead_of_compacting(tmp_path):
    options = {
        "compaction.schedule.enabled": "true",
        "compaction.delta-commits": "2",
        "num-sorted-run.compaction-trigger": "2",
        "write-only": "true",
    }
    table = table_of(tmp_path, **options)
    assert compact_after_write(table, written_buckets(table)) is None
    assert [s.commit_kind for s in table.snapshots()] == ["APPEND", "APPEND"]
    (found,) = table.state.timeline.load()
    assert found.state is PlanState.REQUESTED
    assert compact_due(no_spark, table) == [f"plan {found.plan.instant} completed as snapshot 3"]
    assert compact_due(no_spark, table) == []
    assert by_key(table)[1]["v"] == 1


def test_plans_come_before_what_the_thresholds_ask_for(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "2"})
    for v in range(6):
        write(table, [{"id": n, "v": v} for n in range(20)])
    plan = schedule(table.state, "full", 1)
    write(table, [], kind="OVERWRITE", replaces=lambda entry: entry.bucket == 0)
    missing = f"File {plan.groups[0].files[0].file_name} is no longer part of the table."
    assert compact_due(no_spark, table) == [
        f"plan {plan.instant} was cancelled: {missing}",
        "compacted as snapshot 8",
    ]
    assert compact_due(no_spark, table, Extent.FULL) == []
    assert {row["v"] for row in by_key(table).values()} == {5}


def test_buckets_of_a_running_plan_are_left_to_it(tmp_path):
    table = table_of(tmp_path, **{"num-sorted-run.compaction-trigger": "2"})
    schedule(table.state, "full", 1)
    seen = []

    def look(tasks):
        seen.append(compact_after_write(table, written_buckets(table)))
        seen.append(compact_due(no_spark, table, Extent.FULL))
        return execute_here(tasks)

    now = int(time.time() * 1000)
    assert run_next(table.state, "me", lambda: now, look).outcome.state is PlanState.COMPLETED
    assert seen == [None, []]


# -- plans that fail -----------------------------------------------------------------------------------

LARGE, ROWS = 2_000_000_000, 5_000
SUMS = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum", "bucket": "1", "write-only": "true"}


def overflowing_table(tmp_path, monkeypatch):
    """In partition 1 the sum fits, but not that of the two upper runs, which a minor plan merges; 2 and 3 are small.

    The plan fails, because it is not given the other files of its bucket.
    """
    monkeypatch.setattr(MergeEngine, "may_outgrow", False)
    table = make_table(tmp_path, {"p": "INT", "id": "INT", "v": "INT"}, ["p", "id"], ["p"], SUMS)
    rest = [{"p": 2, "id": 1, "v": 1}, {"p": 3, "id": 1, "v": 1}]
    write(table, [{"p": 1, "id": 1, "v": -LARGE}, *({"p": 1, "id": n, "v": n} for n in range(2, ROWS)), *rest])
    for _ in range(2):
        write(table, [{"p": 1, "id": 1, "v": LARGE}, *rest])
    return table


def planned(table, partition):
    return schedule(table.state, "minor", 1, lambda values: values == (partition,))


def check_sums(table):
    sums = {(row["p"], row["id"]): row["v"] for row in read(table)}
    wide = {(1, n): n for n in range(2, ROWS)}
    assert sums == {(1, 1): LARGE, **wide, (2, 1): 3, (3, 1): 3}
    check_invariants(table)


def levels(table):
    """Levels of the files of each partition."""
    return {b.partition[0]: sorted(f.level for f in b.files) for b in table.scan().buckets}


def test_a_plan_that_fails_stops_nothing_else_and_is_given_up(tmp_path, monkeypatch):
    table = overflowing_table(tmp_path, monkeypatch)
    bad, good = planned(table, 1), planned(table, 2)
    runs = levels(table)
    assert len(bad.files) == 2
    for number in (1, 2, 3):
        with pytest.raises(
            ExecutionError, match=f"Plan {bad.instant} failed: The sum of column 'v' does not fit"
        ) as raised:
            compact_due(no_spark, table)
        named = f"plan {good.instant} completed as snapshot 4" in str(raised.value)
        assert named is (number == 1)
        assert len(table.state.timeline.pending()) == (number < 3)
    assert levels(table)[1] == runs[1]
    assert len(levels(table)[2]) < len(runs[2])
    found = {one.plan.instant: one for one in table.state.timeline.load()}[bad.instant]
    assert found.state is PlanState.CANCELLED
    assert [one.kind for one in found.attempts] == ["ExecutionError"] * 3
    assert found.outcome.message.startswith("Given up after 3 attempts.")
    assert found.outcome.message.endswith(found.last.failure)
    check_sums(table)
    assert schedule(table.state, "full", 2).bucket_ids >= bad.bucket_ids, "it may be planned anew"
    assert len(compact_due(no_spark, table)) == 1
    assert {len(one) for one in levels(table).values()} == {1}
    check_sums(table)


def test_a_full_compaction_may_do_what_a_plan_cannot(tmp_path, monkeypatch):
    table = overflowing_table(tmp_path, monkeypatch)
    bad = planned(table, 1)
    with pytest.raises(ExecutionError, match=rf"Plan {bad.instant} failed.*Also done: compacted as snapshot 4\."):
        compact_due(no_spark, table, Extent.FULL)
    assert {len(one) for one in levels(table).values()} == {1}
    (done,) = compact_due(no_spark, table)
    assert done.startswith(f"plan {bad.instant} was cancelled: File ")
    check_sums(table)


def test_a_bucket_that_cannot_be_merged_at_all_leaves_the_others(tmp_path, monkeypatch):
    table = overflowing_table(tmp_path, monkeypatch)
    bad = planned(table, 1)
    broken = max(path for path in live_paths(table) if "p=1" in path)
    with open(broken, "r+b") as file:
        file.truncate(60)
    with pytest.raises(ExecutionError, match=rf"Plan {bad.instant} failed.*Not all buckets were compacted: "):
        compact_due(no_spark, table, Extent.FULL)
    assert [len(levels(table)[p]) for p in (1, 2, 3)] == [3, 1, 1]


def test_plans_that_were_overtaken_may_be_tried_again(tmp_path, monkeypatch):
    table = overflowing_table(tmp_path, monkeypatch)
    plan = planned(table, 2)

    def lose(task, name):
        raise ConflictError("Others were faster.")

    monkeypatch.setattr("tablestore_engine.spark.compact.compactor.run_compaction", lose)
    for _ in range(4):
        with pytest.raises(ConflictError, match=f"Plan {plan.instant} failed: Others were faster"):
            compact_due(no_spark, table)
    (found,) = table.state.timeline.pending()
    assert found.failures == 4
    monkeypatch.undo()
    assert compact_due(no_spark, table)[0] == f"plan {plan.instant} completed as snapshot 4"
