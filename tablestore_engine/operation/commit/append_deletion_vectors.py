"""Writing the deletion vectors of append tables: of the files whose rows a statement deletes, or a compaction moves.

An index file holds the vectors of several data files, and never changes. So those that hold a vector which changes are
written anew, with their other vectors. A fixed bucket has one index file; without buckets, a partition may have many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.commit.index_change import BucketId, FileVectors, IndexChange
from tablestore_engine.operation.files.deletion_vectors import (
    Deletions,
    indexed_ranges,
    positions_in,
    read_positions_of,
    write_vectors,
)
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.schema.table.table_schema import TableSchema

Entries = Sequence[ManifestEntry]
_POSITION_BYTES = 2
"""At most about so many bytes of a vector are one position."""
_INDEX_FILE_BYTES = 2 << 20


def keeps_file_vectors(schema: TableSchema) -> bool:
    """Whether deleted rows of the table, an append table, are marked in deletion vectors."""
    return not schema.primary_keys and schema.core_options.deletion_vectors


@dataclass(frozen=True)
class Marked:
    """A plan without some rows: the vectors that change, by bucket, and the files that lose all rows, in buckets."""

    vectors: Mapping[BucketId, FileVectors]
    emptied: tuple[BucketScan, ...]


def mark_deleted(target: WriteTarget, plan: ScanPlan, positions: Mapping[str, Positions]) -> Marked:
    """Write the deletion vectors of a plan of which rows are deleted: at some positions, by the name of the file.

    Raises:
        TableStoreError: an index file cannot be read or written.
    """
    if unknown := positions.keys() - {file.file_name for file in plan.files}:
        raise AssertionError(f"rows of files that the plan does not have: {sorted(unknown)}")
    vectors, emptied = {}, []
    for number, bucket in enumerate(plan.buckets):
        deleted, empty = _deleted(target, bucket, positions)
        if deleted or empty:
            removed = [file.file_name for file in empty]
            vectors[bucket.id] = file_vectors(target, bucket.id, bucket.deletions, deleted, removed, f"v{number}")
        if empty:
            emptied.append(replace(bucket, files=empty))
    return Marked(vectors, tuple(emptied))


def _deleted(
    target: WriteTarget, bucket: BucketScan, positions: Mapping[str, Positions]
) -> tuple[dict[str, Positions], tuple[DataFileMeta, ...]]:
    """All deleted positions of the files of a bucket of which rows are deleted now, and the files that lose all."""
    deleted, empty = {}, []
    for file in bucket.files:
        if file.file_name not in positions:
            continue
        before, own = positions_in(target.io, bucket.deletions, file.file_name), positions[file.file_name]
        both = own if before is None else np.union1d(before, own)
        if len(both) == file.row_count:
            empty.append(file)
        else:
            deleted[file.file_name] = both
    return deleted, tuple(empty)


def file_vectors(
    target: WriteTarget,
    bucket_id: BucketId,
    deletions: Deletions,
    deleted: Mapping[str, Positions],
    removed: Collection[str],
    number: str,
) -> FileVectors:
    """Write the index files of a bucket that change.

    Args:
        target: the write; its `number` distinguishes these files from its other ones.
        bucket_id: the bucket.
        deletions: all of its vectors so far.
        deleted: all deleted rows of the files whose vectors change.
        removed: files that the same commit removes.
        number: see `target`.

    Raises:
        TableStoreError: an index file cannot be read or written.
    """
    files = frozenset(deleted) | frozenset(removed)
    whole = target.schema.core_options.bucket > 0
    changing = {one.path for name, one in deletions.items() if whole or name in files}
    replaced = {name: one for name, one in deletions.items() if one.path in changing}
    kept = [name for name in replaced if name not in files]
    vectors = dict(zip(kept, read_positions_of(target.io, [replaced[name] for name in kept]), strict=True))
    vectors |= deleted
    parts = [vectors] if whole and vectors else list(_parts(vectors))
    entries = tuple(
        write_vectors(target, bucket_id, target.paths.new_index_file_name(target.write_id, f"{number}-{i}"), part)
        for i, part in enumerate(parts)
    )
    return FileVectors(entries, files, indexed_ranges(replaced), whole)


def without_removed(target: WriteTarget, buckets: Mapping[BucketId, Deletions], entries: Entries) -> IndexChange | None:
    """The vectors that stay when a compaction makes these entries in some buckets, given with their vectors so far.

    None where the table's options allow none.

    Raises:
        TableStoreError: an index file cannot be read or written.
    """
    if not keeps_file_vectors(target.schema):
        return None
    removed: dict[BucketId, set[str]] = {}
    for entry in sorted(entries, key=lambda one: one.kind, reverse=True):  # a file may get another file index
        names = removed.setdefault((entry.partition, entry.bucket), set())
        (names.add if entry.kind == FileKind.DELETE else names.discard)(entry.file.file_name)
    vectors = {
        bucket_id: file_vectors(target, bucket_id, buckets[bucket_id], {}, names, f"v{number}")
        for number, (bucket_id, names) in enumerate(removed.items())
        if names
    }
    return IndexChange(vectors=vectors)


def _parts(vectors: Mapping[str, Positions]) -> Iterator[dict[str, Positions]]:
    """The vectors of each index file."""
    part: dict[str, Positions] = {}
    size = 0
    for name, positions in vectors.items():
        if part and size >= _INDEX_FILE_BYTES:
            yield part
            part, size = {}, 0
        part[name] = positions
        size += _POSITION_BYTES * len(positions)
    if part:
        yield part
