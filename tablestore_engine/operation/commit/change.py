"""The change of the live files that a commit makes.

A change says which files to add and remove, and what it relies on; `operation.commit.commit` checks at each attempt
whether it still fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from tablestore_engine.metadata.index_manifest import IndexEntry
from tablestore_engine.metadata.manifest import ManifestEntry
from tablestore_engine.operation.commit.consumed import Consumed
from tablestore_engine.operation.commit.index_commit import IndexChange, as_file

READ_SNAPSHOT = "tablestore.read-snapshot"  # property of a snapshot: what its row-level change was computed from


@dataclass(frozen=True)
class Change:
    """What a commit does to the live files.

    `added` are ADD entries, `removed` DELETE entries of files that must still be live. `replaces` chooses, among the
    files live at commit time, further ones to remove (INSERT OVERWRITE, TRUNCATE): it never conflicts. `read_snapshot`
    names the snapshot that a row-level change was computed from (0: there was none yet): a bucket of `read_buckets`
    (None: any) that got new rows since then makes it conflict. `base_snapshot_id` is the snapshot on which a blind
    write of a keyed table drew its sequence number: it conflicts with a row-level change or an overwrite that began
    later and was committed first, since that saw nothing of it and yet would win; and with a compaction that dropped
    deletes which are newer than it, since rows that they hide would show. `restarts` drops all earlier files without
    naming them: for a table that is replaced by one with other partition columns, whose manifests cannot describe the
    old files. `guard` is called at each attempt, after the newest snapshot was read, and raises to give up. `restores`
    are all files that are live afterwards, including `added`. `statistics` names the file of an ANALYZE commit. `index`
    is the change of the index of dynamic buckets. `merges_manifests`: the manifests become few, however few there are.
    `consumed` are the changes of other tables that the rows come from: another commit that used some of them conflicts.
    """

    kind: str  # APPEND, COMPACT, OVERWRITE or ANALYZE
    added: tuple[ManifestEntry, ...] = ()
    removed: tuple[ManifestEntry, ...] = ()
    replaces: Callable[[ManifestEntry], bool] | None = None
    read_snapshot: int | None = None
    read_buckets: frozenset[tuple[bytes, int]] | None = None
    base_snapshot_id: int | None = None
    restarts: bool = False
    guard: Callable[[], None] | None = None
    restores: tuple[ManifestEntry, ...] | None = None
    statistics: str | None = None
    index: IndexChange | None = None
    merges_manifests: bool = False
    consumed: tuple[Consumed, ...] = ()

    def clears(self, entry: IndexEntry) -> bool:
        """Whether the change removes all keys of an index file: it overwrites or rescales its partition."""
        if self.kind != "OVERWRITE":
            return False
        chosen = self.replaces is not None and self.replaces(as_file(entry))
        return self.restarts or chosen or entry.partition in self._left

    @cached_property
    def _left(self) -> frozenset[bytes]:
        """Partitions that files are removed from."""
        return frozenset(e.partition for e in self.removed)
