"""Scan planning: from a snapshot to the files a read needs, before any engine plans anything.

A *bucket scan* is what is left of one (partition, bucket) after pruning. Pruning by partition and by bucket (hash
of the key) drops whole buckets. Pruning by statistics drops single files only by the primary key, because a file
that does not hold a key cannot hide a row of it; by other columns it drops a section, since a row that fails the
predicate in one file may still hide an older one in another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tablestore_engine.errors import CorruptMetadataError, OptionError
from tablestore_engine.mergetree.compaction.levels import SortedRun
from tablestore_engine.mergetree.compaction.sections import Section, sections
from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.metadata.data_file import READ_FORMAT, DataFileMeta
from tablestore_engine.metadata.manifest import FileKind, ManifestEntry, merge_entries
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.files.deletion_vectors import (
    NO_DELETIONS,
    Deletions,
    deletions_of,
    visible_entries,
)
from tablestore_engine.operation.scan.partition_filter import PartitionChoice, PartitionFilter
from tablestore_engine.operation.scan.prune import Bounds, buckets_for, may_match
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataType
from tablestore_engine.storage.manifests import ManifestStore
from tablestore_engine.storage.paths import TablePaths
from tablestore_engine.table_state import TableState


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

    def path_of(self, paths: TablePaths, file: DataFileMeta) -> str:
        """The path of one of its files."""
        return file.path_in(paths.bucket_dir(self.partition_path, self.bucket))


@dataclass(frozen=True)
class ScanPlan:
    """What a read of one snapshot needs. `snapshot` is None for a table without one."""

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
    def row_count(self) -> int:
        """Rows in all files: an upper bound of the rows a read returns."""
        return sum(f.row_count for f in self.files)

    @cached_property
    def sections(self) -> tuple[tuple[BucketScan, Section], ...]:
        """The sections of every bucket of a keyed table."""
        return tuple((b, s) for b in self.buckets for s in sections_of(b.files, self.schema))


def sections_of(files: Sequence[DataFileMeta], schema: TableSchema) -> list[Section]:
    """The sections of a bucket's files; each file by itself where deletion vectors leave nothing to merge."""
    if schema.reads_files_alone:
        return [Section((SortedRun(f.level, (f,)),)) for f in files]
    return sections(files, [f.type for f in schema.trimmed_key_fields])


def live_entries(
    manifests: ManifestStore, snapshot: Snapshot, choice: PartitionChoice | None = None
) -> list[ManifestEntry]:
    """All live files of a snapshot, or those of some partitions.

    Raises:
        CorruptMetadataError: a manifest cannot be decoded, or a list of them adds a file twice or removes one that is
        not
            there; the message names the list.
        StorageError: metadata cannot be read.
    """
    base = _entries_of(manifests, snapshot.base_manifest_list, choice)
    delta = _entries_of(manifests, snapshot.delta_manifest_list, choice)
    live, damage = _merged([*base, *delta])
    if damage:
        of_base = _merged(base)[1]
        name = snapshot.base_manifest_list if of_base else snapshot.delta_manifest_list
        raise CorruptMetadataError(
            manifests.paths.manifest_list(name), f"in snapshot {snapshot.id}, {of_base or damage}"
        )
    return live


def _entries_of(manifests: ManifestStore, name: str, choice: PartitionChoice | None) -> list[ManifestEntry]:
    metas = manifests.read_list(name)
    if choice is None:
        return [e for meta in metas for e in manifests.read_manifest(meta.file_name)]
    return [
        e
        for meta in metas
        if choice.may_hold(meta)
        for e in manifests.read_manifest(meta.file_name)
        if choice.wants(e.partition)
    ]


def _merged(entries: Sequence[ManifestEntry]) -> tuple[list[ManifestEntry], str | None]:
    """The live files of entries from the first one of a table on, and what is wrong with them."""
    try:
        live = merge_entries(entries)
    except ValueError as error:
        return [], str(error)
    for entry in live:
        if entry.kind != FileKind.ADD:
            return [], f"file {entry.file.file_name} is removed that was never added"
    return live, None


def plan_scan(
    state: TableState,
    snapshot: Snapshot | None,
    predicate: Predicate | None = None,
    partition_filter: PartitionFilter | None = None,
) -> ScanPlan:
    """Plan a read of a snapshot, with the schema of the state.

    Raises:
        OptionError: the table has options, of another writer, that this engine would read wrongly.
    """
    schema = state.schema
    schema.core_options.refuse_unsupported(for_write=False)
    if snapshot is None:
        return ScanPlan(None, schema, ())
    choice = None
    if predicate is not None or partition_filter is not None:
        choice = PartitionChoice(schema, predicate, partition_filter)
    entries = live_entries(state.manifests, snapshot, choice)
    _refuse_retractions(entries, schema)
    buckets = readable_buckets(state, snapshot, entries)
    _refuse_formats(buckets)
    return ScanPlan(snapshot, schema, _prune(buckets, schema, predicate, state.schemas.load))


def readable_buckets(
    state: TableState, snapshot: Snapshot | None, entries: Sequence[ManifestEntry]
) -> list[BucketScan]:
    """What a read finds in some live files of a snapshot, which are whole buckets: without rows that are deleted."""
    deletions, schema = deletions_of(state, snapshot), state.schema
    return [
        replace(scan, deletions=deletions.get((scan.partition_row, scan.bucket), NO_DELETIONS)) if deletions else scan
        for scan in group_by_bucket(visible_entries(entries, schema), schema)
    ]


def _refuse_retractions(entries: Iterable[ManifestEntry], schema: TableSchema) -> None:
    """Other writers may have put retractions into tables whose functions cannot retract, or which ignore them.

    Here deletes are ignored when they are written; where the option came after them, other readers leave them out.
    """
    if not schema.primary_keys:
        return
    engine = schema.merge_engine
    if engine.reads_retractions and not engine.ignores_deletes:
        return
    for entry in entries:
        if entry.file.delete_row_count != 0:
            if engine.ignores_deletes:
                raise OptionError(
                    f"Option 'ignore-delete' = 'true' is not supported for deletes that are stored: the table's file"
                    f" {entry.file.file_name} holds some, or does not say.",
                    hint="A full compaction by the tool that wrote them leaves them out.",
                )
            raise OptionError(
                f"The table's file {entry.file.file_name} holds retractions, which its merge engine, "
                f"'{schema.merge_engine.name}', cannot take back."
            )


def _refuse_formats(buckets: Iterable[BucketScan]) -> None:
    """`file.format` may have been another one when a file was written."""
    for file in (f for bucket in buckets for f in bucket.files):
        if file.format != READ_FORMAT:
            raise OptionError(
                f"Option 'file.format' = '{file.format}' is not supported by this engine: the table's file"
                f" {file.file_name} has this format.",
                hint="A full compaction by another tool, after 'file.format' = 'parquet' was set, stores it anew.",
            )


def group_by_bucket(entries: Iterable[ManifestEntry], schema: TableSchema) -> list[BucketScan]:
    """Entries grouped by (partition, bucket)."""
    groups: dict[tuple[bytes, int], list[ManifestEntry]] = defaultdict(list)
    for entry in entries:
        groups[entry.partition, entry.bucket].append(entry)
    partition_format = PartitionFormat(schema)
    values = {row: partition_format.decode(row) for row in {row for row, _ in groups}}
    return [
        BucketScan(
            values[row],
            row,
            partition_format.path_of(row),
            bucket,
            members[0].total_buckets,
            tuple(e.file for e in members),
        )
        for (row, bucket), members in groups.items()
    ]


def _prune(
    buckets: Iterable[BucketScan],
    schema: TableSchema,
    predicate: Predicate | None,
    schemas: Callable[[int], TableSchema] | None,
) -> tuple[BucketScan, ...]:
    """What is left of buckets in wanted partitions."""
    kept = []
    chosen: dict[int, set[int] | None] = {}
    for scan in buckets:
        if scan.total_buckets not in chosen:
            chosen[scan.total_buckets] = buckets_for(predicate, schema, scan.total_buckets)
        wanted = chosen[scan.total_buckets]
        if wanted is not None and scan.bucket not in wanted:
            continue
        files = _skip_files(scan, schema, predicate, schemas)
        if files:
            kept.append(scan if len(files) == len(scan.files) else replace(scan, files=tuple(files), pruned=True))
    return tuple(kept)


def _skip_files(
    scan: BucketScan,
    schema: TableSchema,
    predicate: Predicate | None,
    schemas: Callable[[int], TableSchema] | None,
) -> list[DataFileMeta]:
    if predicate is None:
        return list(scan.files)

    def matches(file: DataFileMeta, only: frozenset[str] | None) -> bool:
        return may_match(predicate, FileBounds(file, schema, schemas).of(only))

    if not schema.primary_keys:
        return [f for f in scan.files if matches(f, None)]
    keys = frozenset(name.lower() for name in schema.primary_keys)
    files = [f for f in scan.files if matches(f, keys)]
    # A fold makes values that no file holds, also from retractions with nothing to take back.
    engine = schema.merge_engine
    return [
        f
        for section in sections_of(files, schema)
        if (engine.folds and section.needs_merge)
        or (engine.settles_retractions and any(f.delete_row_count != 0 for f in section.files))
        or any(matches(f, None) for f in section.files)
        for f in section.files
    ]


class FileBounds:
    """Statistics of one file by the current schema's column names, matched to the file's own schema by id."""

    def __init__(self, file: DataFileMeta, schema: TableSchema, schemas: Callable[[int], TableSchema] | None) -> None:
        self._file = file
        self._schema = schema
        self._own = schemas(file.schema_id) if schemas and file.schema_id != schema.id else schema

    @cached_property
    def _by_id(self) -> Mapping[int, tuple[DataType, Bounds]]:
        file, own = self._file, self._own
        names = file.value_stats_cols
        fields = own.fields if names is None else tuple(own.field(n) for n in names)
        if file.write_cols is not None and names is None:
            fields = tuple(own.field(n) for n in file.write_cols if own.has_field(n))
        types = [f.type for f in fields]
        stats = file.value_stats
        if not stats.min_values or len(stats.null_counts) != len(fields):
            return {}
        low, high = decode_row(stats.min_values, types), decode_row(stats.max_values, types)
        if len(low) != len(fields) or len(high) != len(fields):
            return {}
        return {
            f.id: (f.type, Bounds(a, b, n, file.row_count))
            for f, a, b, n in zip(fields, low, high, stats.null_counts, strict=True)
        }

    def of(self, only: frozenset[str] | None) -> Callable[[str], tuple[DataType, Bounds] | None]:
        """Bounds by column name; `only` restricts to these (lower case) columns."""

        def lookup(column: str) -> tuple[DataType, Bounds] | None:
            if (only is not None and column.lower() not in only) or not self._schema.has_field(column):
                return None
            field = self._schema.field(column)
            if all(own.id != field.id for own in self._own.fields):
                # Added after the file was written: every row reads null.
                return field.type, Bounds(None, None, self._file.row_count, self._file.row_count)
            found = self._by_id.get(field.id)
            return found if found is not None and found[0].as_nullable(True) == field.type.as_nullable(True) else None

        return lookup
