"""Manifests are written with the bounds that let readers skip them, and read back from any process."""

from __future__ import annotations

import os
from datetime import date

import pytest

from tablestore_engine.errors import CorruptMetadataError, StorageError
from tablestore_engine.metadata.binary_row import EMPTY_ROW, decode_row, encode_row
from tablestore_engine.metadata.manifest_encoding.data_file_meta import EMPTY_STATS, DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files import manifest_store
from tablestore_engine.storage.metadata_files.manifest_store import ManifestStore

TYPES = [parse_type("DATE"), parse_type("STRING")]


@pytest.fixture
def store(paths):
    return ManifestStore(LocalFileIO(), paths, TYPES, new_uuid=lambda: "u")


@pytest.fixture(params=["cached", "cold"])
def read_again(request):
    """Call it between writing and reading: the second time around as another process would read."""
    return manifest_store._cache.clear if request.param == "cold" else lambda: None


def entry(name, day, region, *, kind=FileKind.ADD, bucket=0, level=0, schema_id=0):
    file = DataFileMeta(
        name, 1, 1, EMPTY_ROW, EMPTY_ROW, EMPTY_STATS, EMPTY_STATS, 0, 0, schema_id=schema_id, level=level
    )
    return ManifestEntry(kind, encode_row([day, region], TYPES), bucket, 4, file)


ENTRIES = [
    entry("a", date(2024, 1, 2), "eu", bucket=3),
    entry("b", date(2024, 1, 1), None, level=5, schema_id=2),
    entry("c", date(2024, 1, 2), "us", kind=FileKind.DELETE, bucket=1),
    entry("d", date(2024, 1, 1), None),
]


def test_bounds_and_counts(store, paths, read_again):
    meta = store.write_manifest(ENTRIES)
    assert meta.file_name == "manifest-u-0"
    assert meta.file_size == os.path.getsize(paths.manifest(meta.file_name))
    assert (meta.num_added_files, meta.num_deleted_files, meta.schema_id) == (3, 1, 2)
    assert (meta.min_bucket, meta.max_bucket, meta.min_level, meta.max_level) == (0, 3, 0, 5)
    assert decode_row(meta.partition_stats.min_values, TYPES) == (date(2024, 1, 1), "eu")
    assert decode_row(meta.partition_stats.max_values, TYPES) == (date(2024, 1, 2), "us")
    assert meta.partition_stats.null_counts == (0, 2)
    read_again()
    assert store.read_manifest(meta.file_name) == ENTRIES


def test_lists(store, paths, read_again):
    metas = [store.write_manifest(ENTRIES[:1]), store.write_manifest(ENTRIES[1:])]
    name, size = store.write_list(metas)
    assert name == "manifest-list-u-2"
    assert size == os.path.getsize(paths.manifest(name))
    read_again()
    assert store.read_list(name) == metas
    assert store.read_list(store.write_list([])[0]) == []


def test_partition_bounds_of_nothing_but_nulls(store):
    stats = store.write_manifest([entry("a", None, None)]).partition_stats
    assert decode_row(stats.min_values, TYPES) == (None, None)
    assert stats.null_counts == (1, 1)


def test_nan_is_the_greatest_bound(paths):
    kind = [parse_type("DOUBLE")]
    store = ManifestStore(LocalFileIO(), paths, kind)
    file = ENTRIES[0].file
    values = [float("nan"), 1.0, -1.0]
    stats = store.write_manifest(
        [ManifestEntry(FileKind.ADD, encode_row([one], kind), 0, 1, file) for one in values]
    ).partition_stats
    assert decode_row(stats.min_values, kind) == (-1.0,)
    assert str(decode_row(stats.max_values, kind)[0]) == "nan"


def test_tables_without_partitions(paths):
    store = ManifestStore(LocalFileIO(), paths)
    meta = store.write_manifest([ManifestEntry(FileKind.ADD, EMPTY_ROW, 0, 1, ENTRIES[0].file)])
    assert meta.partition_stats == EMPTY_STATS


def test_big_manifests_are_split_in_order(store, read_again):
    entries = [entry(os.urandom(20).hex(), date(2024, 1, 1), "eu") for _ in range(500)]
    metas = store.write_manifests(entries, 4_000)
    assert len(metas) > 2
    assert all(meta.file_size < 8_000 for meta in metas)
    read_again()
    assert [one for meta in metas for one in store.read_manifest(meta.file_name)] == entries
    assert len(store.write_manifests(entries, 10**6)) == 1
    assert store.write_manifests([], 10) == []


def test_callers_cannot_spoil_the_cache(store):
    meta = store.write_manifest(ENTRIES)
    store.read_manifest(meta.file_name).clear()
    assert store.read_manifest(meta.file_name) == ENTRIES


def test_writers_never_share_a_name(paths):
    first, second = (ManifestStore(LocalFileIO(), paths, TYPES) for _ in range(2))
    assert first.write_manifest(ENTRIES).file_name != second.write_manifest(ENTRIES).file_name


def test_forked_writers_never_share_a_name(paths):
    store = ManifestStore(LocalFileIO(), paths, TYPES)
    store.write_manifest(ENTRIES)
    names = [_in_a_fork(lambda: store.write_manifest(ENTRIES).file_name) for _ in range(2)]
    names.append(store.write_manifest(ENTRIES).file_name)
    assert len(set(names)) == 3


def _in_a_fork(call):
    """What a forked process answers: a text."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, call().encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    assert answer
    return answer


def test_damage_names_the_file(store, paths):
    meta = store.write_manifest(ENTRIES)
    manifest_store._cache.clear()
    path = paths.manifest(meta.file_name)
    data = LocalFileIO().read(path)
    for bad in (b"", data[:-5], b"Obj\x02" + data[4:], b"rubbish"):
        LocalFileIO().write(path, bad)
        with pytest.raises(CorruptMetadataError) as caught:
            store.read_manifest(meta.file_name)
        assert caught.value.path == path


def test_expired_manifests_are_missing_not_damaged(store):
    with pytest.raises(StorageError) as caught:
        store.read_manifest("manifest-lost-0")
    assert caught.value.missing
