"""Tables of ours, written and read by the engine without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

import pyarrow as pa

from tablestore_engine.catalog import Catalog
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.compact.auto_compaction import merge_unread, run_and_commit
from tablestore_engine.operation.compact.compact_bucket import run_compaction
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.scan.plan_scan import stored_buckets
from tablestore_engine.operation.transaction.transaction import begin, publish
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.table.schema_changes import SchemaChange
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import DataType
from tablestore_engine.table import Table

_commits = count(1)
# Of the size that the engine's clock gives; other writers count on from it.
_FIRST_SEQUENCE = 1_700_000_000_000_000 << 10
Chosen = Callable[[ManifestEntry], bool]


def everything(entry: ManifestEntry) -> bool:
    """Choose all files."""
    return True


def rows_of(schema: TableSchema, values: Sequence[Mapping[str, object]]) -> pa.Table:
    """Python rows in a schema's columns; what is left out is null."""
    arrow = pa.schema([(f.name, to_arrow_type(f.type)) for f in schema.fields])
    return pa.Table.from_pylist([{n: v.get(n) for n in arrow.names} for v in values], arrow)


def rows_of_text(ids: Iterable[int], text: str) -> list[Mapping[str, object]]:
    """Rows of an `id`, and a `text` that follows from it."""
    return [{"id": i, "text": f"{text}{i}"} for i in ids]


class OurTable:
    """One table under test, `db.name` of a warehouse; every verb makes one snapshot."""

    def __init__(self, catalog: Catalog, database: str, name: str) -> None:
        self._catalog = catalog
        self._database = database
        self._short = name
        self.name = f"{database}.{name}"
        self.warehouse = catalog.warehouse

    @classmethod
    def create(
        cls,
        catalog: Catalog,
        name: str,
        columns: Mapping[str, DataType],
        *,
        key: Sequence[str] = (),
        partition: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> OurTable:
        """Make an empty table in the database `db`."""
        triples = [(n, t, None) for n, t in columns.items()]
        schema = create_schema(triples, key, partition, dict(options or {}), comment, 1_700_000_000_000)
        catalog.create_database("db", if_not_exists=True)
        catalog.create_table("db", name, schema)
        return cls(catalog, "db", name)

    @property
    def table(self) -> Table:
        """The table as it is now."""
        return self._catalog.load_table(self._database, self._short)

    def write(self, rows: pa.Table | Sequence[Mapping[str, object]]) -> Snapshot:
        """Append, or upsert."""
        return self._commit("APPEND", self._as_table(rows))

    def delete(self, rows: pa.Table | Sequence[Mapping[str, object]]) -> Snapshot:
        """Delete by key: the rows become tombstones."""
        return self._commit("APPEND", self._as_table(rows), deletes=True)

    def overwrite(self, rows: pa.Table | Sequence[Mapping[str, object]], replaces: Chosen = everything) -> Snapshot:
        """Replace files by rows."""
        return self._commit("OVERWRITE", self._as_table(rows), replaces=replaces)

    def truncate(self, chosen: Chosen = everything) -> Snapshot:
        """Remove files."""
        return Committer(self.table.state).commit(Change("OVERWRITE", replaces=chosen), new_identity())

    def alter(self, *changes: SchemaChange) -> None:
        """Change the schema."""
        self._catalog.alter_table(self._database, self._short, changes)

    def compact(self, *, full: bool) -> Snapshot | None:
        """Compact every bucket that needs it."""
        table = self.table
        stored = stored_buckets(table.state, table.latest_snapshot())
        tasks = pick_tasks(stored, table.write_target(), table.schemas, Extent.FULL if full else Extent.DUE)
        if table.schema.core_options.deletion_vectors:
            return run_and_commit(table.state, tasks, execute_here) if tasks else None
        entries = [e for i, task in enumerate(tasks) for e in run_compaction(task, f"c{i}-").entries]
        if not entries:
            return None
        added = tuple(e for e in entries if e.kind == FileKind.ADD)
        removed = tuple(e for e in entries if e.kind == FileKind.DELETE)
        return Committer(table.state).commit(Change("COMPACT", added, removed), new_identity())

    def read(self, snapshot_id: int | None = None) -> pa.Table:
        """The rows that the engine finds."""
        table = self.table
        return table.to_arrow(snapshot=table.snapshot(snapshot_id) if snapshot_id is not None else None)

    def levels(self) -> list[int]:
        """The levels of the live files, sorted."""
        return sorted(e.file.level for e in self.table.live_files())

    def _as_table(self, rows: pa.Table | Sequence[Mapping[str, object]]) -> pa.Table:
        return rows if isinstance(rows, pa.Table) else rows_of(self.table.schema, rows)

    def _commit(self, kind: str, rows: pa.Table, *, deletes: bool = False, replaces: Chosen | None = None) -> Snapshot:
        table = self.table
        job = begin(table.state, WriteIntent(identity=new_identity()), table.latest_snapshot(), removes=replaces)
        number = max((e.file.max_sequence_number for e in table.live_files()), default=_FIRST_SEQUENCE) + 1
        job = replace(job, sequence_number=number)
        if deletes:
            kinds = pa.array([DELETE_KIND] * rows.num_rows, pa.int8())
            rows = rows.append_column(ROW_KIND_COLUMN, kinds)
        result = write_table(job, rows)
        snapshot = publish(table.state, job, result, Change(kind, replaces=replaces)).snapshot
        return merge_unread(table.state) or snapshot


def new_identity() -> CommitIdentity:
    """An identity that no other commit of these tests has."""
    return CommitIdentity("interop", next(_commits))
