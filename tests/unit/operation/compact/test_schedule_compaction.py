"""Which compactions are scheduled, and when."""

from __future__ import annotations

import pytest
from support.invariants import check_invariants
from support.scheduled import (
    NOW,
    REQUESTED,
    check_done,
    new_table,
    run,
)
from support.tables import (
    arrow_rows,
    by_key,
    plan_states,
    rows,
    write,
)

from tablestore_engine.operation.compact.schedule_compaction import enough_commits, schedule, schedule_after_commit


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
def test_commits_of_rows_are_counted_up_to_the_wanted_number(kinds, most, wanted, enough):
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
