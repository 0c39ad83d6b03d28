"""Snapshots keep all their fields, also those that only newer writers understand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.changelog.log_position import LogPosition
from tablestore_engine.operation.commit.consumed_positions import Position
from tablestore_engine.operation.stream.position import StreamPosition

SNAPSHOT = Snapshot(
    id=2,
    schema_id=0,
    base_manifest_list="manifest-list-a-0",
    base_manifest_list_size=10,
    delta_manifest_list="manifest-list-a-1",
    delta_manifest_list_size=20,
    commit_user="me",
    commit_identifier=2**63 - 1,  # of a writer that commits only once
    commit_kind="APPEND",
    time_millis=1_700_000_000_000,
    total_record_count=5,
    delta_record_count=-1,
    properties={"source": "7"},
    uuid="u",
)

# As pypaimon 2.1 wrote it, with a key that nobody knows.
FOREIGN = """{"version": 3, "id": 2, "schemaId": 0, "baseManifestList": "manifest-list-x-0",
 "deltaManifestList": "manifest-list-x-1", "totalRecordCount": 20, "deltaRecordCount": 10, "commitUser": "f6ac",
 "commitIdentifier": 9223372036854775807, "commitKind": "APPEND", "timeMillis": 1795246679903,
 "baseManifestListSize": 1358, "deltaManifestListSize": 1362, "uuid": "5fde", "writerVersion": "python-2.1.0",
 "fromTheFuture": {"a": [1]}}"""


def test_round_trip():
    assert Snapshot.from_json(SNAPSHOT.to_json()) == SNAPSHOT


def test_every_position_marks_a_snapshot_alike():
    unnamed = replace(SNAPSHOT, uuid=None)
    assert (SNAPSHOT.mark, unnamed.mark) == ("u", "1700000000000"), "the first versions of the format gave it no uuid"
    for one in (SNAPSHOT, unnamed):
        assert Position.of(one).mark == StreamPosition.after(one).mark == one.mark
        assert LogPosition("t", one.id, one.mark).fits(one)


def test_persisted_keys():
    data = json.loads(SNAPSHOT.to_json())
    assert data["version"] == 3
    assert data["commitIdentifier"] == 2**63 - 1
    assert data["properties"] == {"source": "7"}
    assert "watermark" not in data
    assert "extra" not in data


def test_fields_of_other_writers_survive():
    snapshot = Snapshot.from_json(FOREIGN)
    assert snapshot.writer_version == "python-2.1.0"
    assert snapshot.extra == {"fromTheFuture": {"a": [1]}}
    assert json.loads(snapshot.to_json())["fromTheFuture"] == {"a": [1]}
    assert {**json.loads(FOREIGN), "changelogRecordCount": 0} == json.loads(snapshot.to_json())


def test_sizes_are_optional():
    data = json.loads(FOREIGN)
    del data["baseManifestListSize"]
    assert Snapshot.from_json(json.dumps(data)).base_manifest_list_size is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"id": 1}', FOREIGN.replace('"commitUser": "f6ac",', "")])
def test_damage_is_an_error(text):
    with pytest.raises((ValueError, TypeError)):
        Snapshot.from_json(text)
