"""Snapshots that expire, tags that keep them, and what is left on disk."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace

import pyarrow as pa
import pytest
from support.files import data_files, kept_manifests, kept_paths, live_paths
from support.invariants import check_invariants
from support.meanwhile import ActingOnce, running
from support.tables import (
    DELETE,
    by_key,
    compact,
    keyed_table,
    make_table,
    new_job,
    partitioned_table,
    reload,
    row,
    write,
)

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import (
    ConflictError,
    SnapshotNotFound,
    StorageError,
    TagAlreadyExists,
    TagNotFound,
    UserError,
)
from tablestore_engine.operation.commands.after_commit import follow
from tablestore_engine.operation.commit.commit import Committer
from tablestore_engine.operation.commit.identity import CommitIdentity
from tablestore_engine.operation.commit.replace import next_schema, replace_all, schema_publisher
from tablestore_engine.operation.history.snapshot_expire import Retention, end_of_expired
from tablestore_engine.operation.transaction.transaction import Committed
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.stores import manifests

HOUR = 3_600_000
ALL_BUT_ONE = Retention(1, 1, 0, 1_000)


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
def test_which_snapshots_stay(retention, now, end):
    """Snapshots 1 to 20, committed at 100, 200, …: each is superseded when the next one comes."""
    assert end_of_expired(1, 20, lambda one: one * 100, now, retention) == end


def test_a_snapshot_that_a_consumer_waits_for_stays():
    everything = Retention(1, 1, 0, 50)
    assert end_of_expired(1, 20, lambda one: 0, 10_000, everything, [9, 7]) == 7
    assert end_of_expired(8, 20, lambda one: 0, 10_000, everything, [7]) == 8


@pytest.fixture
def table(tmp_path):
    return partitioned_table(tmp_path, {"bucket": "1", "write-only": "true"})


def metadata(table):
    """Names of manifests and lists on disk."""
    return set(os.listdir(table.paths.manifest_dir))


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
    manifests._cache.clear()
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
    with pytest.raises(TagAlreadyExists, match="'v1' exists already"):
        table.create_tag("v1")
    with pytest.raises(TagNotFound, match=r"'v2' does not exist. Tags are: v1"):
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


def test_orphans(table):
    write(table, [row(1, 1)])
    write(table, [row(1, 2)])
    table.create_tag("kept")
    compact(table)
    table.expire_snapshots(ALL_BUT_ONE)
    bucket = f"{table.path}/p=a/bucket-0"
    orphans = [
        f"{bucket}/data-lost.parquet", f"{table.paths.manifest_dir}/manifest-lost-0",
        f"{table.paths.snapshot_dir}/.snapshot-9.tmp", f"{table.path}/.duplicates-x",
        f"{table.paths.consumer_dir}/.consumer-c.x.tmp",
    ]  # fmt: skip
    foreign = [f"{table.path}/README", f"{table.path}/notes/bucket-0.txt"]
    os.makedirs(f"{table.path}/notes")
    os.makedirs(table.paths.consumer_dir)
    for path in (*orphans, *foreign):
        with open(path, "w") as file:
            file.write("x")
    now = int(time.time() * 1000)
    before = data_files(table)
    assert table.remove_orphan_files(now - HOUR) == []
    assert table.remove_orphan_files(now + HOUR, dry_run=True) == sorted(orphans)
    assert all(map(os.path.exists, orphans))
    assert table.remove_orphan_files(now + HOUR) == sorted(orphans)
    assert not any(map(os.path.exists, orphans))
    assert all(map(os.path.exists, foreign))
    assert data_files(table) == before - {orphans[0]}
    assert by_key(table) == {1: row(1, 2)}
    assert table.to_arrow(snapshot=table.version("kept")).to_pylist() == [row(1, 2)]


class Dying(LocalFileIO):
    """Fails at the n-th deletion and at all that follow."""

    def __init__(self, allowed):
        super().__init__()
        self.allowed = allowed

    def delete(self, path):
        if self.allowed == 0:
            raise KeyboardInterrupt
        self.allowed -= 1
        return super().delete(path)


def test_killed_at_every_deletion_every_snapshot_left_is_whole(tmp_path):
    allowed = 0
    while True:
        warehouse = tmp_path / str(allowed)
        columns = {"id": "INT", "v": "INT"}
        table = make_table(warehouse, columns, ["id"], options={"bucket": "1", "write-only": "true"})
        for n in range(4):
            write(table, [{"id": 1, "v": n}, {"id": n, "v": n}])
        compact(table)
        dying = Catalog(warehouse, Dying(allowed)).load_table("default", "t")
        try:
            dying.expire_snapshots(ALL_BUT_ONE)
            done = True
        except KeyboardInterrupt:
            done = False
        manifests._cache.clear()
        for snapshot in table.snapshots():
            assert live_paths(table, snapshot) <= data_files(table)
            assert table.to_arrow(snapshot=snapshot).num_rows >= 1
        assert by_key(table)[1]["v"] == 3
        table.expire_snapshots(ALL_BUT_ONE)
        table.remove_orphan_files(int(time.time() * 1000) + HOUR)
        assert data_files(table) == kept_paths(table)
        assert metadata(table) == kept_manifests(table)
        if done:
            break
        allowed += 1
    assert allowed > 8


def test_expiring_with_concurrent_writers_and_readers(tmp_path):
    columns = {"id": "INT", "v": "INT"}
    table = make_table(tmp_path, columns, ["id"], options={"bucket": "1", "write-only": "true"})
    write(table, [{"id": 0, "v": 0}])

    lives = 400  # milliseconds: what was superseded earlier may be read no more
    keep = Retention(1, 1_000, lives, 1_000)

    def read_latest():
        began = time.monotonic()
        try:
            assert by_key(table)
        except (SnapshotNotFound, StorageError) as error:
            # Only a read that outlasts its snapshot may fail, as on a busy machine: by a file that was removed.
            assert getattr(error, "missing", True)
            assert (time.monotonic() - began) * 1_000 > lives

    def expire():
        table.expire_snapshots(keep)

    with running(read_latest, expire, expire):
        for n in range(60):
            write(table, [{"id": n % 5, "v": n}])
            if n % 10 == 9:
                compact(table)
    assert by_key(table)[4]["v"] == 59
    table.expire_snapshots(ALL_BUT_ONE)
    assert data_files(table) == kept_paths(table)


def test_a_writer_that_slept_while_its_id_came_and_went(table):
    write(table, [row(1, 1)])
    store, asked = table.snapshot_store, []
    latest = store.latest

    def sleep_after_looking():
        found = latest()
        asked.append(found.id)
        if len(asked) == 1:
            for n in (2, 3, 4):
                write(
                    reload(table),
                    [row(n, n)],
                )
            assert (
                Catalog(os.path.dirname(os.path.dirname(table.path)))
                .load_table("default", "t")
                .expire_snapshots(ALL_BUT_ONE)
                == 3
            )
        return found

    job = new_job(table)
    store.latest = sleep_after_looking
    assert write(table, [row(9, 9)], job=job).id == 5
    assert asked == [1, 4]
    assert [s.id for s in table.snapshots()] == [4, 5]
    assert sorted(by_key(table)) == [1, 2, 3, 4, 9]


def test_a_stray_snapshot_of_a_writer_that_died_is_dropped(table):
    for n in range(5):
        write(table, [row(n, n)])
    copy = table.io.read(table.paths.snapshot(2))
    table.expire_snapshots(Retention(2, 2, 0, 100))
    table.io.write(table.paths.snapshot(2), copy)
    assert table.latest_snapshot().id == 5
    write(table, [row(7, 7)])
    assert table.expire_snapshots(Retention(2, 2, 0, 100)) == 1
    assert [s.id for s in table.snapshots()] == [5, 6]
    assert table.snapshot_store.earliest_id() == 5


class Meanwhile(ActingOnce):
    """Does something once, right before the first deletion."""

    def delete(self, path):
        self.act()
        return super().delete(path)


def test_a_tag_that_is_made_while_its_snapshot_expires(table):
    write(table, [row(1, 1)])
    write(table, [row(1, 2)])
    compact(table)
    io = Meanwhile(lambda: table.create_tag("just", 1))
    expiring = reload(table, io)
    assert expiring.expire_snapshots(ALL_BUT_ONE) == 2
    manifests._cache.clear()
    assert table.to_arrow(snapshot=table.version("just")).to_pylist() == [row(1, 1)]
    assert data_files(table) == kept_paths(table)
    assert metadata(table) == kept_manifests(table)


def test_a_tag_that_comes_too_late(table, monkeypatch):
    write(table, [row(1, 1)])
    write(table, [row(1, 2)])
    create = table.tags.create

    def expire_first(name, snapshot):
        table.expire_snapshots(ALL_BUT_ONE)
        create(name, snapshot)

    monkeypatch.setattr(table.tags, "create", expire_first)
    with pytest.raises(SnapshotNotFound, match="has expired"):
        table.create_tag("late", 1)
    assert table.tags.names() == []


def test_orphans_of_a_table_whose_metadata_is_missing_stay(table):
    write(table, [row(1, 1)])
    table.create_tag("kept")
    write(table, [row(1, 2)])
    compact(table)
    table.expire_snapshots(ALL_BUT_ONE)
    os.remove(table.paths.manifest(table.version("kept").delta_manifest_list))
    manifests._cache.clear()
    before = data_files(table)
    with pytest.raises(StorageError):
        table.remove_orphan_files(int(time.time() * 1000) + HOUR)
    assert data_files(table) == before


@pytest.mark.parametrize("directory", ["branch/branch-b", "changelog"])
def test_what_other_programs_keep_stops_both(table, directory):
    for n in range(3):
        write(table, [row(n, n)])
    os.makedirs(f"{table.path}/{directory}")
    with open(f"{table.path}/{directory}/something", "w") as file:
        file.write("x")
    for action in (lambda: table.expire_snapshots(ALL_BUT_ONE), lambda: table.remove_orphan_files(2**50)):
        with pytest.raises(UserError, match="of another program"):
            action()
    follow(Committed(table.state, table.latest_snapshot()))
    assert len(table.snapshots()) == 3


def test_a_statement_whose_history_expired_conflicts(table):
    write(table, [row(1, 1)])
    job = new_job(table)
    for n in (2, 3):
        write(table, [row(n, n)])
    table.expire_snapshots(ALL_BUT_ONE)
    with pytest.raises(ConflictError, match=r"Snapshot 2.*has expired since"):
        write(table, [row(9, 9)], job=job, read_snapshot=1)


@pytest.mark.parametrize("external", [None, "", "file:", "file://"])
def test_what_belongs_to_a_file_goes_with_it(table, tmp_path, external):
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
