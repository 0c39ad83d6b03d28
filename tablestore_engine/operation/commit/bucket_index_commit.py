"""The effect of a commit on the index of dynamic buckets, and whether it is still allowed. Pure.

A write that assigns buckets to new keys relies on the whole index of their partition: if another write extended it
meanwhile, both may have assigned the same key to different buckets. A write of known keys only relies on their buckets:
the index may grow, but an overwrite must not replace it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tablestore_engine.errors import ConflictError
from tablestore_engine.metadata.manifest_encoding.data_file_meta import EMPTY_STATS, DataFileMeta
from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS, HASH, IndexEntry, hash_entries
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.commit.conflicts import replaced_meanwhile

_OF_BUCKETS = (HASH, DELETION_VECTORS)
_NO_FILE = DataFileMeta("", 0, 0, b"", b"", EMPTY_STATS, EMPTY_STATS, 0, 0, 0, 0)


BucketId = tuple[bytes, int]


@dataclass(frozen=True)
class BucketVectors:
    """The deletion vectors of a bucket after a compaction, in one index file; None when no row is deleted.

    It was computed from `files`, those above level 0, and from the vectors in `ranges`: names of a data file and an
    index file, and where in it.
    """

    entry: IndexEntry | None
    files: frozenset[str]
    ranges: frozenset[tuple[str, str, int]]


@dataclass(frozen=True)
class IndexChange:
    """HASH index files of a write; each replaces the old one of its bucket.

    `read` holds, for each partition that was written, the names of the index files by which its rows found their
    buckets, as of snapshot `base_snapshot_id`; `grew` are the partitions in which new keys were assigned. `restores`,
    for a commit that restores an old snapshot, are all index files of buckets that exist afterwards, including `added`.
    `vectors` are the deletion vectors of the buckets that a compaction changed.
    """

    added: tuple[IndexEntry, ...] = ()
    read: Mapping[bytes, frozenset[str]] = field(default_factory=dict)
    grew: frozenset[bytes] = frozenset()
    base_snapshot_id: int = 0
    restores: tuple[IndexEntry, ...] | None = None
    vectors: Mapping[BucketId, BucketVectors] = field(default_factory=dict)

    @property
    def written(self) -> tuple[IndexEntry, ...]:
        """The index files that the commit adds."""
        return (*self.added, *(one.entry for one in self.vectors.values() if one.entry is not None))


def names_by_partition(entries: Iterable[IndexEntry]) -> dict[bytes, frozenset[str]]:
    """The names of the HASH index files of each partition."""
    found: dict[bytes, set[str]] = {}
    for one in hash_entries(entries):
        found.setdefault(one.partition, set()).add(one.file_name)
    return {partition: frozenset(names) for partition, names in found.items()}


def changed_partitions(before: Iterable[IndexEntry], change: IndexChange) -> frozenset[bytes]:
    """The partitions whose index is not the one that a write relies on."""
    now = names_by_partition(before)
    return frozenset(p for p, names in change.read.items() if now.get(p, frozenset()) != names)


def next_index(
    before: Sequence[IndexEntry], change: IndexChange, cleared: Callable[[IndexEntry], bool]
) -> list[IndexEntry]:
    """The index files after a commit: without those of cleared buckets, and the new one of each written bucket."""
    replaced = {(HASH, e.bucket_id) for e in change.added if e.index_type == HASH}
    replaced |= {(DELETION_VECTORS, bucket_id) for bucket_id in change.vectors}
    kept = [
        e
        for e in before
        if e.index_type not in _OF_BUCKETS or not ((e.index_type, e.bucket_id) in replaced or cleared(e))
    ]
    return [*kept, *change.written]


def check_vectors(before: Iterable[IndexEntry], live: Iterable[ManifestEntry], change: IndexChange) -> None:
    """Conflict when others changed the files above level 0, or their vectors, in a bucket whose keys were looked up."""
    files: dict[BucketId, set[str]] = {}
    for entry in live:
        if entry.file.level > 0:
            files.setdefault((entry.partition, entry.bucket), set()).add(entry.file.file_name)
    ranges: dict[BucketId, set[tuple[str, str, int]]] = {}
    for one in before:
        if one.index_type == DELETION_VECTORS:
            found = ranges.setdefault(one.bucket_id, set())
            found.update((r["f0"], one.file_name, r["f1"]) for r in one.deletion_vectors or ())
    for bucket_id, vectors in change.vectors.items():
        if files.get(bucket_id, set()) != vectors.files or ranges.get(bucket_id, set()) != vectors.ranges:
            raise ConflictError("Another compaction of the same bucket was committed first.")


def restored_index(before: Sequence[IndexEntry], change: IndexChange) -> list[IndexEntry]:
    """The index files after a commit that restores an old snapshot: its own of buckets, and the current ones of other
    kinds.

    Raises:
        ConflictError: an index file that it relies on has been replaced meanwhile. It must not be used again, because
            expiration assumes that it is not needed any more.
    """
    assert change.restores is not None
    there = {e.file_name for e in (*before, *change.added)}
    for entry in change.restores:
        if entry.file_name not in there:
            raise replaced_meanwhile(f"Index file {entry.file_name}")
    wanted = {e.file_name for e in change.restores}
    kept = [e for e in before if e.index_type not in _OF_BUCKETS or e.file_name in wanted]
    return [*kept, *change.added]


def as_file(entry: IndexEntry) -> ManifestEntry:
    """A data file entry with the bucket of an index file, for a filter that looks at buckets only."""
    return ManifestEntry(FileKind.ADD, entry.partition, entry.bucket, -1, _NO_FILE)
