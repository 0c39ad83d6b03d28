"""Orphan files: files of a table that no snapshot and no tag names, left by killed writers and expirations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tablestore_engine.errors import StorageError
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.expiration.dead_tags import reading_tag
from tablestore_engine.operation.expiration.snapshot_expire import changelog_of, metadata_of, refuse_unknown
from tablestore_engine.operation.files.index_files import index_entries
from tablestore_engine.operation.scan.plan_scan import live_entries
from tablestore_engine.storage.file_io import FileStatus
from tablestore_engine.storage.paths import is_bucket, is_partition
from tablestore_engine.table_state import TableState


def remove_orphans(state: TableState, older_than_millis: int) -> list[str]:
    """Remove the orphans that `find_orphans` finds. Returns their paths.

    Raises what `find_orphans` raises; then nothing is removed.
    """
    orphans = find_orphans(state, older_than_millis)
    for path in orphans:
        state.io.delete(path)
    return orphans


def find_orphans(state: TableState, older_than_millis: int) -> list[str]:
    """The paths of orphans whose last change is older than a time (milliseconds since 1970).

    Younger files may belong to a running commit. Only folders that this engine and Paimon write to are searched: other
    files in the table's directory are no orphans.

    Raises:
        StorageError: the storage failed, or metadata is missing.
        CorruptMetadataError: the newest snapshot is lost, and only it names some files.
        UserError: other programs keep branches or changelogs in the table.
    """
    refuse_unknown(state)
    state.snapshots.latest_id()  # raises if the newest is lost: its files would be taken for orphans
    # Listed before the snapshots are read: one of these names what is committed in between.
    candidates = [one for one in _files(state) if one.mtime_millis < older_than_millis]
    if not candidates:
        return []
    unsettled = _unsettled(state)
    named = named_files(state)
    return sorted(
        one.path for one in candidates if one.name not in named and not any(write in one.name for write in unsettled)
    )


def named_files(state: TableState) -> set[str]:
    """Names of all files that a snapshot or a tag needs; dead tags need none. Raises StorageError: metadata is
    missing."""
    named: set[str] = set()
    for snapshot in state.snapshots.iter():
        try:
            named |= _names_of(state, snapshot)
            manifests, files = changelog_of(state, snapshot)
            named |= manifests | _names(files)
        except StorageError as error:
            if not error.missing or state.snapshots.exists(snapshot.id):
                raise
    for number in state.changelogs.ids():
        named |= _names_of_changelog(state, number)
    for name, snapshot in state.tags.all().items():
        with reading_tag(state, name, snapshot):
            named |= _names_of(state, snapshot)
    return named


def _names_of_changelog(state: TableState, snapshot_id: int) -> set[str]:
    """The names of what a changelog needs that outlives its snapshot."""
    kept = state.changelogs.load(snapshot_id)
    if kept is None:
        return set()
    try:
        manifests, files = changelog_of(state, kept)
    except StorageError as error:
        if not error.missing or state.changelogs.load(snapshot_id) is not None:
            raise
        return set()  # it expired meanwhile
    return manifests | _names(files)


def files_of_write(state: TableState, write_id: str) -> list[FileStatus]:
    """The data files that one write has made, whether a snapshot names them or not."""
    return [one for one in _data_files(state, state.paths.root) if write_id in one.name]


def _unsettled(state: TableState) -> list[str]:
    """Parts of the names of files of scheduled compactions that may still be committed, however long they take."""
    pending = state.timeline.pending()
    return [one.last.claim.write_id for one in pending if one.last is not None and one.last.failure is None]


def _files(state: TableState) -> Iterator[FileStatus]:
    paths = state.paths
    for directory in (paths.manifest_dir, paths.statistics_dir):
        yield from (one for one in state.io.list(directory) if not one.is_dir)
    # Next to snapshots and in the table's own directory only unfinished files, which are hidden.
    for directory in (
        paths.snapshot_dir,
        paths.schema_dir,
        paths.tag_dir,
        paths.consumer_dir,
        paths.compaction_dir,
        paths.root,
    ):
        yield from (one for one in state.io.list(directory) if one.name.startswith(".") and not one.is_dir)
    yield from (one for one in state.io.list(paths.index_dir) if not one.is_dir)
    yield from _data_files(state, paths.root)


def _data_files(state: TableState, directory: str) -> Iterator[FileStatus]:
    for status in state.io.list(directory):
        if status.is_dir and is_bucket(status.name):
            yield from (one for one in state.io.list(status.path) if not one.is_dir)
        elif status.is_dir and is_partition(status.name):
            yield from _data_files(state, status.path)


def _names_of(state: TableState, snapshot: Snapshot) -> set[str]:
    named = metadata_of(state, snapshot)
    named |= {one.file_name for one in index_entries(state.manifests, snapshot)}
    named |= {snapshot.statistics} if snapshot.statistics else set()
    return named | _names(live_entries(state.manifests, snapshot))


def _names(entries: Iterable[ManifestEntry]) -> set[str]:
    """The names of some files, and of their side files."""
    return {name for e in entries for name in (e.file.file_name, *e.file.extra_files)}
