"""Rollbacks and orphan files by procedures, without Spark."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest
from support.tables import keyed_table, write

from tablestore_engine.catalog.abandoned_folders import abandoned_folders
from tablestore_engine.errors import SnapshotNotFound
from tablestore_engine.metadata.warehouse.build_record import BuildRecord
from tablestore_engine.sql.procedures.snapshot_procedures import PROCEDURES
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files.build_record_store import BuildRecordStore
from tablestore_engine.storage.processes import this_process
from tablestore_engine.store import TableStore


def test_a_snapshot_without_a_watermark_is_none_with_an_early_one(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1"})
    roll_back = PROCEDURES["rollback_to_watermark"].run
    for number, watermark in enumerate((100, -(2**63), None)):
        made = replace(write(table, [{"id": 1, "v": number}]), watermark=watermark)
        table.io.write(table.paths.snapshot(made.id), made.to_json().encode())
    with pytest.raises(SnapshotNotFound, match="no snapshot with a watermark of 99 or earlier"):
        roll_back(table, {"watermark": 99}, None)
    assert roll_back(table, {"watermark": 100}, None) == [(3, 1, 4)]
    assert table.to_arrow().column("v").to_pylist() == [0]


@pytest.fixture
def stores(tmp_path):
    """Processes that open one warehouse."""

    def opened():
        return TableStore(tmp_path, session_factory=lambda: pytest.fail("no session is needed"))

    opened().execute("CREATE DATABASE d")
    return opened


def killed(action, monkeypatch, name):
    """Run what ends at a method of the storage as if it were killed there."""
    with monkeypatch.context() as patched:
        patched.setattr(LocalFileIO, name, lambda *_: os._exit(9))
        process = os.fork()
        if process == 0:
            action()
            os._exit(1)
        assert os.waitpid(process, 0)[1] == 9 << 8


def removed(store, table, **more):
    arguments = "".join(f", {key} => {value}" for key, value in more.items())
    return [
        os.path.basename(path) for (path,) in store.execute(f"CALL sys.remove_orphan_files('{table}'{arguments})").rows
    ]


def make(store, name, schema):
    """What CREATE TABLE AS does, without its rows."""
    store.catalog.publish(store.catalog.stage_table("d", name, schema), "d", name)


def hidden(tmp_path):
    return sorted(str(one.relative_to(tmp_path)) for one in (*tmp_path.glob(".*.*"), *tmp_path.glob("*/.*.*")))


def test_folders_of_killed_statements_are_orphans(tmp_path, stores, monkeypatch):
    store = stores()
    for name in ("d.kept", "d.old", "default.old"):
        store.execute(f"CREATE TABLE {name} (id INT)")
    schema = store.table("d.kept").schema
    killed(lambda: store.execute("DROP TABLE d.old"), monkeypatch, "delete_tree")
    killed(
        lambda: store.catalog.publish(store.catalog.stage_table("d", "made", schema), "d", "made"),
        monkeypatch,
        "rename",
    )
    killed(lambda: store.catalog.drop_database("default", cascade=True), monkeypatch, "delete_tree")
    left = hidden(tmp_path)
    assert [one.rpartition(".")[0] for one in left] == [".default", "d.db/.made", "d.db/.old"]
    store = stores()
    store.execute("CREATE TABLE d.old (id INT)")
    assert removed(store, "d.*") == [], "younger than a day"
    for folder, _, files in os.walk(tmp_path):
        for one in (folder, *(f"{folder}/{file}" for file in files)):
            os.utime(one, (0, 0))
    os.utime(tmp_path / left[1] / "schema", None)
    assert removed(store, "d.*", dry_run="true") == [os.path.basename(one) for one in (left[0], left[2])]
    assert removed(store, "d.kept") == []
    assert removed(store, "d.old") == [os.path.basename(left[2])]
    assert removed(store, "d.*") == [left[0]]
    assert hidden(tmp_path) == left[1:2], "something in it is young"
    make(store, "made", schema)
    assert store.catalog.list_tables("d") == ["kept", "made", "old"]


def test_folders_of_recorded_builds_and_of_others_stay(tmp_path, stores):
    store = stores()
    build, other = "a" * 32, tmp_path / "d.db" / ".notes.2024"
    record = BuildRecord(build, "d", "t", this_process(), "user", 1, int(time.time() * 1000), 1 << 40)
    BuildRecordStore(store.catalog.io, store.catalog.paths).add(record)
    for folder in (tmp_path / "d.db" / f".t.{build}", other):
        folder.mkdir()
        os.utime(folder, (0, 0))
    assert abandoned_folders(store.catalog.io, store.catalog.paths, "d", None, 1_000) == []
    BuildRecordStore(store.catalog.io, store.catalog.paths).remove(build)
    assert abandoned_folders(store.catalog.io, store.catalog.paths, "d", "T", 1_000) == [
        str(tmp_path / "d.db" / f".t.{build}")
    ]
    assert other.exists()
