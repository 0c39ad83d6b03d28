"""The pieces of a change plan: parts that tasks read independently of each other, in a fixed order.

A key, and all copies of a row of a table without a key, are in one bucket. So the changes of a bucket do not depend on
other buckets, and a bucket is a piece; rows of which nothing is to be merged are cut further, into sections and files.
Where rows were put into other buckets meanwhile, all buckets of the partition are a piece. Tasks read several small
pieces each (`packed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.changelog.arrow_changes import read_changes, recorded_rows, streamed_rows
from tablestore_engine.operation.changelog.change_plan import AllRows, ChangePlan, KeyedDiff, MarkedFile, SignedFiles
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan, sections_of
from tablestore_engine.schema.table.row_kind import KINDS, ROW_KIND
from tablestore_engine.table_state import TableState

TASK_BYTES = 64 << 20
"""Bytes of files that a task reads, unless a piece is larger."""
BucketId = tuple[bytes, int]


@dataclass(frozen=True)
class RecordedChanges:
    """The changes that changelog files hold."""

    files: ScanPlan


@dataclass(frozen=True)
class Piece:
    """A part of a plan, and the number, rows and bytes of the files that hold what has changed."""

    plan: ChangePlan | RecordedChanges
    files: int
    rows: int
    bytes: int


def pieces_of(plan: ChangePlan | RecordedChanges) -> list[Piece]:
    """The pieces of a plan, in order."""
    if isinstance(plan, AllRows):
        return [piece for bucket in _by_id(plan.rows).values() for piece in _pieces_of_rows(plan.rows, bucket)]
    if isinstance(plan, SignedFiles):
        return _pieces_of_signed(plan)
    if isinstance(plan, RecordedChanges):
        return [_piece(RecordedChanges(_plan_of(plan.files, (one,))), one.files) for one in _by_id(plan.files).values()]

    before, after, changed = (_by_unit(one, plan.moved) for one in (plan.before, plan.after, plan.changed_files))
    recorded = [(one, _by_unit(one, plan.moved)) for one in plan.recorded or ()]
    found = []
    # Whole buckets are compared where vectors delete rows: the changed files are those before and those after.
    for key, scans in sorted(changed.items()):
        was, became = _plan_of(plan.before, before.get(key)), _plan_of(plan.after, after.get(key))
        files = {f.file_name: f for one in scans for f in one.files}
        diff = KeyedDiff(was, became, _plan_of(plan.changed_files, scans))
        if plan.recorded is not None:
            diff = replace(diff, recorded=tuple(_plan_of(one, of.get(key)) for one, of in recorded))
        found.append(_piece(diff, list(files.values())))
    return found


def packed(pieces: Iterable[Piece]) -> list[tuple[Piece, ...]]:
    """Neighbouring pieces together, as a task reads them."""
    tasks: list[list[Piece]] = []
    size = TASK_BYTES
    for piece in pieces:
        if size + piece.bytes > TASK_BYTES:
            tasks.append([])
            size = 0
        tasks[-1].append(piece)
        size += piece.bytes
    return [tuple(task) for task in tasks]


def rows_of(state: TableState, piece: Piece) -> Iterator[pa.Table]:
    """The changed rows of a piece, some at a time: `_row_kind`, then the table's columns."""
    if isinstance(piece.plan, AllRows):
        for rows in streamed_rows(state, piece.plan.rows):
            yield rows.add_column(0, ROW_KIND, pa.repeat(pa.scalar(KINDS[0]), rows.num_rows))
    elif isinstance(piece.plan, RecordedChanges):
        yield from recorded_rows(state, piece.plan.files)
    else:
        yield read_changes(state, piece.plan)


def _pieces_of_rows(plan: ScanPlan, bucket: BucketScan) -> Iterator[Piece]:
    """The rows of a bucket: by section, by file, or all together where counts have to be added up."""
    if plan.schema.primary_keys:
        parts: Iterable[Sequence[DataFileMeta]] = [one.files for one in sections_of(bucket.files, plan.schema)]
    elif any(is_retraction(f) for f in bucket.files):
        parts = [bucket.files]
    else:
        parts = [(f,) for f in bucket.files]
    for files in parts:
        one = replace(bucket, files=tuple(files))
        yield _piece(AllRows(_plan_of(plan, (one,))), one.files)


def _pieces_of_signed(plan: SignedFiles) -> list[Piece]:
    moved = _rescaled(plan)
    added, removed = _by_unit(plan.added, moved), _by_unit(plan.removed, moved)
    pieces: list[Piece] = []
    marked: dict[BucketId, list[MarkedFile]] = {}
    for one in plan.marked:
        marked.setdefault(_unit(one.after, moved), []).append(one)
    for key in sorted({*added, *removed, *marked}):
        only_added = key not in removed and key not in marked
        if only_added and not any(is_retraction(f) for one in added[key] for f in one.files):
            pieces += [piece for one in added[key] for piece in _pieces_of_rows(plan.added, one)]
            continue
        of_unit = _plan_of(plan.added, added.get(key)), _plan_of(plan.removed, removed.get(key))
        signed = SignedFiles(*of_unit, tuple(marked.get(key, ())))
        stayed = [f for one in signed.marked for f in one.after.files]
        pieces.append(_piece(signed, [*signed.added.files, *signed.removed.files, *stayed]))
    return pieces


def _rescaled(plan: SignedFiles) -> frozenset[bytes]:
    """The partitions (encoded) whose files were removed from one number of buckets and added to another."""
    totals: dict[bytes, set[int]] = {}
    for one in (*plan.added.buckets, *plan.removed.buckets):
        totals.setdefault(one.partition_row, set()).add(one.total_buckets)
    return frozenset(row for row, found in totals.items() if len(found) > 1)


def _by_id(plan: ScanPlan) -> dict[BucketId, BucketScan]:
    return {one.id: one for one in sorted(plan.buckets, key=lambda one: one.id)}


def _by_unit(plan: ScanPlan, moved: frozenset[bytes]) -> dict[BucketId, list[BucketScan]]:
    """The scans of each bucket, or of all buckets of a partition whose rows may have moved between them."""
    found: dict[BucketId, list[BucketScan]] = {}
    for one in sorted(plan.buckets, key=lambda one: one.id):
        found.setdefault(_unit(one, moved), []).append(one)
    return found


def _unit(bucket: BucketScan, moved: frozenset[bytes]) -> BucketId:
    return bucket.partition_row, -1 if bucket.partition_row in moved else bucket.bucket


def _plan_of(plan: ScanPlan, buckets: Sequence[BucketScan] | None) -> ScanPlan:
    # Without the snapshot, which tasks do not need.
    return ScanPlan(None, plan.schema, tuple(buckets or ()))


def _piece(plan: ChangePlan | RecordedChanges, files: Sequence[DataFileMeta]) -> Piece:
    return Piece(plan, len(files), sum(f.row_count for f in files), sum(f.file_size for f in files))
