"""Compaction of buckets: what is merged, upgraded, left alone, and what never changes: the answer."""

from __future__ import annotations

import os

import pytest
from support.files import data_files, kept_paths, levels, live_paths
from support.invariants import check_invariants
from support.tables import DELETE, PUT, by_key, compact, compact_newest, keyed_table, make_table, read, rows, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import CorruptDataError
from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_SOURCE_COMPACT
from tablestore_engine.operation.compact.compact_bucket import batch_rows, run_compaction
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks, universal_options
from tablestore_engine.operation.files.rolling_writer import write_target
from tablestore_engine.schema.table.schema_changes import AddColumn, SetOption
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {"id": "INT", "v": "INT"}


@pytest.fixture
def table(tmp_path):
    return keyed_table(tmp_path, {"num-sorted-run.compaction-trigger": "3"})


def plan(table, *, full):
    extent = Extent.FULL if full else Extent.DUE
    return pick_tasks(table.scan().buckets, table.write_target(), table.schemas, extent)


def test_options_become_thresholds(tmp_path):
    options = {
        "num-sorted-run.compaction-trigger": "7",
        "compaction.max-size-amplification-percent": "150",
        "compaction.size-ratio": "10",
    }
    found = universal_options(keyed_table(tmp_path, options).schema)
    assert (found.run_trigger, found.max_size_amplification_percent, found.size_ratio) == (7, 150, 10)
    assert (found.num_levels, found.keep_deletes) == (8, False)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("compaction.optimization-interval", "1 h", (3_600_000, None, None)),
        ("compaction.total-size-threshold", "1 mb", (None, 1 << 20, None)),
        ("compaction.incremental-size-threshold", "1 kb", (None, None, 1024)),
    ],
)
def test_options_of_early_full_compactions(tmp_path, key, text, value):
    found = universal_options(keyed_table(tmp_path, {key: text}).schema)
    assert (
        found.optimization_interval_millis, found.total_size_threshold, found.incremental_size_threshold
    ) == value  # fmt: skip


def test_a_small_bucket_is_kept_in_one_run(tmp_path):
    table = keyed_table(tmp_path, {"compaction.total-size-threshold": "1 mb"})
    for v in range(3):
        write(table, rows([1, 2], v))
        compact(table, full=False)
        assert levels(table) == [5]
    assert by_key(table)[1]["v"] == 2
    check_invariants(table)


def test_a_bucket_is_one_run_again_when_the_interval_has_passed(tmp_path):
    table = keyed_table(tmp_path, {"compaction.optimization-interval": "1 h"})
    write(table, rows(range(10)))
    write(table, rows([1], 1))
    loaded = max(e.file.creation_time_millis for e in table.live_files() if e.file.level)

    def tasks(hours):
        target = write_target(table.state, now_millis=lambda: int(loaded + hours * 3_600_000))
        return pick_tasks(table.scan().buckets, target, table.schemas)

    assert tasks(0.9) == []
    (task,) = tasks(1.1)
    assert (len(task.files), task.output.level) == (2, 5)


def test_full_merges_to_one_run_at_the_top(table):
    for v in range(4):
        write(table, rows(range(v, v + 10), v))
    before = read(table)
    snapshot = compact(table)
    assert (snapshot.commit_kind, levels(table)) == ("COMPACT", [3])
    assert {e.file.file_source for e in table.live_files()} == {FILE_SOURCE_COMPACT}
    assert sorted(read(table), key=str) == sorted(before, key=str)
    check_invariants(table)
    assert compact(table) is None, "nothing is left to do"


def test_full_drops_deletes(table):
    write(table, rows([1, 2, 3]))
    write(table, rows([2]), [DELETE])
    compact(table)
    (entry,) = table.live_files()
    assert (entry.file.row_count, entry.file.delete_row_count) == (2, 0)


def test_everything_deleted_leaves_no_file(table):
    write(table, rows([1]))
    write(table, rows([1]), [DELETE])
    compact(table)
    assert table.live_files() == []
    assert read(table) == []
    assert table.latest_snapshot().total_record_count == 0
    write(table, rows([1], 5))
    assert read(table) == rows([1], 5)


def test_below_the_trigger_nothing_is_due(table):
    write(table, rows(range(1000)))
    write(table, rows([1]))
    assert plan(table, full=False) == []


def test_a_partial_compaction_keeps_deletes(table):
    write(table, [{"id": n, "v": n * 7919} for n in range(20_000)])
    write(table, rows([1, 2]), [DELETE, PUT])
    write(table, rows([3, 4]))
    (task,) = plan(table, full=False)
    assert (len(task.files), task.output.drop_deletes) == (2, False)
    compact(table, full=False)
    assert levels(table) == [2, 3]
    assert 1 not in by_key(table)
    assert sum(e.file.delete_row_count for e in table.live_files()) == 1
    check_invariants(table)
    compact(table)
    assert levels(table) == [3]
    assert 1 not in by_key(table)


def test_runs_stay_few_over_many_writes(table):
    write(table, [{"id": n, "v": -1} for n in range(3000)])
    expected = dict.fromkeys(range(3000), -1)
    for v in range(30):
        updated = [(v * 31 + n * 17) % 3500 for n in range(10)]
        write(table, rows(updated, v))
        expected.update(dict.fromkeys(updated, v))
        compact(table, full=False)
        assert len({e.file.level for e in table.live_files()} | set()) <= 4
        assert len(table.live_files()) <= 4
    assert {k: row["v"] for k, row in by_key(table).items()} == expected
    check_invariants(table)


def test_a_lone_file_is_upgraded_not_rewritten(tmp_path):
    table = keyed_table(tmp_path, {"num-levels": "4"})
    write(table, rows([1]))
    write(table, rows([2]))
    write(table, [], kind="OVERWRITE", replaces=lambda entry: entry.file.level > 0)
    ((before,),) = (list(live_paths(table)),)
    compact(table)
    assert levels(table) == [3]
    assert live_paths(table) == {before}
    check_invariants(table)


def test_big_files_that_overlap_nothing_are_upgraded(tmp_path):
    table = keyed_table(tmp_path, {"target-file-size": "1 kb"})
    write(table, rows(range(100, 200)))
    write(table, rows(range(200, 400)))
    write(table, rows(range(50)))
    write(table, rows([10], 1))
    before = {e.file.file_name for e in table.live_files()}
    compact(table)
    after = {e.file.file_name for e in table.live_files()}
    assert len(before & after) == len(before) - 2, "only the two that overlap are rewritten"
    assert set(levels(table)) == {5}
    assert len(by_key(table)) == 350
    check_invariants(table)


def test_output_files_do_not_span_an_upgraded_one(tmp_path):
    table = keyed_table(tmp_path, {"target-file-size": "4 kb"})
    write(table, rows(range(1000, 3000)))
    write(table, rows([1]))
    write(table, rows([1], 1))
    write(table, rows([9000]))
    write(table, rows([9000], 1))
    compact(table)
    check_invariants(table)
    assert len(table.live_files()) == 3


def test_a_file_with_deletes_is_not_upgraded_past_them(table):
    write(table, rows(range(1000)))
    write(table, rows([2000, 2001]), [DELETE, PUT])
    write(table, [], kind="OVERWRITE", replaces=lambda entry: entry.file.level > 0)
    compact(table)
    (entry,) = table.live_files()
    assert (entry.file.delete_row_count, entry.file.row_count) == (0, 1)


def test_sequence_tables_keep_deletes_for_rows_that_come_late(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "at": "INT"}, ["id"], options={"sequence.field": "at"})
    write(table, [{"id": 1, "at": 1}, {"id": 2, "at": 1}])
    write(table, [{"id": 1, "at": 9}], [DELETE])
    compact(table)
    assert compact(table) is None
    write(table, [{"id": 1, "at": 5}])
    assert [row["id"] for row in read(table)] == [2]
    compact(table)
    assert [row["id"] for row in read(table)] == [2]
    check_invariants(table)


def test_each_bucket_and_partition_by_itself(tmp_path):
    columns = {"p": "STRING", "id": "INT", "v": "INT"}
    table = make_table(tmp_path, columns, ["p", "id"], ["p"], {"bucket": "2"})
    for v in range(3):
        write(table, [{"p": p, "id": n, "v": v} for p in "ab" for n in range(20)])
    assert len(plan(table, full=True)) == 4
    compact(table)
    assert len(table.live_files()) == 4
    check_invariants(table)
    assert {row["v"] for row in read(table)} == {2}


def test_append_tables_join_small_files_in_order(tmp_path):
    table = make_table(tmp_path, COLUMNS, options={"compaction.min.file-num": "4"})
    for n in range(3):
        write(table, rows([n]))
    assert plan(table, full=False) == []
    write(table, rows([3]))
    compact(table, full=False)
    assert len(table.live_files()) == 1
    assert read(table) == rows([0, 1, 2, 3])
    assert plan(table, full=True) == []
    check_invariants(table)


def test_files_of_older_schemas(tmp_path):
    catalog = Catalog(tmp_path)
    table = keyed_table(catalog)
    write(table, rows([1, 2]))
    catalog.alter_table("default", "t", [AddColumn("extra", parse_type("STRING"))])
    table = catalog.load_table("default", "t")
    write(table, [{"id": 2, "v": 9, "extra": "new"}])
    expected = {1: {"id": 1, "v": 0, "extra": None}, 2: {"id": 2, "v": 9, "extra": "new"}}
    assert by_key(table) == expected
    compact(table)
    assert by_key(table) == expected
    check_invariants(table)


@pytest.mark.parametrize("damage", ["cut", "overwritten", "empty"])
def test_a_damaged_file_is_named_and_nothing_is_left(table, damage):
    write(table, rows(range(100)))
    write(table, rows([1], 1))
    path = min(live_paths(table))
    with open(path, "rb") as file:
        data = file.read()
    data = {"cut": data[: len(data) // 2], "overwritten": b"PAR1" + b"x" * 200 + b"PAR1", "empty": b""}[damage]
    with open(path, "wb") as file:
        file.write(data)
    (task,) = plan(table, full=True)
    before = data_files(table)
    with pytest.raises(CorruptDataError, match=os.path.basename(path)):
        run_compaction(task, "c-")
    assert data_files(table) == before
    with pytest.raises(CorruptDataError, match=os.path.basename(path)):
        read(table)


@pytest.mark.parametrize(("sequences", "rows"), [(1, 65_536), (2, 65_536), (8, 16_384), (512, 1_024), (5_000, 1_024)])
def test_the_more_runs_the_fewer_rows_of_each(sequences, rows):
    assert batch_rows(sequences) == rows


def test_many_small_runs_merge_into_one(tmp_path):
    table = keyed_table(tmp_path)
    for v in range(40):
        write(table, rows([v, v + 1, 1000 - v], v))
    before = by_key(table)
    compact(table)
    assert levels(table) == [5]
    assert by_key(table) == before
    check_invariants(table)


@pytest.mark.parametrize("full", [True, False])
def test_a_trigger_that_was_lowered_takes_no_file_down(tmp_path, full):
    """The number of levels goes down with the trigger, but files stay at the levels that they have."""
    table = keyed_table(tmp_path)
    write(table, rows(range(100)))
    lowered = Catalog(tmp_path).alter_table("default", "t", [SetOption("num-sorted-run.compaction-trigger", "2")])
    assert compact(lowered, full=full) is None
    write(lowered, rows([1], 1))
    write(lowered, rows([2], 1))
    assert compact(lowered, full=full) is not None
    assert max(levels(lowered)) == 5
    assert by_key(lowered)[2]["v"] == 1
    check_invariants(lowered)


@pytest.mark.parametrize("options", [{}, {"sequence.field": "v"}, {"merge-engine": "first-row"}], ids=str)
def test_too_many_runs_are_merged_in_passes(tmp_path, monkeypatch, options):
    monkeypatch.setattr("tablestore_engine.operation.compact.compact_bucket.MOST_SEQUENCES", 3)
    table = keyed_table(tmp_path, options)
    write(table, rows(range(20), 50))
    for v in range(30):
        kinds = [DELETE, PUT] if v == 20 and not options else None
        write(table, rows([v % 7, (v + 3) % 7], v), kinds)
    before = by_key(table)
    compact(table)
    assert levels(table) == [5]
    assert by_key(table) == before
    assert data_files(table) == kept_paths(table), "the files between the passes are removed"
    check_invariants(table)


def test_a_failure_between_passes_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tablestore_engine.operation.compact.compact_bucket.MOST_SEQUENCES", 2)
    table = keyed_table(tmp_path)
    for v in range(9):
        write(table, rows([1, 2], v))
    files = data_files(table)
    damaged = next(e for e in table.live_files() if e.file.level == 0)
    with open(f"{table.path}/bucket-0/{damaged.file.file_name}", "r+b") as file:
        file.truncate(100)
    with pytest.raises(CorruptDataError):
        compact(table)
    assert data_files(table) == files


def test_a_delete_that_is_written_over_does_not_block_the_merge_of_newer_runs(tmp_path):
    """The merge leaves the top level alone, keeps deletes, and has none to keep."""
    table = keyed_table(tmp_path, {"num-sorted-run.compaction-trigger": "4"})
    write(table, [{"id": i, "v": 0} for i in range(100)])
    compact(table)
    write(table, [{"id": 1, "v": 0}], [DELETE])
    write(table, [{"id": 1, "v": 1}])
    assert compact_newest(table, 2) is not None
    assert {e.file.level for e in table.live_files()} == {3, 4}
    assert by_key(table) == {i: {"id": i, "v": int(i == 1)} for i in range(100)}
    check_invariants(table)
