"""Changes of a whole table or of partitions that write no rows: each is one commit."""

from __future__ import annotations

from collections.abc import Collection

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.identity import new_identity
from tablestore_engine.operation.commit.replace import next_schema, replace_all
from tablestore_engine.operation.history.partition_expire import removal_of
from tablestore_engine.operation.job.write_intent import WriteIntent
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.table_state import TableState


def replace_empty(state: TableState, wanted: TableSchema) -> Snapshot:
    """Make a table empty, with another schema.

    Raises:
        ConflictError: others changed the schema meanwhile; run it again on the current one.
    """
    schema = next_schema(state.schema, wanted, state.schemas.list_ids()[-1])
    intent = WriteIntent(identity=new_identity(schema.core_options, "replace"))
    return publish_change(state, replace_all(state.schema, schema), intent, schema)


def drop_partitions(state: TableState, partitions: Collection[bytes]) -> Snapshot | None:
    """Remove partitions, given as BinaryRows, in one commit; None when there is nothing to remove.

    Rows that others commit to them before are removed, too.
    """
    if not partitions:
        return None
    intent = WriteIntent(identity=new_identity(state.options, "drop-partition"))
    return publish_change(state, removal_of(partitions), intent)
