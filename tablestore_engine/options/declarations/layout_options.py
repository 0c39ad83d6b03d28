"""Options of a table's layout: its type, keys, buckets and partitions."""

from __future__ import annotations

from tablestore_engine.options.declarations.needs import DYNAMIC_BUCKETS, INDEX_FILES, PARTITIONS
from tablestore_engine.options.option import Effect, Option
from tablestore_engine.options.option_type import BOOLEAN, COLUMNS, DURATION, ENUM, ENUMS, INT, TEXT

_HOUR = 3_600_000
DONE_ACTIONS = ("success-file", "done-partition")
"""Actions that mark a partition as done here; Paimon's other ones call a metastore, a service or a Java class."""


class LayoutOptions:
    """The type, keys, buckets and partitions of a table."""

    __slots__ = ()

    table_type = Option(
        "type",
        ENUM,
        "table",
        "Type of the table. Directories of the other types do not hold tables.",
        choices=("table", "materialized-table", "format-table", "object-table", "lance-table", "iceberg-table"),
        accepted=("table", "materialized-table"),
        immutable=True,
        effect=Effect.READ,
    )
    primary_key = Option(
        "primary-key",
        COLUMNS,
        (),
        "Primary key, as an option instead of a constraint.",
        immutable=True,
    )

    # -- schema evolution

    schema_evolution_cast = Option(
        "schema.evolution.cast",
        ENUM,
        "implicit",
        "Types that ALTER TABLE may give a column: those that need no explicit cast (implicit), or all that Spark's "
        "cast leads to. A value of an older file that cannot be cast is an error when it is read (explicit-error, and "
        "implicit) or null (explicit-null).",
        choices=("implicit", "explicit-error", "explicit-null"),
        ours=True,
    )
    schema_evolution_time_zone = Option(
        "schema.evolution.time-zone",
        TEXT,
        "UTC",
        "Time zone of casts between timestamps with a time zone and dates, texts or timestamps without one, when an "
        "older file is read: that of the session would give each reader other values.",
        ours=True,
    )

    # -- buckets

    bucket = Option(
        "bucket",
        INT,
        -1,
        "Number of buckets of a partition. -1 means, in a table with a key, as many buckets as the rows need (dynamic "
        "buckets), and in a table without a key one bucket of unbounded size. CREATE TABLE with a key that has all "
        "partition columns stores 1 unless it says another number (CREATE TABLE … AS one for each 128 MB of rows). A "
        "number can be changed; a partition keeps the old one until it is overwritten or rescaled.",
        minimum=-2,
        immutable=True,
    )
    bucket_key = Option(
        "bucket-key",
        COLUMNS,
        (),
        "Columns whose hash chooses the bucket; when not set, the primary key without the partition columns.",
        immutable=True,
    )
    dynamic_bucket_target_row_num = Option(
        "dynamic-bucket.target-row-num",
        INT,
        2_000_000,
        "Number of keys in a dynamic bucket at which new keys go to another bucket.",
        minimum=1,
        needs=DYNAMIC_BUCKETS,
    )
    dynamic_bucket_initial_buckets = Option(
        "dynamic-bucket.initial-buckets",
        INT,
        1,
        "Number of dynamic buckets that the first write of a partition opens at once.",
        minimum=1,
        needs=DYNAMIC_BUCKETS,
    )
    dynamic_bucket_max_buckets = Option(
        "dynamic-bucket.max-buckets",
        INT,
        -1,
        "Largest number of dynamic buckets in a partition, however full they are; -1 means no limit.",
        minimum=-1,
        needs=DYNAMIC_BUCKETS,
    )
    index_file_in_data_file_dir = Option(
        "index-file-in-data-file-dir",
        BOOLEAN,
        False,
        "Keep the index of dynamic buckets in the directory of the data files.",
        immutable=True,
        needs=INDEX_FILES,
    )

    # -- partitions

    partition = Option(
        "partition",
        COLUMNS,
        (),
        "Partition columns, as an option instead of a clause.",
        immutable=True,
    )
    partition_default_name = Option(
        "partition.default-name",
        TEXT,
        "__DEFAULT_PARTITION__",
        "Directory name of a partition value that is null or blank.",
        immutable=True,
        needs=PARTITIONS,
    )
    partition_legacy_name = Option(
        "partition.legacy-name",
        BOOLEAN,
        True,
        "Write dates in the names of partition directories as day numbers. New tables store 'false' when a partition "
        "column is a date or a time.",
        immutable=True,
        needs=PARTITIONS,
    )
    partition_expiration_time_millis = Option(
        "partition.expiration-time",
        DURATION,
        None,
        "Age at which a partition is removed; when not set, partitions are kept.",
    )
    partition_expiration_strategy = Option(
        "partition.expiration-strategy",
        ENUM,
        "values-time",
        "Whether the age of a partition counts from the time that its values mean, or from its last change.",
        choices=("values-time", "update-time"),
        needs=PARTITIONS,
    )
    partition_expiration_check_interval_millis = Option(
        "partition.expiration-check-interval",
        DURATION,
        _HOUR,
        "Time after which a commit checks again for expired partitions.",
        minimum=0,
        needs=PARTITIONS,
    )
    partition_expiration_max_num = Option(
        "partition.expiration-max-num",
        INT,
        100,
        "Largest number of partitions that expire at once.",
        minimum=1,
        needs=PARTITIONS,
    )
    partition_timestamp_pattern = Option(
        "partition.timestamp-pattern",
        TEXT,
        None,
        "How partition columns make up a time, for example '$dt $hr:00:00'; when not set, it is the first column.",
        needs=PARTITIONS,
    )
    partition_timestamp_formatter = Option(
        "partition.timestamp-formatter",
        TEXT,
        None,
        "Format of that text, for example 'yyyyMMdd'; when not set, it is read as a date, or as a date and a time.",
        needs=PARTITIONS,
    )
    partition_mark_done_action = Option(
        "partition.mark-done-action",
        ENUMS,
        ("success-file",),
        "What marks a partition as done, by `partition.end-input-to-done` and `CALL sys.mark_partition_done`: a file "
        "`_SUCCESS` in its folder (success-file), a folder of the same name with `.done` at its end (done-partition), "
        "or both.",
        choices=(*DONE_ACTIONS, "mark-event", "http-report", "custom"),
        accepted=DONE_ACTIONS,
        ignored="the metastore or service that other actions call would not hear of a partition that is done",
        needs=PARTITIONS,
    )
    partition_end_input_to_done = Option(
        "partition.end-input-to-done",
        BOOLEAN,
        False,
        "Each write marks the partitions that it wrote to as done.",
        needs=PARTITIONS,
    )
