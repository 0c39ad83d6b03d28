"""A managed table as metadata: its schema, snapshots and files. Needs no Spark.

A `Table` is a view of the table at the moment it was loaded: the schema is frozen, snapshots are looked up when asked
for. Load it again to see a schema change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tablestore_engine.errors import OptionError
from tablestore_engine.metadata.manifest_encoding.index_manifest import IndexEntry
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit_identity import chosen_identity
from tablestore_engine.operation.files.index_files import index_entries
from tablestore_engine.operation.files.rolling_writer import WriteTarget, write_target
from tablestore_engine.operation.read.row_count import RowCount, row_count
from tablestore_engine.operation.read.table_stats import NO_STATS, TableStats, table_stats
from tablestore_engine.operation.scan.partition_filter import PartitionValuesFilter
from tablestore_engine.operation.scan.plan_scan import live_entries, plan_scan, readable_buckets
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.options import CoreOptions, find_option
from tablestore_engine.schema.alter.column_options import with_names
from tablestore_engine.schema.table.check_constraints import PREFIX as CHECK
from tablestore_engine.schema.table.computed_columns import check_stored
from tablestore_engine.schema.table.deletion_vector_rules import check_recorded_as_stored
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.table.schema_changes import SchemaChange
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import ANY_CASE, Resolver
from tablestore_engine.storage import clock
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.manifest_store import ManifestStore
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore
from tablestore_engine.storage.metadata_files.tag_store import TagStore
from tablestore_engine.storage.paths import TablePaths
from tablestore_engine.table_history import TableHistory

if TYPE_CHECKING:
    import pyarrow as pa

    from tablestore_engine.operation.changelog.change_plan import ChangeRange
    from tablestore_engine.operation.history.change_range import Bound


@dataclass(frozen=True)
class Table(TableHistory):
    """One managed table: a facade over its state. `resolver` says which names are the same in the session of its
    store."""

    resolver: Resolver = field(default=ANY_CASE, compare=False, repr=False)

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

    def with_names(self, names: Sequence[str]) -> Table:
        """The table as a view shows it that calls its columns by these names; it is written under its own ones."""
        return Table(replace(self.state, schema=with_names(self.schema, names), own_schema=self.schema))

    def under_own_names(self) -> Table:
        """The table with its own names of columns."""
        own = self.state.own_schema
        return self if own is None else Table(replace(self.state, schema=own, own_schema=None))

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
            if option.immutable or key.startswith(CHECK):
                raise OptionError(f"Option '{key}' belongs to the table and cannot be set for one {what}.")
        changed = replace(self.schema, options={**self.schema.options, **changes})
        check_recorded_as_stored(self.schema, changed)
        return self.with_schema(changed)

    @property
    def path(self) -> str:
        """The table's directory."""
        return self.paths.root

    @property
    def options(self) -> CoreOptions:
        """The parsed options."""
        return self.schema.core_options

    def schema_of(self, snapshot: Snapshot | None) -> TableSchema:
        """The schema to read a past snapshot with."""
        return self.schema if snapshot is None else self.schemas.load(snapshot.schema_id)

    def present_schema_of(self, snapshot: Snapshot | None) -> TableSchema:
        """The schema to read a pinned snapshot with the columns of now; its own where another table replaced it."""
        if snapshot is None or self.state.evolving or snapshot.schema_id == self.schema.id:
            return self.schema
        same = self.schemas.are_of_one_table(snapshot.schema_id, self.schema.id)
        return self.schema if same else self.schema_of(snapshot)

    def scan(
        self,
        snapshot: Snapshot | None = None,
        predicate: Predicate | None = None,
        partition_filter: PartitionValuesFilter | None = None,
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
        from tablestore_engine.operation.table_commands.arrow_write import write_arrow

        intent = WriteIntent(properties=properties, identity=chosen_identity(commit_user, commit_identifier))
        return write_arrow(self.state, rows, intent, self.resolver)

    def alter(self, *changes: SchemaChange) -> Table:
        """Change columns, options and comments (`schema.table.schema_changes`), all or none, without rewriting a row.

        Returns the table as it is afterwards; this one keeps the schema it was loaded with.

        Raises:
            SchemaError, OptionError, ColumnNotFound, UnsupportedTypeError: a change is not possible.
            ConflictError: others keep changing the schema.
        """
        from tablestore_engine.operation.table_commands.alter_table import alter_table

        return replace(self, state=alter_table(self.state, changes, clock.now_millis()))

    def remove_orphan_files(self, older_than_millis: int, *, dry_run: bool = False) -> list[str]:
        """Remove files that no snapshot and no tag names and that were last changed before a time. Returns them.

        With `dry_run` nothing is removed.
        """
        from tablestore_engine.operation.expiration.orphan_files import find_orphans, remove_orphans

        return (find_orphans if dry_run else remove_orphans)(self.state, older_than_millis)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("A Table is not a sequence of rows; use to_arrow() or TableStore.sql().")
