"""Which small files of a table without a key a compaction picks, to rewrite them as one file.

A file is *small* if rewriting it together with others is worth it. Invariant: a rewritten file becomes part of one at
least twice its size. So in a table that grows by small writes, a byte is rewritten no more often than its file can
double in size.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta

_SMALL_PERCENT = 70


def is_small(file: DataFileMeta, target_file_size: int, target_row_num: int | None = None) -> bool:
    """Whether a file is worth being rewritten together with others: it is far from the size and the rows of a full
    one."""
    few = target_row_num is None or file.row_count * 100 < target_row_num * _SMALL_PERCENT
    return few and file.file_size * 100 < target_file_size * _SMALL_PERCENT


def pick_small(
    files: Iterable[DataFileMeta],
    target_file_size: int,
    min_file_num: int,
    *,
    target_row_num: int | None = None,
) -> list[DataFileMeta]:
    """The small files to rewrite, the smallest first; none if nothing is due.

    As many of the smallest ones as possible, at least `min_file_num`, such that the largest is not larger than the
    others together.
    """
    small = _smallest_first(files, target_file_size, target_row_num)
    due = size = 0
    for count, file in enumerate(small, 1):
        if count >= max(min_file_num, 2) and file.file_size <= size:
            due = count
        size += file.file_size
    return small[:due]


def pick_all_small(
    files: Iterable[DataFileMeta], target_file_size: int, target_row_num: int | None = None
) -> list[DataFileMeta]:
    """All small files, the smallest first, if there are at least two."""
    small = _smallest_first(files, target_file_size, target_row_num)
    return small if len(small) > 1 else []


def _smallest_first(
    files: Iterable[DataFileMeta], target_file_size: int, target_row_num: int | None
) -> list[DataFileMeta]:
    chosen = (f for f in files if is_small(f, target_file_size, target_row_num))
    return sorted(chosen, key=lambda f: (f.file_size, f.file_name))
