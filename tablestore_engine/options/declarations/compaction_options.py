"""Options of compaction: whether, when and how the files of a bucket are merged."""

from __future__ import annotations

from typing import Any

from tablestore_engine.options.declarations.needs import KEY, KEY_OR_RETRACTIONS, MARKED_ROWS, NO_KEY, SCHEDULE
from tablestore_engine.options.option import Derived, Option
from tablestore_engine.options.option_type import BOOLEAN, DURATION, FLOAT, INT, MEMORY

_SECOND = 1000


def _num_levels(options: Any) -> int:
    trigger: int = options.num_sorted_runs_compaction_trigger
    return trigger + 1


class CompactionOptions:
    """When and how a table is compacted."""

    __slots__ = ()

    write_only = Option(
        "write-only",
        BOOLEAN,
        False,
        "Writes neither compact nor expire anything, whatever other options say; another process does.",
        fallback_keys=("write.compaction-skip",),
    )
    num_sorted_runs_compaction_trigger = Option(
        "num-sorted-run.compaction-trigger",
        INT,
        5,
        "Number of sorted runs in a bucket at which a compaction starts.",
        minimum=1,
        needs=KEY,
    )
    num_sorted_runs_stop_trigger = Option(
        "num-sorted-run.stop-trigger",
        INT,
        None,
        "Number of sorted runs in a bucket at which a write compacts the bucket itself, however large it is, also "
        "where compactions are scheduled. When not set, writes do not wait for the compaction of large buckets. Writes "
        "of a `write-only` table compact nothing, so they do not wait either.",
        minimum=1,
        needs=KEY,
    )
    force_compact = Option(
        "commit.force-compact",
        BOOLEAN,
        False,
        "Every write compacts the buckets that it wrote to, however few runs they have; in a table without a key also "
        "as few as two small files, unless one is larger than the others together.",
    )
    full_compaction_delta_commits = Option(
        "full-compaction.delta-commits",
        INT,
        None,
        "Number of writes after which the whole table is compacted fully by the write that completes it.",
        minimum=1,
    )
    force_rewrite_all_files = Option(
        "compaction.force-rewrite-all-files",
        BOOLEAN,
        False,
        "A full compaction rewrites all files, also those that are compacted already.",
    )
    num_levels = Option(
        "num-levels",
        INT,
        Derived(_num_levels),
        "Number of levels; when not set, the compaction trigger + 1.",
        minimum=2,
        needs=KEY,
    )
    max_size_amplification_percent = Option(
        "compaction.max-size-amplification-percent",
        INT,
        200,
        "Size of the upper runs, as a percentage of the last run, beyond which a full compaction starts. In "
        "a table without a key, once it has retractions.",
        minimum=1,
        needs=KEY_OR_RETRACTIONS,
    )
    size_ratio = Option(
        "compaction.size-ratio",
        INT,
        1,
        "Percentage by which a run may be larger than the runs before it and still be compacted with them.",
        minimum=0,
        needs=KEY,
    )
    optimization_interval_millis = Option(
        "compaction.optimization-interval",
        DURATION,
        None,
        "Time since the last full compaction after which a write compacts its buckets fully.",
        needs=KEY,
    )
    total_size_threshold = Option(
        "compaction.total-size-threshold",
        MEMORY,
        None,
        "Size of a bucket below which a write compacts it fully; in a table without a key, once it has retractions.",
        needs=KEY_OR_RETRACTIONS,
    )
    incremental_size_threshold = Option(
        "compaction.incremental-size-threshold",
        MEMORY,
        None,
        "Size of a bucket's files outside its top level beyond which a write compacts the bucket fully.",
        needs=KEY,
    )
    compaction_min_file_num = Option(
        "compaction.min.file-num",
        INT,
        5,
        "Smallest number of small files at which a table without a key is compacted; none of them may be larger than "
        "the others together.",
        minimum=1,
        needs=NO_KEY,
    )

    compaction_delete_ratio_threshold = Option(
        "compaction.delete-ratio-threshold",
        FLOAT,
        0.2,
        "Share of deleted rows beyond which a file of a table without a key, whose deleted rows are kept in deletion "
        "vectors, is compacted.",
        minimum=0,
        maximum=1,
        needs=MARKED_ROWS,
    )

    # -- scheduled compactions

    compaction_schedule_enabled = Option(
        "compaction.schedule.enabled",
        BOOLEAN,
        False,
        "A write that completes the count of `compaction.delta-commits` schedules a compaction instead of compacting. "
        "`CALL sys.run_compaction` or `tablestore compact` runs it.",
        ours=True,
    )
    compaction_delta_commits = Option(
        "compaction.delta-commits",
        INT,
        5,
        "Number of commits after which a write schedules the next compaction.",
        minimum=1,
        ours=True,
        needs=SCHEDULE,
    )
    compaction_lease_millis = Option(
        "compaction.lease",
        DURATION,
        600 * _SECOND,
        "Time without a heartbeat after which another process may take over a scheduled compaction.",
        minimum=1,
        ours=True,
    )
