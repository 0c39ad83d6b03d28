"""Sorted runs of one bucket.

A *sorted run* is a set of files whose key intervals do not overlap. Every file of level 0 is a run of its
own; a level above 0 is one run. Runs are ordered from newest to oldest: level 0 by descending sequence
number, then the levels upwards. Of two records of one key the one in the newer run wins, unless sequence
numbers say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta


@dataclass(frozen=True)
class SortedRun:
    """Files of one level in key order; their key intervals do not overlap."""

    level: int
    files: tuple[DataFileMeta, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(f.file_size for f in self.files)


def _newest_first(file: DataFileMeta) -> tuple[int, int, str]:
    return (-file.max_sequence_number, -file.min_sequence_number, file.file_name)


def sorted_runs(files: Iterable[DataFileMeta]) -> list[SortedRun]:
    """Arrange the live files of one bucket into runs, newest first."""
    level0: list[DataFileMeta] = []
    upper: dict[int, list[DataFileMeta]] = {}
    for file in files:
        if file.level == 0:
            level0.append(file)
        else:
            upper.setdefault(file.level, []).append(file)
    runs = [SortedRun(0, (f,)) for f in sorted(level0, key=_newest_first)]
    runs.extend(SortedRun(level, tuple(upper[level])) for level in sorted(upper))
    return runs


def highest_level(runs: Iterable[SortedRun]) -> int:
    """The highest level that holds data; 0 for an empty bucket."""
    return max((run.level for run in runs), default=0)
