"""Snapshots that expire, tags that keep them, and what is left on disk."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pyarrow as pa
import pytest
from support.expiring import ALL_BUT_ONE, HOUR, metadata
from support.files import data_files, kept_manifests, kept_paths
from support.invariants import check_invariants
from support.tables import (
    DELETE,
    by_key,
    compact,
    keyed_table,
    make_table,
    row,
    write,
)

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import (
    SnapshotNotFound,
    TagAlreadyExists,
    TagNotFound,
    UserError,
)
from tablestore_engine.operation.commit.commit import Committer
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.replace_table import next_schema, replace_all, schema_publisher
from tablestore_engine.operation.expiration.snapshot_expire import Retention, end_of_expired
from tablestore_engine.storage.metadata_files import manifest_store


@pytest.mark.parametrize(
    ("retention", "now", "end"),
    [
        (Retention(10, 100, 0, 50), 10_000, 11),
        (Retention(1, 100, 0, 50), 10_000, 20),
        (Retention(1, 100, 0, 5), 10_000, 6),
        (Retention(1, 100, 1_000, 50), 1_500, 5),
        (Retention(1, 100, 1_000, 50), 1_499, 4),
        (Retention(1, 100, 5_000, 50), 4_000, 1),
        (Retention(1, 4, 5_000, 50), 4_000, 17),
        (Retention(30, 100, 0, 50), 10_000, 1),
    ],
)
def test_snapshots_stay_by_age_and_number(retention, now, end):
    """Snapshots 1 to 20, committed at 100, 200, …: each is superseded when the next one comes."""
    assert end_of_expired(1, 20, lambda one: one * 100, now, retention) == end


def test_a_snapshot_that_a_consumer_waits_for_stays():
    everything = Retention(1, 1, 0, 50)
    assert end_of_expired(1, 20, lambda one: 0, 10_000, everything, [9, 7]) == 7
    assert end_of_expired(8, 20, lambda one: 0, 10_000, everything, [7]) == 8


def test_only_what_is_needed_stays(table):
    for n in range(6):
        write(table, [row(1, n), row(n, n), row(n, n, "b")])
    write(table, [row(0, 0)], [DELETE])
    compact(table)
    write(table, [row(9, 9)])
    before = sorted(map(str, table.to_arrow().to_pylist()))
    assert table.expire_snapshots(Retention(2, 2, 0, 100)) == 7
    assert [s.id for s in table.snapshots()] == [8, 9]
    assert table.snapshot_store.earliest_id() == 8
    assert sorted(map(str, table.to_arrow().to_pylist())) == before
    assert data_files(table) == kept_paths(table)
    assert metadata(table) == kept_manifests(table)
    check_invariants(table)
    assert table.expire_snapshots(Retention(2, 2, 0, 100)) == 0
    with pytest.raises(SnapshotNotFound, match="8 to 9"):
        table.snapshot(3)


def test_an_upgraded_file_stays(table):
    write(table, [row(1, 1)])
    write(table, [row(5, 5)])
    assert compact(table) is not None
    names = {e.file.file_name for e in table.live_files()}
    table.expire_snapshots(ALL_BUT_ONE)
    assert {os.path.basename(path) for path in data_files(table)} >= names
    assert by_key(table) == {1: row(1, 1), 5: row(5, 5)}


def test_age_counts_from_the_next_commit(table):
    write(table, [row(1, 1)])
    write(table, [row(1, 2)])
    superseded = table.snapshot(2).time_millis
    keep = Retention(1, 100, HOUR, 100)
    assert table.expire_snapshots(keep, superseded + HOUR - 1) == 0
    assert table.expire_snapshots(keep, superseded + HOUR) == 1


def test_a_tag_keeps_its_files(table):
    write(table, [row(1, 1)])
    table.create_tag("first")
    write(table, [row(2, 2)])
    compact(table)
    write(table, [row(3, 3)])
    table.expire_snapshots(ALL_BUT_ONE)
    manifest_store._cache.clear()
    assert [s.id for s in table.snapshots()] == [4]
    assert table.to_arrow(snapshot=table.version("first")).to_pylist() == [row(1, 1)]
    assert data_files(table) == kept_paths(table)
    assert metadata(table) == kept_manifests(table)
    table.delete_tag("first")
    assert table.tags.names() == []
    assert data_files(table) == kept_paths(table)
    assert metadata(table) == kept_manifests(table)
    assert sorted(by_key(table)) == [1, 2, 3]


def test_tags_that_share_files(table):
    write(table, [row(1, 1)])
    table.create_tag("one")
    write(table, [row(2, 2)])
    table.create_tag("two")
    table.create_tag("two-again", 2)
    compact(table)
    table.expire_snapshots(ALL_BUT_ONE)
    for name, left in (("two", [1, 2]), ("one", [1, 2])):
        table.delete_tag(name)
        assert data_files(table) == kept_paths(table)
        assert metadata(table) == kept_manifests(table)
        assert sorted(r["id"] for r in table.to_arrow(snapshot=table.version("two-again")).to_pylist()) == left


def test_tags_by_name(table):
    with pytest.raises(SnapshotNotFound, match="nothing to tag"):
        table.create_tag("early")
    write(table, [row(1, 1)])
    table.create_tag("v1")
    with pytest.raises(TagAlreadyExists, match=r"'v1' of table \S+ exists already"):
        table.create_tag("v1")
    with pytest.raises(TagNotFound, match=r"'v2' of table \S+ does not exist. Tags are: v1"):
        table.version("v2")
    with pytest.raises(TagNotFound):
        table.delete_tag("v2")
    with pytest.raises(UserError, match="number"):
        table.create_tag("17")
    with pytest.raises(UserError):
        table.create_tag("a/b")
    with pytest.raises(SnapshotNotFound):
        table.create_tag("late", 5)
    assert table.version(" 1 ").id == table.version("v1").id == 1


def test_a_consumer_holds_snapshots_back(table):
    for n in range(5):
        write(table, [row(n, n)])
    os.makedirs(table.paths.consumer_dir)
    path = f"{table.paths.consumer_dir}/consumer-job"
    with open(path, "w") as file:
        json.dump({"nextSnapshot": 3}, file)
    assert table.expire_snapshots(ALL_BUT_ONE) == 2
    assert [s.id for s in table.snapshots()] == [3, 4, 5]
    os.remove(path)
    assert table.expire_snapshots(ALL_BUT_ONE) == 2


def test_a_write_expires_what_is_due(tmp_path):
    # A compaction would be a snapshot, too.
    options = {"bucket": "1", "num-sorted-run.compaction-trigger": "99"}
    options |= {"snapshot.num-retained.min": "2", "snapshot.num-retained.max": "3"}
    table = keyed_table(tmp_path, options)
    for n in range(8):
        table.write(pa.table({"id": [1], "v": [n]}))
    assert [s.id for s in table.snapshots()] == [6, 7, 8]
    assert by_key(table) == {1: {"id": 1, "v": 7}}
    assert metadata(table) == kept_manifests(table)


def test_a_replaced_table_leaves_its_files_to_expiration(table):
    write(table, [row(1, 1), row(2, 2, "b")])
    wanted = make_table(table.path + "-other", {"x": "INT"}, options={"bucket": "-1"})
    current = table.schema
    schema = next_schema(current, wanted.schema, 0)
    publisher = schema_publisher(table.schemas, current, schema)
    Committer(table.state.with_schema(schema)).commit(
        replace_all(current, schema), CommitIdentity("r", 1), new_schema=publisher
    )
    warehouse = os.path.dirname(os.path.dirname(table.path))
    replaced = Catalog(warehouse).load_table("default", "t")
    assert replaced.schema.field_names == ("x",)
    assert data_files(replaced)
    assert replaced.expire_snapshots(ALL_BUT_ONE) == 1
    assert not data_files(replaced)


@pytest.mark.parametrize("external", [None, "", "file:", "file://"])
def test_extra_files_are_removed_with_their_data_file(table, tmp_path, external):
    """Other programs keep indexes next to a data file, in whichever folder it is."""
    write(table, [row(1, 1)])
    (entry,) = table.live_files()
    (path,) = data_files(table)
    folder = os.path.dirname(path)
    if external is not None:
        folder = str(tmp_path / "elsewhere" / "bucket-0")
        os.makedirs(folder)
        os.rename(path, f"{folder}/{entry.file.file_name}")
    for name in ("one.index", "two.index"):
        with open(f"{folder}/{name}", "w") as file:
            file.write("x")
    moved = replace(
        entry.file,
        extra_files=("one.index", "two.index"),
        external_path=None if external is None else f"{external}{folder}/{entry.file.file_name}",
    )
    snapshot = table.latest_snapshot()
    delta, _ = table.manifests.write_list([table.manifests.write_manifest([replace(entry, file=moved)])])
    table.io.write(table.paths.snapshot(1), replace(snapshot, delta_manifest_list=delta).to_json().encode())
    assert sorted(by_key(table)) == [1]
    write(table, [row(2, 2)], kind="OVERWRITE", replaces=lambda one: True)
    assert len(os.listdir(folder)) == (4 if external is None else 3)
    assert table.expire_snapshots(ALL_BUT_ONE) == 1
    assert len(os.listdir(folder)) == (1 if external is None else 0)
    assert sorted(by_key(table)) == [2]
