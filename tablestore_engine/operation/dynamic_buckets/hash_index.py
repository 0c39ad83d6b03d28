"""Dynamic buckets of a keyed table: the bucket of a known key, and the choice for a new one.

Vocabulary: the *index* maps the hash of a key to its bucket: for each bucket a HASH index file with the hashes of all
keys that were ever assigned to it. A key is *known* when its hash is in the index of its partition.

Invariants: a known key stays in its bucket, so all records of a key are in one bucket; hashes that collide share one.
A lookup reads one bucket's index at a time, and only for partitions of the written rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from tablestore_engine.errors import ConflictError
from tablestore_engine.metadata.bucket_hash import row_hashes
from tablestore_engine.metadata.manifest_encoding.index_manifest import HASH, IndexEntry, hash_entries
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.dynamic_buckets.bucket_filling import FillRule, shares
from tablestore_engine.operation.files.data_file_reader import FileColumns, StoredFile, read_batches
from tablestore_engine.operation.files.entry_paths import EntryPaths
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.metadata_files.hash_index_file import (
    NO_HASHES,
    Hashes,
    contains,
    read_hashes,
    write_hashes,
)
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore

Buckets = np.ndarray[Any, np.dtype[np.int32]]


@dataclass(frozen=True)
class DynamicBuckets:
    """The dynamic buckets of a table when a write begins, on snapshot `snapshot_id` (0: there is none).

    `entries` are the HASH index files of the partitions that the write keeps; `unindexed` are the live files of buckets
    without one; `repaired` are index files that this write made for such buckets. `sought` are the partitions in whose
    index the keys of the rows were looked up beforehand; None: they are looked up row by row.
    """

    rule: FillRule
    snapshot_id: int = 0
    entries: tuple[IndexEntry, ...] = ()
    unindexed: tuple[ManifestEntry, ...] = ()
    repaired: tuple[IndexEntry, ...] = ()
    sought: frozenset[bytes] | None = None

    def of(self, partition: bytes) -> list[IndexEntry]:
        """The index files of a partition, by bucket."""
        return [entry for _, entry in sorted(self._by_partition.get(partition, {}).items())]

    def entry(self, partition: bytes, bucket: int) -> IndexEntry | None:
        """The index file of one bucket."""
        return self._by_partition.get(partition, {}).get(bucket)

    def check_sought(self, partition: bytes, name: str) -> None:
        """Refuse rows of a partition whose keys may be known but were not looked up: their bucket would be arbitrary.

        `name` is the partition's, for the message. A query runs twice, for the lookup and for the write; if it depends
        on time or chance, the second run may yield other partitions.

        Raises:
            ConflictError: it is such a partition; another attempt may succeed.
        """
        if self.sought is None or partition in self.sought:
            return
        if partition in self._by_partition or any(e.partition == partition for e in self.unindexed):
            raise ConflictError(
                f"The query gave rows of partition {name} only when it ran a second time.",
                hint="Run the statement again; if that does not help, store the rows in a table first and write that.",
            )

    @cached_property
    def _by_partition(self) -> Mapping[bytes, Mapping[int, IndexEntry]]:
        found: dict[bytes, dict[int, IndexEntry]] = {}
        for one in self.entries:
            found.setdefault(one.partition, {})[one.bucket] = one
        return found


def fill_rule(options: CoreOptions) -> FillRule:
    """The rule by which new keys fill buckets, from a table's options."""
    most = options.dynamic_bucket_max_buckets
    return FillRule(
        options.dynamic_bucket_target_row_num,
        options.dynamic_bucket_initial_buckets,
        None if most < 1 else most,
    )


def dynamic_buckets(
    schema: TableSchema,
    staying: Iterable[ManifestEntry],
    index: Iterable[IndexEntry],
    snapshot_id: int,
    stays: Callable[[IndexEntry], bool],
) -> DynamicBuckets:
    """The buckets as a write begins. `staying` are the live files that it keeps; `stays` says so of an index file."""
    entries = tuple(e for e in hash_entries(index) if stays(e))
    indexed = {e.bucket_id for e in entries}
    unindexed = tuple(e for e in staying if (e.partition, e.bucket) not in indexed)
    return DynamicBuckets(fill_rule(schema.core_options), snapshot_id, entries, unindexed)


def key_hashes(rows: pa.Table | pa.RecordBatch, schema: TableSchema) -> Hashes:
    """The hash of each row's key."""
    return row_hashes([rows.column(f.name) for f in schema.bucket_fields], [f.type for f in schema.bucket_fields])


def known_buckets(buckets: DynamicBuckets, target: WriteTarget, partition: bytes, hashes: Hashes) -> Buckets:
    """The bucket of each hash in a partition, -1 for those that are new."""
    found = np.full(len(hashes), -1, dtype=np.int32)
    for entry in buckets.of(partition):
        hit = contains(_hashes_of(target, entry), hashes)
        found[hit & (found < 0)] = entry.bucket
    return found


def assigned_buckets(buckets: DynamicBuckets, target: WriteTarget, partition: bytes, hashes: Hashes) -> Buckets:
    """The bucket of each hash (any order, any number of times) in one partition; new ones are assigned."""
    unique, inverse = np.unique(hashes, return_inverse=True)
    found = known_buckets(buckets, target, partition, unique)
    new = np.flatnonzero(found < 0)
    if len(new):
        rows = {e.bucket: e.row_count for e in buckets.of(partition)}
        given = shares(rows, len(new), buckets.rule)
        found[new] = np.repeat([bucket for bucket, _ in given], [number for _, number in given])
    assigned: Buckets = found[inverse]
    return assigned


def repaired(buckets: DynamicBuckets, target: WriteTarget, partitions: Sequence[bytes]) -> DynamicBuckets:
    """The same with an index file for every bucket of these partitions; missing ones are built from the keys."""
    wanted = set(partitions)
    bucket_ids = {(e.partition, e.bucket) for e in buckets.unindexed if e.partition in wanted}
    if not bucket_ids:
        return buckets
    made = tuple(
        _indexed(target, buckets, bucket_id, number)
        for number, bucket_id in enumerate(sorted(bucket_ids), len(buckets.repaired))
    )
    rest = tuple(e for e in buckets.unindexed if e.partition not in wanted)
    return replace(buckets, entries=(*buckets.entries, *made), unindexed=rest, repaired=(*buckets.repaired, *made))


def _indexed(target: WriteTarget, buckets: DynamicBuckets, bucket_id: tuple[bytes, int], number: int) -> IndexEntry:
    schema, schemas = target.schema, SchemaStore(target.io, target.paths)
    files = EntryPaths(target.paths, schema)
    columns = FileColumns(tuple(f.name for f in schema.bucket_fields))
    found = [NO_HASHES]
    for entry in buckets.unindexed:
        if (entry.partition, entry.bucket) == bucket_id:
            stored = StoredFile(files.data_file(entry), entry.file.file_size, schemas.load(entry.file.schema_id))
            found += [key_hashes(b, schema) for b in read_batches(target.io, stored, schema, columns)]
    return write_index_file(target, bucket_id, np.unique(np.concatenate(found)), f"repaired{number}")


def _hashes_of(target: WriteTarget, entry: IndexEntry) -> Hashes:
    return read_hashes(target.io, index_path(target.paths, target.schema, entry), entry.row_count)


def write_index_file(target: WriteTarget, bucket_id: tuple[bytes, int], hashes: Hashes, name: str) -> IndexEntry:
    """Write the index file of a bucket; `name` distinguishes it from others of the same write."""
    partition, bucket = bucket_id
    file_name = target.paths.new_index_file_name(target.write_id, name)
    entry = IndexEntry(partition, bucket, HASH, file_name, 0, len(hashes))
    size = write_hashes(target.io, index_path(target.paths, target.schema, entry), hashes)
    return replace(entry, file_size=size)


class KnownKeys:
    """The index of one partition in memory, for rows in several tables: keys keep the bucket they were assigned first.

    Eight bytes for each key of the partition.
    """

    def __init__(self, buckets: DynamicBuckets, target: WriteTarget, partition: bytes) -> None:
        """Read the index. Raises StorageError, CorruptMetadataError."""
        entries = buckets.of(partition)
        parts = [_hashes_of(target, e) for e in entries]
        hashes = np.concatenate([NO_HASHES, *parts])
        numbers = np.repeat(
            np.array([e.bucket for e in entries], dtype=np.int32), np.array([len(p) for p in parts], dtype=np.int64)
        )
        # If another writer put a hash into two buckets, the first one is used, as it does in `known_buckets`.
        self._hashes, first = np.unique(hashes, return_index=True)
        self._buckets: Buckets = numbers[first]
        self._rows = {e.bucket: e.row_count for e in entries}
        self._rule = buckets.rule

    def assigned(self, hashes: Hashes) -> Buckets:
        """The bucket of each hash (any order, any number of times); new ones are assigned. Raises OptionError."""
        unique, inverse = np.unique(hashes, return_inverse=True)
        new = unique[~contains(self._hashes, unique)]
        if len(new):
            given = shares(self._rows, len(new), self._rule)
            added = np.repeat([bucket for bucket, _ in given], [number for _, number in given])
            for bucket, number in given:
                self._rows[bucket] = self._rows.get(bucket, 0) + number
            merged = np.concatenate([self._hashes, new])
            order = np.argsort(merged, kind="stable")
            self._hashes = merged[order]
            self._buckets = np.concatenate([self._buckets, added.astype(np.int32)])[order]
        found: Buckets = self._buckets[np.searchsorted(self._hashes, unique)][inverse]
        return found


class HashIndex:
    """Extends the index of one bucket while its rows are written."""

    def __init__(self, target: WriteTarget, bucket_id: tuple[bytes, int], before: IndexEntry | None) -> None:
        self._target = target
        self._bucket_id = bucket_id
        self._before = before
        self._given: list[Hashes] = []

    def add(self, rows: pa.Table) -> None:
        """Add the keys of written rows."""
        self._given.append(key_hashes(rows, self._target.schema))

    def close(self, name: str) -> IndexEntry | None:
        """The bucket's new index file; None when the old one has all keys."""
        given = np.unique(np.concatenate([NO_HASHES, *self._given]))
        if self._before is not None:
            before = _hashes_of(self._target, self._before)
            new = given[~contains(before, given)]
            if not len(new):
                return None
            # Both are sorted, and a stable sort merges such runs: twenty times faster than the default one.
            given = np.sort(np.concatenate([before, new]), kind="stable")
        return write_index_file(self._target, self._bucket_id, given, name) if len(given) else None
