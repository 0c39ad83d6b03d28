"""Tables whose compactions looked older records up: of a key, the record at the lowest level above 0 holds them all."""

from __future__ import annotations

import pytest
from support.files import levels
from support.tables import compact, compact_newest, make_table, reload, rows, values, write

from tablestore_engine.errors import OptionError
from tablestore_engine.mergetree.compaction.levels import sorted_runs
from tablestore_engine.mergetree.compaction.pick_runs import CompactionUnit
from tablestore_engine.metadata.compaction_plan import MergeOutput
from tablestore_engine.operation.compact.auto_compaction import run_and_commit
from tablestore_engine.operation.compact.pick_tasks import task_of
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.schema_changes import SetOption

SUM = {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
LOOKUPS = [{"changelog-producer": "lookup"}, {"force-lookup": "true"}]


def lift(table, level):
    """Moves the newest run of the table's bucket to a level, as another tool does with whole records."""
    (bucket,) = table.scan().buckets
    unit = CompactionUnit(tuple(sorted_runs(bucket.files)[:1]), MergeOutput(level))
    run_and_commit(table.state, [task_of(bucket, unit, table.write_target(), table.schemas)], execute_here)


@pytest.fixture(params=LOOKUPS, ids=str)
def table(request, tmp_path):
    """The sum of ids 0 to 9 is 1 each, at level 5; of 3 and 4 it became 11, at level 4; of 4 then 111, at level 3."""
    made = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options={**SUM, **request.param})
    for level, whole in ((5, rows(range(10), 1)), (4, rows([3, 4], 11)), (3, rows([4], 111))):
        write(made, whole)
        if level < 5:
            lift(made, level)
    assert levels(made) == [3, 4, 5]
    return made


def test_older_records_count_once(table):
    assert values(table) == dict.fromkeys(range(10), 1) | {3: 11, 4: 111}


def test_newer_records_are_added(table):
    write(table, rows([2, 3, 4, 10], 1000))
    assert values(table) == dict.fromkeys(range(10), 1) | {2: 1001, 3: 1011, 4: 1111, 10: 1000}


@pytest.mark.parametrize(("key", "value"), [(2, 1), (3, 11), (4, 111)])
def test_one_key(table, key, value):
    assert values(table, predicate=Compare("id", "=", key))[key] == value


def test_a_compaction_leaves_one_whole_record(table):
    write(table, rows([4, 5], 1000))
    compact_newest(table, 1)
    assert levels(table) == [5], "runs above level 0 would each hold a part"
    assert values(table) == dict.fromkeys(range(10), 1) | {3: 11, 4: 1111, 5: 1001}
    assert sum(entry.file.row_count for entry in table.live_files()) == 10


def test_rows_are_counted_once(table):
    assert table.statistics().row_count == 10


def test_without_lookups_every_level_counts(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=SUM)
    write(table, rows(range(10), 1))
    write(table, rows([3], 10))
    lift(table, 4)
    assert levels(table) == [4, 5]
    assert values(table)[3] == 11
    for key, value in (("changelog-producer", "lookup"), ("force-lookup", "true")):
        with pytest.raises(OptionError, match=r"files that must be merged.*Call sys\.compact"):
            table.alter(SetOption(key, value))
    compact(table)
    table.alter(SetOption("force-lookup", "true"))
    assert values(reload(table))[3] == 11


def test_a_changelog_sees_whole_records(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options={**SUM, "changelog-producer": "lookup"})
    write(table, rows([1, 2], 1))
    write(table, rows([1], 11))
    lift(table, 4)
    before = table.latest_snapshot().id
    write(table, rows([1], 100))
    found = table.changes(before, recorded=True).to_pylist()
    assert [(row["_row_kind"], row["v"]) for row in found] == [("-U", 11), ("+U", 111)]
