"""Options of commits, and of the snapshots and tags that are kept afterwards."""

from __future__ import annotations

from tablestore_engine.options.option import Option
from tablestore_engine.options.option_type import BOOLEAN, DURATION, INT, TEXT

_SECOND = 1000
_HOUR = 3_600_000
_INT_MAX = 2**31 - 1


class CommitOptions:
    """How commits to a table behave, and what they keep."""

    __slots__ = ()

    # -- commits

    commit_max_retries = Option(
        "commit.max-retries",
        INT,
        10,
        "Number of attempts after the first one when other commits win.",
        minimum=0,
    )
    commit_timeout_millis = Option(
        "commit.timeout",
        DURATION,
        None,
        "Time after which a commit that keeps losing against others fails, and its statement with it; when not set, "
        "there is no limit.",
    )
    commit_min_retry_wait_millis = Option("commit.min-retry-wait", DURATION, 10, "Shortest pause before a retry.")
    commit_max_retry_wait_millis = Option(
        "commit.max-retry-wait",
        DURATION,
        10 * _SECOND,
        "Longest pause before a retry.",
    )
    commit_user_prefix = Option(
        "commit.user-prefix",
        TEXT,
        None,
        "First part of the commit user's name; all of it in a hint with `commit.identifier`.",
    )
    dynamic_partition_overwrite = Option(
        "dynamic-partition-overwrite",
        BOOLEAN,
        True,
        "INSERT OVERWRITE without a full PARTITION clause replaces only the partitions that it writes. A table that "
        "does not set it follows the session's `spark.sql.sources.partitionOverwriteMode`, if that is set.",
    )

    # -- snapshots and tags

    snapshot_num_retained_min = Option(
        "snapshot.num-retained.min",
        INT,
        10,
        "Number of snapshots that are always kept.",
        minimum=1,
    )
    snapshot_num_retained_max = Option(
        "snapshot.num-retained.max",
        INT,
        _INT_MAX,
        "Largest number of snapshots that are kept.",
        minimum=1,
    )
    snapshot_time_retained_millis = Option(
        "snapshot.time-retained",
        DURATION,
        _HOUR,
        "Age until which a snapshot is kept.",
    )
    snapshot_expire_limit = Option(
        "snapshot.expire.limit",
        INT,
        50,
        "Largest number of snapshots that one commit expires.",
        minimum=1,
    )
    tag_default_time_retained_millis = Option(
        "tag.default-time-retained",
        DURATION,
        None,
        "Time for which a tag is kept when it was given none of its own; when not set, until it is deleted.",
    )
