"""Index manifests: which index files belong to a snapshot.

Vocabulary: an *index file* belongs to one bucket; of type *HASH* it holds the hashes of all keys that a
dynamic bucket has ever been given. A snapshot names one index manifest, which lists all index files of the table.

Invariant: an index manifest holds no deletes, and of a bucket at most one file of type HASH. Entries of types that
this engine does not use are kept as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tablestore_engine.metadata.manifest_encoding import avro_container, decode_records

HASH = "HASH"
DELETION_VECTORS = "DELETION_VECTORS"
# The format's permanent mark in every record, not a version of the fields.
_FORMAT = 1
_ADD = 0


@dataclass(frozen=True)
class IndexEntry:
    """One index file. ``partition`` is a BinaryRow, ``file_size`` in bytes, ``row_count`` what the file holds."""

    partition: bytes
    bucket: int
    index_type: str
    file_name: str
    file_size: int
    row_count: int
    external_path: str | None = None
    # Values that other writers stored for their own index types.
    deletion_vectors: Any = field(default=None, compare=False)
    global_index: Any = field(default=None, compare=False)

    @property
    def bucket_id(self) -> tuple[bytes, int]:
        """The partition and bucket."""
        return self.partition, self.bucket


def hash_entries(entries: Iterable[IndexEntry]) -> list[IndexEntry]:
    """Those of type HASH."""
    return [one for one in entries if one.index_type == HASH]


def encode_index(entries: Iterable[IndexEntry], compression: str = "zstd") -> bytes:
    """The Avro file of an index manifest. ``compression``: zstd, deflate, snappy or null."""
    return avro_container.encode("index_manifest_entry", [_record(one) for one in entries], compression)


def decode_index(data: bytes) -> list[IndexEntry]:
    """The entries of an Avro file, also of one that older writers made. Raises ValueError on damage."""
    try:
        return [_entry(one) for one in decode_records.decode(data)]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a record lacks or breaks the field {error}") from None


def _record(one: IndexEntry) -> dict[str, Any]:
    return {
        "_VERSION": _FORMAT,
        "_KIND": _ADD,
        "_PARTITION": one.partition,
        "_BUCKET": one.bucket,
        "_INDEX_TYPE": one.index_type,
        "_FILE_NAME": one.file_name,
        "_FILE_SIZE": one.file_size,
        "_ROW_COUNT": one.row_count,
        "_DELETIONS_VECTORS_RANGES": one.deletion_vectors,
        "_EXTERNAL_PATH": one.external_path,
        "_GLOBAL_INDEX": one.global_index,
    }


def _entry(record: Mapping[str, Any]) -> IndexEntry:
    if record["_KIND"] != _ADD:
        raise ValueError("an index manifest holds a delete")
    return IndexEntry(
        partition=record["_PARTITION"],
        bucket=record["_BUCKET"],
        index_type=record["_INDEX_TYPE"],
        file_name=record["_FILE_NAME"],
        file_size=record["_FILE_SIZE"],
        row_count=record["_ROW_COUNT"],
        external_path=record.get("_EXTERNAL_PATH"),
        deletion_vectors=record.get("_DELETIONS_VECTORS_RANGES"),
        global_index=record.get("_GLOBAL_INDEX"),
    )
