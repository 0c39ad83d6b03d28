"""Which commits on tables with dynamic buckets conflict, and what becomes of the index."""

from __future__ import annotations

import os

import pytest
from support.dynamic_buckets import COLUMNS, DYNAMIC, buckets, everything, index_names, prepared
from support.invariants import check_invariants
from support.tables import PUT, arrow_rows, by_key, compact, identity, make_table, new_job, read, rows, write

from tablestore_engine.errors import ConflictError
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands.metadata_commands import drop_partitions, replace_empty
from tablestore_engine.operation.write.cleanup import remove_files
from tablestore_engine.operation.write.write_task import write_table


def test_two_writers_that_assign_new_keys_conflict(dynamic):
    write(dynamic, rows(range(3), "a"))
    commit, _ = prepared(dynamic, rows([3, 4], "b"))
    write(dynamic, rows([4, 5], "c"))
    with pytest.raises(ConflictError, match="new keys"):
        commit()
    write(dynamic, rows([3, 4], "b"))
    assert {i: r["v"] for i, r in by_key(dynamic).items()} == {0: "a", 1: "a", 2: "a", 3: "b", 4: "b", 5: "c"}
    check_invariants(dynamic)


def test_the_first_two_writers_of_a_table_conflict(dynamic):
    commit, _ = prepared(dynamic, rows([1], "a"))
    write(dynamic, rows([2], "b"))
    with pytest.raises(ConflictError):
        commit()


def test_a_writer_of_known_keys_does_not_conflict_with_one_of_new_keys(dynamic):
    write(dynamic, rows(range(3), "a"))
    commit, _ = prepared(dynamic, rows([0, 1], "b"))
    write(dynamic, rows([2, 3, 4], "c"))
    commit()
    assert {i: r["v"] for i, r in by_key(dynamic).items()} == {0: "b", 1: "b", 2: "c", 3: "c", 4: "c"}
    check_invariants(dynamic)


def test_a_writer_of_known_keys_conflicts_with_an_overwrite(dynamic):
    write(dynamic, rows(range(6), "a"))
    commit, _ = prepared(dynamic, rows([5], "b"))
    write(dynamic, rows([9, 5], "c"), kind="OVERWRITE", job=new_job(dynamic, into_empty=True), replaces=everything)
    with pytest.raises(ConflictError, match="new buckets"):
        commit()


def test_compaction_conflicts_with_no_writer(dynamic):
    write(dynamic, rows(range(6), "a"))
    commit, _ = prepared(dynamic, rows([5, 6, 7], "b"))
    compact(dynamic)
    commit()
    assert len(by_key(dynamic)) == 8
    check_invariants(dynamic)


def test_writers_of_other_partitions_do_not_conflict(catalog):
    table = make_table(catalog, {"p": "INT", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    commit, _ = prepared(table, [{"p": 1, "id": 1, "v": "a"}])
    write(table, [{"p": 2, "id": 1, "v": "b"}])
    commit()
    assert len(table.index_files()) == 2
    check_invariants(table)


def test_an_overwrite_begins_anew(dynamic):
    write(dynamic, rows(range(10), "a"))
    job = new_job(dynamic, into_empty=True)
    write(dynamic, rows(range(8, 11), "b"), kind="OVERWRITE", job=job, replaces=everything)
    assert buckets(dynamic) == {0: 3}
    assert set(by_key(dynamic)) == {8, 9, 10}
    check_invariants(dynamic)


def test_truncating_a_partition_removes_its_index(catalog):
    table = make_table(catalog, {"p": "INT", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    write(table, [{"p": p, "id": i, "v": "a"} for p in (1, 2) for i in range(5)])
    first = min(e.partition for e in table.live_files())
    Committer(table.state).commit(Change("OVERWRITE", replaces=lambda e: e.partition == first), identity())
    assert {e.partition for e in table.index_files()} == {e.partition for e in table.live_files()}
    Committer(table.state).commit(Change("OVERWRITE", replaces=everything), identity())
    assert table.latest_snapshot().index_manifest is None
    write(table, [{"p": 1, "id": 1, "v": "b"}])
    check_invariants(table)


def test_a_replaced_table_has_no_index(catalog, dynamic):
    write(dynamic, rows(range(5), "a"))
    fixed = make_table(catalog, COLUMNS, ["id"], name="other").schema
    replace_empty(catalog.load_table("default", "t").state, fixed)
    assert catalog.load_table("default", "t").index_files() == []


def test_index_files_expire_with_their_snapshots(dynamic):
    for i in range(5):
        write(dynamic, rows(range(i * 3, i * 3 + 3), "a"))
    dynamic.create_tag("second", 2)
    tagged = {e.file_name for e in dynamic.index_files(dynamic.snapshot(2))}
    live = {e.file_name for e in dynamic.index_files()}
    assert dynamic.expire_snapshots(Retention(1, 1, 0, 100)) == 4
    assert set(index_names(dynamic)) == live | tagged
    assert len(read(dynamic, snapshot=dynamic.version("second"))) == 6
    dynamic.delete_tag("second")
    assert set(index_names(dynamic)) == live
    manifests = [n for n in os.listdir(dynamic.paths.manifest_dir) if n.startswith("index-manifest")]
    assert manifests == [dynamic.latest_snapshot().index_manifest]
    check_invariants(dynamic)


def test_orphaned_index_files_are_removed(dynamic):
    write(dynamic, rows(range(5), "a"))
    write(dynamic, rows(range(9), "b"))
    live = index_names(dynamic)
    orphan = dynamic.paths.index_file("index-of-a-dead-writer-0")
    dynamic.io.write(orphan, b"\0\0\0\1")
    assert dynamic.remove_orphan_files(2**62) == [orphan]
    assert index_names(dynamic) == live
    check_invariants(dynamic)


def test_a_failed_write_leaves_no_index_files(dynamic):
    write(dynamic, rows(range(3), "a"))
    before = index_names(dynamic)
    job = new_job(dynamic)
    write_table(job, arrow_rows(dynamic.schema, rows([3, 4], "b")))
    assert len(index_names(dynamic)) == len(before) + 2
    remove_files(job.target)
    assert index_names(dynamic) == before


def test_time_travel_reads_without_the_index(dynamic):
    for number in range(3):
        write(dynamic, rows(range(number * 4, number * 4 + 6), str(number)), [PUT] * 6)
    assert [len(read(dynamic, snapshot=s)) for s in dynamic.snapshots()] == [6, 10, 14]
    assert [buckets(dynamic, s) for s in dynamic.snapshots()] == [
        {0: 4, 1: 2},
        {0: 4, 1: 4, 2: 2},
        {0: 4, 1: 4, 2: 4, 3: 2},
    ]


def test_commits_that_change_no_keys_carry_the_index_on(dynamic):
    write(dynamic, rows(range(6), "a"))
    write(dynamic, rows(range(6), "b"))
    before = dynamic.latest_snapshot().index_manifest
    assert compact(dynamic) is not None
    for change in (Change("ANALYZE", statistics="stat-x-0"), Change("COMPACT")):
        Committer(dynamic.state).commit(change, identity())
        assert dynamic.latest_snapshot().index_manifest == before


def test_dropping_a_partition_drops_its_index(catalog):
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    write(table, [{"p": p, "id": i, "v": "a"} for p in "xy" for i in range(6)])
    removed = PartitionFormat(table.schema).encode(("x",))
    drop_partitions(table.state, [removed])
    assert {e.partition for e in table.index_files()} == {e.partition for e in table.live_files()}
    assert removed not in {e.partition for e in table.index_files()}
    check_invariants(table)
