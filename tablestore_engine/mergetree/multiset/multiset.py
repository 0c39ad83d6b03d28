"""Multisets: tables without a key that take retractions. In their merge tree a key is a whole row, its value a count.

A *plain file* has the table's columns, and each of its rows counts +1, as in any append table. A *retraction file* also
has the column `COUNT`: how often each of its rows is taken away, as a negative number; its metadata counts all of its
rows as deleted. The number of times that a row is in the table is the sum over all files, so files of one bucket may
merge in any grouping and any order. A row with the sum zero is not in the table. A negative sum is an error
(`negative_count`): a row was removed more often than it was added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tablestore_engine.errors import NegativeCountError
from tablestore_engine.mergetree.compaction.levels import SortedRun, sorted_runs
from tablestore_engine.mergetree.compaction.pick_runs import CompactionUnit
from tablestore_engine.mergetree.compaction.pick_small_files import pick_small
from tablestore_engine.metadata.compaction_plan import MergeOutput
from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_SOURCE_COMPACT, DataFileMeta

NEGATIVE = "A row was removed more often than it was added"
NEGATIVE_HINT = "Add the missing rows, or go back to a snapshot before the change that removed too much."


def is_retraction(file: DataFileMeta) -> bool:
    """Whether a file of a table without a key takes rows away."""
    return bool(file.delete_row_count)


def multiset_row_count(file: DataFileMeta) -> int:
    """The rows that a file adds to a table without a key, or takes away (a negative number).

    A file uses as many sequence numbers as that.
    """
    if is_retraction(file):
        return file.min_sequence_number - file.max_sequence_number - 1
    return file.row_count


def negative_count(row: Mapping[str, Any], count: int, table: str) -> NegativeCountError:
    """The error for a row whose sum is below zero, in the words of `negative_in`."""
    return NegativeCountError(f"{negative_in(table)} (total {count}): {dict(row)}.", hint=NEGATIVE_HINT)


def negative_in(table: str) -> str:
    """The beginning of the message for a table, of which a query may read several."""
    return f"{NEGATIVE}, in table {table}"


def pick_multiset(
    files: Iterable[DataFileMeta],
    *,
    target_file_size: int,
    min_file_num: int,
    max_size_amplification_percent: int,
    total_size_threshold: int | None = None,
    target_row_num: int | None = None,
) -> CompactionUnit | None:
    """The files to merge in one bucket that has retraction files; None when nothing is due.

    All files of a bucket merge if it has far more records than rows (option
    `compaction.max-size-amplification-percent`) or is smaller than a threshold, unless such a merge made them.
    Otherwise small files merge once there are enough of them.
    """
    found = list(files)
    whole = not _is_merged(found) and (
        _amplified(found, max_size_amplification_percent) or _is_small_bucket(found, total_size_threshold)
    )
    if not whole:
        found = pick_small(found, target_file_size, min_file_num, target_row_num=target_row_num)
    return CompactionUnit(_oldest_first(found), MergeOutput(0)) if found else None


def pick_whole_multiset(files: Iterable[DataFileMeta]) -> CompactionUnit:
    """All files of a bucket. The result holds no retraction, because no other file has rows that they refer to."""
    return CompactionUnit(_oldest_first(files), MergeOutput.of_all_runs(0))


def _oldest_first(files: Iterable[DataFileMeta]) -> tuple[SortedRun, ...]:
    ordered = sorted(files, key=lambda f: (f.creation_time_millis or 0, f.file_name))
    return tuple(run for f in ordered for run in sorted_runs([f]))


def _is_small_bucket(files: Sequence[DataFileMeta], threshold: int | None) -> bool:
    """Whether a bucket of so few bytes is to be kept as one file, and has more than one."""
    return threshold is not None and len(files) > 1 and sum(f.file_size for f in files) < threshold


def _is_merged(files: Sequence[DataFileMeta]) -> bool:
    """Whether a merge of all files would leave the same: one file of rows, and one of retractions."""
    if any(f.file_source != FILE_SOURCE_COMPACT for f in files):
        return False
    return len(files) == 1 or (len(files) == 2 and sum(map(is_retraction, files)) == 1)


def _amplified(files: Iterable[DataFileMeta], percent: int) -> bool:
    """Whether the records beyond those that a compacted bucket had are more than a percentage of these."""
    records = rows = 0
    for file in files:
        records += file.row_count
        rows += multiset_row_count(file)
    return (records - rows) * 100 > percent * max(rows, 0)
