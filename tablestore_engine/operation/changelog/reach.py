"""Which files may hold one of the keys of others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tablestore_engine.mergetree.compaction.sections import Key, key_interval
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan

BucketId = tuple[bytes, int]


class Reach:
    """The key ranges of files, by bucket, or by partition for those in which keys `moved` to other buckets."""

    def __init__(self, files: ScanPlan, moved: frozenset[bytes] = frozenset()) -> None:
        self._moved = moved
        self._types = [f.type for f in files.schema.trimmed_key_fields]
        found: dict[BucketId, list[DataFileMeta]] = {}
        for b in files.buckets:
            found.setdefault(self._unit(b), []).extend(b.files)
        self._by_unit: dict[BucketId, list[tuple[Key, Key]]] = {
            unit: _disjoint([key_interval(f, self._types) for f in of_unit]) for unit, of_unit in found.items()
        }

    def within(self, plan: ScanPlan) -> ScanPlan:
        """The files of a plan that may hold one of the keys: another file cannot hide a row of theirs."""
        kept = []
        for scan in plan.buckets:
            ranges = self._by_unit.get(self._unit(scan), [])
            files = tuple(f for f in scan.files if ranges and self._overlaps(f, ranges))
            if files:
                kept.append(replace(scan, files=files, pruned=scan.pruned or len(files) < len(scan.files)))
        return replace(plan, buckets=tuple(kept))

    def _unit(self, scan: BucketScan) -> BucketId:
        return scan.partition_row, -1 if scan.partition_row in self._moved else scan.bucket

    def _overlaps(self, file: DataFileMeta, ranges: Sequence[tuple[Key, Key]]) -> bool:
        low, high = key_interval(file, self._types)
        at = bisect_left(ranges, low, key=lambda one: one[1])
        return at < len(ranges) and ranges[at][0] <= high


def _disjoint(intervals: Iterable[tuple[Key, Key]]) -> list[tuple[Key, Key]]:
    """The same keys as intervals in order that do not overlap."""
    found: list[tuple[Key, Key]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found
