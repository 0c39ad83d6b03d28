"""Changelogs that other writers gave snapshots: they are removed with them, and no tag keeps or misses them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from support.expiring import ALL_BUT_ONE, orphans
from support.files import data_files
from support.tables import by_key, keyed_table, write

from tablestore_engine.storage.metadata_files import manifest_store


@pytest.fixture
def table(tmp_path):
    return keyed_table(tmp_path, {"bucket": "1", "write-only": "true"})


def write_with_changelog(table, v):
    """A commit as Java Paimon makes it with 'changelog-producer' = 'input'. Returns the paths of its changelog."""
    snapshot = write(table, [{"id": 1, "v": v}])
    entry = max(table.live_files(), key=lambda e: e.file.max_sequence_number)
    name = f"changelog-{snapshot.uuid}-0.parquet"
    path = Path(table.path, "bucket-0", name)
    path.write_bytes(Path(table.path, "bucket-0", entry.file.file_name).read_bytes())
    made = table.manifests.write_manifest([replace(entry, file=replace(entry.file, file_name=name))])
    listed, size = table.manifests.write_list([made])
    stored = Path(table.paths.snapshot(snapshot.id))
    edited = {**json.loads(stored.read_text()), "changelogManifestList": listed, "changelogManifestListSize": size}
    stored.write_text(json.dumps(edited))
    return [str(path), *(table.paths.manifest(one) for one in (made.file_name, listed))]


def test_they_go_with_their_snapshot(table):
    made = [write_with_changelog(table, v) for v in range(3)]
    assert orphans(table) == []
    assert table.expire_snapshots(ALL_BUT_ONE) == 2
    assert not any(map(os.path.exists, (*made[0], *made[1])))
    assert all(map(os.path.exists, made[2]))
    assert orphans(table) == [], "nothing is left over"
    assert by_key(table)[1]["v"] == 2


def test_a_tag_keeps_its_rows_alone(table):
    made = write_with_changelog(table, 0)
    table.create_tag("kept")
    write(table, [{"id": 1, "v": 1}])
    table.expire_snapshots(ALL_BUT_ONE)
    assert not any(map(os.path.exists, made))
    assert table.to_arrow(snapshot=table.version("kept")).to_pylist() == [{"id": 1, "v": 0}]


def test_a_tag_whose_changelog_its_maker_expired_blocks_nothing(table):
    made = write_with_changelog(table, 0)
    table.create_tag("kept")
    write(table, [{"id": 1, "v": 1}])
    # So Java Paimon expires snapshot 1.
    for path in (*made, table.paths.snapshot(1)):
        os.remove(path)
    manifest_store._cache.clear()
    for v in (2, 3):
        write(table, [{"id": 1, "v": v}])
    before = data_files(table)
    assert orphans(table) == []
    assert table.expire_snapshots(ALL_BUT_ONE) == 2
    assert data_files(table) == before
    assert table.to_arrow(snapshot=table.version("kept")).to_pylist() == [{"id": 1, "v": 0}]
    table.delete_tag("kept")
    assert orphans(table) == []
    assert by_key(table)[1]["v"] == 3
