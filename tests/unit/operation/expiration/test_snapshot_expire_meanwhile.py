"""Snapshots that expire while others write, read, tag and die."""

from __future__ import annotations

import os
import time

import pytest
from support.expiring import ALL_BUT_ONE, HOUR, metadata
from support.files import data_files, kept_manifests, kept_paths, live_paths
from support.meanwhile import ActingOnce, running
from support.tables import (
    by_key,
    compact,
    make_table,
    new_job,
    reload,
    row,
    write,
)

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import (
    ConflictError,
    SnapshotNotFound,
    StorageError,
)
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files import manifest_store


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
        manifest_store._cache.clear()
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
    manifest_store._cache.clear()
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


def test_a_statement_whose_history_expired_conflicts(table):
    write(table, [row(1, 1)])
    job = new_job(table)
    for n in (2, 3):
        write(table, [row(n, n)])
    table.expire_snapshots(ALL_BUT_ONE)
    with pytest.raises(ConflictError, match=r"Snapshot 2.*has expired since"):
        write(table, [row(9, 9)], job=job, read_snapshot=1)
