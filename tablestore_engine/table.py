"""A managed table as metadata: its schema, snapshots and files. Needs no Spark.

A `Table` is a view of the table at the moment it was loaded: the schema is frozen, snapshots are looked up when asked
for. Load it again to see a schema change.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tablestore_engine.errors import OptionError, SnapshotNotFound, StorageError
from tablestore_engine.metadata.manifests.index_manifest import IndexEntry
from tablestore_engine.metadata.manifests.manifest import ManifestEntry
from tablestore_engine.metadata.snapshot import NO_ROWS, Snapshot
from tablestore_engine.metadata.statistics import Statistics
from tablestore_engine.metadata.tag import Lifetime
from tablestore_engine.operation.commit.identity import chosen_identity
from tablestore_engine.operation.files.data_file_writer import WriteTarget, write_target
from tablestore_engine.operation.files.index_files import index_entries
from tablestore_engine.operation.history.history import load_living
from tablestore_engine.operation.history.snapshot_expire import Retention, expire_snapshots
from tablestore_engine.operation.history.tags import create_tag, delete_tag
from tablestore_engine.operation.job.write_intent import WriteIntent
from tablestore_engine.operation.read.row_count import RowCount, row_count
from tablestore_engine.operation.read.table_stats import NO_STATS, TableStats, table_stats
from tablestore_engine.operation.scan.partition_filter import PartitionFilter
from tablestore_engine.operation.scan.scan import live_entries, plan_scan, readable_buckets
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.options import CoreOptions, find_option
from tablestore_engine.schema.table.computed_columns import check_stored
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.table.schema_changes import SchemaChange
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage import clock
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.paths import TablePaths
from tablestore_engine.storage.stores.manifests import ManifestStore
from tablestore_engine.storage.stores.schemas import SchemaStore
from tablestore_engine.storage.stores.snapshots import SnapshotStore
from tablestore_engine.storage.stores.tags import TagStore, is_number
from tablestore_engine.table_state import TableState

if TYPE_CHECKING:
    import pyarrow as pa

    from tablestore_engine.operation.changelog.change_plan import ChangeRange
    from tablestore_engine.operation.history.change_range import Bound


@dataclass(frozen=True)
class Table:
    """One managed table: a facade over its state."""

    state: TableState

    @property
    def identifier(self) -> tuple[str, str]:
        """Database and name."""
        return self.state.identifier

    @property
    def name(self) -> str:
        """`database.table`."""
        return self.state.name

    @property
    def schema(self) -> TableSchema:
        """The schema of the moment when the table was loaded."""
        return self.state.schema

    @property
    def io(self) -> FileIO:
        """The file access."""
        return self.state.io

    @property
    def paths(self) -> TablePaths:
        """The names of its files."""
        return self.state.paths

    @property
    def schemas(self) -> SchemaStore:
        """All schemas."""
        return self.state.schemas

    @property
    def snapshot_store(self) -> SnapshotStore:
        """All snapshots."""
        return self.state.snapshots

    @property
    def manifests(self) -> ManifestStore:
        """The manifests."""
        return self.state.manifests

    @property
    def tags(self) -> TagStore:
        """The named snapshots."""
        return self.state.tags

    def with_schema(self, schema: TableSchema) -> Table:
        """The table with another of its schemas: to read an old snapshot, or with other options for a while."""
        return Table(self.state.with_schema(schema))

    def evolving(self, schema: TableSchema) -> Table:
        """The table with its next schema, which the commit of one write stores."""
        return Table(replace(self.state, schema=schema, evolving=True))

    def with_options(self, changes: Mapping[str, str], what: str) -> Table:
        """The table with other options for one operation, which a message calls `what`.

        Raises:
            OptionError: an unknown option, a wrong value, or an option that only the table can have.
        """
        if not changes:
            return self
        CoreOptions.parse(changes, keyed=self.schema.is_keyed)
        for key in changes:
            option = find_option(key)
            if option is None:
                raise OptionError(f"Unknown table option '{key}'.", hint="Set a property of the table by ALTER TABLE.")
            if option.immutable:
                raise OptionError(f"Option '{key}' belongs to the table and cannot be set for one {what}.")
        return self.with_schema(replace(self.schema, options={**self.schema.options, **changes}))

    @property
    def path(self) -> str:
        """The table's directory."""
        return self.paths.root

    @property
    def options(self) -> CoreOptions:
        """The parsed options."""
        return self.schema.core_options

    def latest_snapshot(self) -> Snapshot | None:
        """The newest snapshot; None for a table that was never written. Raises CorruptMetadataError: its schema is
        lost."""
        found = self.snapshot_store.latest()
        if found is not None and found.schema_id > self.schema.id:
            self.schemas.load(found.schema_id)
        return found

    def snapshots(self) -> list[Snapshot]:
        """All snapshots, oldest first. Raises CorruptMetadataError: the newest is lost."""
        self.snapshot_store.latest_id()
        return list(self.snapshot_store.iter())

    def snapshot(self, snapshot_id: int) -> Snapshot:
        """One snapshot. Raises SnapshotNotFound, whose message lists the existing ones."""
        return self.snapshot_store.load(snapshot_id)

    def snapshot_at(self, time_millis: int) -> Snapshot:
        """The newest snapshot committed at or before a time (milliseconds since 1970).

        Raises:
            SnapshotNotFound: all snapshots are later; the message says when the oldest was committed.
        """
        found = self.snapshot_store.at_or_before(time_millis)
        if found is not None:
            return found
        first = next(self.snapshot_store.iter(), None)
        when = "it has no snapshots yet" if first is None else f"the oldest is of {_utc(first.time_millis)}"
        raise SnapshotNotFound(f"Table {self.name} has no snapshot at or before {_utc(time_millis)}: {when}.")

    def schema_of(self, snapshot: Snapshot | None) -> TableSchema:
        """The schema to read a past snapshot with."""
        return self.schema if snapshot is None else self.schemas.load(snapshot.schema_id)

    def scan(
        self,
        snapshot: Snapshot | None = None,
        predicate: Predicate | None = None,
        partition_filter: PartitionFilter | None = None,
        schema: TableSchema | None = None,
    ) -> ScanPlan:
        """Plan a read of a snapshot (default: the latest)."""
        state = self.state.with_schema(schema or self.schema)
        return plan_scan(state, snapshot or self.latest_snapshot(), predicate, partition_filter)

    def live_files(self, snapshot: Snapshot | None = None) -> list[ManifestEntry]:
        """The live files of a snapshot (default: the latest)."""
        snapshot = snapshot or self.latest_snapshot()
        return live_entries(self.manifests, snapshot) if snapshot else []

    def index_files(self, snapshot: Snapshot | None = None) -> list[IndexEntry]:
        """The index files of a snapshot (default: the latest)."""
        return index_entries(self.manifests, snapshot or self.latest_snapshot())

    def statistics(self) -> TableStats:
        """Row count, sizes and other figures: from metadata, and from the keys if few rows have to merge."""
        snapshot = self.latest_snapshot()
        if snapshot is None:
            return NO_STATS
        entries = live_entries(self.manifests, snapshot)
        counted = self.count_rows(entries, snapshot)
        return table_stats(entries, counted, self.last_modified_millis(snapshot), len(self.snapshot_store.ids()))

    def count_rows(self, entries: Sequence[ManifestEntry], snapshot: Snapshot | None = None) -> RowCount:
        """The rows in some live files of a snapshot (default: the latest), which are whole buckets or partitions."""
        return row_count(self.state, self.plan_of(entries, snapshot))

    def plan_of(self, entries: Sequence[ManifestEntry], snapshot: Snapshot | None = None) -> ScanPlan:
        """A read of some live files of a snapshot (default: the latest), which are whole buckets or partitions."""
        schema = self.schema
        # The snapshot matters only for tables with deletion vectors.
        if snapshot is None and schema.core_options.deletion_vectors:
            snapshot = self.latest_snapshot()
        return ScanPlan(None, schema, tuple(readable_buckets(self.state, snapshot, entries)))

    def last_modified_millis(self, latest: Snapshot | None = None) -> int | None:
        """Time of the newest snapshot that is not a compaction; None before the first."""
        snapshot = latest or self.latest_snapshot()
        if snapshot is None:
            return None
        while snapshot.commit_kind in NO_ROWS and snapshot.id > 1:
            try:
                snapshot = self.snapshot_store.load(snapshot.id - 1)
            except SnapshotNotFound:
                break
        return snapshot.time_millis

    def write_target(self, schema: TableSchema | None = None) -> WriteTarget:
        """The target of a new write. Raises OptionError: the table has options under which this engine cannot
        write."""
        return write_target(self.state.with_schema(schema or self.schema))

    def to_arrow(
        self,
        columns: str | Sequence[str] | None = None,
        predicate: Predicate | None = None,
        snapshot: Snapshot | None = None,
    ) -> pa.Table:
        """Read rows into memory without Spark: for small tables, one column or some.

        `predicate` prunes files; rows are not filtered by it. Computed columns are left out: they need Spark.
        """
        import pyarrow as pa

        from tablestore_engine.operation.read.arrow_read import output_schema, read_rows

        plan = self.scan(snapshot, predicate)
        wanted = (columns,) if isinstance(columns, str) else columns
        check_stored(self.schema.options, wanted or ())
        names = tuple(self.schema.field(c).name for c in wanted) if wanted else self.schema.field_names
        return pa.Table.from_batches(read_rows(self.state, plan, names), output_schema(plan.schema, names))

    def changes(self, start: Bound, end: Bound | None = None, *, recorded: bool = False) -> pa.Table:
        """The changes after the snapshot `start`, up to and including `end` (default: the latest), without Spark.

        Bounds are ids of snapshots (0: before the first one), names of tags, or times. The rows have the kind of
        change in `_row_kind`, then the table's columns. `TableStore.changes` gives a DataFrame. With `recorded` they
        are those of the table's changelog files (`changelog-producer`), each change of each commit.

        Raises:
            ChangesNotFound: a snapshot has expired; the message says which there are.
            TagNotFound: no such tag. UserError: the range ends before it begins.
        """
        from tablestore_engine.operation.changelog.arrow_changes import read_changes, read_recorded
        from tablestore_engine.operation.changelog.change_plan import changelog_plan, plan_changes, recorded_commits

        between = self.change_range(start, end, recorded=recorded)
        if recorded:
            return read_recorded(self.state, changelog_plan(self.state, recorded_commits(self.state, between)))
        return read_changes(self.state, plan_changes(self.state, between))

    def read_log(
        self, scan: str | None = None, *, millis: int | None = None, follow: bool = False, normalize: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """The table through its log: its rows, then the changes of the topic; `_row_kind`, then the table's columns.

        `scan` is full, latest or from-timestamp (with `millis` since 1970); None is what the table says (`log.scan`).
        It ends where the topic ends now; with `follow` it never does, and an empty batch comes when nothing happens.
        In the mode upsert a changed row comes as `+U`; with `normalize` as `+I`, or as `-U` and `+U`, for which the
        reader holds the rows of the table in memory.

        Raises:
            LogError: the table has no log, or the brokers do not answer. OptionError: another `scan`, or no time.
        """
        from tablestore_engine.operation.log_store.read_log import read_log, start_of

        start = start_of(self.state, scan, millis)
        return read_log(self.state, start, follow=follow, normalize=normalize)

    def change_range(self, start: Bound, end: Bound | None = None, *, recorded: bool = False) -> ChangeRange:
        """The snapshots at both ends of a range of changes. Raises as `changes`."""
        from tablestore_engine.operation.history.change_range import change_range, recorded_range

        return (recorded_range if recorded else change_range)(self.state, start, end)

    def write(
        self,
        rows: pa.Table | pa.RecordBatch | Iterable[pa.RecordBatch],
        properties: Mapping[str, str] | None = None,
        *,
        commit_user: str | None = None,
        commit_identifier: int | None = None,
    ) -> Snapshot:
        """Append rows, or upsert them by key, without Spark.

        `rows` has the table's columns, in any order. A table is in memory; of batches (a `RecordBatchReader`, or any
        iterable) at most `write-buffer-total-size` is, and the rest is spilled to local disk. Returns the snapshot
        that holds them. Small due compactions run afterwards, by a separate commit.

        `commit_identifier` numbers the writes of `commit_user` (growing): a write that is sent again is not applied
        again.

        Raises:
            CommitIdentityError: no number, or a write that is so old that nobody knows whether it was applied.
            SchemaError: columns that do not fit. PrimaryKeyError: a null in a key.
            ConflictError: others replaced the table, or won every time; batches can be read once, so with them the
                first time is the only one.
        """
        from tablestore_engine.operation.commands.arrow_write import write_arrow

        intent = WriteIntent(properties=properties, identity=chosen_identity(commit_user, commit_identifier))
        return write_arrow(self.state, rows, intent)

    def alter(self, *changes: SchemaChange) -> Table:
        """Change columns, options and comments (`schema.table.schema_changes`), all or none, without rewriting a row.

        Returns the table as it is afterwards; this one keeps the schema it was loaded with.

        Raises:
            SchemaError, OptionError, ColumnNotFound, UnsupportedTypeError: a change is not possible.
            ConflictError: others keep changing the schema.
        """
        from tablestore_engine.operation.commands.alter_table import alter_table

        return Table(alter_table(self.state, changes, clock.now_millis()))

    # -- its history -----------------------------------------------------------------------------------

    def version(self, version: str | int) -> Snapshot:
        """A snapshot by its id or by its tag. Raises SnapshotNotFound, TagNotFound."""
        text = str(version).strip()
        return self.snapshot(int(text)) if is_number(text) else load_living(self.state, text)

    def create_tag(self, name: str, snapshot_id: int | None = None, retained_millis: int | None = None) -> Snapshot:
        """Name a snapshot (default: the latest), so that it does not expire, for a time or until it is deleted.

        `retained_millis` is that time; the option `tag.default-time-retained` when it is not given.

        Raises:
            SnapshotNotFound, TagAlreadyExists
            UserError: a name that is a number or cannot be one of a file.
        """
        snapshot = self.latest_snapshot() if snapshot_id is None else self.snapshot(snapshot_id)
        if snapshot is None:
            raise SnapshotNotFound(f"Table {self.name} has no snapshots yet, so there is nothing to tag.")
        if create_tag(self.state, name, snapshot, self.tag_lifetime(retained_millis)):
            return snapshot
        return self.create_tag(name, snapshot_id, retained_millis)

    def tag_lifetime(self, retained_millis: int | None = None) -> Lifetime | None:
        """The time to live of a new tag; None: until it is deleted."""
        kept = self.options.tag_default_time_retained_millis if retained_millis is None else retained_millis
        return None if kept is None else Lifetime(clock.now_millis(), kept)

    def delete_tag(self, name: str) -> None:
        """Remove a tag, and the files that only it kept. Raises TagNotFound."""
        delete_tag(self.state, name)

    def roll_back(self, version: str | int) -> Snapshot | None:
        """Restore the rows of a snapshot or tag as a new snapshot; None when the table has them already.

        Raises:
            SnapshotNotFound, TagNotFound
            ConflictError: others keep changing the table.
        """
        from tablestore_engine.operation.commands.after_commit import follow
        from tablestore_engine.operation.history.rollback import roll_back
        from tablestore_engine.operation.transaction.transaction import with_retry

        done = with_retry(lambda: roll_back(self.state, self.version(version)))
        return None if done is None else follow(done)

    def statistics_of(self, snapshot: Snapshot | None) -> Statistics | None:
        """The statistics of ANALYZE TABLE for a snapshot or an earlier one; None if it was never run."""
        if snapshot is None or snapshot.statistics is None:
            return None
        try:
            return self.state.statistics.read(snapshot.statistics)
        except StorageError as error:
            if error.missing:  # not needed to read the table, so others may have removed them
                return None
            raise

    def expire_snapshots(self, retention: Retention | None = None, now_millis: int | None = None) -> int:
        """Remove old snapshots, by default as the table's options define. Returns their number."""
        now = clock.now_millis() if now_millis is None else now_millis
        return expire_snapshots(self.state, now, retention or Retention.of(self.options))

    def remove_orphan_files(self, older_than_millis: int, *, dry_run: bool = False) -> list[str]:
        """Remove files that no snapshot and no tag names and that were last changed before a time. Returns them."""
        from tablestore_engine.operation.history.orphans import remove_orphans

        return remove_orphans(self.state, older_than_millis, dry_run=dry_run)

    def properties_of(self, snapshot: Snapshot) -> Mapping[str, str]:
        """The properties that the committer stored with a snapshot."""
        return snapshot.properties or {}

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("A Table is not a sequence of rows; use to_arrow() or TableStore.sql().")


def _utc(millis: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(millis / 1000))
