"""Writes without Spark compact what is due, in this process; what goes wrong there is not their failure."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.tables import by_key, commit_kinds, compact, keyed_arrow, make_table, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConflictError, CorruptDataError, StorageError
from tablestore_engine.operation.compact.auto_compaction import run_and_commit
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {"id": "INT", "v": "INT"}
TRIGGER = {"num-sorted-run.compaction-trigger": "3"}
MODULE = "tablestore_engine.operation.compact.auto_compaction"


def table_of(tmp_path, *, keys=("id",), **options):
    return make_table(tmp_path, COLUMNS, list(keys), options={"bucket": "1" if keys else "-1", **TRIGGER, **options})


def test_runs_that_pile_up_are_merged(tmp_path):
    table = table_of(tmp_path)
    for v in range(6):
        written = table.write(keyed_arrow(v, v % 2, 10 + v))
        assert written.commit_kind == "APPEND", "the snapshot of the write is returned"
    assert len(table.live_files()) <= 3
    assert "COMPACT" in commit_kinds(table)
    assert {i: row["v"] for i, row in by_key(table).items()} == {0: 4, 1: 5, **{10 + v: v for v in range(6)}}
    check_invariants(table)


def test_batches_and_buckets_that_were_not_written(tmp_path):
    columns = {"p": "INT", **COLUMNS}
    table = make_table(tmp_path, columns, ["p", "id"], ["p"], {"bucket": "1", **TRIGGER})
    lazy = Catalog(tmp_path).load_table("default", "t")
    for v in range(2):
        table.write(pa.table({"p": [1, 2], "id": [1, 1], "v": [v, v]}))
    for v in (2, 3):
        lazy.write(iter([pa.record_batch({"p": [1], "id": [1], "v": [v]})]))
    counts = {}
    for entry in table.live_files():
        counts[entry.partition] = counts.get(entry.partition, 0) + 1
    assert sorted(counts.values()) == [2, 2], "one is merged but for the last write, the other one is as it was"
    assert commit_kinds(table).count("COMPACT") == 1
    check_invariants(table)


def test_small_files_of_a_table_without_a_key_are_joined(tmp_path):
    table = table_of(tmp_path, keys=(), **{"compaction.min.file-num": "3"})
    for v in range(3):
        table.write(keyed_arrow(v, v))
    assert len(table.live_files()) == 1
    assert [row["id"] for row in read(table)] == [0, 1, 2]


def test_a_write_only_table_is_left_to_others(tmp_path):
    table = table_of(tmp_path, **{"write-only": "true"})
    for v in range(6):
        table.write(keyed_arrow(v, 1))
    assert commit_kinds(table) == ["APPEND"] * 6


def test_large_merges_are_left_to_spark(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{MODULE}.LOCAL_BYTES", 10)
    table = table_of(tmp_path)
    for v in range(6):
        table.write(keyed_arrow(v, 1))
    assert commit_kinds(table) == ["APPEND"] * 6
    assert live_paths(table) == data_files(table)


@pytest.mark.parametrize("error", [RuntimeError("a fault of ours"), StorageError("/disk", "it is full")])
def test_a_write_does_not_fail_because_of_its_compaction(tmp_path, monkeypatch, caplog, error):
    table = table_of(tmp_path)

    def fail(tasks):
        raise error

    monkeypatch.setattr(f"{MODULE}.execute_here", fail)
    for v in range(4):
        assert table.write(keyed_arrow(v, 1)).id == v + 1
    assert "default.t was written to, but not compacted" in caplog.text
    assert str(error) in caplog.text
    assert live_paths(table) == data_files(table)
    assert by_key(table)[1]["v"] == 3


def test_small_merges_are_made_here_up_to_a_bound(tmp_path, monkeypatch):
    table = table_of(tmp_path, bucket="4")
    wide = list(range(40))
    for v in range(2):
        table.write(keyed_arrow(v, *wide))
    sizes = {b.bucket: sum(f.file_size for f in b.files) for b in table.scan().buckets}
    assert len(sizes) == 4
    monkeypatch.setattr(f"{MODULE}.LOCAL_BYTES", sum(sorted(sizes.values())[:2]) * 2)
    table.write(keyed_arrow(9, *wide))
    merged = [b.bucket for b in table.scan().buckets if len(b.files) == 1]
    assert 0 < len(merged) < 4
    assert {row["v"] for row in by_key(table).values()} == {9}


def test_a_table_that_does_not_know_a_column_does_not_compact_it_away(tmp_path):
    """What was loaded before the column came may go on writing."""
    catalog = Catalog(tmp_path)
    old = table_of(catalog, **{"compaction.total-size-threshold": "1 mb"})
    old.write(keyed_arrow(0, 1))
    new = catalog.alter_table("default", "t", [AddColumn("extra", parse_type("STRING"))])
    new.write(pa.table({"id": [2], "v": [0], "extra": ["kept"]}))
    old.write(keyed_arrow(1, 3))
    assert commit_kinds(old) == ["APPEND", "APPEND", "COMPACT", "APPEND", "COMPACT"]
    new.write(pa.table({"id": [4], "v": [0], "extra": ["more"]}))
    assert commit_kinds(new)[-1] == "COMPACT"
    assert {i: row["extra"] for i, row in by_key(new).items()} == {1: None, 2: "kept", 3: None, 4: "more"}
    check_invariants(new)


def test_a_damaged_bucket_keeps_no_other_from_being_compacted(tmp_path):
    columns = {"p": "INT", **COLUMNS}
    table = make_table(tmp_path, columns, ["p", "id"], ["p"], {"bucket": "1"})
    for v in range(2):
        write(table, [{"p": p, "id": 1, "v": v} for p in range(5)])
    damaged = next(path for path in live_paths(table) if "/p=3/" in path)
    content = Path(damaged).read_bytes()
    Path(damaged).write_bytes(b"rubbish")
    tasks = pick_tasks(table.scan().buckets, table.write_target(), table.schemas, Extent.FULL)
    with pytest.raises(CorruptDataError, match=Path(damaged).name):
        run_and_commit(table.state, tasks, execute_here)
    Path(damaged).write_bytes(content)
    assert sorted(len(b.files) for b in table.scan().buckets) == [1, 1, 1, 1, 2]
    assert data_files(table) >= live_paths(table)
    left = len(data_files(table))
    compact(table)
    assert len(data_files(table)) == left + 1, "what failed left no file"
    assert {(row["p"], row["v"]) for row in read(table)} == {(p, 1) for p in range(5)}


def test_files_that_another_process_replaced_and_expired_are_no_damage(tmp_path):
    table = make_table(tmp_path, COLUMNS, ["id"], options={"bucket": "1"})
    for v in range(2):
        table.write(keyed_arrow(v, 1))
    tasks = pick_tasks(table.scan().buckets, table.write_target(), table.schemas, Extent.FULL)
    compact(table)
    assert table.expire_snapshots(Retention(1, 1, 0, 100)) == 2
    with pytest.raises(ConflictError, match="another process replaced them meanwhile"):
        run_and_commit(table.state, tasks, execute_here)
    assert by_key(table)[1]["v"] == 1
    assert live_paths(table) == data_files(table)
