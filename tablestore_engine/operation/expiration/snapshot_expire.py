"""Snapshot expiration: removes old snapshots, and the files that only they name.

A snapshot is *superseded* when the next one is committed; until then readers start on it. Its age therefore counts from
that time, and a reader has the whole time of `snapshot.time-retained` to finish.

Snapshot files are removed first, oldest first, each in one step: if the process is killed, every remaining snapshot is
complete, and unneeded files are orphans (`operation.expiration.orphan_files`). The files that only one snapshot names
follow from the changes of the snapshots after it, so the cost depends on what expires, not on the size of the table.
However many tags there are, only those of expired snapshots and one more are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tablestore_engine.errors import SnapshotNotFound, StorageError, UserError
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry, ManifestFileMeta
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.expiration.dead_tags import reading_tag
from tablestore_engine.operation.expiration.waited_for import waited_for
from tablestore_engine.operation.files.entry_paths import EntryPaths
from tablestore_engine.operation.files.index_files import index_paths
from tablestore_engine.operation.scan.plan_scan import live_entries
from tablestore_engine.options import CoreOptions
from tablestore_engine.storage.paths import changelog_id_of, is_row_folder
from tablestore_engine.table_state import TableState


@dataclass(frozen=True)
class Retention:
    """Which snapshots are kept: at least `least`, at most `most`, and those superseded less than `millis` ago.

    `limit` bounds how many expire at once.
    """

    least: int
    most: int
    millis: int
    limit: int

    @classmethod
    def of(cls, options: CoreOptions) -> Retention:
        """The retention that a table's options define."""
        return cls(
            options.snapshot_num_retained_min,
            max(options.snapshot_num_retained_max, options.snapshot_num_retained_min),
            options.snapshot_time_retained_millis,
            options.snapshot_expire_limit,
        )


def changelogs_outlive(options: CoreOptions, snapshots: Retention) -> bool:
    """Whether changelogs are kept longer than snapshots of a retention."""
    own = changelog_retention(options, snapshots)
    longer = own.least > snapshots.least or own.most > snapshots.most or own.millis > snapshots.millis
    return longer and options.changelog_producer != "none"


def changelog_retention(options: CoreOptions, snapshots: Retention) -> Retention:
    """Which changelogs are kept, where snapshots have a retention: options that are not set are those of snapshots."""
    least, most = options.changelog_num_retained_min, options.changelog_num_retained_max
    millis = options.changelog_time_retained_millis
    least = snapshots.least if least is None else least
    most = max(snapshots.most if most is None else most, least)
    return Retention(least, most, snapshots.millis if millis is None else millis, snapshots.limit)


@dataclass
class Garbage:
    """Paths of data, index and statistics files, and names of manifests and lists, that only expired snapshots name."""

    data_files: set[str] = field(default_factory=set)
    manifests: set[str] = field(default_factory=set)


def end_of_expired(
    earliest: int,
    latest: int,
    time_of: Callable[[int], int],
    now_millis: int,
    retention: Retention,
    needed: Iterable[int] = (),
) -> int:
    """The id of the first snapshot that is kept.

    Args:
        earliest: the oldest snapshot.
        latest: the newest snapshot.
        time_of: returns a snapshot's commit time in milliseconds; called as rarely as possible.
        now_millis: the time now.
        retention: what is kept.
        needed: the snapshots from which on somebody needs all (`waited_for`).
    """
    stays = min([latest - retention.least + 1, *needed])
    goes_by_count = latest - retention.most + 1
    end = earliest
    while end < stays and end - earliest < retention.limit:
        if end >= goes_by_count and time_of(end + 1) + retention.millis > now_millis:
            break
        end += 1
    return end


def expire_snapshots(state: TableState, now_millis: int, retention: Retention) -> int:
    """Expire old snapshots. Returns the number of removed ones.

    Raises:
        StorageError: the storage failed; every remaining snapshot is complete.
    """
    earliest, latest = state.snapshots.earliest_id(), state.snapshots.latest_id()
    if earliest is None or latest is None or latest - earliest < retention.least:
        return 0
    refuse_unknown(state)
    earliest = _drop_strays(state, latest)
    outlive = changelogs_outlive(state.options, retention)
    try:
        end = end_of_expired(
            earliest,
            latest,
            lambda one: state.snapshots.load(one).time_millis,
            now_millis,
            retention,
            waited_for(state, earliest, now_millis),
        )
        if end <= earliest:
            return 0
        garbage = _garbage(state, earliest, end, changelogs=not outlive)
        if outlive:
            state.changelogs.keep(state.snapshots.load(one) for one in range(earliest, end))
    except SnapshotNotFound:
        return 0  # another process expires the same snapshots
    except StorageError as error:
        # Only if the oldest snapshot is missing, too, because that is removed first.
        if error.missing and not state.snapshots.exists(earliest):
            return 0
        raise
    state.snapshots.write_earliest_hint(end)
    for snapshot_id in range(earliest, end):
        state.io.delete(state.paths.snapshot(snapshot_id))
    # Read now, so that tags created meanwhile keep their files; tags created from now on find no snapshot.
    _keep_tagged(state, garbage, {n: one for n, one in state.tags.all().items() if earliest <= one.id < end})
    remove_garbage(state, garbage)
    return end - earliest


def refuse_unknown(state: TableState) -> None:
    """Raise if something that this engine does not read names files."""
    directory = _unknown(state)
    if directory is not None:
        raise UserError(
            f"The table at {state.paths.root} has {directory} files of another program, which may need files that"
            " would be removed.",
            hint="Let the program that made them expire snapshots and remove orphans.",
        )


def _unknown(state: TableState) -> str | None:
    """The sort of files of the table that name others, and that this engine does not read; None when there is none."""
    if state.io.list(f"{state.paths.root}/branch"):
        return "branch"
    silent = state.options.changelog_producer == "none"
    return "changelog" if silent and _keeps_writes(state) else None


def _keeps_writes(state: TableState) -> bool:
    """Whether changelogs that outlive their snapshots are the files of writes, as Paimon keeps them without a producer.

    Their delta manifest lists are then kept, too. Of those with changelog files, from the time when the table had a
    producer, only a tag keeps it.
    """
    paths = state.paths
    hints = {name.rpartition("/")[2] for name in (paths.latest_changelog_hint, paths.earliest_changelog_hint)}
    names = {one.name for one in state.io.list(paths.changelog_dir) if not one.name.startswith(".")} - hints
    if any(changelog_id_of(name) is None for name in names):
        return True
    tagged = {one.id for one in state.tags.all().values()} if names else set()
    untagged = [one for one in state.changelogs.ids() if one not in tagged] if names else []
    kept = (state.changelogs.load(one) for one in untagged)
    return any(one is not None and state.io.exists(paths.manifest(one.delta_manifest_list)) for one in kept)


def _drop_strays(state: TableState, latest: int) -> int:
    """The oldest snapshot without a later gap. Snapshots before a gap were left by a writer that was too late."""
    ids = state.snapshots.ids()
    oldest = latest
    for one in reversed(ids):
        if one == oldest - 1:
            oldest = one
    for one in ids:
        if one < oldest:
            state.io.delete(state.paths.snapshot(one))
    return oldest


def _garbage(state: TableState, begin: int, end: int, *, changelogs: bool) -> Garbage:
    """The files that only the snapshots from `begin` to before `end` name, with their changelogs or without."""
    snapshots = {one: state.snapshots.load(one) for one in range(begin, end + 1)}
    tags = state.tags.all()
    garbage = Garbage()
    for snapshot_id in range(begin + 1, end + 1):
        before, after = snapshots[snapshot_id - 1], snapshots[snapshot_id]
        garbage.data_files |= _removed(state, before, after)
    for snapshot_id in range(begin, end):
        garbage.manifests |= metadata_of(state, snapshots[snapshot_id])
        if changelogs:
            add_changelog(state, garbage, snapshots[snapshot_id])
        garbage.data_files |= _statistics(state, snapshots[snapshot_id])
    garbage.manifests -= metadata_of(state, snapshots[end])
    garbage.data_files -= _statistics(state, snapshots[end])
    expired = [one for one in snapshots.values() if one.index_manifest != snapshots[end].index_manifest]
    garbage.data_files |= _index_paths(state, expired) - _index_paths(state, [snapshots[end]])
    _keep_tagged(state, garbage, {name: one for name, one in tags.items() if begin <= one.id < end})
    _keep_nearest(state, garbage, _before(tags, begin))
    return garbage


def _keep_tagged(state: TableState, garbage: Garbage, tags: Mapping[str, Snapshot]) -> None:
    """Remove the files of these tags from the garbage; dead tags name nothing."""
    for name, one in tags.items():
        with reading_tag(state, name, one):
            _keep(state, garbage, one)


def _keep_nearest(state: TableState, garbage: Garbage, tags: Iterable[tuple[str, Snapshot]]) -> None:
    """Remove the files of the nearest of these tags from the garbage; then no file of a further tag is left in it.

    A file, manifest, index or statistics file is named by consecutive snapshots: from the commit that added it to the
    one that removed it, after which it never returns (`operation.history.rollback`). So every snapshot between a
    tag and the garbage names what both share, including that of the nearest tag. Dead tags name nothing.
    """
    for name, one in tags:
        with reading_tag(state, name, one):
            _keep(state, garbage, one)
            return


def _before(tags: Mapping[str, Snapshot], snapshot_id: int) -> list[tuple[str, Snapshot]]:
    """The tags of older snapshots, newest first."""
    return sorted(((n, one) for n, one in tags.items() if one.id < snapshot_id), key=_id_of, reverse=True)


def _after(tags: Mapping[str, Snapshot], snapshot_id: int) -> list[tuple[str, Snapshot]]:
    """The tags of newer snapshots, oldest first."""
    return sorted(((n, one) for n, one in tags.items() if one.id > snapshot_id), key=_id_of)


def _id_of(tag: tuple[str, Snapshot]) -> int:
    return tag[1].id


def _keep(state: TableState, garbage: Garbage, snapshot: Snapshot) -> None:
    """Remove the files of a snapshot from the garbage."""
    if garbage.data_files:
        garbage.data_files -= _paths(state, snapshot, live_entries(state.manifests, snapshot))
    garbage.data_files -= _statistics(state, snapshot)
    garbage.data_files -= _index_paths(state, [snapshot])
    garbage.manifests -= metadata_of(state, snapshot)


def _removed(state: TableState, before: Snapshot, after: Snapshot) -> set[str]:
    """Paths of the files that are live in one snapshot and not in the next."""
    delta = [e for m in state.manifests.read_list(after.delta_manifest_list) for e in _entries(state, m)]
    added = {e.file.file_name: e.file for e in delta if e.kind == FileKind.ADD}
    # A file that is upgraded to another level, or gets another index, is deleted and added under one name.
    deleted = [e for e in delta if e.kind == FileKind.DELETE]
    removed = [e for e in deleted if e.file.file_name not in added]
    again = [e for e in deleted if e.file.extra_files and e.file.file_name in added]
    stay = [replace(e, file=added[e.file.file_name]) for e in again]
    if not state.manifests.read_list(after.base_manifest_list):
        # A replacement with other partition columns names no file of the replaced table.
        named = {e.file.file_name for e in removed} | set(added)
        removed += [e for e in live_entries(state.manifests, before) if e.file.file_name not in named]
    return _paths(state, before, removed) | (_paths(state, before, again) - _paths(state, before, stay))


def _entries(state: TableState, meta: ManifestFileMeta) -> list[ManifestEntry]:
    return state.manifests.read_manifest(meta.file_name)


def _paths(state: TableState, snapshot: Snapshot, entries: Iterable[ManifestEntry]) -> set[str]:
    files = EntryPaths(state.paths, state.schemas.load(snapshot.schema_id))
    return {path for entry in entries for path in files.all_files(entry)}


def _statistics(state: TableState, snapshot: Snapshot) -> set[str]:
    """Path of the statistics of a snapshot."""
    return {state.paths.statistics(snapshot.statistics)} if snapshot.statistics else set()


def _index_paths(state: TableState, snapshots: Sequence[Snapshot]) -> set[str]:
    named = [one for one in snapshots if one.index_manifest is not None]
    if not named:
        return set()
    return index_paths(state.manifests, state.paths, state.schemas.load(named[0].schema_id), named)


def metadata_of(state: TableState, snapshot: Snapshot) -> set[str]:
    """Names of the manifest lists, manifests and index manifest of a snapshot, without those of its changelog."""
    lists = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
    index = {snapshot.index_manifest} if snapshot.index_manifest else set()
    return {*lists, *index, *(meta.file_name for name in lists for meta in state.manifests.read_list(name))}


def changelog_of(state: TableState, snapshot: Snapshot) -> tuple[set[str], list[ManifestEntry]]:
    """Names of the manifest list and manifests of the changelog of a snapshot, and its files.

    They are removed with the snapshot, or later (`changelog_expire`): a tag keeps its rows, but no changelog.
    """
    name = snapshot.changelog_manifest_list
    if name is None:
        return set(), []
    metas = state.manifests.read_list(name)
    return {name, *(m.file_name for m in metas)}, [e for m in metas for e in _entries(state, m)]


def add_changelog(state: TableState, garbage: Garbage, snapshot: Snapshot) -> None:
    """Add the files of a changelog to the garbage."""
    try:
        manifests, files = changelog_of(state, snapshot)
    except StorageError as error:
        if not error.missing:
            raise
        return  # its other files are orphans
    garbage.manifests |= manifests
    garbage.data_files |= _paths(state, snapshot, files)


def remove_garbage(state: TableState, garbage: Garbage) -> None:
    """Remove files that nothing names any more; a file that cannot be removed is an orphan."""
    for path in garbage.data_files:
        with suppress(StorageError):
            state.io.delete(path)
    for name in garbage.manifests:
        with suppress(StorageError):
            state.manifests.delete(name)
    if state.options.snapshot_clean_empty_directories:
        _remove_empty_folders(state, garbage.data_files)


def _remove_empty_folders(state: TableState, removed: Iterable[str]) -> None:
    """Remove the folders of buckets and partitions that removed files leave empty."""
    for folder in {path.rpartition("/")[0] for path in removed}:
        above, name = folder.rpartition("/")[::2]
        while above.startswith(state.paths.root) and is_row_folder(name):
            with suppress(StorageError):
                if not state.io.delete_empty_dir(f"{above}/{name}"):
                    break
            above, name = above.rpartition("/")[::2]


def collect(state: TableState, tagged: Snapshot, tags: Mapping[str, Snapshot], oldest: Snapshot | None) -> None:
    """Remove the files of a snapshot that neither the tags of other snapshots nor the oldest snapshot name.

    Files behind a missing manifest, and all of a dead tag, are left as orphans. If other programs keep branches or
    changelogs, which may need the files, nothing is removed.
    """
    if _unknown(state) is not None:
        return
    try:
        garbage = Garbage(
            _paths(state, tagged, live_entries(state.manifests, tagged))
            | _statistics(state, tagged)
            | _index_paths(state, [tagged]),
            metadata_of(state, tagged),
        )
    except StorageError as error:
        if error.missing:
            return
        raise
    _keep_nearest(state, garbage, _before(tags, tagged.id))
    _keep_nearest(state, garbage, _after(tags, tagged.id))
    if oldest is not None:
        _keep(state, garbage, oldest)
    remove_garbage(state, garbage)
