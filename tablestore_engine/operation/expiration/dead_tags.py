"""The past of one table, and which of its tags are dead.

A tag is *dead* if its snapshot expired before the tag could keep it, and the process that created the tag was killed
before it noticed: the two manifest lists of its snapshot, which are read first, are missing. Invariant: a dead tag
stays dead, because no file returns; it keeps nothing, blocks nothing, and can be deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tablestore_engine.errors import SnapshotNotFound, StorageError, TagNotFound
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.table_state import TableState


def is_dead(state: TableState, tagged: Snapshot) -> bool:
    """Whether a tag names a snapshot that expired before the tag could keep it. Reads the storage."""
    lists = (tagged.base_manifest_list, tagged.delta_manifest_list)
    return not state.snapshots.exists(tagged.id) and not any(
        state.io.exists(state.paths.manifest_list(one)) for one in lists
    )


def load_living(state: TableState, name: str) -> Snapshot:
    """The snapshot under a tag.

    Raises:
        TagNotFound: there is no such tag; the message lists the existing ones.
        SnapshotNotFound: the tag is dead.
    """
    tagged = state.tags.load(name)
    if is_dead(state, tagged):
        raise SnapshotNotFound(
            f"Tag '{name}' is dead: its snapshot {tagged.id} expired before the tag could keep it, and the process"
            " that made the tag was stopped before it noticed.",
            hint="There is nothing to read. Delete it: CALL sys.delete_tag.",
        )
    return tagged


@contextmanager
def reading_tag(state: TableState, name: str, tagged: Snapshot) -> Iterator[None]:
    """Read the files of a tag. The block ends early and silently if the tag is dead or was removed meanwhile.

    Raises:
        StorageError: the storage failed, or files of a tag that is not dead are missing; the hint names the tag.
    """
    try:
        yield
    except StorageError as error:
        if not error.missing:
            raise
        if is_dead(state, tagged):
            return
        try:
            now = state.tags.load(name)
        except TagNotFound:
            return
        if now != tagged:
            raise
        hint = f"Tag '{name}' needs it, so the tag is damaged: restore the file, or CALL sys.delete_tag."
        raise StorageError(error.path, error.reason, hint=hint) from error
