"""Scheduled compactions of tables of all kinds, together with other operations that remove or keep files: runners that
died, dropped partitions, orphan removal, replacement."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import replace

import pytest
from support.files import data_files, kept_paths
from support.invariants import check_invariants
from support.scheduled import LATER, NOW, run
from support.tables import DELETE, PUT, arrow_rows, identity, make_table, plan_states, read, reload, schema_of, write

from tablestore_engine.metadata.compaction_plan import Claim, PlanState
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.compact.schedule_compaction import schedule, tasks_of
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands.metadata_commands import replace_empty
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_job import BUCKET_COLUMN

COMPLETED, CANCELLED, INFLIGHT = PlanState.COMPLETED, PlanState.CANCELLED, PlanState.INFLIGHT
LIST = {"type": "ARRAY", "element": "INT"}
KINDS = {
    "dynamic": (["p", "id"], {"bucket": "-1", "dynamic-bucket.target-row-num": "2"}),
    "crossing": (["id"], {"bucket": "-1"}),
    "multiset": ([], {"merge-engine": "tablestore-count"}),
    "collecting": (
        ["p", "id"],
        {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": "collect"},
    ),
}


@pytest.fixture(params=KINDS)
def table(tmp_path, request):
    """Two partitions of three runs each, with retractions."""
    keys, options = KINDS[request.param]
    columns = {"p": "STRING", "id": "INT", "v": LIST}
    made = make_table(tmp_path, columns, keys, ["p"], options)
    for n in range(3):
        add(made, [{"p": p, "id": 10 * i + n, "v": [n]} for i, p in enumerate("ab")])
        add(made, [{"p": p, "id": 10 * i + n, "v": [n + 1]} for i, p in enumerate("ab")])
    add(made, [{"p": "a", "id": 1, "v": [1]}, {"p": "b", "id": 11, "v": [2]}], [DELETE, DELETE])
    return made


def add(table, rows, kinds=None):
    """Rows of keys that cross partitions are routed by Spark only; here they stay where they are."""
    kinds = kinds or [PUT] * len(rows)
    if not table.schema.crosses_partitions:
        table.write(arrow_rows(table.schema, rows, kinds))
        return
    import pyarrow as pa
    from support.tables import new_job

    job, bucket = new_job(table), pa.array([0] * len(rows), pa.int32())
    given = arrow_rows(table.schema, rows, kinds).append_column(BUCKET_COLUMN, bucket)
    result = write_table(job, given, f"{uuid.uuid4().hex[:6]}-")
    Committer(table.state).commit(Change("APPEND", tuple(result.entries)), identity())


def held(table, snapshot=None):
    return Counter(str(sorted(row.items())) for row in read(table, snapshot=snapshot))


def die(table, plan):
    """A runner that is killed when its files are written, and nothing is committed. Returns the files that it left."""
    claim = Claim("dead", str(uuid.uuid4()), NOW, 60_000)
    assert table.state.timeline.claim(plan.instant, 1, claim)
    before = data_files(table)
    tasks = tasks_of(plan, table.state)
    execute_here([replace(one, target=replace(one.target, write_id=claim.write_id)) for one in tasks])
    return data_files(table) - before


def remove_partition(table, name):
    removed = PartitionFormat(table.schema).encode((name,))
    Committer(table.state).commit(Change("OVERWRITE", replaces=lambda entry: entry.partition == removed), identity())


def test_a_runner_that_died_in_the_middle(table):
    before = held(table)
    plan = schedule(table.state, "full", NOW)
    assert len(plan.groups) >= 2
    left = die(table, plan)
    assert left
    assert plan_states(table) == [INFLIGHT]
    assert run(table) is None, "its lease has not run out"
    assert not left & set(table.remove_orphan_files(2 * NOW)), "they may yet be committed"
    assert left <= data_files(table)
    add(table, [{"p": "a", "id": 7, "v": [7]}])
    assert run(table, LATER).outcome.state is COMPLETED
    assert held(table) == before + Counter([str(sorted({"p": "a", "id": 7, "v": [7]}.items()))])
    assert data_files(table) == kept_paths(table), "the files of the dead runner are removed"
    check_invariants(table)
    assert schedule(table.state, "full", LATER) is not None
    assert run(table, LATER).outcome.state is COMPLETED
    assert not any(e.file.delete_row_count for e in table.live_files())
    assert schedule(table.state, "full", LATER) is None
    check_invariants(table)


def test_a_partition_goes_that_a_plan_merges_in(table):
    plan = schedule(table.state, "full", NOW)
    left = die(table, plan)
    remove_partition(table, "a")
    rest = held(table)
    assert {row["p"] for row in read(table)} == {"b"}
    # The void plan is in nobody's way.
    again = schedule(table.state, "full", NOW)
    assert {group.partition for group in again.groups} == {e.partition for e in table.live_files()}
    assert run(table, LATER).outcome.state is CANCELLED
    assert run(table, LATER).outcome.state is COMPLETED
    assert not left & data_files(table)
    assert held(table) == rest
    assert data_files(table) == kept_paths(table)
    check_invariants(table)


def test_a_table_is_replaced_that_a_plan_merges_in(table):
    before = held(table)
    table.create_tag("before")
    plan = schedule(table.state, "full", NOW)
    left = die(table, plan)
    wanted = schema_of({"n": "INT", "w": "STRING"}, ["n"], options={"bucket": "-1"})
    replace_empty(table.state, wanted)
    now = reload(table)
    assert not now.schema.partition_keys
    for w in "xyz":
        write(now, [{"n": 1, "w": w}, {"n": ord(w), "w": w}])
    rows = held(now)
    assert schedule(now.state, "full", NOW) is not None
    assert run(now, LATER).outcome.state is CANCELLED
    assert run(now, LATER).outcome.state is COMPLETED
    assert plan_states(now) == [CANCELLED, COMPLETED]
    assert held(now) == rows
    now.expire_snapshots(Retention(1, 1, 0, 1_000))
    now.remove_orphan_files(2 * NOW)
    assert not left & data_files(now)
    assert held(now) == rows
    tagged = now.version("before")
    assert Counter(str(sorted(row.items())) for row in _past(now, tagged)) == before
    assert now.roll_back("before") is not None
    old = reload(table)
    assert held(old) == before
    assert old.schema.field_names == table.schema.field_names
    add(old, [{"p": "a", "id": 7, "v": [7]}])
    assert schedule(old.state, "full", LATER) is not None
    assert run(old, LATER).outcome.state is COMPLETED
    assert held(old) == before + Counter([str(sorted({"p": "a", "id": 7, "v": [7]}.items()))])
    check_invariants(old)


def _past(table, snapshot):
    """The rows of a tag, with the columns of then."""
    return table.with_schema(table.schema_of(snapshot)).to_arrow(snapshot=snapshot).to_pylist()
