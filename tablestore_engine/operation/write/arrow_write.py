"""Appending or upserting Arrow rows without Spark: one write, in this process, and one commit.

A table is in memory, so it can be written again when another commit won. Record batches can be read once: what does
not fit into the write buffer waits on local disk, and a conflict is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Protocol

import pyarrow as pa

from tablestore_engine.errors import SchemaError
from tablestore_engine.metadata.index_manifest import IndexEntry
from tablestore_engine.metadata.manifest import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.identity import new_identity
from tablestore_engine.operation.commit.multiset_enable import schema_to_commit
from tablestore_engine.operation.files.data_file_writer import WriteTarget
from tablestore_engine.operation.write.cleanup import removed_unless_committed, with_retry
from tablestore_engine.operation.write.index_change import index_change
from tablestore_engine.operation.write.new_write import new_job
from tablestore_engine.operation.write.write import write_table
from tablestore_engine.operation.write.write_buffer import BufferSizes, write_tables
from tablestore_engine.operation.write.write_job import WriteJob, WriteResult
from tablestore_engine.operation.write.write_rows import table_rows
from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.schemas import SchemaStore

Write = Callable[[WriteJob], WriteResult]


class Writable(Protocol):
    """What is needed of a table."""

    @property
    def schema(self) -> TableSchema:
        """The schema that counts now."""

    @property
    def schemas(self) -> SchemaStore:
        """All schemas."""

    @property
    def options(self) -> CoreOptions:
        """The parsed options."""

    def latest_snapshot(self) -> Snapshot | None:
        """The newest snapshot."""

    def live_files(self, snapshot: Snapshot | None = None) -> list[ManifestEntry]:
        """The files of a snapshot."""

    def index_files(self, snapshot: Snapshot | None = None) -> list[IndexEntry]:
        """The index files of a snapshot."""

    def committer(self, schema: TableSchema | None = None) -> Committer:
        """What commits with a schema."""

    def write_target(self) -> WriteTarget:
        """Where new files are put."""

    def compact_after_commit(self, written: Collection[tuple[bytes, int]]) -> None:
        """Compact what is due in some buckets, or schedule that; never raises."""

    def expire_after_commit(self) -> None:
        """Expire what is due; never raises."""


def write_arrow(
    table: Writable,
    rows: pa.Table | pa.RecordBatch | Iterable[pa.RecordBatch],
    properties: Mapping[str, str] | None = None,
) -> Snapshot:
    """Write rows that have the table's columns, in any order. Returns the snapshot that holds them.

    Raises:
        SchemaError: columns that do not fit. PrimaryKeyError: a null in a key.
        UserError: keys may be in another partition, where only Spark looks for them.
        ConflictError: others replaced the table, or won every time; batches can be read once, so with them the first
            time is the only one.
    """
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    if isinstance(rows, pa.Table):
        fitting = table_rows(rows, table.schema)
        return with_retry(lambda: _write(table, lambda job: write_table(job, fitting), properties))

    def stream(job: WriteJob) -> WriteResult:
        tables = (table_rows(pa.Table.from_batches([batch]), table.schema) for batch in _batches(rows))
        return write_tables(job, tables, BufferSizes.of(table.options))

    return _write(table, stream, properties)


def _write(table: Writable, write: Write, properties: Mapping[str, str] | None) -> Snapshot:
    snapshot = table.latest_snapshot()
    base_snapshot_id = snapshot.id if snapshot else 0
    live, index = (table.live_files(snapshot), table.index_files(snapshot)) if snapshot else ([], [])
    job = new_job(table.write_target(), live, index, base_snapshot_id)
    with removed_unless_committed(job.target):
        result = write(job)
    entries = tuple(result.entries)
    with removed_unless_committed(job.target, result):
        change = Change("APPEND", entries, base_snapshot_id=base_snapshot_id, index=index_change(job, result))
        committed = snapshot.schema_id if snapshot else None
        schema, publisher = schema_to_commit(table.schemas, table.schema, committed, result.entries)
        written = table.committer(schema).commit(change, new_identity(table.options), properties, new_schema=publisher)
    if publisher is None:
        table.compact_after_commit({(e.partition, e.bucket) for e in entries})
    table.expire_after_commit()
    return written


def _batches(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches. Raises SchemaError for what is none."""
    for batch in rows if isinstance(rows, Iterable) else [rows]:
        if not isinstance(batch, pa.RecordBatch):
            raise SchemaError(
                f"Rows come as an Arrow table or as record batches, and this is a {type(rows).__name__}.",
                hint="pyarrow makes a table of it: pa.table(columns), "
                "pa.Table.from_pylist(rows), pa.Table.from_pandas(frame).",
            )
        yield batch
