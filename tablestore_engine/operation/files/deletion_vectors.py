"""Deletion vectors of a snapshot: which index file holds the vector of each data file, and where.

A keyed table with deletion vectors is read file by file: rows that a newer file replaces are deleted in the older one,
so nothing has to merge. The keys of files at level 0 have not been looked up yet. Like other readers, this one leaves
such files out until a compaction has rewritten them. With ``deletion-vectors.merge-on-read`` they are read at once, and
files merge as in other tables, without their deleted rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tablestore_engine.errors import CorruptMetadataError
from tablestore_engine.metadata.bitmaps.deletion_vector import deleted_positions, encode_positions
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS, IndexEntry
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.files.index_files import index_entries, index_path
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.table_state import TableState

_SIZE_AND_CHECKSUM = 8
_FORMAT = b"\x01"  # the first byte of an index file: a permanent mark
POSTPONED_BUCKET = -2
"""Bucket of rows that have none yet, and the value of the option `bucket` that says so."""


@dataclass(frozen=True)
class DeletedRows:
    """Where the deletion vector of one data file is: `offset` and `length` in bytes of the index file at `path`.

    `count` is how many rows it deletes; None where the writer, an older one, did not say. `vector` is the vector
    itself, where a read leaves rows out that no index file names; `path` is then that of the data file.
    """

    path: str
    offset: int
    length: int
    count: int | None = None
    vector: bytes = b""

    @classmethod
    def of_rows(cls, path: str, positions: Positions) -> DeletedRows:
        """Some rows of the data file at a path, at least one, that a read leaves out."""
        vector = encode_positions(positions)
        return cls(path, 0, len(vector), len(positions), vector)


Deletions = Mapping[str, DeletedRows]
"""The deleted rows of the files of one bucket, by the name of the file."""
NO_DELETIONS: Deletions = {}


def visible_entries(entries: Sequence[ManifestEntry], schema: TableSchema) -> Sequence[ManifestEntry]:
    """The live files that a read may use."""
    entries = without_postponed(entries, schema)
    return [e for e in entries if e.file.level > 0] if schema.reads_files_alone else entries


def without_postponed(entries: Sequence[ManifestEntry], schema: TableSchema) -> Sequence[ManifestEntry]:
    """The live files whose rows have their bucket.

    With `bucket` = -2 rows wait, in files of the bucket -2, until another tool gives each its bucket.
    """
    if schema.core_options.bucket == POSTPONED_BUCKET:
        return [e for e in entries if e.bucket != POSTPONED_BUCKET]
    return entries


def deletions_of(state: TableState, snapshot: Snapshot | None) -> Mapping[tuple[bytes, int], Deletions]:
    """The deleted rows of a snapshot, by partition and bucket.

    Raises:
        CorruptMetadataError: an index manifest is damaged.
    """
    found: dict[tuple[bytes, int], dict[str, DeletedRows]] = {}
    if not state.options.deletion_vectors:
        return found
    for entry in index_entries(state.manifests, snapshot):
        if entry.index_type != DELETION_VECTORS:
            continue
        path = index_path(state.paths, state.schema, entry)
        bucket = found.setdefault(entry.bucket_id, {})
        for one in entry.deletion_vectors or ():
            bucket[one["f0"]] = DeletedRows(path, one["f1"], one["f2"], one.get("_CARDINALITY"))
    return found


def read_positions_of(io: FileIO, deleted: Iterable[DeletedRows]) -> Iterator[Positions]:
    """The positions of each vector, one after the other; an index file is read once for all vectors in it.

    Raises:
        CorruptMetadataError: an index file is damaged; names it.
        StorageError: it cannot be read.
    """
    files: dict[str, bytes] = {}
    for one in deleted:
        data = one.vector or files.get(one.path)
        if data is None:
            data = files[one.path] = io.read(one.path)
        size = int.from_bytes(data[one.offset : one.offset + 4], "big")
        # One form includes the size and the checksum in the length, the other does not.
        if one.length not in (size, size + _SIZE_AND_CHECKSUM):
            raise CorruptMetadataError(
                one.path, f"no deletion vector of {one.length} bytes begins at byte {one.offset}"
            )
        try:
            positions = deleted_positions(data[one.offset : one.offset + size + _SIZE_AND_CHECKSUM])
        except ValueError as error:
            raise CorruptMetadataError(one.path, str(error)) from error
        if one.count is not None and one.count != len(positions):
            raise CorruptMetadataError(
                one.path, f"a deletion vector has {len(positions)} rows, its manifest says {one.count}"
            )
        yield positions


def write_vectors(
    target: WriteTarget, bucket_id: tuple[bytes, int], name: str, vectors: Mapping[str, Positions]
) -> IndexEntry:
    """Write the index file of a bucket's deletion vectors, each of at least one position, by names of data files.

    The length that metadata gives includes size and checksum in the 64-bit form only, as in Paimon.

    Raises:
        StorageError: it cannot be written.
    """
    parts, at, ranges = [_FORMAT], len(_FORMAT), []
    wide = target.schema.core_options.deletion_vectors_bitmap64
    for file_name, positions in vectors.items():
        data = encode_positions(positions, wide=wide)
        length = len(data) if wide else len(data) - _SIZE_AND_CHECKSUM
        ranges.append({"f0": file_name, "f1": at, "f2": length, "_CARDINALITY": len(positions)})
        parts.append(data)
        at += len(data)
    entry = IndexEntry(*bucket_id, DELETION_VECTORS, name, at, len(ranges), deletion_vectors=ranges)
    target.io.write(index_path(target.paths, target.schema, entry), b"".join(parts))
    return entry


def indexed_ranges(deletions: Deletions) -> frozenset[tuple[str, str, int]]:
    """The vectors of a bucket as `metadata` names them: data file, index file, and where in it."""
    return frozenset((file, one.path.rpartition("/")[2], one.offset) for file, one in deletions.items())


def positions_in(io: FileIO, deletions: Deletions, file_name: str) -> Positions | None:
    """The deleted positions of one file; None when no row is deleted. Raises as `read_positions_of`."""
    deleted = deletions.get(file_name)
    return None if deleted is None else next(read_positions_of(io, [deleted]))


def deleted_count(io: FileIO, deletions: Deletions, file_names: Iterable[str]) -> int:
    """How many rows of some files are deleted. Raises as `read_positions_of`."""
    chosen = [deletions[name] for name in file_names if name in deletions]
    unknown = read_positions_of(io, [one for one in chosen if one.count is None])
    return sum(one.count or 0 for one in chosen) + sum(len(positions) for positions in unknown)


def kept_rows(deleted: Positions, first: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
    """For each of `count` rows from position `first` whether it stays; None when all do."""
    low, high = np.searchsorted(deleted, [first, first + count])
    if low == high:
        return None
    kept = np.ones(count, np.bool_)
    kept[deleted[low:high] - first] = False
    return kept
