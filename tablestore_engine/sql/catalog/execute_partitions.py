"""ALTER TABLE … DROP PARTITION."""

from __future__ import annotations

from tablestore_engine.errors import NotFoundError
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.table_commands.metadata_commands import drop_partitions as drop
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.sql.catalog.execute_context import CatalogContext, done
from tablestore_engine.sql.catalog.partition_spec import static_values
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.partition import DropPartitions


def drop_partitions(
    statement: DropPartitions, context: CatalogContext, intent: WriteIntent = PLAIN
) -> StatementResult | None:
    """Remove partitions with their rows, all in one commit; None where rows of other partitions are in the same files.

    Raises:
        SqlError: the table has no such partition columns.
        NotFoundError: there is no such partition, unless IF EXISTS; nothing was removed.
    """
    table = context.table(statement.table, "ALTER TABLE")
    live = {entry.partition for entry in table.live_files()}
    partition_format = PartitionFormat(table.schema)
    chosen: set[bytes] = set()
    for spec in statement.partitions:
        wanted = static_values(table.schema, spec, context.resolver)
        by_index = {table.schema.partition_keys.index(name): value for name, value in wanted.items()}
        if any(partition_format.splits(by_index, row) for row in live):
            return None
        found = {row for row in live if partition_format.covers(by_index, row)}
        if not found and not statement.if_exists:
            text = ", ".join(f"{name} = {value}" for name, value in wanted.items())
            raise NotFoundError(f"Table {table.name} has no partition ({text}).", hint="Use DROP IF EXISTS PARTITION.")
        chosen |= found
    drop(table.state, chosen, intent)
    return done("DROP PARTITION")
