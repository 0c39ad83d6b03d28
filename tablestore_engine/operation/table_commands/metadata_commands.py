"""Commands on a whole table or on partitions that write no rows: each is one commit, and what follows it."""

from __future__ import annotations

from collections.abc import Collection

from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.commit.replace_table import everything, next_schema, replace_all
from tablestore_engine.operation.expiration.changelog_expire import expire_changelogs
from tablestore_engine.operation.expiration.partition_expire import PartitionRetention, drop, removal_of, remove_expired
from tablestore_engine.operation.expiration.snapshot_expire import Retention, expire_snapshots
from tablestore_engine.operation.files.entry_paths import EntryPaths
from tablestore_engine.operation.scan.plan_scan import live_entries
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.table_commands.write_group import forgotten_group
from tablestore_engine.operation.tags.tags import delete_tag
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.metadata_files.consumer_store import consumers, delete_consumer
from tablestore_engine.table_state import TableState

_EXPIRED_AT_ONCE = 1_000


def replace_empty(state: TableState, wanted: TableSchema) -> Snapshot:
    """Make a table empty, with another schema.

    Raises:
        ConflictError: others changed the schema meanwhile; run it again on the current one.
    """
    schema = next_schema(state.schema, wanted, state.schemas.list_ids()[-1])
    intent = WriteIntent(identity=new_identity(schema.core_options, "replace"))
    with forgotten_group(state, intent) as whole:
        return follow(publish_change(state, replace_all(state.schema, schema), whole, schema))


def drop_partitions(state: TableState, partitions: Collection[bytes], intent: WriteIntent = PLAIN) -> Snapshot | None:
    """Remove partitions, given as BinaryRows, in one commit; None when there is nothing to commit.

    Rows that others commit to them before are removed, too.
    """
    if not partitions and intent.commits_nothing:
        return None
    return follow(drop(state, removal_of(partitions), intent))


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


def merge_manifests(state: TableState) -> Snapshot | None:
    """Merge the manifests of the latest snapshot into few, as a new snapshot; None when there is no snapshot yet.

    Raises:
        ConflictError: others won every time.
    """
    if state.snapshots.latest() is None:
        return None
    return follow(publish_change(state, Change("COMPACT", merges_manifests=True)))


def remove_missing_files(state: TableState) -> list[str]:
    """Remove from the table the data files that somebody deleted from storage, so that the other rows can be read.

    Returns their paths. The rows of the missing files are lost.

    Raises:
        ConflictError: others removed one of the files from the table meanwhile, or won every time.
        StorageError: the storage failed; nothing was removed.
    """
    missing = missing_files(state)
    if missing:
        removed = tuple(entry.removal for entry in missing.values())
        # Not OVERWRITE: the keys of the partition's other files stay in the index of dynamic buckets.
        follow(publish_change(state, Change("APPEND", removed=removed)))
    return list(missing)


def missing_files(state: TableState) -> dict[str, ManifestEntry]:
    """The data files of the latest snapshot that are missing in storage, by path, in order."""
    latest = state.snapshots.latest()
    live = live_entries(state.manifests, latest) if latest else []
    files = EntryPaths(state.paths, state.schema)
    by_path = {files.data_file(entry): entry for entry in live}
    return {path: entry for path, entry in sorted(by_path.items()) if not state.io.exists(path)}


def purge(state: TableState, now_millis: int) -> None:
    """Empty a table, and remove its tags, consumers and earlier snapshots with their files; the schema stays.

    The rows disappear by one commit. The leftovers of a killed purge are removed by the next one, or expire. Files that
    no snapshot names stay for `remove_orphans`, because a young one may belong to a running commit.

    Raises:
        ConflictError: others won every time.
    """
    for name in state.tags.all():
        delete_tag(state, name)
    for name in consumers(state.io, state.paths):
        delete_consumer(state.io, state.paths, name)
    if state.snapshots.latest() is None:
        return
    follow(publish_change(state, Change("OVERWRITE", replaces=everything)))
    last_alone = Retention(1, 1, 0, _EXPIRED_AT_ONCE)
    while expire_snapshots(state, now_millis, last_alone):
        continue
    while expire_changelogs(state, now_millis, last_alone):
        continue
