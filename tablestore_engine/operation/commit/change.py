"""The change of the live files that a commit makes.

A change says which files to add and remove, and what it relies on; `operation.commit.commit` checks at each attempt
whether it still fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from tablestore_engine.errors import CommitOutcomeUnknownError, TableStoreError
from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS, IndexEntry
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.consumed_positions import Consumed
from tablestore_engine.operation.commit.index_change import IndexChange, as_file
from tablestore_engine.schema.table.table_schema import TableSchema

READ_SNAPSHOT = "tablestore.read-snapshot"  # property of a snapshot: what its row-level change was computed from


UNTRACKED = "tablestore.untracked"  # property of a snapshot whose changes its statement did not want in the log


RECORDED_OTHERWISE = "tablestore.recorded-otherwise"
"""Property of a snapshot whose changelog was made with other options of its statement than the table has: it may lack
changes."""


LOG_SENT = "tablestore.log-sent"  # property of a snapshot whose rows a log had before: the offsets in front of them


class Changelog(Protocol):
    """Makes the files that record what a commit changes (`operation.changelog.changelog_producer`)."""

    def files(self, latest: Snapshot | None, entries: Sequence[ManifestEntry]) -> list[ManifestEntry]:
        """Write those of a commit that follows a snapshot and makes these entries."""

    def remove(self, entries: Sequence[ManifestEntry]) -> None:
        """Remove the files of a commit that failed."""


@dataclass(frozen=True)
class Change:
    """The effect of a commit on the live files.

    `added` are ADD entries, `removed` DELETE entries of files that must still be live. `replaces` chooses, among the
    files live at commit time, further ones to remove (INSERT OVERWRITE, TRUNCATE): it never conflicts. `read_snapshot`
    names the snapshot that a row-level change was computed from (0: there was none yet): a bucket of `read_buckets`
    (None: any) that got new rows since then makes it conflict. `base_snapshot_id` is the snapshot on which a blind
    write of a keyed table drew its sequence number: it conflicts with a row-level change or an overwrite that began
    later and was committed first, since that saw nothing of it and yet would win; and with a compaction that dropped
    deletes which are newer than it, since rows that they hide would show. `restarts` drops all earlier files without
    naming them: for a table that gets other partition columns or another key, whose manifests cannot describe the old
    files. `new_table`: what remains is another table of the name, whose rows do not come from what the old ones did.
    `guard` is called at each attempt, after the newest snapshot was read, and raises to give up. `restores` are all
    files that are live afterwards, including `added`. `statistics` names the file of an ANALYZE commit. `index` is the
    change of the index of dynamic buckets and of deletion vectors. `merges_manifests`: the manifests become few,
    however few there are. `consumed` are the changes of other tables that the rows come from: another commit that used
    some of them conflicts. `changelog` makes the changelog of the commit, at each attempt anew.
    """

    kind: str  # APPEND, COMPACT, OVERWRITE or ANALYZE
    added: tuple[ManifestEntry, ...] = ()
    removed: tuple[ManifestEntry, ...] = ()
    replaces: Callable[[ManifestEntry], bool] | None = None
    read_snapshot: int | None = None
    read_buckets: frozenset[tuple[bytes, int]] | None = None
    base_snapshot_id: int | None = None
    restarts: bool = False
    new_table: bool = False
    guard: Callable[[], None] | None = None
    restores: tuple[ManifestEntry, ...] | None = None
    statistics: str | None = None
    index: IndexChange | None = None
    merges_manifests: bool = False
    consumed: tuple[Consumed, ...] = ()
    changelog: Changelog | None = None

    def clears(self, entry: IndexEntry) -> bool:
        """Whether the change removes all that an index file is about: the keys of a partition that it overwrites or
        rescales, or the data files whose deleted rows it names."""
        if self.kind != "OVERWRITE":
            return False
        if self.restarts or (self.replaces is not None and self.replaces(as_file(entry))):
            return True
        if entry.index_type == DELETION_VECTORS:
            return all(one["f0"] in self._removed_names for one in entry.deletion_vectors or ())
        return entry.partition in self._left

    @cached_property
    def partitions(self) -> frozenset[bytes] | None:
        """The partitions whose live files decide whether the change fits; None: those of any partition may."""
        if self.replaces is not None or self.restores is not None:
            return None
        marked = self.index.vectors if self.index is not None else ()
        buckets = (*marked, *(self.read_buckets or ()))
        return frozenset((*(e.partition for e in (*self.added, *self.removed)), *(one for one, _ in buckets)))

    @cached_property
    def _left(self) -> frozenset[bytes]:
        """Partitions that files are removed from."""
        return frozenset(e.partition for e in self.removed)

    @cached_property
    def _removed_names(self) -> frozenset[str]:
        return frozenset(e.file.file_name for e in self.removed)


@contextmanager
def made_changelog(
    change: Change, latest: Snapshot | None, entries: Sequence[ManifestEntry]
) -> Iterator[list[ManifestEntry]]:
    """The changelog files of one attempt to commit. They are removed if it fails."""
    if change.changelog is None:
        yield []
        return
    made = change.changelog.files(latest, entries)
    try:
        yield made
    except CommitOutcomeUnknownError:
        raise  # the snapshot may be there, and then it names the files
    except TableStoreError:
        change.changelog.remove(made)
        raise


def properties_of(change: Change, given: Mapping[str, str] | None) -> dict[str, str] | None:
    """The properties of the snapshot of a change; None for none."""
    found = dict(given or {})
    if change.read_snapshot is not None:
        found[READ_SNAPSHOT] = str(change.read_snapshot)
    return found or None


def statistics_of(change: Change, latest: Snapshot | None, schema: TableSchema) -> str | None:
    """The statistics of a snapshot: those of the previous one, unless they no longer describe the table."""
    if change.statistics is not None or latest is None:
        return change.statistics
    return latest.statistics if change.restores is None and schema.id <= latest.schema_id else None
