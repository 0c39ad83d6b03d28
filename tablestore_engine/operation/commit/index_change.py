"""The effect of a commit on the index of dynamic buckets and on deletion vectors, and whether it is allowed. Pure.

A write that assigns buckets to new keys relies on the whole index of their partition: if another write extended it
meanwhile, both may have assigned the same key to different buckets. A write of known keys only relies on their buckets:
the index may grow, but an overwrite must not replace it. New deletion vectors rely on the vectors that they replace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tablestore_engine.errors import ConflictError
from tablestore_engine.metadata.manifest_encoding.data_file_meta import EMPTY_STATS, DataFileMeta
from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS, HASH, IndexEntry, hash_entries
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.commit.conflicts import NewFiles, replaced_meanwhile

_OF_BUCKETS = (HASH, DELETION_VECTORS)
_NO_FILE = DataFileMeta("", 0, 0, b"", b"", EMPTY_STATS, EMPTY_STATS, 0, 0, 0, 0)


BucketId = tuple[bytes, int]


Ranges = frozenset[tuple[str, str, int]]
"""Deletion vectors by where they are: names of a data file and of an index file, and the offset in it."""


class NewVectors(Protocol):
    """The deletion vectors of a bucket that change."""

    @property
    def entries(self) -> tuple[IndexEntry, ...]:
        """The new index files."""

    def replaces(self, entry: IndexEntry) -> bool:
        """Whether the commit removes an index file of vectors of the bucket."""

    def check(self, live: Sequence[DataFileMeta], ranges: Ranges) -> None:
        """Raise a ConflictError if they no longer fit the live files of the bucket, and its vectors."""


@dataclass(frozen=True)
class BucketVectors:
    """The deletion vectors of a bucket after a compaction, in one index file; None when no row is deleted.

    It was computed from `files`, those above level 0, and from the vectors in `ranges`.
    """

    entry: IndexEntry | None
    files: frozenset[str]
    ranges: Ranges

    @property
    def entries(self) -> tuple[IndexEntry, ...]:
        return () if self.entry is None else (self.entry,)

    def replaces(self, entry: IndexEntry) -> bool:
        return entry.index_type == DELETION_VECTORS

    def check(self, live: Sequence[DataFileMeta], ranges: Ranges) -> None:
        if {one.file_name for one in live if one.level > 0} != self.files or ranges != self.ranges:
            raise ConflictError("Another compaction of the same bucket was committed first.")


@dataclass(frozen=True)
class FileVectors:
    """The deletion vectors of some files of a bucket of an append table.

    Rows of `files` were deleted, or moved into other files. The index files of `ranges`, which held vectors of these
    files, are replaced by `entries`. `whole`: no other index file may hold vectors of the bucket.
    """

    entries: tuple[IndexEntry, ...]
    files: frozenset[str]
    ranges: Ranges
    whole: bool

    def replaces(self, entry: IndexEntry) -> bool:
        return entry.index_type == DELETION_VECTORS and any(name == entry.file_name for _, name, _ in self.ranges)

    def check(self, live: Sequence[DataFileMeta], ranges: Ranges) -> None:
        others = ranges - self.ranges
        changed = any(name in self.files for name, _, _ in others) or not self.ranges <= ranges
        if changed or (self.whole and others) or not self.files <= {one.file_name for one in live}:
            raise ConflictError(
                "Rows of the same files were deleted or compacted meanwhile.", hint="Run the statement again."
            )


@dataclass(frozen=True)
class IndexChange:
    """HASH index files of a write; each replaces the old one of its bucket.

    `read` holds, for each partition that was written, the names of the index files by which its rows found their
    buckets, as of snapshot `base_snapshot_id`; `grew` are the partitions in which new keys were assigned. `restores`,
    for a commit that restores an old snapshot, are all index files of buckets that exist afterwards, including `added`.
    `vectors` are the deletion vectors of the buckets in which some change.
    """

    added: tuple[IndexEntry, ...] = ()
    read: Mapping[bytes, frozenset[str]] = field(default_factory=dict)
    grew: frozenset[bytes] = frozenset()
    base_snapshot_id: int = 0
    restores: tuple[IndexEntry, ...] | None = None
    vectors: Mapping[BucketId, NewVectors] = field(default_factory=dict)

    @property
    def written(self) -> tuple[IndexEntry, ...]:
        """The index files that the commit adds."""
        return (*self.added, *(entry for one in self.vectors.values() for entry in one.entries))


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
    written = {e.bucket_id for e in change.added if e.index_type == HASH}

    def stays(entry: IndexEntry) -> bool:
        if entry.index_type == HASH and entry.bucket_id in written:
            return False
        vectors = change.vectors.get(entry.bucket_id)
        replaced = vectors is not None and vectors.replaces(entry)
        return entry.index_type not in _OF_BUCKETS or not (replaced or cleared(entry))

    return [*filter(stays, before), *change.written]


def vector_ranges(entries: Iterable[IndexEntry]) -> dict[BucketId, Ranges]:
    """The deletion vectors of each bucket."""
    found: dict[BucketId, set[tuple[str, str, int]]] = {}
    for one in entries:
        if one.index_type == DELETION_VECTORS:
            ranges = found.setdefault(one.bucket_id, set())
            ranges.update((r["f0"], one.file_name, r["f1"]) for r in one.deletion_vectors or ())
    return {bucket_id: frozenset(ranges) for bucket_id, ranges in found.items()}


def check_vectors(before: Iterable[IndexEntry], live: Iterable[ManifestEntry], change: IndexChange) -> None:
    """Conflict when others changed what the new deletion vectors of a bucket were computed from."""
    for conflict in vector_conflicts(before, live, change).values():
        raise conflict


def vector_conflicts(
    before: Iterable[IndexEntry], live: Iterable[ManifestEntry], change: IndexChange
) -> dict[BucketId, ConflictError]:
    """The buckets whose new deletion vectors do not fit, because others changed what they were computed from."""
    files: dict[BucketId, list[DataFileMeta]] = {}
    for entry in live:
        files.setdefault((entry.partition, entry.bucket), []).append(entry.file)
    ranges = vector_ranges(before)
    found: dict[BucketId, ConflictError] = {}
    for bucket_id, vectors in change.vectors.items():
        try:
            vectors.check(files.get(bucket_id, ()), ranges.get(bucket_id, frozenset()))
        except ConflictError as conflict:
            found[bucket_id] = conflict
    return found


def check_moved(before: Iterable[IndexEntry], compaction: NewFiles, change: IndexChange | None) -> None:
    """Conflict when a compaction of an append table takes rows that are deleted for rows of the table: it began before
    the table had deletion vectors.

    A file that only gets another file index keeps its name, its rows, and their vector.
    """
    known = {} if change is None else change.vectors
    marked = {(bucket_id, r[0]) for bucket_id, ranges in vector_ranges(before).items() for r in ranges}
    stay = {(entry.partition, entry.bucket, entry.file.file_name) for entry in compaction.added}
    for entry in compaction.removed if marked else ():
        bucket_id = (entry.partition, entry.bucket)
        moved = bucket_id not in known and (*bucket_id, entry.file.file_name) not in stay
        if moved and (bucket_id, entry.file.file_name) in marked:
            raise ConflictError(f"Rows of file {entry.file.file_name} were deleted meanwhile.")


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
