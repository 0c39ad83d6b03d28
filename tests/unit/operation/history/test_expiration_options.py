"""Options of expiration after a commit: in the background, and of consumers that no longer read."""

from __future__ import annotations

import os
import threading

import pyarrow as pa
from support.tables import keyed_table

from tablestore_engine.operation.changes import after_commit
from tablestore_engine.storage.stores.consumers import consumers, set_consumer

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
