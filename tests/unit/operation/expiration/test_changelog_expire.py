"""Changelogs that are kept longer than their snapshots, in the folder `changelog/`, as Paimon keeps them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from support.expiring import orphans
from support.files import data_files
from support.tables import compact, keyed_table, rows, write

from tablestore_engine.errors import ChangesNotFound, OptionError, UserError
from tablestore_engine.operation.expiration.changelog_expire import expire_changelogs
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.table_commands.metadata_commands import purge
from tablestore_engine.operation.transaction.transaction import Committed
from tablestore_engine.schema.table.schema_changes import SetOption
from tablestore_engine.storage.metadata_files.consumer_store import delete_consumer, set_consumer

OPTIONS = {
    "bucket": "1",
    "changelog-producer": "lookup",
    "snapshot.num-retained.min": "1",
    "snapshot.num-retained.max": "1",
    "changelog.num-retained.min": "4",
    "changelog.num-retained.max": "4",
}


@pytest.fixture
def table(tmp_path):
    return keyed_table(tmp_path, OPTIONS)


def written(table, v):
    snapshot = write(table, rows([1, 10 + v], v=v))
    follow(Committed(table.state, snapshot))
    return snapshot


def recorded(table, start, end=None):
    found = table.changes(start, end, recorded=True).to_pylist()
    return sorted((one["_row_kind"], one["id"], one["v"]) for one in found)


def test_they_outlive_their_snapshots_and_expire(table):
    for v in range(4):
        written(table, v)
    assert [one.id for one in table.snapshots()] == [4]
    assert table.state.changelogs.ids() == [1, 2, 3]
    assert recorded(table, 2) == [
        ("+I", 12, 2),
        ("+I", 13, 3),
        *[("+U", 1, v) for v in (2, 3)],
        *[("-U", 1, v) for v in (1, 2)],
    ]
    assert len(recorded(table, 0)) == 2 + 3 * 3
    assert recorded(table, 0, 1) == [("+I", 1, 0), ("+I", 10, 0)]
    assert orphans(table) == []
    files = data_files(table)
    written(table, 4)
    assert table.state.changelogs.ids() == [2, 3, 4]
    assert len([one for one in files - data_files(table) if "changelog-" in one]) == 1
    assert orphans(table) == []
    assert len(recorded(table, 1)) == 12
    with pytest.raises(ChangesNotFound, match="There are those of 2 to 5") as caught:
        recorded(table, 0)
    assert "Begin at 1" in caught.value.hint
    with pytest.raises(ChangesNotFound, match="There are snapshots 5 to 5"):
        table.changes(1)


def test_a_kept_changelog_is_a_copy_of_its_snapshot(table):
    first = written(table, 0)
    written(table, 1)
    folder = Path(table.path, "changelog")
    assert json.loads((folder / "changelog-1").read_text()) == json.loads(first.to_json())
    assert (folder / "LATEST").read_text() == "1"
    assert not os.path.exists(table.paths.manifest(first.delta_manifest_list)), "its rows went with the snapshot"
    assert os.path.exists(table.paths.manifest(first.changelog_manifest_list))


def test_commits_without_a_changelog_leave_no_gap(table):
    written(table, 0)
    write(table, rows([1], v=9))
    compact(table)
    written(table, 1)
    assert table.state.changelogs.ids() == [1, 2, 3]
    assert len(recorded(table, 0)) == 2 + 2 + 3


def test_times_and_consumers(table):
    before = int(time.time() * 1000)
    options = {"changelog.num-retained.min": "1", "changelog.num-retained.max": "100"}
    table = table.with_options({**options, "changelog.time-retained": "1 d"}, "test")
    for v in range(3):
        written(table, v)
    assert table.state.changelogs.ids() == [1, 2]
    last = Retention(1, 1, 0, 100)
    set_consumer(table.io, table.paths, "reader", 2)
    assert expire_changelogs(table.state, before, last) == 1
    assert table.state.changelogs.ids() == [2]
    delete_consumer(table.io, table.paths, "reader")
    assert expire_changelogs(table.state, before, last) == 1
    assert recorded(table, 2) == recorded(table, 2, 3)
    assert orphans(table) == []


def test_without_options_they_are_as_old_as_snapshots(tmp_path):
    options = {key: value for key, value in OPTIONS.items() if not key.startswith("changelog.")}
    table = keyed_table(tmp_path, options)
    for v in range(3):
        written(table, v)
    assert not os.path.exists(f"{table.path}/changelog")
    with pytest.raises(ChangesNotFound, match="There are those of 3 to 3"):
        recorded(table, 1)


def test_without_changelogs_nothing_else_is_looked_at(table, monkeypatch):
    write(table, rows([1], v=0))
    monkeypatch.setattr(type(table.state.snapshots), "latest_id", lambda self: pytest.fail("a read for nothing"))
    assert expire_changelogs(table.state, 0, Retention(1, 1, 0, 100)) == 0


def test_an_option_that_is_taken_back_lets_them_expire(table):
    for v in range(4):
        written(table, v)
    for key in ("changelog.num-retained.min", "changelog.num-retained.max"):
        table = table.alter(SetOption(key, "1"))
    written(table, 4)
    assert table.state.changelogs.ids() == []
    assert orphans(table) == []


def test_a_purge_removes_them(table):
    for v in range(4):
        written(table, v)
    purge(table.state, int(time.time() * 1000))
    assert table.state.changelogs.ids() == []


def test_they_expire_after_the_table_stopped_to_record_changes(table):
    for v in range(3):
        written(table, v)
    table.create_tag("kept", 3)
    written(table, 3)
    silent = table.alter(SetOption("changelog-producer", "none"))
    assert silent.state.changelogs.ids() == [1, 2, 3]
    for v in range(4, 8):
        written(silent, v)
        assert [one.id for one in silent.snapshots()] == [v + 1]
        assert orphans(silent) == []
    assert silent.state.changelogs.ids() == []
    assert not [one for one in data_files(silent) if "changelog-" in one]
    written(silent, 8)
    assert [one.id for one in silent.snapshots()] == [9], "the hints that are left are in nobody's way"


def test_those_that_are_the_files_of_writes_are_of_other_programs(table):
    first = write(table, rows([1]))
    listed = Path(table.paths.manifest(first.delta_manifest_list))
    named = listed.read_bytes()
    written(table, 1)
    silent = table.alter(SetOption("changelog-producer", "none"))
    listed.write_bytes(named)
    for action in (lambda: silent.expire_snapshots(Retention(1, 1, 0, 9)), lambda: orphans(silent)):
        write(silent, rows([5]))
        with pytest.raises(UserError, match="changelog files of another program"):
            action()


@pytest.mark.parametrize("key", ["changelog.num-retained.min", "changelog.num-retained.max"])
def test_numbers_that_are_none(tmp_path, key):
    with pytest.raises(OptionError, match="at least 1 is expected"):
        keyed_table(tmp_path, {key: "0"})
