"""The manifests and manifest lists of one table.

Invariant: these files have unique names and never change, so what was read once need not be read again.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from tablestore_engine.errors import CorruptMetadataError
from tablestore_engine.metadata.binary_row import decode_row, encode_row, row_arity
from tablestore_engine.metadata.manifest_encoding.block_bounds import BlockBounds, bounds_in
from tablestore_engine.metadata.manifest_encoding.data_file_meta import SimpleStats
from tablestore_engine.metadata.manifest_encoding.index_manifest import IndexEntry, decode_index, encode_index
from tablestore_engine.metadata.manifest_encoding.manifest_entry import (
    FileKind,
    ManifestEntry,
    ManifestFileMeta,
    decode_entries,
    decode_metas,
    decode_some,
    encode_entries,
    encode_metas,
)
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.schema.types.types import DataType
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.paths import TablePaths

T = TypeVar("T")

# Entries of a block. A manifest with more is sorted by partition and says the bounds of each block.
_BLOCK = 100

# Records (of a few hundred bytes each) that all tables of a process keep together.
_CACHED_RECORDS = 100_000


# A file that is read at every commit may take most of the space; a larger one would evict everything else.
_LARGEST = _CACHED_RECORDS * 3 // 4


_cache: RecentlyUsed[str, tuple[Any, ...]] = RecentlyUsed(_CACHED_RECORDS, lambda records: len(records) + 1)
"""Decoded files by path."""


def _keep(path: str, records: Sequence[Any]) -> None:
    if len(records) <= _LARGEST:
        _cache.put(path, tuple(records))


class EntryFilter(Protocol):
    """The partitions whose entries are read (`operation.scan.partition_filter`)."""

    def chosen(self, entries: Iterable[ManifestEntry]) -> list[ManifestEntry]:
        """Those of some entries that are wanted."""

    def may_hold(self, one: ManifestFileMeta | BlockBounds, /) -> bool:
        """Whether a manifest, or a block of one, may hold such entries; in doubt, yes."""


class ManifestStore:
    """Reads and writes the manifests of the table at ``paths``.

    Args:
        io: access to the files.
        paths: the table's names.
        partition_types: types of the partition columns, for the bounds that let readers skip manifests.
        compression: zstd, deflate, snappy or null.
        new_uuid: gives the part of new names that makes them unique.
    """

    def __init__(
        self,
        io: FileIO,
        paths: TablePaths,
        partition_types: Sequence[DataType] = (),
        *,
        compression: str = "zstd",
        new_uuid: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        self._io = io
        self._paths = paths
        self._types = tuple(partition_types)
        self._compression = compression
        self._new_uuid = new_uuid
        self._uuid, self._process = new_uuid(), os.getpid()
        self._numbers = itertools.count()

    @property
    def paths(self) -> TablePaths:
        """The names of the table's files."""
        return self._paths

    def _next(self) -> tuple[str, int]:
        """The two parts of a new name. A forked process does not continue the names of its parent."""
        if self._process != os.getpid():
            self._uuid, self._process = self._new_uuid(), os.getpid()
        return self._uuid, next(self._numbers)

    def write_manifest(self, entries: Sequence[ManifestEntry]) -> ManifestFileMeta:
        """Write entries, at least one, as one manifest. Returns what a manifest list says about it."""
        return self._write_encoded(entries, self._encoded(entries))

    def write_manifests(self, entries: Sequence[ManifestEntry], target_size: int) -> list[ManifestFileMeta]:
        """Write entries as manifests of about ``target_size`` bytes; none for no entries.

        Many entries are sorted by partition, those of one partition in their order, so that few manifests, and few
        blocks of them, hold entries of one partition.
        """
        if not entries:
            return []
        entries = self._by_partition(entries)
        data = self._encoded(entries)
        count = round(len(data) / target_size)
        if count <= 1:
            return [self._write_encoded(entries, data)]
        step = math.ceil(len(entries) / count)
        return [self.write_manifest(entries[at : at + step]) for at in range(0, len(entries), step)]

    def _by_partition(self, entries: Sequence[ManifestEntry]) -> Sequence[ManifestEntry]:
        if len(entries) <= _BLOCK or not self._has_bounds(entries):
            return entries
        rows = {one.partition for one in entries}
        order = {row: [(v is not None, _order(v)) for v in decode_row(row, self._types)] for row in rows}
        return sorted(entries, key=lambda one: order[one.partition])

    def _has_bounds(self, entries: Iterable[ManifestEntry]) -> bool:
        return bool(self._types) and all(row_arity(row) == len(self._types) for row in {e.partition for e in entries})

    def _encoded(self, entries: Sequence[ManifestEntry]) -> bytes:
        if len(entries) <= _BLOCK or not self._has_bounds(entries):
            return encode_entries(entries, self._compression)
        blocks = [entries[at : at + _BLOCK] for at in range(0, len(entries), _BLOCK)]
        bounds = [BlockBounds(len(block), _partition_stats(block, self._types)) for block in blocks]
        return encode_entries(entries, self._compression, bounds)

    def _write_encoded(self, entries: Sequence[ManifestEntry], data: bytes) -> ManifestFileMeta:
        name = self._paths.new_manifest_name(*self._next())
        path = self._paths.manifest(name)
        self._io.write(path, data)
        _keep(path, entries)
        return describe_manifest(name, len(data), entries, self._types)

    def read_manifest(self, name: str) -> list[ManifestEntry]:
        """The entries of a manifest.

        Raises:
            CorruptMetadataError: its file is damaged.
            StorageError: it cannot be read, for example because its snapshots have expired (``missing``).
        """
        return self._read(name, decode_entries)

    def read_manifest_of(self, name: str, wanted: EntryFilter) -> list[ManifestEntry]:
        """The entries of some partitions in a manifest. Raises like ``read_manifest``.

        Of a large manifest with bounds, only the blocks are decoded that may hold them.
        """
        path = self._paths.manifest(name)
        cached = _cache.get(path)
        return wanted.chosen(self._some(path, wanted) if cached is None else cached)

    def _some(self, path: str, wanted: EntryFilter) -> Sequence[ManifestEntry]:
        """The entries of the blocks that may hold some partitions; of a manifest without bounds all."""
        bounds: Sequence[BlockBounds] | None = _cache.get(f"{path}#")
        data = self._io.read(path) if bounds is None else b""
        try:
            if bounds is None:
                bounds = bounds_in(data)
                if bounds is None:
                    entries = decode_entries(data)
                    _keep(path, entries)
                    return entries
                _keep(f"{path}#", bounds)
            chosen = {number: f"{path}#{number}" for number, one in enumerate(bounds) if wanted.may_hold(one)}
            found = {number: _cache.get(key) for number, key in chosen.items()}
            missing = {number for number, entries in found.items() if entries is None}
            made = decode_some(data or self._io.read(path), missing) if missing else {}
        except ValueError as error:
            raise CorruptMetadataError(path, str(error)) from None
        for number, block in made.items():
            _keep(chosen[number], block)
        return [one for number, block in found.items() for one in block or made[number]]

    def write_list(self, metas: Iterable[ManifestFileMeta]) -> tuple[str, int]:
        """Write a manifest list. Returns its name and its size in bytes."""
        metas = tuple(metas)
        name = self._paths.new_manifest_list_name(*self._next())
        data = encode_metas(metas, self._compression)
        path = self._paths.manifest_list(name)
        self._io.write(path, data)
        _keep(path, metas)
        return name, len(data)

    def read_list(self, name: str) -> list[ManifestFileMeta]:
        """The manifests in a manifest list. Raises like ``read_manifest``."""
        return self._read(name, decode_metas)

    def write_index(self, entries: Sequence[IndexEntry]) -> str:
        """Write an index manifest. Returns its name."""
        name = self._paths.new_index_manifest_name(*self._next())
        path = self._paths.manifest(name)
        self._io.write(path, encode_index(entries, self._compression))
        _keep(path, entries)
        return name

    def read_index(self, name: str) -> list[IndexEntry]:
        """The entries of an index manifest. Raises like ``read_manifest``."""
        return self._read(name, decode_index)

    def delete(self, name: str) -> None:
        """Remove a manifest, list or index manifest that no snapshot names."""
        path = self._paths.manifest(name)
        _cache.drop(path)
        self._io.delete(path)

    def _read(self, name: str, decode: Callable[[bytes], list[T]]) -> list[T]:
        path = self._paths.manifest(name)
        cached = _cache.get(path)
        if cached is not None:
            return list(cached)
        data = self._io.read(path)
        try:
            records = decode(data)
        except ValueError as error:
            raise CorruptMetadataError(path, str(error)) from None
        _keep(path, records)
        return records


def describe_manifest(
    name: str, size: int, entries: Sequence[ManifestEntry], partition_types: Sequence[DataType]
) -> ManifestFileMeta:
    """The summary in a manifest list of a manifest of these entries: counts and bounds."""
    buckets = [one.bucket for one in entries]
    levels = [one.file.level for one in entries]
    added = sum(one.kind == FileKind.ADD for one in entries)
    return ManifestFileMeta(
        file_name=name,
        file_size=size,
        num_added_files=added,
        num_deleted_files=len(entries) - added,
        partition_stats=_partition_stats(entries, tuple(partition_types)),
        schema_id=max((one.file.schema_id for one in entries), default=0),
        min_bucket=min(buckets, default=None),
        max_bucket=max(buckets, default=None),
        min_level=min(levels, default=None),
        max_level=max(levels, default=None),
    )


def _partition_stats(entries: Sequence[ManifestEntry], types: tuple[DataType, ...]) -> SimpleStats:
    if any(one.partition and row_arity(one.partition) != len(types) for one in entries):
        # Some have the partition columns of before, of which these bounds would say nothing.
        nothing = encode_row((), ())
        return SimpleStats(nothing, nothing, ())
    counts: dict[bytes, int] = {}
    for one in entries:
        counts[one.partition] = counts.get(one.partition, 0) + 1
    rows = [(decode_row(partition, types), count) for partition, count in counts.items()]
    least, greatest, nulls = [], [], []
    for position in range(len(types)):
        present = [values[position] for values, _ in rows if values[position] is not None]
        least.append(min(present, key=_order, default=None))
        greatest.append(max(present, key=_order, default=None))
        nulls.append(sum(count for values, count in rows if values[position] is None))
    return SimpleStats(encode_row(least, types), encode_row(greatest, types), tuple(nulls))


def _order(value: Any) -> tuple[bool, Any]:
    # NaN is the greatest number, as it is for every reader of these bounds.
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)
