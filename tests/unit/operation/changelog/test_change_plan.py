"""Which files are read for the changes between two snapshots, and from where to where they go."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pytest
from support.tables import compact, keyed_table, make_table, partitioned_table, row, rows, write

from tablestore_engine.errors import ChangesNotFound, TagNotFound, UserError
from tablestore_engine.mergetree.arrow_kernels.keyed_changes import keyed_changes
from tablestore_engine.operation.changelog.change_plan import AllRows, KeyedDiff, SignedFiles, plan_changes
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.history.change_range import change_range
from tablestore_engine.schema.table.predicate import And, Compare, Or, only_on

NEWEST = Retention(1, 1, 0, 100)


def planned(table, start, end=None, predicate=None):
    return plan_changes(table.state, change_range(table.state, start, end), predicate)


def names(plan):
    return {f.file_name for f in plan.files}


def test_only_files_within_reach_of_the_change_are_read(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1", "target-file-row-num": "1"})
    first = write(table, rows(range(10))).id
    write(table, rows([4], v=1))
    plan = planned(table, first)
    assert isinstance(plan, KeyedDiff)
    assert (len(plan.changed_files.files), len(plan.before.files), len(plan.after.files)) == (1, 1, 2)
    compact(table)
    later = planned(table, first)
    assert names(later.changed_files) == names(plan.changed_files), "the files of a compaction say nothing"
    assert table.changes(first).to_pylist() == [
        {"_row_kind": "-U", "id": 4, "v": 0},
        {"_row_kind": "+U", "id": 4, "v": 1},
    ]


def test_files_of_a_compaction_are_not_read_for_changes(tmp_path):
    """As long as the records that were added are newer than those of before."""
    table = keyed_table(tmp_path, {"bucket": "1", "num-sorted-run.compaction-trigger": "100"})
    first = write(table, rows(range(4))).id
    write(table, rows([1], v=1))
    written = names(planned(table, first).after)
    compact(table)
    assert names(planned(table, first).after) == written
    assert {one["_row_kind"] for one in table.changes(first).to_pylist()} == {"-U", "+U"}
    write(table, rows(range(4)), kinds=[3] * 4)
    compact(table)
    write(table, rows([2], v=7))  # whose records are numbered from the beginning
    assert not names(planned(table, first).after) & written
    found = [(one["_row_kind"], one["id"], one["v"]) for one in table.changes(first).to_pylist()]
    assert sorted(found) == [("+U", 2, 7), ("-D", 0, 0), ("-D", 1, 0), ("-D", 3, 0), ("-U", 2, 0)]


@pytest.mark.parametrize("ignored", [False, True])
def test_changes_that_the_producer_lookup_recorded_are_not_looked_up(tmp_path, ignored):
    options = {"bucket": "1", "changelog-producer": "lookup"}
    if ignored:
        options["changelog-producer.row-deduplicate-ignore-fields"] = "v"
    table = keyed_table(tmp_path, options)
    first = write(table, rows(range(4))).id
    write(table, rows([1, 2, 9], v=1))
    write(table, rows([2, 9], v=0))
    recorded = planned(table, first).recorded
    assert (recorded is None) is ignored, "changes of columns that are ignored are not recorded"
    expected = [("-U", 1, 0), ("+U", 1, 1), ("+I", 9, 0)]
    if recorded is not None:
        for file in planned(table, first).before.files:
            (tmp_path / "default.db" / "t" / "bucket-0" / file.file_name).unlink()
    found = [(one["_row_kind"], one["id"], one["v"]) for one in table.changes(first).to_pylist()]
    assert sorted(found) == sorted(expected), "what came and went within the range cancels"
    assert planned(table, first).recorded is None or len(planned(table, first + 1).recorded) == 1


def test_buckets_and_partitions_without_changes_are_not_read(tmp_path):
    table = partitioned_table(tmp_path, {"bucket": "4"})
    first = write(table, [row(n, p=p) for n in range(40) for p in "ab"]).id
    write(table, [row(1, 5, "b")])
    plan = planned(table, first)
    assert {(b.partition, len(b.files)) for b in plan.before.buckets} == {(("b",), 1)}
    only_a = planned(table, first, predicate=Compare("p", "=", "a"))
    assert not only_a.changed_files.files
    assert not only_a.before.files
    for side in (0, 5):
        by_value = planned(table, first, predicate=Compare("v", "=", side))
        assert names(by_value.after) == names(plan.after), "one side of the update has the value"
        assert names(by_value.changed_files) == names(plan.changed_files)
    neither = planned(table, first, predicate=Compare("v", "=", 99))
    assert not (neither.changed_files.files or neither.before.files or neither.after.files)


def test_a_value_that_is_folded_is_looked_for_in_all_files(tmp_path):
    options = {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    table = keyed_table(tmp_path, options)
    first = write(table, rows([1], v=40)).id
    write(table, rows([1], v=59))
    assert len(planned(table, first, predicate=Compare("v", "=", 99)).after.files) == 2


def test_signed_files(tmp_path):
    table = make_table(tmp_path, {"id": "INT"})
    first = write(table, [{"id": 1}]).id
    write(table, [{"id": 2}])
    plan = planned(table, first)
    assert isinstance(plan, SignedFiles)
    assert (len(plan.added.files), len(plan.removed.files)) == (1, 0)
    write(table, [{"id": 2}, {"id": 3}], kind="OVERWRITE", replaces=lambda entry: True)
    plan = planned(table, first)
    assert (len(plan.added.files), len(plan.removed.files)) == (1, 1), "what came and went within the range cancels"
    assert isinstance(planned(table, 0), AllRows)


def test_states_are_compared_if_commits_have_expired(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1"})
    write(table, rows(range(3)))
    table.create_tag("first")
    write(table, rows([1], v=1))
    write(table, rows([1], v=2))
    compact(table)
    table.expire_snapshots(NEWEST)
    assert [one.id for one in table.snapshots()] == [4]
    expected = [{"_row_kind": "-U", "id": 1, "v": 0}, {"_row_kind": "+U", "id": 1, "v": 2}]
    assert table.changes("first").to_pylist() == table.changes(1).to_pylist() == expected
    with pytest.raises(ChangesNotFound, match=r"no snapshot 2 .*There are snapshots 4 to 4, and the tags first \(1\)"):
        table.changes(2)
    with pytest.raises(ChangesNotFound, match="no snapshot any more that was committed by 2000"):
        table.changes(datetime(2000, 1, 1))
    assert table.changes(0).num_rows == 3


def test_bounds(tmp_path):
    table = keyed_table(tmp_path)
    assert table.changes(0).to_pylist() == []
    write(table, rows([1]))
    assert table.changes(datetime(2000, 1, 1)).num_rows == 1
    assert table.changes("1").num_rows == 0
    with pytest.raises(TagNotFound):
        table.changes("nothing")
    with pytest.raises(UserError, match="ends before it begins"):
        table.changes(1, 0)


def test_the_part_of_a_predicate_about_some_columns_is_found():
    key, other = Compare("ID", "=", 1), Compare("v", ">", 2)
    assert only_on(And((key, other)), {"id"}, str.lower) == key
    assert only_on(Or((key, other)), {"id"}, str.lower) is None
    assert only_on(Or((key, And((key, other)))), {"id"}, str.lower) == key
    assert only_on(None, {"id"}, str.lower) is None


def test_equal_values_have_not_changed():
    kinds = {
        "id": pa.int32(),
        "m": pa.map_(pa.string(), pa.int32()),
        "l": pa.list_(pa.struct([("m", pa.map_(pa.int32(), pa.int32()))])),
    }

    def table(*given):
        return pa.Table.from_pylist([dict(zip(kinds, one, strict=True)) for one in given], pa.schema(kinds))

    nested = [{"m": [(1, 2), (3, None)]}, None, {"m": None}]
    turned = [{"m": [(3, None), (1, 2)]}, None, {"m": None}]
    before = table((1, [("a", 1), ("b", 2)], nested), (2, [], None), (3, None, []), (4, [("a", 1)], None))
    after = table((1, [("b", 2), ("a", 1)], turned), (2, None, None), (3, None, None), (4, [("a", 2)], None))
    found = keyed_changes(before, after, before.select(["id"]))
    assert [(n, int(k)) for n, k in zip(found.rows["id"].to_pylist(), found.kinds, strict=True)] == [
        (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2),
    ]  # fmt: skip
