"""A write reads no manifest that holds nothing of its partitions, and of a large one few blocks."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from support.files import add, meta, remove
from support.invariants import check_invariants
from support.manifest_reads import ManifestReads, counted_blocks
from support.tables import by_key, compact, make_table, write

from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.commit.change import Change
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.schema.table.predicate import Compare, In

COLUMNS = {"p": "INT", "id": "INT", "v": "INT"}


@pytest.fixture
def table(tmp_path):
    """A commit for each of nine partitions; the keys of partition p are 10 p and 10 p + 1."""
    made = make_table(tmp_path, COLUMNS, ["p", "id"], ["p"], {"bucket": "1"}, io=ManifestReads())
    for p in range(9):
        write(made, rows(p))
    return made


def rows(p, v=0):
    return [{"p": p, "id": 10 * p + n, "v": v} for n in range(2)]


def arrow(p, v):
    given = rows(p, v)
    return pa.table({name: pa.array([one[name] for one in given], pa.int32()) for name in COLUMNS})


def manifest_of(table, p):
    """The manifests with files of a partition."""
    row = PartitionFormat(table.schema).encode([p])
    latest = table.latest_snapshot()
    metas = [
        m for name in (latest.base_manifest_list, latest.delta_manifest_list) for m in table.manifests.read_list(name)
    ]
    return {m.file_name for m in metas if any(e.partition == row for e in table.manifests.read_manifest(m.file_name))}


@pytest.mark.parametrize(
    "options",
    [{}, {"changelog-producer": "lookup"}, {"num-sorted-run.stop-trigger": "2"}, {"write-only": "true"}],
)
def test_a_write_reads_the_manifests_of_its_partition(tmp_path, options):
    made = make_table(tmp_path, COLUMNS, ["p", "id"], ["p"], {"bucket": "1", **options}, io=ManifestReads())
    for p in range(9):
        made.write(arrow(p, 0))
    wanted = manifest_of(made, 4)
    made.io.forget()
    made.write(arrow(4, 7))
    # What follows may compact, and reads the manifest of the write then.
    assert wanted <= set(made.io.read_names)
    assert not set(made.io.read_names) - wanted - manifest_of(made, 4)
    assert {key: row["v"] for key, row in by_key(made).items() if row["v"]} == {40: 7, 41: 7}
    check_invariants(made)


def test_a_write_of_two_partitions_reads_those_of_both(table):
    wanted = manifest_of(table, 2) | manifest_of(table, 6)
    table.io.forget()
    table.write(pa.concat_tables([arrow(2, 5), arrow(6, 5)]))
    assert set(table.io.read_names) == wanted


def test_rows_of_new_partitions_go_to_the_top_level(table):
    """Those of a partition that has files go to level 0."""
    table.io.forget()
    table.write(pa.concat_tables([arrow(3, 5), arrow(20, 5)]))
    levels = {PartitionFormat(table.schema).decode(e.partition): set() for e in table.live_files()}
    for entry in table.live_files():
        levels[PartitionFormat(table.schema).decode(entry.partition)].add(entry.file.level)
    assert levels[3,] == {0, 5}
    assert levels[20,] == {5}
    assert by_key(table)[30]["v"] == 5


def made_up(schema, partitions, each, prefix="f"):
    """Entries of files that are not there, in an order in which partitions alternate."""
    encode = PartitionFormat(schema).encode
    return [
        add(
            meta(f"{prefix}-{random.Random(p * each + n).getrandbits(128):032x}", level=5, low=n, high=n),
            partition=encode([p]),
        )
        for n in range(each)
        for p in range(partitions)
    ]


def test_few_blocks_of_a_large_manifest_are_decoded(tmp_path, monkeypatch):
    table = make_table(tmp_path, {"p": "INT", "id": "BIGINT"}, ["p", "id"], ["p"], {"bucket": "1"}, io=ManifestReads())
    entries = made_up(table.schema, 500, 4)
    publish_change(table.state, Change("APPEND", added=tuple(entries)))
    decoded = counted_blocks(monkeypatch)
    for predicate, most, partitions in (
        (Compare("p", "=", 77), 100, {77}),
        (In("p", (3, 480)), 200, {3, 480}),
        (Compare("p", ">=", 490), 200, set(range(490, 500))),
        (Compare("p", "=", 1000), 0, set()),
    ):
        table.io.forget()
        decoded.clear()
        plan = table.scan(predicate=predicate)
        assert {bucket.partition[0] for bucket in plan.buckets} == partitions
        assert all(len(bucket.files) == 4 for bucket in plan.buckets)
        assert sum(count for count in decoded if count > 1) <= most
    table.io.forget()
    decoded.clear()
    removed = tuple(remove(e) for e in entries if e.partition == entries[7].partition)
    publish_change(table.state, Change("OVERWRITE", removed=removed))
    assert sum(count for count in decoded if count > 1) <= 100
    table.io.forget()
    assert {e.file.file_name for e in table.live_files()} == {
        e.file.file_name for e in entries if e.partition != entries[7].partition
    }


def test_a_damaged_note_reads_every_block(tmp_path):
    table = make_table(tmp_path, {"p": "INT", "id": "BIGINT"}, ["p", "id"], ["p"], {"bucket": "1"}, io=ManifestReads())
    snapshot = publish_change(table.state, Change("APPEND", added=tuple(made_up(table.schema, 500, 4)))).snapshot
    (one,) = table.manifests.read_list(snapshot.delta_manifest_list)
    path = table.paths.manifest(one.file_name)
    data = table.io.read(path)
    at = data.index(b"tablestore.partition-bounds") + 60
    table.io.write(path, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    table.io.forget()
    assert len(table.scan(predicate=Compare("p", "=", 77)).files) == 4


def test_merging_all_keeps_large_manifests_of_other_partitions(tmp_path):
    options = {
        "bucket": "1",
        "manifest.target-file-size": "20 kb",
        "manifest.merge-min-count": "100",
        "manifest.full-compaction-threshold-size": "1 b",
    }
    table = make_table(tmp_path, {"p": "INT", "id": "BIGINT"}, ["p", "id"], ["p"], options, io=ManifestReads())
    entries = made_up(table.schema, 1000, 4)
    publish_change(table.state, Change("APPEND", added=tuple(entries)))
    before = table.manifests.read_list(table.latest_snapshot().delta_manifest_list)
    assert len(before) > 4
    removed = [e for e in entries if e.partition == entries[7].partition]
    publish_change(table.state, Change("OVERWRITE", removed=tuple(map(remove, removed))))
    table.io.forget()
    late = made_up(table.schema, 1, 1, "late")
    publish_change(table.state, Change("APPEND", added=tuple(late)))
    after = table.manifests.read_list(table.latest_snapshot().base_manifest_list)
    assert not any(one.num_deleted_files for one in after)
    kept = {one.file_name for one in before} & {one.file_name for one in after}
    assert len(kept) >= len(before) - 2
    assert len(kept.intersection(table.io.read_names)) <= 1, "a manifest that stays need not be read"
    names = {e.file.file_name for e in table.live_files()}
    assert names == {e.file.file_name for e in (*entries, *late) if e not in removed}


def test_compacted_tables_with_deletes_in_manifests_read_the_same(table):
    for v in range(1, 12):
        for p in (1, 4, 8):
            write(table, rows(p, v))
        compact(table)
    table.io.forget()
    assert {row["v"] for key, row in by_key(table).items() if key // 10 in (1, 4, 8)} == {11}
    assert {row["v"] for key, row in by_key(table).items() if key // 10 not in (1, 4, 8)} == {0}
    check_invariants(table)
