"""What becomes of files when tags go, come or change: a tag keeps the files of its snapshot.

Invariant: a file that only a tag names goes when the tag has gone, never before. Whatever is killed half way, every tag
that is left is whole or dead (`operation.history.history`), and what is left over are orphans
(`operation.history.orphans`).
"""

from __future__ import annotations

from collections.abc import Mapping

from tablestore_engine.errors import SnapshotNotFound, TagNotFound
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.metadata.tag import Lifetime, tag_of
from tablestore_engine.operation.history.expire import collect
from tablestore_engine.operation.history.history import History, is_dead


def create_tag(history: History, name: str, snapshot: Snapshot, lifetime: Lifetime | None = None) -> bool:
    """Name a snapshot, for a time or until it is deleted. False when the snapshot expired before it was named.

    Raises:
        TagAlreadyExists: the name is taken. UserError: it cannot be the name of a tag.
    """
    history.tags.create(name, tag_of(snapshot, lifetime))
    if history.snapshots.exists(snapshot.id):
        return True
    history.tags.delete(name)  # its files are going
    return False


def replace_tag(history: History, name: str, snapshot: Snapshot, lifetime: Lifetime | None = None) -> None:
    """Let a tag name another snapshot, or the same for another time; files that only it kept go.

    Raises:
        TagNotFound: there is no such tag.
        SnapshotNotFound: the snapshot expired before it was named; the tag is as before.
    """
    before = history.tags.load(name)
    expired = SnapshotNotFound(f"Snapshot {snapshot.id} expired before tag '{name}' could keep it.")
    if is_dead(history, snapshot):
        raise expired
    history.tags.replace(name, tag_of(snapshot, lifetime))
    if before.id == snapshot.id:
        return
    if not history.snapshots.exists(snapshot.id) and not _is_tagged(history, snapshot, besides=name):
        history.tags.replace(name, before)
        raise expired
    _collect_unless_kept(history, before, history.tags.all())


def delete_tag(history: History, name: str) -> None:
    """Remove a tag, and the files that only it named.

    Raises:
        TagNotFound: there is none.
    """
    tagged = history.tags.load(name)
    others = {other: one for other, one in history.tags.all().items() if other != name}
    history.tags.delete(name)
    _collect_unless_kept(history, tagged, others)


def expire_tags(history: History, now_millis: int, older_than_millis: int | None = None) -> list[str]:
    """Remove the tags whose time is over, and those made before a time (milliseconds since 1970). Returns their names.

    A tag that was given no time counts from when its file was written.
    """
    removed = []
    for tag in history.tags.stored():
        over = tag.lifetime is not None and tag.lifetime.is_over(now_millis)
        if over or (older_than_millis is not None and tag.created_millis < older_than_millis):
            try:
                delete_tag(history, tag.name)
            except TagNotFound:
                continue  # another process removes it
            removed.append(tag.name)
    return removed


def _is_tagged(history: History, snapshot: Snapshot, besides: str) -> bool:
    tagged = any(one.id == snapshot.id for name, one in history.tags.all().items() if name != besides)
    return tagged and not is_dead(history, snapshot)  # another one may be as late as this


def _collect_unless_kept(history: History, tagged: Snapshot, tags: Mapping[str, Snapshot]) -> None:
    """Remove what a snapshot names and neither the tags nor the oldest snapshot do.

    A file never comes back, so what the oldest snapshot does not name, none of the later ones does.
    """
    if history.snapshots.exists(tagged.id) or any(one.id == tagged.id for one in tags.values()):
        return
    collect(history, tagged, tags, next(history.snapshots.iter(), None))
