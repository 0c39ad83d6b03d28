"""The schema that is valid, also next to one that a failed replacement left."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tablestore_engine.errors import CorruptMetadataError, UnsupportedTypeError
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore

SCHEMA = create_schema([("id", parse_type("INT"), None)], ["id"])


@pytest.fixture
def store(paths):
    return SchemaStore(LocalFileIO(), paths)


def test_versions(store, paths):
    assert store.latest() is None
    assert store.list_ids() == []
    assert store.try_create(SCHEMA)
    assert store.try_create(replace(SCHEMA, id=1, comment="new"))
    assert not store.try_create(replace(SCHEMA, id=1, comment="other"))
    assert store.list_ids() == [0, 1]
    assert store.latest().comment == "new"
    again = SchemaStore(LocalFileIO(), paths)
    assert again.load(0) == SCHEMA
    assert again.load(0) is again.load(0)


def test_ten_comes_after_nine(store):
    for one in range(11):
        store.try_create(replace(SCHEMA, id=one))
    assert store.latest().id == 10


def test_a_replacement_counts_once_it_is_committed(store):
    store.try_create(SCHEMA)
    store.try_create(replace(SCHEMA, id=1, replaces="build-1"))
    assert store.latest().id == 0
    assert store.latest(snapshot_schema_id=0).id == 0
    assert store.latest(snapshot_schema_id=1).id == 1
    store.try_create(replace(SCHEMA, id=2, base=0))
    assert store.latest(snapshot_schema_id=0).id == 2


def test_a_change_before_a_replacement_is_void_once_that_is_committed(store):
    store.try_create(SCHEMA)
    store.try_create(replace(SCHEMA, id=1, replaces="0"))
    store.try_create(replace(SCHEMA, id=2, base=0, comment="changed next to it"))
    assert [store.latest(committed).id for committed in (None, 0, 1, 2)] == [2, 2, 1, 2]
    store.try_create(replace(SCHEMA, id=3, base=2, comment="changed again"))
    assert [store.latest(committed).id for committed in (None, 0, 1, 2, 3)] == [3, 3, 1, 3, 3]
    store.try_create(replace(SCHEMA, id=4, base=1, comment="changed after the replacement"))
    assert [store.latest(committed).id for committed in (1, 4)] == [4, 4]
    assert store.latest(0).id == 3


def test_only_a_dead_replacement(store):
    store.try_create(replace(SCHEMA, replaces="build-1"))
    assert store.latest() is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"id": 0, "fields": 3}', replace(SCHEMA, id=4).to_json()])
def test_damage_names_the_file(store, paths, text):
    LocalFileIO().write(paths.schema(0), text.encode())
    with pytest.raises(CorruptMetadataError) as caught:
        store.latest()
    assert caught.value.path == paths.schema(0)


def test_missing_schema(store):
    with pytest.raises(CorruptMetadataError, match="schema-3: it does not exist"):
        store.load(3)


def test_types_that_this_engine_cannot_hold(store, paths):
    LocalFileIO().write(paths.schema(0), SCHEMA.to_json().replace("INT NOT NULL", "BLOB").encode())
    with pytest.raises(UnsupportedTypeError, match="BLOB"):
        store.latest()


def test_a_staged_schema_shows_other_options_to_others_until_it_is_settled(store, paths):
    schema = replace(SCHEMA, options={"bucket": "2"})
    assert store.try_create(schema, {"bucket": "3"})
    stranger = SchemaStore(LocalFileIO(), paths)
    assert stranger.load(0) == schema
    assert json.loads(LocalFileIO().read(paths.schema(0)))["options"] == {"bucket": "3"}
    stranger.settle(0)
    assert json.loads(LocalFileIO().read(paths.schema(0))) == json.loads(schema.to_json())
    assert SchemaStore(LocalFileIO(), paths).load(0) == schema


def test_only_the_same_schema_is_settled(store, paths):
    """Not that of another table, made later at the same path."""
    store.try_create(SCHEMA, {})
    other = replace(SCHEMA, comment="another table")
    for staged in (None, {"a": "b"}):
        LocalFileIO().write(paths.schema(0), other.to_json(staged).encode())
        before = LocalFileIO().read(paths.schema(0))
        store.settle(0)
        assert LocalFileIO().read(paths.schema(0)) == before
    LocalFileIO().delete(paths.schema(0))
    store.settle(0)
    assert not LocalFileIO().exists(paths.schema(0))
