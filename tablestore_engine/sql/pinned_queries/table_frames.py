"""The rows of one table in a query, as a DataFrame: planned now, or kept from an earlier statement.

A kept frame serves later statements as long as the table, its schema and the predicate are the same.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tablestore_engine.errors import OptionError, StorageError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.scan.cast_columns import without_casts
from tablestore_engine.operation.scan.explain_scan import scan_text
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.schema.table.predicate import Predicate, columns_of
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.spark.changelog.read_changes import READ_OPTIONS, read_incremental
from tablestore_engine.spark.queries.frame_cache import FrameCache
from tablestore_engine.spark.queries.table_cache import keep, kept
from tablestore_engine.spark.read.computed_columns import with_computed
from tablestore_engine.spark.read.hidden_columns import read_with_hidden
from tablestore_engine.spark.read.merge_on_read import read_plan
from tablestore_engine.sql.pinned_views.bound_reads import BoundReads
from tablestore_engine.sql.query.bind import TableReference
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class _Kept:
    """A frame of stored columns with the bytes that a query reads for it, and those files in which Spark finds no rows
    once they are empty."""

    rows: tuple[DataFrame, int]
    orc_files: tuple[str, ...]


_FRAMES: FrameCache[_Kept] = FrameCache()


@dataclass(frozen=True)
class TableRead:
    """One table as a query names it: its snapshot, the schema to read it with, and what the query asks for.

    `correlated`: see `read_plan`.
    """

    table: Table
    snapshot: Snapshot | None
    schema: TableSchema
    reference: TableReference
    correlated: frozenset[str] | None = None

    @property
    def predicate(self) -> Predicate | None:
        """The conditions of the query on columns of the table, without casts."""
        return without_casts(self.reference.predicate, self.schema)

    def plan(self) -> ScanPlan:
        """The files that the query needs."""
        return self.table.scan(self.snapshot, self.predicate, schema=self.schema)

    def explained(self, plan: ScanPlan) -> str:
        """The line of EXPLAIN about the scan, with the files that it leaves out."""
        return scan_text(self.table.name, self.table.live_files(self.snapshot), plan, self.predicate)

    def frame(self, spark: SparkSession, plan: ScanPlan) -> tuple[DataFrame, int]:
        """The rows, and the bytes that the query reads for them."""
        return with_computed(self._stored(spark, plan), self.schema), plan.input_bytes

    def _stored(self, spark: SparkSession, plan: ScanPlan) -> DataFrame:
        """The rows without computed columns. Only these are kept: Spark gives an expression the time zone, and other
        settings, that the session has when its frame is made."""
        predicate, hidden = self.predicate, self.reference.hidden
        if hidden:
            return read_with_hidden(spark, self.table, plan, predicate, hidden)
        filtered = frozenset(name.lower() for name in (() if predicate is None else columns_of(predicate)))
        return read_plan(spark, self.table, plan, predicate, self._named, correlated=self.correlated, filtered=filtered)

    @property
    def _named(self) -> frozenset[str] | None:
        """The names of the query, where files of several schemas may be read by fewer scans for them; None where
        merging or computed columns read others, too."""
        schema, columns = self.schema, self.reference.columns
        if not schema.id or columns is None or schema.primary_keys or computed_columns(schema.options):
            return None
        if schema.merge_engine.rules.is_multiset:
            return None
        return columns & {name.lower() for name in schema.field_names} or None

    def cached_frame(self, spark: SparkSession) -> tuple[DataFrame, int] | None:
        """The rows of the whole table and the bytes that reading it takes, if CACHE TABLE keeps them and the query may
        use them."""
        snapshot, reference = self.snapshot, self.reference
        if snapshot is None or reference.options or reference.time_travel is not None or reference.hidden:
            return None
        state = state_of(self.table, snapshot, self.schema)
        cached = kept(spark, self.table.path, state, lambda: _whole(spark, self.table, snapshot))
        return None if cached is None else (with_computed(cached.frame, self.schema), cached.file_size)

    def kept_frame(self, spark: SparkSession) -> tuple[DataFrame, int, bool]:
        """The same, from an earlier statement where nothing that they depend on has changed; and whether a later one
        may read these rows without a look at what has changed."""
        snapshot, reference = self.snapshot, self.reference
        if snapshot is None or reference.options or self.table.state.evolving:
            return *self.frame(spark, self.plan()), not (reference.options or self.table.state.evolving)
        cached = self.cached_frame(spark)
        if cached is not None:
            return *cached, False
        state = state_of(self.table, snapshot, self.schema)
        nested = None if self.correlated is None else self.correlated & self.schema.nested_names
        key = (*state, repr(self.predicate), reference.hidden, self._named, nested)
        found = _FRAMES.get(spark, key, lambda: self._to_keep(spark))
        if any(_is_empty(self.table, path) for path in found.orc_files):
            return *self.frame(spark, self.plan()), False  # names the file
        rows, size = found.rows
        return with_computed(rows, self.schema), size, not found.orc_files

    def reads(self, size: int, *, lasts: bool) -> BoundReads:
        """The reads of rows of that many bytes. `lasts`: see `kept_frame`."""
        table, reference = self.table, self.reference
        return BoundReads(
            sizes={(*table.identifier, reference.asked): size},
            states={table.identifier: read_state(table, self.snapshot)},
            varies=not lasts or reference.time_travel is not None,
            looks_up=bool(reference.joined),
            nested=self.schema.nested_names,
        )

    def _to_keep(self, spark: SparkSession) -> _Kept:
        plan = self.plan()
        files = ((b.path_of(self.table.paths, f), f) for b in plan.buckets for f in b.files)
        kept = (self._stored(spark, plan), plan.input_bytes)
        return _Kept(kept, tuple(path for path, file in files if file.file_name.endswith(".orc")))


def cached_rows(spark: SparkSession, table: Table, snapshot: Snapshot, level: str) -> DataFrame:
    """Keep the rows of a table in memory, and return them."""
    state = state_of(table, snapshot, table.schema)
    return keep(spark, table.path, level, state, lambda: _whole(spark, table, snapshot)).frame


def _is_empty(table: Table, path: str) -> bool:
    try:
        return table.io.size(path) == 0
    except StorageError:
        return False  # the scan says what is wrong with it


def _whole(spark: SparkSession, table: Table, snapshot: Snapshot) -> tuple[DataFrame, int]:
    plan = table.scan(snapshot)
    return read_plan(spark, table, plan), plan.input_bytes


def incremental_rows(spark: SparkSession, table: Table, reference: TableReference) -> DataFrame:
    """The rows that a range of snapshots added or changed."""
    asked = {key: value for key, value in reference.options if key in READ_OPTIONS}
    if reference.time_travel is not None:
        asks = f"'{next(iter(asked))}' asks for what changed in a range of time"
        raise OptionError(f"The table is read at one time, and {asks}.")
    others = {key: value for key, value in reference.options if key not in asked}
    table = table.with_options(others, "query")
    frame = read_incremental(spark, table, asked, without_casts(reference.predicate, table.schema))
    return with_computed(frame, table.schema)


def read_state(table: Table, snapshot: Snapshot | None) -> Hashable:
    """The state on which the rows that a query reads of a table depend, for comparison."""
    return (table.path, table.schema) if snapshot is None else (state_of(table, snapshot, table.schema), table.schema)


def state_of(table: Table, snapshot: Snapshot, schema: TableSchema) -> tuple[Hashable, ...]:
    """The state on which the rows of a table depend, for comparison."""
    identity = (snapshot.commit_user, snapshot.commit_identifier, snapshot.time_millis)
    return (table.path, snapshot.id, *identity, schema.id)
