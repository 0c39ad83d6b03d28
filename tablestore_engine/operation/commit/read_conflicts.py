"""Whether the commits that came in between leave a change as it was computed: their rows, keys and buckets.

Raises ConflictError when they do not; the caller may run its statement again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tablestore_engine.errors import ConflictError, SnapshotNotFound
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.change import READ_SNAPSHOT, Change
from tablestore_engine.operation.commit.conflicts import BucketId, NewFiles, dropped_deletes, newest_numbers
from tablestore_engine.operation.commit.index_change import IndexChange, changed_partitions, vector_ranges
from tablestore_engine.operation.files.index_files import index_entries
from tablestore_engine.table_state import TableState


def _between(state: TableState, began: int, latest: Snapshot) -> Iterator[Snapshot]:
    """The snapshots after `began`. Raises ConflictError when they are not known any more."""
    for snapshot_id in range(began + 1, latest.id + 1):
        try:
            yield state.snapshots.load(snapshot_id)
        except SnapshotNotFound:
            raise ConflictError(
                f"Snapshot {snapshot_id}, which came after this statement began, has expired since.",
                hint="Run the statement again; 'snapshot.time-retained' keeps snapshots longer.",
            ) from None


def check_read(state: TableState, change: Change, latest: Snapshot) -> None:
    """Conflict when rows were added or removed under a row-level change since it read."""
    assert change.read_snapshot is not None
    before = None
    for snapshot in _between(state, change.read_snapshot, latest):
        before, earlier = snapshot, before
        if snapshot.commit_kind == "COMPACT":
            continue
        if _marks_rows(state, snapshot, earlier, change.read_buckets):
            raise _changed_rows(snapshot)
        for meta in state.manifests.read_list(snapshot.delta_manifest_list):
            for entry in state.manifests.read_manifest(meta.file_name):
                if change.read_buckets is None or (entry.partition, entry.bucket) in change.read_buckets:
                    raise _changed_rows(snapshot)


def _changed_rows(snapshot: Snapshot) -> ConflictError:
    return ConflictError(
        f"Snapshot {snapshot.id} changed rows that this statement had read.", hint="Run the statement again."
    )


def _marks_rows(
    state: TableState, snapshot: Snapshot, earlier: Snapshot | None, buckets: Collection[BucketId] | None
) -> bool:
    """Whether a commit on an append table deletes rows by deletion vectors, without a file that it adds or removes."""
    was = state.schemas.load(snapshot.schema_id)  # the commit may be the one that gives the table a key
    if was.primary_keys or not was.core_options.deletion_vectors or snapshot.id == 1:
        return False
    try:
        earlier = earlier or state.snapshots.load(snapshot.id - 1)
    except SnapshotNotFound:
        return True  # it was the one that was read
    if snapshot.index_manifest == earlier.index_manifest:
        return False
    before, after = (vector_ranges(index_entries(state.manifests, one)) for one in (earlier, snapshot))
    chosen = before.keys() | after.keys() if buckets is None else buckets
    return any(before.get(one) != after.get(one) for one in chosen)


def check_merged(live: Sequence[ManifestEntry], change: Change) -> None:
    """Conflict when rows at level 0 had to be read, which readers of a table with deletion vectors leave out."""
    for entry in live:
        if entry.file.level == 0 and (
            change.read_buckets is None or (entry.partition, entry.bucket) in change.read_buckets
        ):
            raise ConflictError(
                "The table has rows that no compaction has merged yet, and that this statement could not read.",
                hint="Compact the table, and run the statement again.",
            )


def check_overtaken(state: TableState, change: Change, latest: Snapshot) -> None:
    """See `Change.base_snapshot_id`."""
    assert change.base_snapshot_id is not None
    numbers: dict[BucketId, int] = {}
    for entry in change.added:
        bucket_id, number = (entry.partition, entry.bucket), entry.file.min_sequence_number
        numbers[bucket_id] = min(number, numbers.get(bucket_id, number))
    for snapshot in _between(state, change.base_snapshot_id, latest):
        # A commit that replaces rows wins for keys of both writes, but would lose for keys that only this write
        # has.
        read = READ_SNAPSHOT in (snapshot.properties or {}) or snapshot.commit_kind == "OVERWRITE"
        # With deletion vectors a delete hides nothing once its key was looked up.
        no_order = state.schema.keeps_deletes or state.schema.reads_files_alone
        if not read and (snapshot.commit_kind != "COMPACT" or no_order):
            continue
        delta = [
            entry
            for meta in state.manifests.read_list(snapshot.delta_manifest_list)
            for entry in state.manifests.read_manifest(meta.file_name)
        ]
        files = _files_of(delta, snapshot)
        newest = newest_numbers(files.added) if read else dropped_deletes(files)
        if any(newest.get(bucket_id, number) > number for bucket_id, number in numbers.items()):
            what = "changed rows without knowing those" if read else "dropped deletes that hide rows"
            raise ConflictError(f"Snapshot {snapshot.id} {what} of this write.", hint="Run the statement again.")


def check_index(state: TableState, change: Change, index: IndexChange, latest: Snapshot) -> None:
    """Conflict when keys may have been assigned to other buckets since this write looked them up."""
    before = [e for e in index_entries(state.manifests, latest) if not change.clears(e)]
    changed = changed_partitions(before, index)
    if changed & index.grew:
        raise ConflictError(
            "Another write gave buckets to new keys of the same partition.", hint="Run the statement again."
        )
    if not changed:
        return
    for snapshot in _between(state, index.base_snapshot_id, latest):
        if snapshot.commit_kind != "OVERWRITE":
            continue
        for meta in state.manifests.read_list(snapshot.delta_manifest_list):
            if any(e.partition in changed for e in state.manifests.read_manifest(meta.file_name)):
                raise ConflictError(
                    f"Snapshot {snapshot.id} gave the keys of a partition new buckets.",
                    hint="Run the statement again.",
                )


def _files_of(delta: Sequence[ManifestEntry], snapshot: Snapshot) -> NewFiles:
    added = tuple(e for e in delta if e.kind == FileKind.ADD)
    removed = tuple(e for e in delta if e.kind == FileKind.DELETE)
    return NewFiles(added, removed, snapshot.commit_kind)
