"""The state of one managed table: its schema, and the stores of everything else in its folder.

It is what the operations take. A state belongs to the moment when the table was loaded: the schema is frozen;
snapshots, tags and plans are read on demand. It decides nothing; `tablestore_engine.table.Table`
is the same for users, with verbs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.expressions.expression import ReadExpression
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.analyze_statistics_store import StatisticsStore
from tablestore_engine.storage.metadata_files.changelog_store import ChangelogStore
from tablestore_engine.storage.metadata_files.compaction_timeline import TimelineStore
from tablestore_engine.storage.metadata_files.manifest_store import ManifestStore
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore
from tablestore_engine.storage.metadata_files.tag_store import TagStore
from tablestore_engine.storage.paths import TablePaths


@dataclass(frozen=True)
class TableState:
    """One table with one schema. `identifier` is (database, name)."""

    identifier: tuple[str, str]
    io: FileIO
    paths: TablePaths
    schema: TableSchema
    schemas: SchemaStore = field(compare=False)
    snapshots: SnapshotStore = field(compare=False)
    evolving: bool = False  # the schema is not stored yet: the commit of the write stores it
    read_expression: ReadExpression | None = field(default=None, compare=False)  # for writes without Spark
    own_schema: TableSchema | None = None  # the table's schema, where `schema` has the names of a view

    @property
    def name(self) -> str:
        """`database.table`, for messages."""
        return ".".join(self.identifier)

    @property
    def options(self) -> CoreOptions:
        """The parsed options."""
        return self.schema.core_options

    @cached_property
    def manifests(self) -> ManifestStore:
        """The manifests. The partition columns of the schema are those of the manifests that are written."""
        # Rows of earlier partition columns may be as long as these columns are many: then no manifest has bounds.
        types = [] if self.schema.partition_fill else [f.type for f in self.schema.partition_fields]
        return ManifestStore(self.io, self.paths, types, compression=self.options.manifest_compression)

    @cached_property
    def tags(self) -> TagStore:
        """The named snapshots."""
        return TagStore(self.io, self.paths)

    @cached_property
    def changelogs(self) -> ChangelogStore:
        """The changelogs that outlive their snapshots."""
        return ChangelogStore(self.io, self.paths)

    @cached_property
    def statistics(self) -> StatisticsStore:
        """The statistics of ANALYZE TABLE."""
        return StatisticsStore(self.io, self.paths)

    @cached_property
    def timeline(self) -> TimelineStore:
        """The scheduled compactions."""
        return TimelineStore(self.io, self.paths)

    def with_schema(self, schema: TableSchema) -> TableState:
        """The table with another of its schemas."""
        return self if schema is self.schema else replace(self, schema=schema)
