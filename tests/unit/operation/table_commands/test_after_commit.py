"""Options of expiration after a commit: in the background, and of consumers that no longer read."""

from __future__ import annotations

import os
import threading

import pyarrow as pa
import pytest
from support.files import path_of
from support.tables import arrow_rows, by_key, keyed_table, partitioned_table, read, row

from tablestore_engine.operation.table_commands import after_commit
from tablestore_engine.operation.table_commands.metadata_commands import drop_partitions
from tablestore_engine.storage.metadata_files.consumer_store import consumers, set_consumer

ROWS = pa.table({"id": pa.array([1], pa.int32()), "v": pa.array([1], pa.int32())})
FEW = {"bucket": "1", "snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}


def test_snapshots_expire_in_the_background(tmp_path, monkeypatch):
    go_on, expire = threading.Event(), after_commit.expire_snapshots

    def later(*args):
        go_on.wait(20)
        return expire(*args)

    monkeypatch.setattr(after_commit, "expire_snapshots", later)
    table = keyed_table(tmp_path, {**FEW, "snapshot.expire.execution-mode": "async"})
    for _ in range(3):
        table.write(ROWS)
    before = len(list(table.snapshots()))
    go_on.set()
    after_commit._background().submit(int).result(20)
    assert (before > 2, len(list(table.snapshots()))) == (True, 1)


def test_consumers_without_progress_are_forgotten(tmp_path):
    table = keyed_table(tmp_path, {**FEW, "consumer.expiration-time": "1 h"})
    table.write(ROWS)
    for name in ("old", "new"):
        set_consumer(table.io, table.paths, name, 1)
    os.utime(table.paths.consumer("old"), (1, 1))
    table.write(ROWS)
    assert consumers(table.io, table.paths) == {"new": 1}


@pytest.mark.parametrize("clean", ["false", "true"])
def test_empty_folders(tmp_path, clean):
    table = partitioned_table(tmp_path, {**FEW, "snapshot.clean-empty-directories": clean})
    for partition in ("a", "b"):
        table.write(arrow_rows(table.schema, [row(1, p=partition)]))
    removed = {e.partition for e in table.live_files() if "p=a" in path_of(table, e)}
    drop_partitions(table.state, removed)
    assert table.expire_snapshots() + len(table.snapshots()) <= 2
    left = {"p=b"} if clean == "true" else {"p=a", "p=b"}
    assert {name for name in os.listdir(table.path) if "=" in name} == left
    assert by_key(table) == {1: row(1, p="b")}
    table.write(arrow_rows(table.schema, [row(1, p="a")]))
    assert len(read(table)) == 2
