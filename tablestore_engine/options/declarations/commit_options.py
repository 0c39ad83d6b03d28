"""Options of commits, and of the snapshots and tags that are kept afterwards."""

from __future__ import annotations

from tablestore_engine.options.declarations.needs import (
    AUTOMATIC_TAGS,
    PARTITIONS,
    TAGS_BY_CLOCK,
    TAGS_BY_WATERMARK,
    TAGS_OF_BATCHES,
    TAGS_OF_PERIODS,
)
from tablestore_engine.options.option import Option
from tablestore_engine.options.option_type import BOOLEAN, DURATION, ENUM, INT, TEXT

_SECOND = 1000
_HOUR = 3_600_000
_INT_MAX = 2**31 - 1
PERIODS = {"daily": 24 * _HOUR, "hourly": _HOUR, "two-hours": 2 * _HOUR}
"""Periods of automatic tags, in milliseconds."""


class CommitOptions:
    """How commits to a table behave, and what they keep."""

    __slots__ = ()

    # -- commits

    ctas_atomicity = Option(
        "ctas.atomicity",
        ENUM,
        "atomic",
        "When CREATE TABLE AS shows a new table, and what it leaves when it fails: atomic (the table appears with its "
        "rows, or never), rollback (it is visible while it is filled, and dropped after a failure), none (it is "
        "visible, and stays). A table that exists is always replaced by one snapshot.",
        choices=("atomic", "rollback", "none"),
        ours=True,
    )
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
        needs=PARTITIONS,
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
    snapshot_expire_execution_mode = Option(
        "snapshot.expire.execution-mode",
        ENUM,
        "sync",
        "Whether a commit waits until old snapshots are expired. With async they expire in the background, and the "
        "process ends when that is done.",
        choices=("sync", "async"),
    )
    snapshot_clean_empty_directories = Option(
        "snapshot.clean-empty-directories",
        BOOLEAN,
        False,
        "When files of expired snapshots, deleted tags and expired partitions are removed, also remove the folders of "
        "buckets and partitions that are empty then.",
        fallback_keys=("snapshot.expire.clean-empty-directories",),
    )
    consumer_expiration_time_millis = Option(
        "consumer.expiration-time",
        DURATION,
        None,
        "Time without progress after which commits forget a consumer, so that its snapshots may expire, and how long "
        "a log on Kafka keeps snapshots that are not published; when not set, consumers are kept, and such snapshots.",
    )
    tag_automatic_creation = Option(
        "tag.automatic-creation",
        ENUM,
        "none",
        "Which tags commits make: one for each period that is over by the time of the commit, or by the watermark that "
        "other engines write; or, with batch, one for the newest snapshot of each day.",
        choices=("none", "process-time", "watermark", "batch"),
    )
    tag_creation_period = Option(
        "tag.creation-period",
        ENUM,
        "daily",
        "Period of automatic tags, unless `tag.creation-period-duration` says another one.",
        choices=tuple(PERIODS),
        needs=TAGS_OF_PERIODS,
    )
    tag_creation_period_duration_millis = Option(
        "tag.creation-period-duration",
        DURATION,
        None,
        "Period of automatic tags of any other length.",
        minimum=60 * _SECOND,
        needs=TAGS_OF_PERIODS,
    )
    tag_creation_delay_millis = Option(
        "tag.creation-delay",
        DURATION,
        0,
        "Time that a commit must be later than the end of a period, so that the tag has the rows that come late. The "
        "first tag of a table does not wait.",
        needs=TAGS_OF_PERIODS,
    )
    tag_period_formatter = Option(
        "tag.period-formatter",
        ENUM,
        "with_dashes",
        "How the names of the automatic tags of days and hours are written; those of other periods have one form. A "
        "name of digits only is read like the id of a snapshot: VERSION AS OF 20240131.",
        choices=("with_dashes", "without_dashes", "without_dashes_and_spaces"),
        needs=TAGS_OF_PERIODS,
    )
    tag_num_retained_max = Option(
        "tag.num-retained-max",
        INT,
        None,
        "Largest number of automatic tags; the oldest are removed. Tags that somebody made stay.",
        minimum=1,
        needs=AUTOMATIC_TAGS,
    )
    tag_automatic_completion = Option(
        "tag.automatic-completion",
        BOOLEAN,
        False,
        "Also make the tags of periods without a commit, one with each commit.",
        needs=TAGS_OF_PERIODS,
    )
    tag_batch_customized_name = Option(
        "tag.batch.customized-name",
        TEXT,
        None,
        "Name of the tag that the mode batch makes; when not set, batch-write- and the day.",
        needs=TAGS_OF_BATCHES,
    )
    tag_create_success_file = Option(
        "tag.create-success-file",
        BOOLEAN,
        False,
        "Write a file tag/tag-success-file/<tag>_SUCCESS when a tag was made, and remove it with the tag.",
    )
    tag_time_expire_enabled = Option(
        "tag.time-expire-enabled",
        BOOLEAN,
        True,
        "Commits remove the tags whose time is over.",
    )
    sink_process_time_zone = Option(
        "sink.process-time-zone",
        TEXT,
        None,
        "Time zone of automatic tags by process time, such as Europe/Berlin; when not set, that of the process.",
        needs=TAGS_BY_CLOCK,
    )
    sink_watermark_time_zone = Option(
        "sink.watermark-time-zone",
        TEXT,
        "UTC",
        "Time zone of automatic tags by watermark.",
        needs=TAGS_BY_WATERMARK,
    )
    write_merge_schema = Option(
        "write.merge-schema",
        BOOLEAN,
        False,
        "Whether a write of Spark adds the columns that its rows have and the table does not, and widens types.",
    )
    write_merge_schema_explicit_cast = Option(
        "write.merge-schema.explicit-cast",
        BOOLEAN,
        False,
        "Whether write.merge-schema also changes types in ways that may lose values.",
    )
    tag_default_time_retained_millis = Option(
        "tag.default-time-retained",
        DURATION,
        None,
        "Time for which a tag is kept when it was given none of its own; when not set, until it is deleted.",
    )
