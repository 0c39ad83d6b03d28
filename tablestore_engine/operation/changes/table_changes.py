"""Changes of a whole table or of partitions that write no rows: each is one commit, and what follows it."""

from __future__ import annotations

from collections.abc import Collection

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.changes.after_commit import follow
from tablestore_engine.operation.commit.identity import new_identity
from tablestore_engine.operation.commit.replace import next_schema, replace_all
from tablestore_engine.operation.history.partition_expire import PartitionRetention, drop, removal_of, remove_expired
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
    return follow(publish_change(state, replace_all(state.schema, schema), intent, schema))


def drop_partitions(state: TableState, partitions: Collection[bytes]) -> Snapshot | None:
    """Remove partitions, given as BinaryRows, in one commit; None when there is nothing to remove.

    Rows that others commit to them before are removed, too.
    """
    return follow(drop(state, removal_of(partitions))) if partitions else None


def expire_partitions(
    state: TableState, retention: PartitionRetention, now_millis: int, *, strict: bool = False
) -> list[str]:
    """Remove the partitions that are due. Returns their directories, such as `dt=2024-01-01/hr=3`.

    Arguments and errors are those of `remove_expired`.
    """
    expired = remove_expired(state, retention, now_millis, strict=strict)
    if expired.committed is not None:
        follow(expired.committed)
    return list(expired.paths)
