"""The plan of a scan: the files of each bucket, and how they are merged. Values without behaviour of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tablestore_engine.mergetree.compaction.levels import SortedRun
from tablestore_engine.mergetree.compaction.sections import Section, sections
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.files.data_file_reader import StoredFile
from tablestore_engine.operation.files.deletion_vectors import (
    Deletions,
    deleted_count,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.paths import TablePaths
from tablestore_engine.table_state import TableState

_BYTES_OF_A_ROW = 4


@dataclass(frozen=True)
class BucketScan:
    """The files to read of one bucket. `partition` are the partition values in partition order.

    `pruned` says that files of it are left out, in which no row fits the predicate; `deletions` which rows of its files
    are deleted.
    """

    partition: tuple[Any, ...]
    partition_row: bytes
    partition_path: str
    bucket: int
    total_buckets: int
    files: tuple[DataFileMeta, ...]
    pruned: bool = False
    deletions: Deletions = field(default_factory=dict, compare=False)

    @property
    def id(self) -> tuple[bytes, int]:
        """The bucket's id."""
        return self.partition_row, self.bucket

    @property
    def removals(self) -> list[ManifestEntry]:
        """The DELETE of each of its files."""
        return [
            ManifestEntry(FileKind.DELETE, self.partition_row, self.bucket, self.total_buckets, f) for f in self.files
        ]

    def and_files_of(self, other: BucketScan) -> BucketScan:
        """The scan with the files of another scan of the same bucket, too."""
        names = {file.file_name for file in self.files}
        new = tuple(file for file in other.files if file.file_name not in names)
        return replace(self, files=(*self.files, *new), pruned=self.pruned and other.pruned)

    def path_of(self, paths: TablePaths, file: DataFileMeta) -> str:
        """The path of one of its files."""
        return file.path_in(paths.bucket_dir(self.partition_path, self.bucket))


@dataclass(frozen=True)
class ScanPlan:
    """The plan of a read of one snapshot. `snapshot` is None for a table without one."""

    snapshot: Snapshot | None
    schema: TableSchema
    buckets: tuple[BucketScan, ...]

    @property
    def files(self) -> list[DataFileMeta]:
        """All files, in no order."""
        return [f for b in self.buckets for f in b.files]

    @property
    def file_size(self) -> int:
        """Bytes of all files."""
        return sum(f.file_size for f in self.files)

    @property
    def input_bytes(self) -> int:
        """Bytes that say how much a query reads: those of all files, and at least four for each of their rows, because
        rows that repeat take next to nothing in a file."""
        return max(self.file_size, _BYTES_OF_A_ROW * self.row_count)

    @property
    def row_count(self) -> int:
        """Rows in all files: an upper bound of the rows a read returns."""
        return sum(f.row_count for f in self.files)

    def and_files_of(self, other: ScanPlan) -> ScanPlan:
        """The plan with the files of another plan of the same snapshot, too."""
        joined = {bucket.id: bucket for bucket in self.buckets}
        for bucket in other.buckets:
            own = joined.get(bucket.id)
            joined[bucket.id] = bucket if own is None else own.and_files_of(bucket)
        return replace(self, buckets=tuple(joined.values()))

    @cached_property
    def sections(self) -> tuple[tuple[BucketScan, Section], ...]:
        """The sections of every bucket of a keyed table."""
        return tuple((b, s) for b in self.buckets for s in sections_of(b.files, self.schema))


def sections_of(files: Sequence[DataFileMeta], schema: TableSchema) -> list[Section]:
    """The sections of a bucket's files; each file by itself where deletion vectors leave nothing to merge."""
    if schema.reads_files_alone:
        return [Section((SortedRun(f.level, (f,)),)) for f in files]
    return sections(files, [f.type for f in schema.trimmed_key_fields])


def exact_row_count(state: TableState, plan: ScanPlan) -> int | None:
    """The rows that a plan without a predicate returns; None where files have to be read for it.

    Rows of a keyed table are counted where no two runs of its files overlap and no file has retractions. Raises as
    `read_positions_of`, for vectors whose size the index manifest does not say.
    """
    schema = plan.schema
    if schema.merge_engine.rules.is_multiset or schema.crosses_partitions:
        return None
    if schema.primary_keys:
        if any(file.delete_row_count != 0 for file in plan.files):
            return None
        if any(section.needs_merge for _, section in plan.sections):
            return None
    deleted = (deleted_count(state.io, b.deletions, [f.file_name for f in b.files]) for b in plan.buckets)
    return plan.row_count - sum(deleted)


def returns_keys_once(plan: ScanPlan) -> bool:
    """Whether a read of a plan cannot return two rows of one key: it merges the files of a bucket, and another one
    cannot have the key, by its hash or because there is no other."""
    schema = plan.schema
    if not schema.is_keyed or schema.crosses_partitions:
        return False
    totals: dict[bytes, list[int]] = {}
    for bucket in plan.buckets:
        totals.setdefault(bucket.partition_row, []).append(bucket.total_buckets)
    return all(len(one) == 1 or (min(one) > 0 and len(set(one)) == 1) for one in totals.values())


def stored_file(state: TableState, bucket: BucketScan, file: DataFileMeta) -> StoredFile:
    """A file of a bucket, to read."""
    return StoredFile(bucket.path_of(state.paths, file), file.file_size, state.schemas.load(file.schema_id))
