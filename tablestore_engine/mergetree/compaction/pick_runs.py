"""Which sorted runs of one bucket a compaction picks: universal compaction, decided without reading a file.

Runs come newest first. The rules are tried in this order: *early full compaction* (if an option asks for it: the last
one was long ago, the bucket is small, or there is much data above the oldest run: merge all), *size amplification* (the
upper runs outweigh the oldest one: merge all), *size ratio* (the newest runs are about as big as the next one: merge
those), *run count* (too many: merge the newest). Merging a few small runs early limits both the number of runs that a
read merges and the bytes that are rewritten per byte written. After RocksDB's universal compaction, with Paimon's rule
for the output level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tablestore_engine.mergetree.compaction.levels import SortedRun
from tablestore_engine.metadata.compaction_plan import MergeOutput


@dataclass(frozen=True)
class UniversalOptions:
    """Thresholds of the strategy; percentages are whole numbers (200 = 200 %).

    `keep_deletes` for tables in which a late row may be older than a delete: the delete must outlive every merge.
    `settle_together` for tables whose retractions take back what older records gave: runs that hold some merge only
    with all older ones.
    `from_oldest` for tables whose records fold only from the oldest one on: all runs merge or none.
    The next three are those of early full compactions; None switches one off.
    `rewrite_all`: a full compaction also rewrites what is one run at the top level.
    """

    run_trigger: int = 5
    max_size_amplification_percent: int = 200
    size_ratio: int = 1
    num_levels: int = 6
    keep_deletes: bool = False
    settle_together: bool = False
    from_oldest: bool = False
    optimization_interval_millis: int | None = None
    total_size_threshold: int | None = None
    incremental_size_threshold: int | None = None
    rewrite_all: bool = False

    @property
    def max_level(self) -> int:
        """The top level, which holds the oldest run."""
        return self.num_levels - 1


@dataclass(frozen=True)
class CompactionUnit:
    """Runs to merge into one."""

    runs: tuple[SortedRun, ...]
    output: MergeOutput


def pick_full(runs: Sequence[SortedRun], options: UniversalOptions) -> CompactionUnit | None:
    """Merge everything into the top level; None if everything is one run there already."""
    if not runs:
        return None
    done = options.keep_deletes or not _has_deletes(runs[0])
    if len(runs) == 1 and runs[0].level == options.max_level and done and not options.rewrite_all:
        return None
    return _unit_of_all(runs, options)


def pick(runs: Sequence[SortedRun], options: UniversalOptions, now_millis: int = 0) -> CompactionUnit | None:
    """The next merge that the thresholds ask for at a time, or None."""
    if len(runs) > 1 and _early_full(runs, options, now_millis):
        return unit_of(runs, len(runs), options)
    if len(runs) < options.run_trigger:
        return None
    count = _by_size_amplification(runs, options) or _by_size_ratio(runs, options, 1)
    if count <= 1 and len(runs) > options.run_trigger:
        count = _by_size_ratio(runs, options, len(runs) - options.run_trigger + 1)
    return unit_of(runs, count, options) if count > 1 else None


def pick_unmerged(runs: Sequence[SortedRun], options: UniversalOptions, least: int = 2) -> CompactionUnit | None:
    """Merge what writes have left at level 0, and runs of its size, when that is `least` runs at least.

    For compactions that are due for another reason than the number of runs.
    """
    unmerged = sum(run.level == 0 for run in runs)
    if unmerged < least:
        return None
    return unit_of(runs, _by_size_ratio(runs, options, unmerged), options)


def _has_deletes(run: SortedRun) -> bool:
    return any(f.delete_row_count != 0 for f in run.files)


def _early_full(runs: Sequence[SortedRun], options: UniversalOptions, now_millis: int) -> bool:
    interval, total, incremental = (
        options.optimization_interval_millis,
        options.total_size_threshold,
        options.incremental_size_threshold,
    )
    if interval is not None:
        last = last_full_millis(runs, options)
        if last is None or now_millis - last > interval:
            return True
    if total is not None and sum(run.size for run in runs) < total:
        return True
    above = sum(run.size for run in runs if run.level != options.max_level)
    return incremental is not None and above > incremental


def last_full_millis(runs: Sequence[SortedRun], options: UniversalOptions) -> int | None:
    """When a bucket was last one run: only then do files come to its top level."""
    times = [f.creation_time_millis for run in runs if run.level == options.max_level for f in run.files]
    return max((time for time in times if time is not None), default=None)


def _by_size_amplification(runs: Sequence[SortedRun], options: UniversalOptions) -> int:
    upper = sum(run.size for run in runs[:-1])
    return len(runs) if upper * 100 > options.max_size_amplification_percent * runs[-1].size else 0


def _by_size_ratio(runs: Sequence[SortedRun], options: UniversalOptions, start: int) -> int:
    """Take `start` newest runs, then each next run while the taken ones are about its size."""
    count, size = start, sum(run.size for run in runs[:start])
    for run in runs[start:]:
        if size * (100 + options.size_ratio) < run.size * 100:
            break
        size += run.size
        count += 1
    return count


def unit_of(runs: Sequence[SortedRun], count: int, options: UniversalOptions) -> CompactionUnit:
    """The merge of the `count` newest runs, and of those that must be merged with them."""
    if count >= len(runs):
        output_level = options.max_level
    else:
        output_level = max(0, runs[count].level - 1)
    # Level 0 holds unmerged files only, so a merge whose output would be there includes the next runs, too.
    while output_level == 0 and count < len(runs):
        count += 1
        output_level = options.max_level if count == len(runs) else max(0, runs[count].level - 1)
    unsettled = options.settle_together and any(_has_deletes(run) for run in runs[:count])
    if unsettled or options.from_oldest:
        count = len(runs)
    return (
        _unit_of_all(runs, options)
        if count >= len(runs)
        else CompactionUnit(tuple(runs[:count]), MergeOutput(output_level))
    )


def _unit_of_all(runs: Sequence[SortedRun], options: UniversalOptions) -> CompactionUnit:
    return CompactionUnit(tuple(runs), MergeOutput.of_all_runs(options.max_level, keep_deletes=options.keep_deletes))
