"""The past of one table, and which of its tags are dead.

A tag is *dead* when its snapshot expired before the tag could keep it, and whoever made the tag was killed before it
saw that: it names files of which the first to be read, the two manifest lists, are gone. Invariant: a dead tag stays
dead, for no file comes back; it keeps nothing, stands in nobody's way, and goes when it is deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tablestore_engine.errors import SnapshotNotFound, StorageError, TagNotFound
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.manifests import ManifestStore
from tablestore_engine.storage.paths import TablePaths
from tablestore_engine.storage.snapshots import SnapshotStore
from tablestore_engine.storage.tags import TagStore


@dataclass(frozen=True)
class History:
    """The stores of one table whose snapshots expire."""

    io: FileIO
    paths: TablePaths
    snapshots: SnapshotStore
    manifests: ManifestStore
    tags: TagStore
    schema_of: Callable[[int], TableSchema]


def is_dead(history: History, tagged: Snapshot) -> bool:
    """Whether a tag names a snapshot that expired before the tag could keep it. Looks at the storage."""
    lists = (tagged.base_manifest_list, tagged.delta_manifest_list)
    return not history.snapshots.exists(tagged.id) and not any(
        history.io.exists(history.paths.manifest_list(one)) for one in lists
    )


def load_living(history: History, name: str) -> Snapshot:
    """The snapshot under a tag.

    Raises:
        TagNotFound: there is no such tag; the message says which there are.
        SnapshotNotFound: the tag is dead.
    """
    tagged = history.tags.load(name)
    if is_dead(history, tagged):
        raise SnapshotNotFound(
            f"Tag '{name}' is dead: its snapshot {tagged.id} expired before the tag could keep it, and whoever made the"
            " tag was stopped before it saw that.",
            hint="There is nothing to read. Delete it: CALL sys.delete_tag.",
        )
    return tagged


@contextmanager
def reading_tag(history: History, name: str, tagged: Snapshot) -> Iterator[None]:
    """Read what a tag names. The block ends early, and quietly, where the tag is dead or was removed meanwhile.

    Raises:
        StorageError: the storage failed, or files of a tag that is not dead are missing; the hint names the tag.
    """
    try:
        yield
    except StorageError as error:
        if not error.missing:
            raise
        if is_dead(history, tagged):
            return
        try:
            now = history.tags.load(name)
        except TagNotFound:
            return
        if now != tagged:
            raise
        hint = f"Tag '{name}' needs it, so the tag is damaged: restore the file, or CALL sys.delete_tag."
        raise StorageError(error.path, error.reason, hint=hint) from error
