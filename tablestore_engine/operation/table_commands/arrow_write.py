"""Appending or upserting Arrow rows without Spark: one write, in this process, and one commit.

A table is in memory, so it can be written again when another commit won. Record batches can be read only once: what
does not fit into the write buffer is spilled to local disk, and a conflict is raised to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import pyarrow as pa

from tablestore_engine.errors import SchemaError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.table_commands.after_commit import follow, follow_none, sent_before
from tablestore_engine.operation.table_commands.failed_changes import naming
from tablestore_engine.operation.transaction.transaction import begin, publish, with_retry
from tablestore_engine.operation.write.align_columns import table_rows
from tablestore_engine.operation.write.bucket_assignment import partitions_of
from tablestore_engine.operation.write.check_constraints import RowConditions
from tablestore_engine.operation.write.cleanup import removed_unless_committed
from tablestore_engine.operation.write.write_buffer import BufferSizes, write_tables
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.operation.write_job.write_job import WriteJob, WriteResult
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import ANY_CASE, Resolver
from tablestore_engine.table_state import TableState

Write = Callable[[WriteJob], WriteResult]


def write_arrow(
    state: TableState,
    rows: pa.Table | pa.RecordBatch | Iterable[pa.RecordBatch],
    intent: WriteIntent = PLAIN,
    resolver: Resolver = ANY_CASE,
) -> Snapshot:
    """Write rows that have the table's columns, in any order. Returns the snapshot that holds them.
    `resolver` says which columns have the names of the table's.

    Rows that were sent before under the identity of `intent` are not written again.

    Raises:
        CommitIdentityError: it is not known whether they were sent before.
        ColumnNotFound: a column in a spelling that the session distinguishes.
        SchemaError: columns that do not fit, or a CHECK constraint that only Spark evaluates.
        ConstraintError: a row violates a CHECK constraint.
        PrimaryKeyError: a null in a key.
        UserError: keys may be in another partition, which only a write with Spark supports.
        ConflictError: others replaced the table, or won every time; batches can be read once, so their first
            attempt is the only one.
    """
    with naming("Writing to table", lambda: state.name):
        return _written(state, rows, intent, resolver)


def _written(
    state: TableState,
    rows: pa.Table | pa.RecordBatch | Iterable[pa.RecordBatch],
    intent: WriteIntent,
    resolver: Resolver,
) -> Snapshot:
    done = sent_before(state, intent.identity)
    if done is not None:
        return done
    conditions = RowConditions(state)
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    if isinstance(rows, pa.Table):
        fitting = conditions.check(_fitting(rows, state.schema, resolver))
        partitions = partitions_of(fitting, state.schema)
        return with_retry(lambda: _write(state, lambda job: write_table(job, fitting), intent, partitions))

    def stream(job: WriteJob) -> WriteResult:
        given = (pa.Table.from_batches([batch]) for batch in _batches(rows))
        tables = (conditions.check(_fitting(one, state.schema, resolver)) for one in given)
        return write_tables(job, tables, BufferSizes.of(state.options))

    return _write(state, stream, intent)


def _fitting(rows: pa.Table, schema: TableSchema, resolver: Resolver) -> pa.Table:
    for name in rows.column_names:
        resolver.check_spelling(name, schema.names.find(name) or name)
    return table_rows(rows, schema)


def _write(
    state: TableState, write: Write, intent: WriteIntent, partitions: Collection[bytes] | None = None
) -> Snapshot:
    job = begin(state, intent, state.snapshots.latest(), partitions=partitions)
    with removed_unless_committed(job.target):
        result = write(job)
    shown = follow(publish(state, job, result, Change("APPEND", base_snapshot_id=job.base_snapshot_id)))
    return shown if result.entries else follow_none(state) or shown


def _batches(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows as batches. Raises SchemaError for anything else."""
    for batch in rows if isinstance(rows, Iterable) else [rows]:
        if not isinstance(batch, pa.RecordBatch):
            raise SchemaError(
                f"Rows must be an Arrow table or record batches, and this is a {type(rows).__name__}.",
                hint="pyarrow creates a table: pa.table(columns), "
                "pa.Table.from_pylist(rows), pa.Table.from_pandas(frame).",
            )
        yield batch
