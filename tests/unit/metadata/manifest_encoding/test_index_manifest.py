"""Index manifests and the index files that they name."""

from __future__ import annotations

import numpy as np
import pytest

from tablestore_engine.errors import CorruptMetadataError
from tablestore_engine.metadata.manifest_encoding import index_manifest
from tablestore_engine.metadata.manifest_encoding.index_manifest import (
    DELETION_VECTORS,
    HASH,
    IndexEntry,
    decode_index,
    encode_index,
    hash_entries,
)
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files.hash_index_file import contains, read_hashes, write_hashes

ENTRY = IndexEntry(b"\0\0\0\0", 3, HASH, "index-1", 8, 2)


@pytest.mark.parametrize("compression", ["zstd", "deflate", "snappy", "null"])
def test_written_entries_are_read(compression):
    entries = [ENTRY, IndexEntry(b"p", 0, HASH, "index-2", 4, 1, "/elsewhere/index-2")]
    assert decode_index(encode_index(entries, compression)) == entries


@pytest.mark.parametrize("number", [0, 1, 63, 64, 127, 128, 8191, 8192, 2**21, 2**31, 2**62])
def test_numbers_of_any_length(number):
    """Avro writes seven bits to a byte; the eighth says that more follow."""
    entry = IndexEntry(b"p", 0, HASH, "index-2", number, number)
    assert decode_index(encode_index([entry])) == [entry]


def test_a_delete_is_refused(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(index_manifest, "_ADD", 1)
        removed = encode_index([ENTRY])
    with pytest.raises(ValueError, match="holds a delete"):
        decode_index(removed)


def test_indexes_of_others_are_kept_whole():
    deletions = [{"f0": "data-1.parquet", "f1": 1, "f2": 22, "_CARDINALITY": None}]
    ranges = {
        "_ROW_RANGE_START": 0, "_ROW_RANGE_END": 9, "_INDEX_FIELD_ID": 2, "_EXTRA_FIELD_IDS": [1],
        "_INDEX_META": b"x", "_SOURCE_META": None,
    }  # fmt: skip
    entries = [
        IndexEntry(b"p", 0, DELETION_VECTORS, "index-3", 30, 1, deletion_vectors=deletions),
        IndexEntry(b"p", 0, "btree", "index-4", 5, 9, global_index=ranges),
    ]
    found = decode_index(encode_index(entries))
    assert [e.deletion_vectors for e in found] == [deletions, None]
    assert [e.global_index for e in found] == [None, ranges]
    assert hash_entries([*found, ENTRY]) == [ENTRY]


def test_damage_is_said():
    with pytest.raises(ValueError, match="Avro"):
        decode_index(b"no avro")


def test_hashes_are_stored_as_other_writers_store_them(tmp_path):
    path = str(tmp_path / "index")
    hashes = np.array([-(2**31), -1, 0, 1, 2**31 - 1], dtype=np.int32)
    assert write_hashes(LocalFileIO(), path, hashes) == 20
    assert (tmp_path / "index").read_bytes().hex() == "80000000ffffffff00000000000000017fffffff"
    assert read_hashes(LocalFileIO(), path).tolist() == hashes.tolist()


def test_hashes_of_others_come_in_any_order(tmp_path):
    (tmp_path / "index").write_bytes(bytes.fromhex("00000002ffffffff00000002"))
    assert read_hashes(LocalFileIO(), str(tmp_path / "index")).tolist() == [-1, 2]


def test_half_a_hash_is_damage(tmp_path):
    (tmp_path / "index").write_bytes(b"\0\0\0\1\0")
    with pytest.raises(CorruptMetadataError, match="5 bytes"):
        read_hashes(LocalFileIO(), str(tmp_path / "index"))


def test_looking_hashes_up():
    hashes = np.array([-5, 3, 7], dtype=np.int32)
    wanted = np.array([-6, -5, 3, 4, 7, 8], dtype=np.int32)
    assert contains(hashes, wanted).tolist() == [False, True, True, False, True, False]
    assert contains(hashes[:0], wanted).tolist() == [False] * 6
