"""Whether a commit still fits the table as it is now. Pure.

Rules: a file to remove must be live; a bucket count cannot change under a partition that keeps files; files added
at level 1 or above must not overlap a live run there. The last rule has a way out for writes: a bulk load that
finds its bucket no longer empty lands at level 0 instead, where overlap is normal. What a compaction writes in the place
of other files has all columns that these may have.

Where files hold retractions that take back what older records gave, records must also meet in the order of their
numbers: nothing may come to level 0 that is older than what was merged already, nor stay there while newer records are
merged, and a bulk load has settled its retractions for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tablestore_engine.errors import ConflictError
from tablestore_engine.mergetree.sections import key_interval
from tablestore_engine.metadata.manifest import ManifestEntry
from tablestore_engine.schema.table_schema import TableSchema


@dataclass(frozen=True)
class NewFiles:
    """ADD and DELETE entries of one commit, and its kind."""

    added: tuple[ManifestEntry, ...]
    removed: tuple[ManifestEntry, ...]
    kind: str


def check_conflicts(
    schema: TableSchema, live: Sequence[ManifestEntry], new: NewFiles
) -> tuple[ManifestEntry, ...]:
    """The ADD entries as they may be committed on top of `live`.

    Raises:
        ConflictError: see the module's rules.
    """
    alive = {e.identifier for e in live}
    for entry in new.removed:
        if entry.identifier not in alive:
            raise ConflictError(
                f"File {entry.file.file_name} is no longer part of the table: another commit replaced it.",
                hint="Run the statement again.",
            )
    gone = {e.identifier for e in new.removed}
    rest = [e for e in live if e.identifier not in gone]
    _check_bucket_counts(rest, new.added)
    if new.kind == "COMPACT":
        _check_columns(new)
    if not schema.primary_keys:
        return new.added
    in_order = schema.merge_engine.stores_retractions
    if in_order:
        _check_order(rest, new)
    upper = [e for e in new.added if e.file.level > 0]
    if not upper:
        return new.added
    overlapping = _overlapping(schema, rest, upper)
    if not overlapping:
        return new.added
    if new.kind == "COMPACT":
        raise ConflictError("Another compaction of the same bucket was committed first.")
    if in_order:
        raise ConflictError(
            "Another write was first to fill an empty bucket of the table.", hint="Run the statement again."
        )
    lowered = {(e.partition, e.bucket) for e in overlapping}
    return tuple(
        replace(e, file=replace(e.file, level=0)) if (e.partition, e.bucket) in lowered else e
        for e in new.added
    )


def _check_columns(new: NewFiles) -> None:
    upgraded = {e.file.file_name for e in new.removed}
    newest: dict[tuple[bytes, int], int] = {}
    for e in new.removed:
        place = e.partition, e.bucket
        newest[place] = max(newest.get(place, 0), e.file.schema_id)
    for e in new.added:
        if e.file.schema_id < newest.get((e.partition, e.bucket), 0) and e.file.file_name not in upgraded:
            raise ConflictError(
                "The columns of the table were changed meanwhile.", hint="Run the statement again."
            )


def _check_bucket_counts(live: Sequence[ManifestEntry], added: Sequence[ManifestEntry]) -> None:
    counts = {e.partition: e.total_buckets for e in live}
    for entry in added:
        before = counts.get(entry.partition, entry.total_buckets)
        if before != entry.total_buckets:
            raise ConflictError(
                f"The table now has {before} buckets and this write hashed its rows into {entry.total_buckets}.",
                hint="Run the statement again.",
            )


def _check_order(live: Sequence[ManifestEntry], new: NewFiles) -> None:
    """Raise unless the records at level 0 of every bucket are newer than those that were merged."""
    merging = new.kind == "COMPACT"
    newest: dict[tuple[bytes, int], int] = {}
    for entry in new.added if merging else live:
        if entry.file.level > 0:
            place = (entry.partition, entry.bucket)
            newest[place] = max(newest.get(place, -1), entry.file.max_sequence_number)
    for entry in live if merging else new.added:
        if entry.file.level == 0 and entry.file.min_sequence_number <= newest.get(
            (entry.partition, entry.bucket), -1
        ):
            raise ConflictError(
                "Newer records were merged before older ones, which must not be where some take values back.",
                hint="Run the statement again.",
            )


def _overlapping(
    schema: TableSchema, live: Sequence[ManifestEntry], upper: Sequence[ManifestEntry]
) -> list[ManifestEntry]:
    """New files that would share a key with a file that stays at their own level."""
    types = [f.type for f in schema.trimmed_key_fields]
    places: dict[tuple[bytes, int], list[ManifestEntry]] = {}
    for entry in live:
        places.setdefault((entry.partition, entry.bucket), []).append(entry)
    found = []
    for entry in upper:
        low, high = key_interval(entry.file, types)
        for other in places.get((entry.partition, entry.bucket), ()):
            if other.file.level != entry.file.level:
                continue
            other_low, other_high = key_interval(other.file, types)
            if low <= other_high and other_low <= high:
                found.append(entry)
                break
    return found
