"""The changelog that a commit brings with it (`changelog-producer`), as files next to its data files.

It is made at each attempt to commit, for exactly the snapshot that the commit follows, and published with it by the
same atomic step: no change is lost or recorded twice, whichever processes commit too and wherever one dies.

* `input`: the rows of a write as they came, which its tasks have written.
* `lookup`: what an append changes in the state of the table: the keys of its files are looked up in the state before.
  With deletion vectors that is what a compaction of level 0 changes, as in Paimon: its rows can be read from then on.
* `full-compaction`: what a commit changes in the top level, which a full compaction makes anew.

Overwrites record no changes, as in Paimon. What a compaction records, schemas of the table say, not the options of
the statement that it follows: it merges rows of other writers, too. What an append records, the schema of the snapshot
says that it follows, if that is newer than the one that its process knows, and the options of its statement.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tablestore_engine.errors import StorageError
from tablestore_engine.mergetree.arrow_kernels.keyed_changes import ChangelogRows
from tablestore_engine.mergetree.merge.merge_runs import SortColumn, sort_stable
from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_SOURCE_APPEND
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.changelog.arrow_changes import changelog_rows, streamed_rows
from tablestore_engine.operation.changelog.change_plan import KeyedDiff
from tablestore_engine.operation.changelog.newest_changes import newest_changes
from tablestore_engine.operation.changelog.reach import BucketId, Reach
from tablestore_engine.operation.commit.change import Change
from tablestore_engine.operation.files.deletion_vectors import NO_DELETIONS, deletions_of
from tablestore_engine.operation.files.rolling_writer import BucketFiles, RollingWriter, WriteTarget, write_target
from tablestore_engine.operation.read.held_files import HeldRecords
from tablestore_engine.operation.scan.partition_filter import PartitionFilter
from tablestore_engine.operation.scan.plan_scan import group_by_bucket, live_entries
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.operation.scan.whole_records import with_whole_records
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.system_columns import SEQUENCE_NUMBER, VALUE_KIND, key_field
from tablestore_engine.table_state import TableState

Buckets = Mapping[BucketId, BucketScan]


@dataclass(frozen=True)
class Input:
    """The changelog that a write has made of its rows. The files are those of the write, which removes them if it
    fails."""

    made: tuple[ManifestEntry, ...]

    def files(self, latest: Snapshot | None, entries: Sequence[ManifestEntry]) -> list[ManifestEntry]:
        """The files of the write."""
        return list(self.made)

    def remove(self, entries: Sequence[ManifestEntry]) -> None:
        """Nothing: another attempt needs them."""


@dataclass(frozen=True)
class Producer:
    """Makes the changelog of one commit.

    `level`: only files at this level and above count as the state; with 0 all do. With deletion vectors these are the
    files above level 0, without the rows that are marked as deleted.
    """

    state: TableState
    target: WriteTarget
    level: int

    def files(self, latest: Snapshot | None, entries: Sequence[ManifestEntry]) -> list[ManifestEntry]:
        """Write the changelog of a commit that follows `latest` and changes files by `entries`. Returns its files."""
        states = self._states_read_alone if self.target.schema.reads_files_alone else self._states
        holders, was, became = states(latest, entries)
        written: list[ManifestEntry] = []
        try:
            for bucket_id, scan in holders.items():
                written += self._write(scan, was.get(bucket_id), became.get(bucket_id))
        except BaseException:
            self.remove(written)
            raise
        return written

    def _states(self, latest: Snapshot | None, entries: Sequence[ManifestEntry]) -> tuple[Buckets, Buckets, Buckets]:
        """The files whose keys may have changed, and the state before and after."""
        changed = [e for e in entries if e.file.level >= self.level]
        ids = {(e.partition, e.bucket) for e in changed}
        before = self._live(latest, ids)
        # A compaction merges files from below into the state, and its result is what they and the state are together:
        # so the large files of the state are read once. An append adds files to it.
        merged = [e for e in entries if e.file.level < self.level and e.kind == FileKind.DELETE]
        holders = [e for e in merged if (e.partition, e.bucket) in ids]
        removed: set[Hashable] = set()
        if not holders:
            removed = {e.identifier for e in changed if e.kind == FileKind.DELETE}
            holders = [e for e in changed if e.kind == FileKind.ADD]
        after = [*(e for e in before if e.identifier not in removed), *holders]
        return self._by_bucket(holders), self._by_bucket(before), self._by_bucket(after)

    def _states_read_alone(
        self, latest: Snapshot | None, entries: Sequence[ManifestEntry]
    ) -> tuple[Buckets, Buckets, Buckets]:
        """The same with deletion vectors: changes are those of the keys that a compaction finds at level 0, and the
        rows that these have now are in the files that it makes. An append may fill buckets that were empty.

        What is found there is recorded if the schema that it was written with left that to compactions; or if the table
        is one now whose compactions record, and its own commit has not recorded it.
        """
        added = [e for e in entries if e.kind == FileKind.ADD and e.file.level >= self.level]
        waited = [e for e in entries if e.kind == FileKind.DELETE and e.file.level < self.level]
        schemas = self.state.schemas
        # This process may know the table with older options.
        now = (schemas.latest(latest.schema_id) if latest and waited else None) or self.target.schema
        holders = [e for e in waited if now.records_merged(schemas.load(e.file.schema_id))]
        if all(e.kind == FileKind.ADD for e in entries):
            holders = added
        ids = {(e.partition, e.bucket) for e in holders}
        deletions = deletions_of(self.state, latest) if ids else {}
        before = self._by_bucket(self._live(latest, ids))
        marked = {one: replace(scan, deletions=deletions.get(one, NO_DELETIONS)) for one, scan in before.items()}
        return self._by_bucket(holders), marked, self._by_bucket(added)

    def _live(self, latest: Snapshot | None, ids: Collection[BucketId]) -> list[ManifestEntry]:
        """The files of the state in some buckets."""
        choice = PartitionFilter.of(self.state.schema, {partition for partition, _ in ids})
        live = live_entries(self.state.manifests, latest, choice) if latest and ids else []
        return [e for e in live if (e.partition, e.bucket) in ids and e.file.level >= self.level]

    def remove(self, entries: Sequence[ManifestEntry]) -> None:
        """Remove the files of a changelog whose commit failed."""
        for scan in self._by_bucket(entries).values():
            for file in scan.files:
                with suppress(StorageError):
                    self.target.io.delete(scan.path_of(self.target.paths, file))

    def _by_bucket(self, entries: Sequence[ManifestEntry]) -> dict[BucketId, BucketScan]:
        buckets = group_by_bucket(entries, self.target.schema)
        return {b.id: b for b in with_whole_records(self.state.with_schema(self.target.schema), buckets)}

    def _write(self, keys: BucketScan, before: BucketScan | None, after: BucketScan | None) -> list[ManifestEntry]:
        """Write the changes of one bucket."""
        schema = self.target.schema
        bucket_files = BucketFiles(keys.partition_path, keys.bucket, 0, FILE_SOURCE_APPEND, changelog=True)
        writer = RollingWriter(self.target, bucket_files, f"{keys.partition_row.hex()[-16:]}-{keys.bucket}-")
        was, became = (ScanPlan(None, schema, (one,) if one else ()) for one in (before, after))
        changed_files = ScanPlan(None, schema, (keys,))
        reach = Reach(changed_files)
        plan = KeyedDiff(reach.within(was), reach.within(became), changed_files)
        number = max((f.max_sequence_number for f in keys.files), default=0)
        try:
            if before is not None:
                # A full compaction replaces the files that it looks keys up in; appends use the same ones again.
                held = HeldRecords(0 if self.level else self.state.options.lookup_cache_max_memory_size)
                _append(writer, schema, self._changes(plan, held), number)
            else:
                # Nothing was there: the rows need not be held.
                for rows in streamed_rows(self.state, plan.after):
                    _append(writer, schema, ChangelogRows(rows, np.zeros(rows.num_rows, np.int8)), number)
            files = writer.close()
        except BaseException:
            writer.abort()
            raise
        return [ManifestEntry(FileKind.ADD, keys.partition_row, keys.bucket, keys.total_buckets, f) for f in files]

    def _changes(self, plan: KeyedDiff, held: HeldRecords) -> ChangelogRows:
        """The changes of one bucket, in the order of keys."""
        schema = self.target.schema
        found = newest_changes(self.state, plan, _compared(schema), held)
        if found is None:
            found = changelog_rows(self.state, plan, _compared(schema), held)
            rows = found.rows.append_column(VALUE_KIND.name, pa.array(found.kinds, pa.int8()))
            rows = sort_stable(rows, [SortColumn(f.name) for f in schema.trimmed_key_fields])
            found = ChangelogRows(rows.drop_columns([VALUE_KIND.name]), rows.column(VALUE_KIND.name).to_numpy())
        return found


def _compared(schema: TableSchema) -> tuple[str, ...] | None:
    """The columns of which one must have changed for an update to be recorded: none if every row counts that was
    written again."""
    options = schema.core_options
    if not options.row_deduplicate:
        return ()
    ignored = set(options.row_deduplicate_ignore_fields)
    # Of a row without other columns, the key says everything.
    return tuple(name for name in schema.field_names if name not in ignored) or schema.primary_keys


def _append(writer: RollingWriter, schema: TableSchema, changes: ChangelogRows, number: int) -> None:
    """Write changes, which are in the order of keys, as records of the table."""
    if not changes.rows.num_rows:
        return
    rows = changes.rows.append_column(VALUE_KIND.name, pa.array(changes.kinds, pa.int8()))
    for field in schema.trimmed_key_fields:
        rows = rows.append_column(key_field(field).name, rows.column(field.name))
    writer.write(rows.append_column(SEQUENCE_NUMBER.name, pa.repeat(pa.scalar(number, pa.int64()), rows.num_rows)))


@dataclass(frozen=True)
class _OfCommit(ABC):
    """Makes the changelog of a commit by the schema of the snapshot that it follows, which this process may not
    know."""

    state: TableState

    def files(self, latest: Snapshot | None, entries: Sequence[ManifestEntry]) -> list[ManifestEntry]:
        """As `Producer.files`."""
        producer = self._producer(latest)
        return producer.files(latest, entries) if producer else []

    def remove(self, entries: Sequence[ManifestEntry]) -> None:
        """As `Producer.remove`."""
        Producer(self.state, write_target(self.state), 0).remove(entries)

    @abstractmethod
    def _producer(self, latest: Snapshot | None) -> Producer | None:
        """The maker for a commit after a snapshot; None when there is nothing to record."""


class OfCompaction(_OfCommit):
    """Makes the changelog of a compaction, which also merges what others wrote, with columns that this process may not
    know. The options of the statement that it follows say nothing about that."""

    def _producer(self, latest: Snapshot | None) -> Producer | None:
        # No live file has a newer schema than the snapshot.
        schema = self.state.schemas.load(max(self.state.schema.id, latest.schema_id if latest else 0))
        state, options = self.state.with_schema(schema), schema.core_options
        if schema.reads_files_alone:
            return Producer(state, write_target(state), 1)
        if options.change_tracking and options.changelog_producer == "full-compaction":
            return Producer(state, write_target(state), options.num_levels - 1)
        return None


@dataclass(frozen=True)
class OfAppend(_OfCommit):
    """Makes the changelog of an append, whose process may know the table without its newest columns, and with older
    options: the rows that it replaces have all columns, and what the table records by now is recorded.

    `is_new`: the schema comes with the commit, which fails if others made one.
    """

    is_new: bool = False

    def _producer(self, latest: Snapshot | None) -> Producer | None:
        known, schema = self.state.schema, self._newest(latest)
        options, state = schema.core_options, self._with(schema)
        if known.reads_files_alone:
            # Rows that wait at level 0 are recorded as their writer knew the table.
            return Producer(state, write_target(state), 1) if known.records_when_compacted else None
        if not options.change_tracking:
            return None
        if options.changelog_producer == "full-compaction":
            # Options of a statement may give its files another level; compactions know those of the table alone.
            stored = schema if self.is_new else self.state.schemas.load(schema.id)
            return Producer(state, write_target(state), stored.core_options.num_levels - 1)
        # Tasks that knew the producer input have made a changelog themselves.
        missed = options.changelog_producer == "input" and known.core_options.changelog_producer != "input"
        looks_up = missed or options.changelog_producer == "lookup"
        return Producer(state, write_target(state), 0) if looks_up else None

    def _newest(self, latest: Snapshot | None) -> TableSchema:
        """The schema that the table has by now, with the options of the statement. No live file has a newer one."""
        known, schemas = self.state.schema, self.state.schemas
        if self.is_new or latest is None or latest.schema_id <= known.id:
            return known
        newest, stored = schemas.load(latest.schema_id), schemas.load(known.id)
        given = {key: value for key, value in known.options.items() if stored.options.get(key) != value}
        return replace(newest, options={**newest.options, **given})

    def _with(self, schema: TableSchema) -> TableState:
        if not self.is_new:
            return self.state.with_schema(schema)
        # It is written right before the snapshot.
        return replace(self.state, schemas=self.state.schemas.knowing(schema))


def producer_of(state: TableState, change: Change, *, is_new: bool = False) -> OfAppend | OfCompaction | None:
    """The maker of the changelog of a commit; None when it has none. `is_new`: its schema comes with it."""
    if not state.schema.primary_keys or change.kind not in ("APPEND", "COMPACT"):
        return None
    return OfCompaction(state) if change.kind == "COMPACT" else OfAppend(state, is_new)
