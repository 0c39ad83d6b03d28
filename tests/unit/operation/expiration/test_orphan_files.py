"""Files that no snapshot names, and those that only seem to be such."""

from __future__ import annotations

import os
import time

import pytest
from support.expiring import ALL_BUT_ONE, HOUR
from support.files import data_files
from support.tables import (
    by_key,
    compact,
    row,
    write,
)

from tablestore_engine.errors import (
    StorageError,
    UserError,
)
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.transaction.transaction import Committed
from tablestore_engine.storage.metadata_files import manifest_store


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


def test_orphans_of_a_table_whose_metadata_is_missing_stay(table):
    write(table, [row(1, 1)])
    table.create_tag("kept")
    write(table, [row(1, 2)])
    compact(table)
    table.expire_snapshots(ALL_BUT_ONE)
    os.remove(table.paths.manifest(table.version("kept").delta_manifest_list))
    manifest_store._cache.clear()
    before = data_files(table)
    with pytest.raises(StorageError):
        table.remove_orphan_files(int(time.time() * 1000) + HOUR)
    assert data_files(table) == before


@pytest.mark.parametrize("directory", ["branch/branch-b", "changelog"])
def test_folders_of_other_programs_stop_both(table, directory):
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
