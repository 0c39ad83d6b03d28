"""How many rows a plan holds: from metadata where it is exact, by reading keys where few files have to merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tablestore_engine.mergetree.multiset.multiset import multiset_row_count
from tablestore_engine.metadata.manifest_encoding.data_file_meta import READ_FORMATS, DataFileMeta
from tablestore_engine.operation.files.deletion_vectors import deleted_count
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.table_state import TableState

READ_ROWS = 200_000
"""Keys that several files may hold are counted by reading them, when they have at most this many rows."""


@dataclass(frozen=True)
class RowCount:
    """A number of rows. One that is not `exact` counts a row once more for each time that it was updated since its
    bucket was compacted.
    """

    rows: int
    exact: bool

    @property
    def text(self) -> str:
        """For messages."""
        return f"{self.rows}" if self.exact else f"{self.rows} at most"


def row_count(state: TableState, plan: ScanPlan) -> RowCount:
    """The rows of a plan. Metadata is all that is read, and up to `READ_ROWS` keys.

    Raises:
        CorruptMetadataError, StorageError: a file that has to be read cannot be.
    """
    if not plan.schema.primary_keys:
        return RowCount(
            sum(sum(map(multiset_row_count, b.files)) - _deleted(state.io, b, b.files) for b in plan.buckets),
            exact=True,
        )
    alone = merging = deletes = 0
    unsettled: dict[int, BucketScan] = {}
    for bucket, section in plan.sections:
        rows = sum(f.row_count for f in section.files)
        removed = sum(f.delete_row_count or 0 for f in section.files)
        hidden = _deleted(state.io, bucket, section.files)
        # Older writers do not say how many deletes a file holds, so it may hold some.
        unknown = any(f.delete_row_count is None for f in section.files)
        # A record of kind -D may itself be deleted.
        settled = not unknown and not (removed and (hidden or plan.schema.merge_engine.settles_retractions))
        if not section.needs_merge and settled:
            alone += rows - removed - hidden
            continue
        merging += rows - hidden
        deletes += removed
        had = unsettled.setdefault(id(bucket), replace(bucket, files=()))
        unsettled[id(bucket)] = replace(had, files=(*had.files, *section.files))
    if not merging:
        return RowCount(alone, exact=True)
    # Another file format is no reason to refuse to give a table's size.
    readable = all(f.format in READ_FORMATS for bucket in unsettled.values() for f in bucket.files)
    if merging > READ_ROWS or not readable:
        return RowCount(alone + merging - deletes, exact=False)
    # Code that only reads metadata does not import Arrow.
    from tablestore_engine.operation.read.arrow_read import read_rows

    part = ScanPlan(plan.snapshot, plan.schema, tuple(unsettled.values()))
    names = plan.schema.trimmed_primary_keys[:1]
    return RowCount(alone + sum(batch.num_rows for batch in read_rows(state, part, names)), exact=True)


def _deleted(io: FileIO, bucket: BucketScan, files: Sequence[DataFileMeta]) -> int:
    return deleted_count(io, bucket.deletions, (f.file_name for f in files)) if bucket.deletions else 0
