"""Which files show what changed between two snapshots.

Three plans. *All rows*: before there was nothing. *Signed files*, of a table without a key: the rows of the files that
were added count +1, those of removed files −1 (and retractions the other way round), and what does not add up to zero
has changed. *Keyed diff*: the states before and after, read where files say that keys may have changed.

Of the commits in between only those that write rows matter: a compaction changes no row. Where these commits have
expired, the files that only one of the two snapshots has are taken instead; they include those of compactions, so more
is read, and the answer is the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tablestore_engine.errors import SnapshotNotFound, StorageError
from tablestore_engine.metadata.bitmaps.roaring import NO_POSITIONS, Positions
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry, merge_entries
from tablestore_engine.metadata.snapshot import NO_ROWS, Snapshot
from tablestore_engine.operation.changelog.reach import BucketId, Reach
from tablestore_engine.operation.commit.change import RECORDED_OTHERWISE, UNTRACKED
from tablestore_engine.operation.files.deletion_vectors import read_positions_of
from tablestore_engine.operation.scan.file_skipping import skip_buckets
from tablestore_engine.operation.scan.plan_scan import group_by_bucket, plan_scan, refuse_formats
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.table.predicate import Predicate, only_on
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.table_state import TableState


@dataclass(frozen=True)
class ChangeRange:
    """The changes after `before` (None: the empty table) up to and including `after` (None: there is no commit yet)."""

    before: Snapshot | None
    after: Snapshot | None
    expired: int = 0
    """The snapshot before, where nothing is left of it but the changelogs of those after it."""

    @property
    def first_id(self) -> int:
        """The snapshot after which changes count; 0 for the empty table."""
        return self.before.id if self.before else self.expired

    @property
    def is_empty(self) -> bool:
        """Whether nothing can have changed."""
        return self.after is None or self.after.id == self.first_id


@dataclass(frozen=True)
class AllRows:
    """Every row of a plan was added."""

    rows: ScanPlan


@dataclass(frozen=True)
class MarkedFile:
    """A file of which other rows are deleted after than before: the scans of it alone."""

    before: BucketScan
    after: BucketScan


@dataclass(frozen=True)
class SignedFiles:
    """Files of a table without a key that were added and removed, and those that stayed and lost rows, or got some
    back."""

    added: ScanPlan
    removed: ScanPlan
    marked: tuple[MarkedFile, ...] = ()

    @property
    def of_whole_files(self) -> SignedFiles:
        """The same changes, with all rows of the files that stayed."""
        added = (*self.added.buckets, *(one.after for one in self.marked))
        removed = (*self.removed.buckets, *(one.before for one in self.marked))
        return SignedFiles(replace(self.added, buckets=added), replace(self.removed, buckets=removed))


@dataclass(frozen=True)
class KeyedDiff:
    """Two states of a keyed table, where they may differ: only keys that `changed_files` hold can have changed.

    `moved` are the partitions (encoded) in which a key may be in another bucket after than before. `recorded` are the
    changelog files of each commit, the oldest first, where they hold all changes.
    """

    before: ScanPlan
    after: ScanPlan
    changed_files: ScanPlan
    moved: frozenset[bytes] = frozenset()
    recorded: tuple[ScanPlan, ...] | None = None


ChangePlan = AllRows | SignedFiles | KeyedDiff


def plan_changes(state: TableState, between: ChangeRange, predicate: Predicate | None = None) -> ChangePlan:
    """The plan to read the changes of a range, in the schema of the state.

    `predicate` holds for the changes that are asked for, on the columns of the table; files without such rows are left
    out.

    Raises:
        OptionError: the table has options, of another writer, that this engine would read wrongly.
    """
    schema = state.schema
    schema.core_options.check_readable()
    if between.is_empty:
        return AllRows(ScanPlan(None, schema, ()))
    if between.before is None:
        return AllRows(plan_scan(state, between.after, predicate))
    alone = schema.core_options.deletion_vectors or schema.reads_files_alone
    entries = None if alone else _written_between(state, between)
    # The keys of a row are the same before and after; its other columns are not.
    asked, predicate = predicate, _of_keys(state, predicate)
    skip = _Skip(state, predicate)
    if entries is not None and not schema.primary_keys:
        return skip.signed(entries)
    before, after = (plan_scan(state, one, predicate) for one in (between.before, between.after))
    if alone:
        # Rows appear and disappear without a commit that says which: whole buckets are compared.
        return _differing_buckets(before, after, _moved(state, between, before, after))
    written = entries
    if entries is None:
        entries = _differing_files(before, after)
    if not schema.primary_keys:
        return skip.signed(entries)
    changed_files = skip.plan(entries)
    moved = _moved(state, between, before, after)
    reach = Reach(changed_files, moved)
    was, became = reach.within(before), reach.within(after)
    recorded = None
    if written is not None and not moved:
        recorded = _recorded(state, between, skip)
        if _are_newest(was, written):
            # Files that compactions made of the same records need not be read, too.
            became = replace(became, buckets=was.and_files_of(changed_files).buckets)
    return _without(state, KeyedDiff(was, became, changed_files, moved, recorded), asked)


def _recorded(state: TableState, between: ChangeRange, skip: _Skip) -> tuple[ScanPlan, ...] | None:
    """The changelog files of the commits of a range; None if they may lack a change, or hold a value that the table
    has not kept."""
    commits = [one for one in commits_of(state, between) if one.commit_kind not in NO_ROWS]
    for one in commits:
        if one.commit_kind != "APPEND" or one.changelog_manifest_list is None:
            return None
        if {UNTRACKED, RECORDED_OTHERWISE} & (one.properties or {}).keys() or not _is_whole(state, one.schema_id):
            return None
    found = [recorded_entries(state, [one]) for one in commits]
    # A process that knew the table with other options or columns may have made them.
    made = {entry.file.schema_id for entries in found for entry in entries}
    return tuple(map(skip.plan, found)) if all(_is_whole(state, one) for one in made) else None


def _is_whole(state: TableState, schema_id: int) -> bool:
    """Whether a changelog under a schema holds all changes, with the columns of now."""
    schema = state.schemas.load(schema_id)
    options = schema.core_options
    whole = options.changelog_producer == "lookup" and not options.row_deduplicate_ignore_fields
    return whole and schema.fields == state.schema.fields


def _are_newest(before: ScanPlan, written: Sequence[ManifestEntry]) -> bool:
    """Whether commits only added files, with newer records than all of before, in a table that keeps the newest ones.

    Numbers of records begin again in a bucket that a compaction has left without rows.
    """
    if before.schema.merge_engine.rules.kept is not Kept.NEWEST:
        return False
    newest = {b.id: max(f.max_sequence_number for f in b.files) for b in before.buckets}
    for entry in written:
        bucket_id, file = (entry.partition, entry.bucket), entry.file
        if entry.kind != FileKind.ADD or file.min_sequence_number <= newest.get(bucket_id, -1):
            return False
        newest[bucket_id] = file.max_sequence_number
    return True


def _moved(state: TableState, between: ChangeRange, before: ScanPlan, after: ScanPlan) -> frozenset[bytes]:
    """The partitions in which a key may be in another bucket after than before: their number is another one, or the
    buckets are dynamic, and an overwrite, or one that is not known, assigned them anew."""
    totals: dict[bytes, set[int]] = {}
    for scan in (*before.buckets, *after.buckets):
        totals.setdefault(scan.partition_row, set()).add(scan.total_buckets)
    dynamic = any(one <= 0 for found in totals.values() for one in found)
    anew = dynamic and _is_overwritten(state, between)
    return frozenset(row for row, found in totals.items() if len(found) > 1 or (anew and min(found) <= 0))


def _is_overwritten(state: TableState, between: ChangeRange) -> bool:
    try:
        return any(one.commit_kind == "OVERWRITE" for one in commits_of(state, between))
    except SnapshotNotFound:
        return True


def _without(state: TableState, diff: KeyedDiff, predicate: Predicate | None) -> KeyedDiff:
    """The diff without the key ranges in which no file of either state holds a row that is asked for."""
    if predicate is None or diff.moved:
        return diff  # the files of a row before and after may be in two buckets
    together: dict[BucketId, BucketScan] = {}
    plans = diff.before, diff.after, diff.changed_files
    for scan in (one for plan in plans for one in plan.buckets):
        known = together.setdefault((scan.partition_row, scan.bucket), scan)
        names = {f.file_name for f in known.files}
        files = (*known.files, *(f for f in scan.files if f.file_name not in names))
        together[(scan.partition_row, scan.bucket)] = replace(known, files=files)
    found = skip_buckets(list(together.values()), state.schema, predicate, state.schemas.load)
    kept = {(b.partition_row, b.bucket): {f.file_name for f in b.files} for b in found}
    before, after, changed_files = (_plan_of_files(plan, kept) for plan in plans)
    return replace(diff, before=before, after=after, changed_files=changed_files)


def _plan_of_files(plan: ScanPlan, kept: Mapping[BucketId, Collection[str]]) -> ScanPlan:
    buckets = []
    for scan in plan.buckets:
        names = kept.get((scan.partition_row, scan.bucket), ())
        files = tuple(f for f in scan.files if f.file_name in names)
        if files:
            buckets.append(replace(scan, files=files, pruned=scan.pruned or len(files) < len(scan.files)))
    return replace(plan, buckets=tuple(buckets))


def changed_positions(io: FileIO, marked: Sequence[MarkedFile]) -> Iterator[tuple[MarkedFile, Positions, Positions]]:
    """For each file the positions of the rows that are there since, and of those that are not any more."""
    was = _deletion_vectors(io, [one.before for one in marked])
    now = _deletion_vectors(io, [one.after for one in marked])
    for one, old, new in zip(marked, was, now, strict=True):
        yield one, np.setdiff1d(old, new, assume_unique=True), np.setdiff1d(new, old, assume_unique=True)


def _deletion_vectors(io: FileIO, scans: Sequence[BucketScan]) -> Iterator[Positions]:
    """The deleted rows of scans of one file each."""
    vectors = [scan.deletions.get(scan.files[0].file_name) for scan in scans]
    found = read_positions_of(io, [one for one in vectors if one is not None])
    return (NO_POSITIONS if one is None else next(found) for one in vectors)


def committed_plan(state: TableState, commits: Sequence[Snapshot]) -> SignedFiles:
    """The files that commits of a table without a key added and removed."""
    return _Skip(state, None).signed(merge_entries(commit_entries(state, commits)))


def appended_plan(state: TableState, commits: Sequence[Snapshot], predicate: Predicate | None = None) -> ScanPlan:
    """The files that appends of a range added (`incremental-between-scan-mode` = delta)."""
    found = commit_entries(state, [one for one in commits if one.commit_kind == "APPEND"])
    return _Skip(state, _of_keys(state, predicate)).plan(merge_entries(found), FileKind.ADD)


def changelog_plan(state: TableState, commits: Sequence[Snapshot], predicate: Predicate | None = None) -> ScanPlan:
    """The changelog files of commits (`incremental-between-scan-mode` = changelog), by which no rows are hidden."""
    return _Skip(state, _of_keys(state, predicate)).plan(recorded_entries(state, commits))


def recorded_commit(state: TableState, snapshot_id: int) -> Snapshot:
    """A snapshot, or what is kept of it for its changelog. Raises SnapshotNotFound."""
    try:
        return state.snapshots.load(snapshot_id)
    except SnapshotNotFound:
        kept = state.changelogs.load(snapshot_id)
        if kept is None:
            raise
        return kept


def _of_keys(state: TableState, predicate: Predicate | None) -> Predicate | None:
    """The part of a predicate on columns that are equal in all records of a key."""
    schema = state.schema
    keys = {*schema.primary_keys, *schema.partition_keys}
    return only_on(predicate, keys, schema.key) if schema.primary_keys else predicate


def commits_of(state: TableState, between: ChangeRange) -> list[Snapshot]:
    """The commits of a range. Raises SnapshotNotFound: one has expired."""
    after = between.after
    if after is None or between.is_empty:
        return []
    # A tag may keep what has expired as a commit.
    last = after if state.snapshots.exists(after.id) else state.snapshots.load(after.id)
    return [*(state.snapshots.load(number) for number in range(between.first_id + 1, after.id)), last]


def recorded_commits(state: TableState, between: ChangeRange) -> list[Snapshot]:
    """The same for their changelogs, which may outlive them."""
    last = between.after.id if between.after else 0
    return [recorded_commit(state, number) for number in range(between.first_id + 1, last + 1)]


def commit_entries(state: TableState, commits: Iterable[Snapshot]) -> list[ManifestEntry]:
    """The files that those commits added and removed which write rows."""
    lists = [one.delta_manifest_list for one in commits if one.commit_kind not in NO_ROWS]
    return entries_of(state, lists)


def recorded_entries(state: TableState, commits: Iterable[Snapshot]) -> list[ManifestEntry]:
    """The changelog files of commits."""
    lists = [one.changelog_manifest_list for one in commits if one.commit_kind != "OVERWRITE"]
    return entries_of(state, [one for one in lists if one])


def entries_of(state: TableState, lists: Iterable[str]) -> list[ManifestEntry]:
    """The entries of some lists of manifests."""
    metas = [meta for name in lists for meta in state.manifests.read_list(name)]
    return [entry for meta in metas for entry in state.manifests.read_manifest(meta.file_name)]


def _written_between(state: TableState, between: ChangeRange) -> list[ManifestEntry] | None:
    """The net effect on files of the commits that wrote rows; None where that is not known any more."""
    try:
        return merge_entries(commit_entries(state, commits_of(state, between)))
    except (SnapshotNotFound, ValueError):
        return None
    except StorageError as error:
        if error.missing:
            return None
        raise


def _differing_files(before: ScanPlan, after: ScanPlan) -> list[ManifestEntry]:
    """The files that only one of two states has, as removed and added."""
    old, new = ({e.identifier: e for b in plan.buckets for e in b.removals} for plan in (before, after))
    removed = [entry for identifier, entry in old.items() if identifier not in new]
    added = [replace(entry, kind=FileKind.ADD) for identifier, entry in new.items() if identifier not in old]
    return [*removed, *added]


def _differing_buckets(before: ScanPlan, after: ScanPlan, moved: frozenset[bytes]) -> ChangePlan:
    """The buckets of two states with other files, or other deleted rows."""
    old, new = ({(b.partition_row, b.bucket): b for b in plan.buckets} for plan in (before, after))
    differ = {key for key in old.keys() | new.keys() if _content(old.get(key)) != _content(new.get(key))}
    was, became = (
        replace(plan, buckets=tuple(b for key, b in found.items() if key in differ))
        for plan, found in ((before, old), (after, new))
    )
    if not before.schema.primary_keys:
        marked = tuple(one for key in old.keys() & new.keys() & differ for one in _marked(old[key], new[key]))
        return SignedFiles(_without_files_of(became, old), _without_files_of(was, new), marked)
    return KeyedDiff(was, became, replace(after, buckets=(*was.buckets, *became.buckets)), moved)


def _without_files_of(plan: ScanPlan, others: Mapping[BucketId, BucketScan]) -> ScanPlan:
    """The files of buckets that another state does not have."""
    kept = []
    for scan in plan.buckets:
        names = {f.file_name for f in others[scan.id].files} if scan.id in others else ()
        files = tuple(f for f in scan.files if f.file_name not in names)
        if files:
            kept.append(replace(scan, files=files))
    return replace(plan, buckets=tuple(kept))


def _marked(before: BucketScan, after: BucketScan) -> Iterator[MarkedFile]:
    """The files that a bucket has in two states, and not with the same deletion vector."""
    names = {f.file_name for f in before.files}
    for file in after.files:
        name = file.file_name
        if name in names and before.deletions.get(name) != after.deletions.get(name):
            yield MarkedFile(replace(before, files=(file,)), replace(after, files=(file,)))


def _content(scan: BucketScan | None) -> Any:
    return scan and ({f.file_name for f in scan.files}, dict(scan.deletions))


@dataclass(frozen=True)
class _Skip:
    """Makes plans of entries, without the files in which no row is asked for."""

    state: TableState
    predicate: Predicate | None

    def plan(self, entries: Sequence[ManifestEntry], kind: FileKind | None = None) -> ScanPlan:
        schema = self.state.schema
        chosen = [e for e in entries if kind in (None, e.kind)]
        # A predicate knows the buckets of a key by their number, which an overwrite within the range may have changed.
        totals = sorted({e.total_buckets for e in chosen})
        buckets = [b for one in totals for b in group_by_bucket([e for e in chosen if e.total_buckets == one], schema)]
        refuse_formats(buckets)
        return ScanPlan(None, schema, skip_buckets(buckets, schema, self.predicate, self.state.schemas.load))

    def signed(self, entries: Sequence[ManifestEntry]) -> SignedFiles:
        """The files of a table without a key that entries add and remove."""
        return SignedFiles(self.plan(entries, FileKind.ADD), self.plan(entries, FileKind.DELETE))


def key_columns(schema: TableSchema) -> tuple[str, ...]:
    """The columns that identify a row before and after a change: where keys cross partitions, one that moves to another
    partition is removed there and added here."""
    return tuple(dict.fromkeys((*schema.primary_keys, *schema.partition_keys)))
