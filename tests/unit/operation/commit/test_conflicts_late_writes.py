"""Writes that took their number before others and are committed after them, with compactions between: as if they had
come in time, or a conflict."""

from __future__ import annotations

import pytest
from support.tables import DELETE, PUT, compact, identity, make_table, new_job, read, write, write_files

from tablestore_engine.errors import ConflictError
from tablestore_engine.mergetree.compaction.levels import sorted_runs
from tablestore_engine.mergetree.compaction.pick_runs import CompactionUnit
from tablestore_engine.metadata.compaction_plan import MergeOutput
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.compact.auto_compaction import run_and_commit
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks, task_of
from tablestore_engine.operation.compact.scheduled_run import execute_here

AGGREGATION = {"merge-engine": "aggregation"}


class Late:
    """A write whose files are there, to be committed later."""

    def __init__(self, table, rows, sequence, kinds=None):
        latest = table.latest_snapshot()
        self.table = table
        self.base_snapshot_id = latest.id if latest else 0
        self.job = new_job(table, sequence=sequence)
        self.result = write_files(self.job, rows, kinds)

    def commit(self):
        change = Change("APPEND", tuple(self.result.entries), base_snapshot_id=self.base_snapshot_id)
        return Committer(self.table.state).commit(change, identity())


def keyed(tmp_path, options, **more):
    columns = {"id": "INT", "c": "INT", "d": "INT"}
    return make_table(tmp_path, columns, ["id"], options={"bucket": "1", **options}, **more)


def now(table, rows, sequence, kinds=None):
    Late(table, rows, sequence, kinds).commit()


def move(table, sequences, level):
    """Merge the runs with these newest numbers, with their deletes."""
    bucket = table.scan().buckets[0]
    runs = tuple(r for r in sorted_runs(bucket.files) if r.files[0].max_sequence_number in sequences)
    unit = CompactionUnit(runs, MergeOutput(level))
    run_and_commit(table.state, [task_of(bucket, unit, table.write_target(), table.schemas)], execute_here)


def functions(c, d):
    return {**AGGREGATION, "fields.c.aggregate-function": c, "fields.d.aggregate-function": d}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (None, 3)),
        ({"merge-engine": "first-row"}, (1, None)),
        (functions("sum", "max"), (3, 3)),
        (functions("count", "min"), (2, 3)),
        ({"merge-engine": "partial-update"}, None),
        (functions("first_value", "max"), None),
        (functions("last_non_null_value", "sum"), None),
        (functions("last_value", "sum"), None),  # more is asked for than would have to be: equals in a sequence
        ({"merge-engine": "partial-update", "fields.d.sequence-group": "c"}, None),
    ],
)
def test_newer_records_were_folded_before(tmp_path, options, expected):
    table = keyed(tmp_path, options)
    now(table, [{"id": 1, "c": 1}], 10)
    late = Late(table, [{"id": 1, "c": 2}], 50)
    now(table, [{"id": 1, "d": 3}], 100)
    compact(table)
    if expected is None:
        with pytest.raises(ConflictError, match="merged newer records before these"):
            late.commit()
    else:
        late.commit()
        assert [(row["c"], row["d"]) for row in read(table)] == [expected]


def test_a_late_bulk_load_that_is_no_longer_alone(tmp_path):
    table = keyed(tmp_path, {"merge-engine": "partial-update"})
    late = Late(table, [{"id": 1, "c": 2}], 50)
    now(table, [{"id": 1, "c": 1, "d": 3}], 100)
    with pytest.raises(ConflictError):
        late.commit()


def test_a_late_row_that_moved_up_before_its_delete_is_dropped(tmp_path):
    """It is no longer at level 0 when the compaction commits that drops the delete."""
    table = keyed(tmp_path, {})
    now(table, [{"id": 1, "c": 1}], 10)
    late = Late(table, [{"id": 1, "c": 50}], 50)
    now(table, [{"id": 1}], 100, [DELETE])
    move(table, {100}, 4)
    drops = pick_tasks(table.scan().buckets, table.write_target(), table.schemas, Extent.FULL)
    assert drops[0].output.drop_deletes
    made = execute_here(drops)
    late.commit()
    now(table, [{"id": 2, "c": 200}], 200)
    move(table, {50, 200}, 3)
    with pytest.raises(ConflictError, match="older than deletes"):
        run_and_commit(table.state, drops, lambda _: made)
    assert [row["id"] for row in read(table)] == [2]


def test_a_write_that_began_before_the_rows_were_replaced(tmp_path):
    """Half of it would show: what the new rows have no key for."""
    table = keyed(tmp_path, {})
    now(table, [{"id": 1, "c": 1}, {"id": 2, "c": 1}], 10)
    late = Late(table, [{"id": 1, "c": 2}, {"id": 9, "c": 2}], 50)
    job = new_job(table, into_empty=True, sequence=100)
    write(table, [{"id": 1, "c": 3}, {"id": 3, "c": 3}], kind="OVERWRITE", job=job, replaces=lambda entry: True)
    with pytest.raises(ConflictError, match="changed rows"):
        late.commit()
    again = Late(table, [{"id": 1, "c": 2}, {"id": 9, "c": 2}], 150)
    again.commit()
    assert sorted((row["id"], row["c"]) for row in read(table)) == [(1, 2), (3, 3), (9, 2)]


def test_one_bucket_that_changed_does_not_hold_up_the_others(tmp_path):
    columns = {"p": "INT", "id": "INT", "c": "INT"}
    table = make_table(tmp_path, columns, ["p", "id"], ["p"], options={"bucket": "1"})
    for c in range(2):
        write(table, [{"p": p, "id": 1, "c": c} for p in range(3)], [PUT] * 3)
    tasks = pick_tasks(table.scan().buckets, table.write_target(), table.schemas, Extent.FULL)
    assert len(tasks) == 3
    made = execute_here(tasks)
    job = new_job(table, into_empty=lambda entry: True)
    write(table, [{"p": 1, "id": 1, "c": 7}], kind="OVERWRITE", job=job, replaces=_of(table, 1))
    before = set(_files(tmp_path))
    snapshot = run_and_commit(table.state, tasks, lambda _: made)
    assert snapshot.commit_kind == "COMPACT"
    assert sorted((row["p"], row["c"]) for row in read(table)) == [(0, 1), (1, 7), (2, 1)]
    assert len(table.live_files()) == 3
    removed = before - set(_files(tmp_path))
    assert len(removed) == 1, "the files of the useless merge are removed"
    assert "/p=1/" in removed.pop()


def _of(table, p):
    from tablestore_engine.metadata.partition import PartitionFormat

    partition = PartitionFormat(table.schema).encode((p,))
    return lambda entry: entry.partition == partition


def _files(tmp_path):
    return [str(path) for path in tmp_path.rglob("bucket-*/*.parquet")]
