"""Whether a commit still fits the table as it is now. Pure.

Rules: a file to remove must be live; a bucket count cannot change under a partition that keeps files; files added at
level 1 or above must not overlap a live run there, nor, in tables with deletion vectors, at any other level above 0,
unless a compaction writes them, which marks the old rows as deleted. Writes have a fallback for the last rule: a bulk
load whose bucket is no longer empty is committed at level 0 instead, where overlap is normal. The files that a
compaction writes have all columns that the replaced files may have.

A compaction that drops deletes must have merged all older records of their keys. A record that was committed meanwhile,
at any level, with a smaller sequence number than a delete would make the deleted row visible again. Files above the
level that it writes were there before, so a compaction that left them has dropped none: its deletes are kept, or
replaced by newer records. A write after such a compaction checks this itself (`Change.base_snapshot_id`).

If the order in which records fold matters (`MergeEngine.takes_late`), records must not be added to level 0 that are
older than merged ones, nor stay there while newer records are merged. If records are kept apart, a bulk load has also
settled its own records, so no older record may have been added to its bucket. With deletion vectors it has settled none
(`WriteJob.level_of`), and records are in the order in which they are merged (`compact.deletion_vectors`): no write is
late.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from tablestore_engine.errors import ConflictError
from tablestore_engine.mergetree.compaction.sections import key_interval
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataType

BucketId = tuple[bytes, int]
"""A partition and a bucket."""


@dataclass(frozen=True)
class NewFiles:
    """ADD and DELETE entries of one commit, and its kind."""

    added: tuple[ManifestEntry, ...]
    removed: tuple[ManifestEntry, ...]
    kind: str


def newest_numbers(entries: Iterable[ManifestEntry]) -> dict[BucketId, int]:
    """The greatest sequence number of some files, by bucket."""
    newest: dict[BucketId, int] = {}
    for entry in entries:
        bucket_id = (entry.partition, entry.bucket)
        newest[bucket_id] = max(newest.get(bucket_id, -1), entry.file.max_sequence_number)
    return newest


def dropped_deletes(compaction: NewFiles) -> dict[BucketId, int]:
    """The buckets in which a compaction may have dropped deletes, and the greatest sequence number these may have had.

    In a bucket it keeps all deletes or none, so if its new files hold some, it dropped none.
    """
    return newest_numbers(_with_dropped(compaction))


def _with_dropped(compaction: NewFiles) -> list[ManifestEntry]:
    """The merged files whose deletes may have been dropped."""
    kept = {(e.partition, e.bucket) for e in compaction.added if e.file.delete_row_count}
    return [e for e in compaction.removed if e.file.delete_row_count != 0 and (e.partition, e.bucket) not in kept]


def replaced_meanwhile(file: str) -> ConflictError:
    """The error of a commit that relies on a file which another commit replaced."""
    return ConflictError(
        f"{file} is no longer part of the table: another commit replaced it.", hint="Run the statement again."
    )


def check_conflicts(schema: TableSchema, live: Sequence[ManifestEntry], new: NewFiles) -> tuple[ManifestEntry, ...]:
    """The ADD entries as they may be committed on top of `live`.

    Raises:
        ConflictError: see the module's rules.
    """
    alive = {e.identifier for e in live}
    for entry in new.removed:
        if entry.identifier not in alive:
            raise replaced_meanwhile(f"File {entry.file.file_name}")
    removed = {e.identifier for e in new.removed}
    rest = [e for e in live if e.identifier not in removed]
    _check_bucket_counts(rest, new.added)
    if new.kind == "COMPACT":
        _check_columns(new)
    if not schema.primary_keys:
        return new.added
    # With deletion vectors a delete hides nothing once its key was looked up, and what is merged later is newer.
    if new.kind == "COMPACT" and not (schema.keeps_deletes or schema.reads_files_alone):
        _check_deletes(schema, _not_above(rest, new.added), new)
    added = _lowered(schema, rest, new)
    if not (schema.merge_engine.takes_late or schema.reads_files_alone):
        _check_order(rest, added)
    return added


def fitting(schema: TableSchema, live: Sequence[ManifestEntry], new: NewFiles) -> NewFiles:
    """The part of a compaction of several buckets that still fits: each bucket is checked by itself."""
    alive, added_to, removed_from = _by_bucket(live), _by_bucket(new.added), _by_bucket(new.removed)
    added: list[ManifestEntry] = []
    removed: list[ManifestEntry] = []
    for bucket_id in {**removed_from, **added_to}:
        one = NewFiles(tuple(added_to.get(bucket_id, ())), tuple(removed_from.get(bucket_id, ())), new.kind)
        with suppress(ConflictError):
            added += check_conflicts(schema, alive.get(bucket_id, ()), one)
            removed += one.removed
    return NewFiles(tuple(added), tuple(removed), new.kind)


def _by_bucket(entries: Iterable[ManifestEntry]) -> dict[BucketId, list[ManifestEntry]]:
    found: dict[BucketId, list[ManifestEntry]] = {}
    for entry in entries:
        found.setdefault((entry.partition, entry.bucket), []).append(entry)
    return found


def _lowered(schema: TableSchema, live: Sequence[ManifestEntry], new: NewFiles) -> tuple[ManifestEntry, ...]:
    """The ADD entries; those of a bulk load at level 0 if their bucket is no longer empty."""
    upper = [e for e in new.added if e.file.level > 0]
    alone = schema.reads_files_alone and new.kind != "COMPACT"
    overlapping = _overlapping(schema, live, upper, other_levels=alone) if upper else []
    if alone:
        return _lowered_together(new, overlapping)
    if not overlapping:
        return new.added
    if new.kind == "COMPACT":
        raise ConflictError("Another compaction of the same bucket was committed first.")
    if schema.merge_engine.keeps_apart:
        raise ConflictError(
            "Another write was first to fill an empty bucket of the table.", hint="Run the statement again."
        )
    lowered = {(e.partition, e.bucket) for e in overlapping}
    return tuple(
        replace(e, file=replace(e.file, level=0)) if (e.partition, e.bucket) in lowered else e for e in new.added
    )


def _lowered_together(new: NewFiles, overlapping: Sequence[ManifestEntry]) -> tuple[ManifestEntry, ...]:
    """The ADD entries of a write into a table with deletion vectors.

    Readers take what is above level 0 as rows at once, and the rest after its compaction. So that they see all rows of
    a write or none, and no deletes, they are all above level 0 or none. A key is in one file above level 0 only, unless
    its old row is marked as deleted, which is for compactions to do: so other levels matter, too.
    """
    if not overlapping and all(e.file.level > 0 and e.file.delete_row_count == 0 for e in new.added):
        return new.added
    return tuple(replace(e, file=replace(e.file, level=0)) for e in new.added)


def _check_columns(new: NewFiles) -> None:
    upgraded = {e.file.file_name for e in new.removed}
    newest: dict[tuple[bytes, int], int] = {}
    for e in new.removed:
        bucket_id = e.partition, e.bucket
        newest[bucket_id] = max(newest.get(bucket_id, 0), e.file.schema_id)
    for e in new.added:
        if e.file.schema_id < newest.get((e.partition, e.bucket), 0) and e.file.file_name not in upgraded:
            raise ConflictError("The columns of the table were changed meanwhile.", hint="Run the statement again.")


def _check_bucket_counts(live: Sequence[ManifestEntry], added: Sequence[ManifestEntry]) -> None:
    counts = {e.partition: e.total_buckets for e in live}
    for entry in added:
        before = counts.get(entry.partition, entry.total_buckets)
        if before != entry.total_buckets:
            raise ConflictError(
                f"The table now has {before} buckets and this write hashed its rows into {entry.total_buckets}.",
                hint="Run the statement again.",
            )


def _check_order(live: Sequence[ManifestEntry], added: Sequence[ManifestEntry]) -> None:
    """Raise unless the records at level 0 of every bucket are newer than the merged ones."""
    for fresh, merged in ((added, live), (live, added)):
        newest = newest_numbers(e for e in merged if e.file.level > 0)
        for entry in fresh if newest else ():
            bucket_id = (entry.partition, entry.bucket)
            if entry.file.level == 0 and entry.file.min_sequence_number <= newest.get(bucket_id, -1):
                raise ConflictError(
                    "Another process merged newer records before these, and this table folds records in order only.",
                    hint="Run the statement again.",
                )


def _check_deletes(schema: TableSchema, live: Sequence[ManifestEntry], new: NewFiles) -> None:
    """Raise if records remain that are older than deletes which were merged and may have been dropped."""
    if hidden_by_deletes(schema, _with_dropped(new), live) is not None:
        raise ConflictError(
            "Records came that are older than deletes which this compaction has dropped.",
            hint="Run the statement again.",
        )


def _not_above(live: Sequence[ManifestEntry], written: Sequence[ManifestEntry]) -> list[ManifestEntry]:
    """The files of every bucket without those above the highest level that a compaction wrote there."""
    top: dict[BucketId, int] = {}
    for entry in written:
        bucket_id = (entry.partition, entry.bucket)
        top[bucket_id] = max(top.get(bucket_id, 0), entry.file.level)
    return [e for e in live if e.file.level <= top.get((e.partition, e.bucket), e.file.level)]


def hidden_by_deletes(
    schema: TableSchema, merged: Iterable[ManifestEntry], stay: Iterable[ManifestEntry]
) -> ManifestEntry | None:
    """A remaining file that may hold records hidden by deletes of the merged files of its bucket; None if there is
    none."""
    types = [f.type for f in schema.trimmed_key_fields]
    deleting = _by_bucket(e for e in merged if e.file.delete_row_count != 0)
    for entry in stay if deleting else ():
        newer = [
            other
            for other in deleting.get((entry.partition, entry.bucket), ())
            if entry.file.min_sequence_number < other.file.max_sequence_number
        ]
        if _shares_keys(entry, newer, types):
            return entry
    return None


def _overlapping(
    schema: TableSchema, live: Sequence[ManifestEntry], upper: Sequence[ManifestEntry], *, other_levels: bool
) -> list[ManifestEntry]:
    """New files that would share a key with a remaining file of their own level, or also of others above level 0."""
    types = [f.type for f in schema.trimmed_key_fields]
    live_by_bucket = _by_bucket(live)
    found = []
    for entry in upper:
        others = live_by_bucket.get((entry.partition, entry.bucket), ())
        own = [one for one in others if one.file.level == entry.file.level or (other_levels and one.file.level > 0)]
        if _shares_keys(entry, own, types):
            found.append(entry)
    return found


def _shares_keys(entry: ManifestEntry, others: Sequence[ManifestEntry], types: Sequence[DataType]) -> bool:
    """Whether the key interval of a file overlaps that of another one."""
    if not others:
        return False
    low, high = key_interval(entry.file, types)
    intervals = (key_interval(one.file, types) for one in others)
    return any(low <= last and first <= high for first, last in intervals)
