"""Creating, replacing and deleting tags, and the files that tags keep.

Invariant: a file that only a tag names is removed after the tag, never before. If a process is killed in between, every
remaining tag is complete or dead (`operation.expiration.dead_tags`), and unneeded files are orphans
(`operation.expiration.orphan_files`).
"""

from __future__ import annotations

from collections.abc import Mapping

from tablestore_engine.errors import SnapshotNotFound
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.metadata.tag_lifetime import Lifetime, tag_of
from tablestore_engine.operation.expiration.dead_tags import is_dead
from tablestore_engine.operation.expiration.snapshot_expire import collect
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.storage.metadata_files.success_file import mark_success
from tablestore_engine.table_state import TableState


def create_tag(state: TableState, name: str, snapshot: Snapshot, lifetime: Lifetime | None = None) -> bool:
    """Name a snapshot, for a time or until it is deleted. False when the snapshot expired before it was named.

    Raises:
        TagAlreadyExists: the name is taken. UserError: it cannot be the name of a tag.
    """
    state.tags.create(name, tag_of(snapshot, lifetime))
    if state.snapshots.exists(snapshot.id):
        if state.options.tag_create_success_file:
            mark_success(state.io, state.paths.tag_success(name), now_millis())
        return True
    state.tags.delete(name)  # its files are being removed
    return False


def replace_tag(state: TableState, name: str, snapshot: Snapshot, lifetime: Lifetime | None = None) -> None:
    """Let a tag name another snapshot, or the same for another time; files that only it kept are removed.

    Raises:
        TagNotFound: there is no such tag.
        SnapshotNotFound: the snapshot expired before it was named; the tag is unchanged.
    """
    before = state.tags.load(name)
    expired = SnapshotNotFound(f"Snapshot {snapshot.id} expired before tag '{name}' could keep it.")
    if is_dead(state, snapshot):
        raise expired
    state.tags.replace(name, tag_of(snapshot, lifetime))
    if before.id == snapshot.id:
        return
    if not state.snapshots.exists(snapshot.id) and not _is_tagged(state, snapshot, besides=name):
        state.tags.replace(name, before)
        raise expired
    _collect_unless_kept(state, before, state.tags.all())


def delete_tag(state: TableState, name: str) -> None:
    """Remove a tag, and the files that only it named.

    Raises:
        TagNotFound: there is none.
    """
    tagged = state.tags.load(name)
    others = {other: one for other, one in state.tags.all().items() if other != name}
    state.tags.delete(name)
    state.io.delete(state.paths.tag_success(name))
    _collect_unless_kept(state, tagged, others)


def _is_tagged(state: TableState, snapshot: Snapshot, besides: str) -> bool:
    tagged = any(one.id == snapshot.id for name, one in state.tags.all().items() if name != besides)
    return tagged and not is_dead(state, snapshot)  # another process may be as late as this one


def _collect_unless_kept(state: TableState, tagged: Snapshot, tags: Mapping[str, Snapshot]) -> None:
    """Remove the files of a snapshot that neither the tags nor the oldest snapshot name.

    A removed file never returns, so a file that the oldest snapshot does not name is in no later one either.
    """
    if state.snapshots.exists(tagged.id) or any(one.id == tagged.id for one in tags.values()):
        return
    collect(state, tagged, tags, next(state.snapshots.iter(), None))
