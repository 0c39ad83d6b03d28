"""Sections: groups of files of one bucket whose key intervals overlap, directly or through others.

Files of different sections share no key, so sections are merged one by one and a section that holds a single
run is read as it is. For a merge, neighbouring runs of a section that do not overlap are *packed* into one sequence,
because each sequence that is read at the same time costs memory.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tablestore_engine.mergetree.compaction.levels import SortedRun, sorted_runs
from tablestore_engine.mergetree.merge.merge_runs import comparable_key
from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.schema.types.types import DataType

Key = tuple[Any, ...]
Interval = tuple[Key, Key, DataFileMeta]


@dataclass(frozen=True)
class Section:
    """Runs (newest first) that overlap each other and nothing else of their bucket."""

    runs: tuple[SortedRun, ...]

    @property
    def files(self) -> tuple[DataFileMeta, ...]:
        """All files of the section."""
        return tuple(f for run in self.runs for f in run.files)

    @property
    def needs_merge(self) -> bool:
        """Whether several files may hold the same key."""
        return len(self.runs) > 1


def key_interval(file: DataFileMeta, key_types: Sequence[DataType]) -> tuple[Key, Key]:
    """Smallest and largest key of a file, as values that compare in key order."""
    low, high = decode_row(file.min_key, key_types), decode_row(file.max_key, key_types)
    return comparable_key(low), comparable_key(high)


def sections(files: Iterable[DataFileMeta], key_types: Sequence[DataType]) -> list[Section]:
    """Partition the files of one bucket by key interval, in key order."""
    intervals = sorted(((*key_interval(f, key_types), f) for f in files), key=lambda item: item[:2])
    groups: list[list[DataFileMeta]] = []
    bound: Key | None = None
    for low, high, file in intervals:
        if bound is None or low > bound:
            groups.append([])
            bound = high
        else:
            bound = max(bound, high)
        groups[-1].append(file)
    return [Section(tuple(sorted_runs(group))) for group in groups]


def packed(runs: Sequence[SortedRun], key_types: Sequence[DataType]) -> list[tuple[DataFileMeta, ...]]:
    """Runs (newest first) as fewer sequences of files in key order, in which no two files share a key.

    Only neighbours in age are packed together, so that of two sequences one is entirely newer than the other.
    """
    sequences: list[list[Interval]] = []
    for run in runs:
        files = sorted(((*key_interval(f, key_types), f) for f in run.files), key=_low)
        if not sequences or not _take(sequences[-1], files):
            sequences.append(files)
    return [tuple(f for *_, f in one) for one in sequences]


def _take(sequence: list[Interval], files: Sequence[Interval]) -> bool:
    """Insert files into a sequence in key order, unless one of them shares a key with it. Returns whether it did."""
    for low, high, _ in files:
        at = bisect_left(sequence, low, key=_low)
        if (at and sequence[at - 1][1] >= low) or (at < len(sequence) and sequence[at][0] <= high):
            return False
    if len(files) == 1:
        insort(sequence, files[0], key=_low)
    else:
        sequence[:] = sorted([*sequence, *files], key=_low)
    return True


def _low(item: Interval) -> Key:
    return item[0]
