"""What the options of compaction make a write without Spark do."""

from __future__ import annotations

import pytest
from support.files import levels
from support.invariants import check_invariants
from support.tables import by_key, commit_kinds, compact, keyed_arrow, make_table, read

from tablestore_engine.operation.compact import auto_compaction

COLUMNS = {"id": "INT", "v": "INT"}


def table_of(tmp_path, *, keys=("id",), **options):
    named = {key.replace("__", "-"): value for key, value in options.items()}
    return make_table(tmp_path, COLUMNS, list(keys), options={"bucket": "1" if keys else "-1", **named})


@pytest.mark.parametrize(
    ("keys", "after", "kinds"),
    [
        # A run leaves level 0 after each write; files without a key have none, and are merged in twos.
        (("id",), [[5], [5], [4, 5]], ["APPEND", "APPEND", "COMPACT", "APPEND", "COMPACT"]),
        ((), [[0], [0], [0, 0]], ["APPEND", "APPEND", "COMPACT", "APPEND"]),
    ],
    ids=["keyed", "append"],
)
def test_force_compact_merges_after_every_write(tmp_path, keys, after, kinds):
    table = table_of(tmp_path, keys=keys, **{"commit.force-compact": "true"})
    found = []
    for v in range(3):
        table.write(keyed_arrow(v, v))
        found.append(levels(table))
    assert (found, commit_kinds(table)) == (after, kinds)
    assert sorted(row["id"] for row in read(table)) == [0, 1, 2]
    check_invariants(table)


def test_every_nth_write_compacts_the_whole_table(tmp_path):
    table = table_of(tmp_path, **{"full-compaction.delta-commits": "3"})
    found = []
    for v in range(7):
        table.write(keyed_arrow(v, v % 2, 10 + v))
        found.append(levels(table))
    assert found == [[5], [0, 5], [5], [0, 5], [0, 0, 5], [5], [0, 5]]
    assert commit_kinds(table).count("COMPACT") == 2
    assert {i: row["v"] for i, row in by_key(table).items()} == {0: 6, 1: 5, **{10 + v: v for v in range(7)}}


def test_the_count_of_writes_outlives_expired_snapshots(tmp_path):
    """Where the last full compaction has expired, enough writes are taken to have followed it."""
    options = {"full-compaction.delta-commits": "4", "snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
    table = table_of(tmp_path, **options)
    found = []
    for v in range(5):
        table.write(keyed_arrow(v, v))
        found.append((levels(table), commit_kinds(table)))
    merged, written = ([5], ["COMPACT"]), ([0, 5], ["APPEND"])
    assert found == [([5], ["APPEND"]), written, merged, written, merged]


def test_a_write_waits_for_a_bucket_with_too_many_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(auto_compaction, "LOCAL_BYTES", 0)  # everything is too large for the writing process
    found = {}
    for name, options in {"stops": {"num-sorted-run.stop-trigger": "6"}, "goes on": {}}.items():
        table = table_of(tmp_path / name.replace(" ", ""), **options)
        for v in range(6):
            table.write(keyed_arrow(v, v))
        found[name] = len(table.live_files())
    assert found == {"stops": 1, "goes on": 6}


def test_a_write_waits_although_compactions_are_scheduled(tmp_path):
    scheduled = {"compaction.schedule.enabled": "true", "compaction.delta-commits": "100"}
    table = table_of(tmp_path, **scheduled, **{"num-sorted-run.stop-trigger": "4"})
    found = []
    for v in range(5):
        table.write(keyed_arrow(v, v))
        found.append(len(table.live_files()))
    assert found == [1, 2, 3, 1, 2]


@pytest.mark.parametrize("keys", [("id",), ()])
@pytest.mark.parametrize("forced", [True, False])
def test_a_full_compaction_may_rewrite_all_files(tmp_path, keys, forced):
    table = table_of(tmp_path, keys=keys, **{"compaction.force-rewrite-all-files": str(forced).lower()})
    table.write(keyed_arrow(1, 1, 2))
    table.write(keyed_arrow(2, 2, 3))
    compact(table, full=True)
    before = {entry.file.file_name for entry in table.live_files()}
    compact(table, full=True)
    after = {entry.file.file_name for entry in table.live_files()}
    assert (len(before), len(after)) == (1, 1)
    assert (before != after) is forced
    check_invariants(table)


def test_files_hold_no_more_rows_than_asked_for(tmp_path):
    table = table_of(tmp_path, keys=(), **{"target-file-row-num": "3", "compaction.min.file-num": "2"})
    for v in range(3):
        table.write(keyed_arrow(v, *range(7)))
    counts = sorted(entry.file.row_count for entry in table.live_files())
    assert (max(counts), sum(counts)) == (3, 21)
    assert counts.count(3) >= 6, "full files are not rewritten for being small, and what was left is joined"
    keyed = table_of(tmp_path / "keyed", **{"target-file-row-num": "4"})
    keyed.write(keyed_arrow(1, *range(10)))
    assert sorted(entry.file.row_count for entry in keyed.live_files()) == [2, 4, 4]
    assert len(by_key(keyed)) == 10
    check_invariants(keyed)
