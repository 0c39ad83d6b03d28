"""Scan planning: from a snapshot to the files a read needs, before any engine plans anything.

A *bucket scan* is what is left of one (partition, bucket) after pruning. Pruning by partition and by bucket (hash
of the key) drops whole buckets. Pruning by statistics drops single files only by the primary key, because a file
that does not hold a key cannot hide a row of it; by other columns it drops a section, since a row that fails the
predicate in one file may still hide an older one in another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from tablestore_engine.errors import CorruptMetadataError, OptionError
from tablestore_engine.metadata.manifest_encoding.data_file_meta import READ_FORMATS, DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry, merge_entries
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.files.deletion_vectors import (
    NO_DELETIONS,
    deletions_of,
    visible_entries,
)
from tablestore_engine.operation.scan.file_index_skipping import FileIndexes
from tablestore_engine.operation.scan.file_skipping import IndexTest, skip_buckets
from tablestore_engine.operation.scan.partition_filter import PartitionFilter, PartitionValuesFilter
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.operation.scan.whole_records import with_whole_records
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.metadata_files.manifest_store import ManifestStore
from tablestore_engine.table_state import TableState


def live_entries(
    manifests: ManifestStore, snapshot: Snapshot, choice: PartitionFilter | None = None
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


def _entries_of(manifests: ManifestStore, name: str, choice: PartitionFilter | None) -> list[ManifestEntry]:
    metas = manifests.read_list(name)
    if choice is None:
        return [e for meta in metas for e in manifests.read_manifest(meta.file_name)]
    return [e for meta in metas if choice.may_hold(meta) for e in manifests.read_manifest_of(meta.file_name, choice)]


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
    partition_filter: PartitionValuesFilter | None = None,
    named: Collection[bytes] | None = None,
) -> ScanPlan:
    """Plan a read of a snapshot, with the schema of the state. `named` are the only partitions to read, as BinaryRows.

    Raises:
        OptionError: the table has options, of another writer, that this engine would read wrongly.
    """
    schema = state.schema
    schema.core_options.check_readable()
    if snapshot is None:
        return ScanPlan(None, schema, ())
    choice = PartitionFilter.of(schema, named)
    if partition_filter is not None or (predicate is not None and schema.partition_keys):
        choice = PartitionFilter(schema, predicate, partition_filter, named)
    entries = live_entries(state.manifests, snapshot, choice)
    _refuse_retractions(entries, schema)
    buckets = readable_buckets(state, snapshot, entries)
    refuse_formats(buckets)
    kept = skip_buckets(buckets, schema, predicate, state.schemas.load, _index_test(state, predicate))
    return ScanPlan(snapshot, schema, tuple(with_whole_records(state, kept)))


def _index_test(state: TableState, predicate: Predicate | None) -> IndexTest:
    indexes = FileIndexes(state.io, state.schema, state.schemas.load)

    def may_match(scan: BucketScan, file: DataFileMeta, only: frozenset[str] | None) -> bool:
        directory = state.paths.bucket_dir(scan.partition_path, scan.bucket)
        return predicate is None or indexes.may_match(predicate, directory, file, only)

    return may_match


def readable_buckets(
    state: TableState, snapshot: Snapshot | None, entries: Sequence[ManifestEntry]
) -> list[BucketScan]:
    """The scans of some live files of a snapshot, which are whole buckets: without rows that are deleted."""
    return _with_deletions(state, snapshot, visible_entries(entries, state.schema))


def stored_buckets(
    state: TableState,
    snapshot: Snapshot | None,
    partition_filter: PartitionValuesFilter | None = None,
    named: Collection[bytes] | None = None,
) -> list[BucketScan]:
    """All files of a snapshot, or those of some partitions, as a compaction takes them: also those that reads leave out
    until it has merged them. See `plan_scan`."""
    if not state.schema.reads_files_alone:
        return list(plan_scan(state, snapshot, partition_filter=partition_filter, named=named).buckets)
    if snapshot is None:
        return []
    choice = PartitionFilter.of(state.schema, named)
    if partition_filter is not None:
        choice = PartitionFilter(state.schema, None, partition_filter, named)
    entries = live_entries(state.manifests, snapshot, choice)
    refuse_formats(group_by_bucket(entries, state.schema))
    return _with_deletions(state, snapshot, entries)


def _with_deletions(state: TableState, snapshot: Snapshot | None, entries: Sequence[ManifestEntry]) -> list[BucketScan]:
    deletions = deletions_of(state, snapshot)
    return [
        replace(scan, deletions=deletions.get((scan.partition_row, scan.bucket), NO_DELETIONS)) if deletions else scan
        for scan in group_by_bucket(entries, state.schema)
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


def refuse_formats(buckets: Iterable[BucketScan]) -> None:
    """Raise OptionError for a file of a format that is not read: `file.format` may have been another one."""
    for file in (f for bucket in buckets for f in bucket.files):
        if file.format not in READ_FORMATS:
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
