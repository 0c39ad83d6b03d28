"""Options that this engine knows but does not act on, most of them Paimon's: a table of another writer may have them.

Those that would make answers or files wrong if they were ignored are *refused*; the others are *kept* without effect.
"""

from __future__ import annotations

from typing import Any

from tablestore_engine.options.option import Effect, Option
from tablestore_engine.options.option_type import (
    BOOLEAN,
    COLUMNS,
    DURATION,
    ENUM,
    FLOAT,
    INT,
    MEMORY,
    TEXT,
    OptionType,
)

_MB = 1 << 20
_SECOND = 1000


def _kept(key: str, type_: OptionType[Any], default: Any, description: str, **more: Any) -> Option[Any]:
    return Option(key, type_, default, description, supported=False, **more)


def _refused_reads(key: str, type_: OptionType[Any], default: Any, description: str, **more: Any) -> Option[Any]:
    """Ignored, it would make answers wrong."""
    return _kept(key, type_, default, description, effect=Effect.READ, **more)


def _refused_writes(key: str, type_: OptionType[Any], default: Any, description: str, **more: Any) -> Option[Any]:
    """Ignored, it would make written files wrong."""
    return _kept(key, type_, default, description, effect=Effect.WRITE, **more)


_OURS = (
    _kept(
        "ctas.atomicity",
        ENUM,
        "atomic",
        "What a failed CREATE TABLE AS leaves behind: atomic (nothing, and the table is never visible half done), "
        "rollback (what it wrote is removed afterwards), none.",
        choices=("atomic", "rollback", "none"),
        ours=True,
    ),
    _kept("change-tracking", BOOLEAN, True, "Keep the changes of this table for readers of changes.", ours=True),
)

_REFUSED = (
    _refused_writes(
        "changelog-producer",
        ENUM,
        "none",
        "How complete changelogs are produced.",
        choices=("none", "input", "lookup", "full-compaction"),
    ),
    _refused_writes("deletion-vectors.bitmap64", BOOLEAN, False, "Use 64-bit deletion bitmaps."),
    _refused_reads(
        "bucket-function.type",
        ENUM,
        "default",
        "Function that chooses the bucket.",
        choices=("default", "mod", "hive"),
        immutable=True,
    ),
    _refused_writes("upsert-key", COLUMNS, (), "Columns by which writers of other tools find the row to replace."),
    _refused_writes("pk-*.index.columns", COLUMNS, (), "Columns that have an index in a table with a primary key."),
    _refused_reads("postpone.merge-on-read", BOOLEAN, False, "Also read rows that have no bucket yet."),
    _refused_writes("row-tracking.enabled", BOOLEAN, False, "Give every row a stable id.", immutable=True),
    _refused_reads(
        "data-evolution.enabled", BOOLEAN, False, "Store the columns of a row in several files.", immutable=True
    ),
    _refused_reads("record-level.expire-time", DURATION, None, "Age at which single rows expire."),
    _refused_reads("record-level.time-field", TEXT, None, "Column whose time decides when a row expires."),
    _refused_reads("primary-key.nullable", BOOLEAN, False, "Allow nulls in the primary key.", immutable=True),
    _refused_reads("pk-clustering-override", BOOLEAN, False, "Cluster by other columns than the key."),
    _refused_reads("sequence.snapshot-ordering", BOOLEAN, False, "Order records of a key by snapshot."),
    _refused_reads("chain-table.enabled", BOOLEAN, False, "Use a chain of snapshot and delta branches."),
    _refused_reads("scan.fallback-branch", TEXT, None, "Branch that is read when a partition is missing."),
    _refused_reads("scan.fallback-snapshot-branch", TEXT, None, "Branch that is read when a partition is missing."),
    _refused_reads("scan.fallback-delta-branch", TEXT, None, "Branch of changes, read when a partition is missing."),
    _refused_reads("scan.primary-branch", TEXT, None, "Branch that is read first."),
    _refused_reads("branch", TEXT, "main", "Branch of the table."),
    _refused_reads(
        "scan.mode",
        ENUM,
        "default",
        "Part of the table that is read.",
        accepted=("default", "latest", "latest-full", "full"),
        fallback_keys=("log.scan",),
    ),
    *(
        _refused_reads(key, TEXT, None, "Past state of the table that is read.")
        for key in (
            "scan.snapshot-id",
            "scan.tag-name",
            "scan.version",
            "scan.watermark",
            "scan.timestamp",
            "scan.timestamp-millis",
            "scan.creation-time-millis",
            "scan.file-creation-time-millis",
            "incremental-between",
            "incremental-between-timestamp",
            "incremental-to-auto-tag",
        )
    ),
    _refused_reads("scan.bucket", INT, None, "The only bucket that is read."),
    _refused_reads("file.format.per.level", TEXT, None, "File format of single levels."),
    _refused_writes("changelog-file.format", TEXT, None, "Format of changelog files."),
    _refused_reads("query-auth.enabled", BOOLEAN, False, "Ask the catalog which rows and columns may be read."),
    _refused_writes("data-file.external-paths", TEXT, None, "Directories of data files outside the table."),
    _refused_reads("data-file.path-directory", TEXT, None, "Directory of data files below the table."),
    _refused_reads("partial-update.*", TEXT, None, "Options of the partial-update merge engine."),
    _refused_reads("aggregation.*", TEXT, None, "Options of the aggregation merge engine."),
    _refused_reads("fields.*.nested-sequence-field", COLUMNS, (), "Fields that order the rows of a nested table."),
    _refused_reads(
        "fields.*.nested-key-null-strategy", ENUM, "merge", "What happens to nested rows whose key has a null."
    ),
    _refused_reads("fields.*.ts-field", TEXT, None, "Field that orders the values of a map."),
    _refused_reads("fields.*.map.storage-layout", ENUM, "default", "How a map is stored."),
)

_KEPT = tuple(
    _kept(key, type_, default, description)
    for key, type_, default, description in (
        ("dynamic-bucket.assigner-parallelism", INT, None, "Parallelism of the bucket assigner."),
        ("bucket-append-ordered", BOOLEAN, True, "Keep the order of arrival in a bucket of an append table."),
        ("data-file.thin-mode", BOOLEAN, False, "Leave copies of the key columns out of data files (not done here)."),
        ("data-file.external-paths.*", TEXT, None, "How external paths are chosen."),
        ("fields.*.map.shared-shredding.*", TEXT, None, "Details of how a map is stored."),
        ("fields.*.default-value", TEXT, None, "Default of old versions; the column's own default replaces it."),
        ("batch-scan-mode", TEXT, None, "Internal to other engines."),
        ("stream-scan-mode", TEXT, None, "Internal to other engines."),
        ("key-value.*", TEXT, None, "Internal to other engines."),
        ("table-read.*", TEXT, None, "Columns of the audit log in other engines."),
        ("bitmap-index.*", TEXT, None, "Details of bitmap indexes."),
        ("btree-index.*", TEXT, None, "Details of sorted indexes."),
        ("sorted-index.*", TEXT, None, "Details of sorted indexes."),
        ("full-text-index.*", TEXT, None, "Details of text indexes."),
        ("scalar-index.*", TEXT, None, "Details of scalar indexes."),
        ("mosaic.*", TEXT, None, "Handed to the Mosaic writer of other engines."),
        ("chain-table.*", TEXT, None, "Details of chained branches."),
        ("commit.native.enabled", BOOLEAN, False, "How other engines commit."),
        ("file-operation.thread-num", INT, None, "Threads that remove files."),
        ("manifest.merge-optimize.enabled", BOOLEAN, False, "How manifests are merged."),
        ("materialized-table.*", TEXT, None, "How other engines refresh the table."),
        ("partition.timestamp-format.strict", BOOLEAN, False, "Refuse partitions whose values are not a time."),
        ("video-frame-field", TEXT, None, "Columns of video frames."),
        ("visibility-callback.*", TEXT, None, "How other engines wait until rows are visible."),
        ("auto-create", BOOLEAN, False, "Create the table when it is first used."),
        ("path", TEXT, None, "Directory of the table."),
        ("owner", TEXT, None, "Owner of the table."),
        ("provider", TEXT, None, "Provider that other engines show."),
        ("connector", TEXT, None, "Connector that other engines show."),
        ("comment", TEXT, None, "Comment that other engines show."),
        ("file.block-size", MEMORY, None, "Size of a row group."),
        ("file.compression.per.level", TEXT, None, "Compression of single levels."),
        ("file.suffix.include.compression", BOOLEAN, False, "Name the compression in file names."),
        ("changelog-file.prefix", TEXT, "changelog-", "First part of the names of changelog files."),
        ("changelog-file.compression", TEXT, None, "Compression of changelog files."),
        ("changelog-file.stats-mode", TEXT, None, "Statistics of changelog files."),
        ("changelog-producer.*", TEXT, None, "Details of changelog production."),
        ("changelog.*", TEXT, None, "How long changelogs are kept."),
        ("commit.force-compact", BOOLEAN, False, "Compact before every commit."),
        ("commit.force-create-snapshot", BOOLEAN, False, "Commit even when nothing changed."),
        ("commit.discard-duplicate-files", BOOLEAN, False, "Drop files that are committed twice."),
        ("commit.callback*", TEXT, None, "Callbacks of other engines after a commit."),
        ("commit.strict-mode.last-safe-snapshot", INT, None, "Snapshot since which no other commit is allowed."),
        ("compaction.delete-ratio-threshold", FLOAT, 0.2, "Share of deleted rows at which a file is rewritten."),
        ("compaction.force-rewrite-all-files", BOOLEAN, False, "A full compaction rewrites every file."),
        ("compaction.force-up-level-0", BOOLEAN, False, "Every compaction includes level 0."),
        ("compaction.file-num-limit", INT, 100_000, "Files that one compaction of an append table considers."),
        ("compaction.offpeak*", TEXT, None, "Off-peak hours and their size ratio."),
        ("compaction.skip-expired-partitions", BOOLEAN, False, "Do not compact expired partitions."),
        ("compaction.small-file-ratio", FLOAT, 0.7, "Share of the target size below which a file is small."),
        ("num-sorted-run.stop-trigger", INT, None, "Sorted runs of a bucket at which a write waits for compaction."),
        ("target-file-row-num", INT, None, "Rows at which a data file is closed."),
        ("snapshot.clean-empty-directories", BOOLEAN, False, "Remove empty directories when snapshots expire."),
        ("snapshot.expire.execution-mode", TEXT, "sync", "Whether a commit waits until snapshots are expired."),
        ("snapshot.ignore-empty-commit", BOOLEAN, None, "Write no snapshot for an empty commit."),
        ("snapshot.watermark-idle-timeout", DURATION, None, "Pause after which a source counts as idle."),
        ("tag.*", TEXT, None, "Automatic tags."),
        ("consumer*", TEXT, None, "Progress of consumers."),
        ("scan.*", TEXT, None, "Details of a scan."),
        ("incremental-between*", TEXT, None, "Range of an incremental read."),
        ("streaming*", TEXT, None, "Details of streaming reads."),
        ("continuous.discovery-interval", DURATION, 10 * _SECOND, "Time between checks for new snapshots."),
        ("source.*", TEXT, None, "Splitting of reads."),
        ("read.*", TEXT, None, "Details of readers."),
        ("lookup*", TEXT, None, "Details of lookups."),
        ("write.*", TEXT, None, "Details of writers."),
        ("write-buffer-for-append", BOOLEAN, False, "Buffer appended rows."),
        ("write-buffer-spillable", BOOLEAN, True, "Spill the write buffer."),
        ("write-buffer-spill.max-disk-size", TEXT, None, "Disk space that spilling may use."),
        ("write-max-writers-to-spill", INT, 10, "Number of writers at which an append spills."),
        ("write-manifest-cache", MEMORY, 0, "Memory for cached manifests."),
        ("local-*", TEXT, None, "Local merging, sorting and caching."),
        ("sort-*", TEXT, None, "Details of sorting."),
        ("spill-compression*", TEXT, None, "Compression of spilled data."),
        ("sink.*", TEXT, None, "Details of sinks."),
        ("metadata.stats-keep-first-n-columns", INT, -1, "Number of columns that get statistics."),
        ("metadata.stats-mode.per.level", TEXT, None, "Statistics of single levels."),
        ("metastore.*", TEXT, None, "Synchronisation with a metastore."),
        ("metadata.iceberg.*", TEXT, None, "Iceberg metadata in addition to Paimon's."),
        ("manifest.delete-file-drop-stats", BOOLEAN, False, "Leave statistics out of delete entries."),
        ("manifest.full-compaction-threshold-size", MEMORY, 16 * _MB, "Changes at which all manifests are rewritten."),
        ("manifest.sidecar.enabled", BOOLEAN, False, "Write sidecar indexes of manifests."),
        ("manifest-sort*", TEXT, None, "Sorting of manifests."),
        ("partition.expiration-batch-size", INT, None, "Partitions that one commit removes when they expire."),
        ("partition.mark-done-action*", TEXT, None, "What marks a partition as done."),
        ("partition.end-input-to-done", BOOLEAN, False, "Mark partitions as done at the end of input."),
        ("partition.idle-time-to-report-statistic", DURATION, 0, "Idle time before statistics are reported."),
        ("partition.sink-strategy", TEXT, "none", "How sinks shuffle partitions."),
        ("file-index.*", TEXT, None, "File indexes."),
        ("file-reader-async-threshold", MEMORY, 10 * _MB, "Size of a file at which it is read asynchronously."),
        ("async-file-write", BOOLEAN, True, "Write files asynchronously."),
        ("full-compaction.delta-commits", INT, None, "Commits between full compactions."),
        ("delete.force-produce-changelog", BOOLEAN, False, "Produce changes for DELETE."),
        ("clustering.*", TEXT, None, "Clustering of append tables."),
        ("zorder.var-length-contribution", INT, 8, "Bytes of a text that count in a z-order."),
        ("row-tracking.*", TEXT, None, "Details of row tracking."),
        ("data-evolution.*", TEXT, None, "Details of data evolution."),
        ("deletion-vectors.modifiable", BOOLEAN, False, "Allow deletion vectors to be switched on or off later."),
        ("deletion-vector.index-file.target-size", MEMORY, 2 * _MB, "Size of an index of deletion vectors."),
        ("global-index.*", TEXT, None, "Global indexes."),
        ("postpone.*", TEXT, None, "Details of buckets that are assigned later."),
        ("page-size", MEMORY, 64 << 10, "Size of a memory page."),
        ("cache-page-size", MEMORY, 64 << 10, "Size of a cached page."),
        ("add-column-before-partition", BOOLEAN, False, "Add new columns before the partition columns."),
        ("alter-column-null-to-not-null.disabled", BOOLEAN, True, "Refuse NULL to NOT NULL."),
        ("disable-explicit-type-casting", BOOLEAN, False, "Refuse explicit casts in schema changes."),
        ("overwrite-upgrade", BOOLEAN, True, "Upgrade files after an overwrite."),
        ("force-lookup", BOOLEAN, False, "Always compact by lookup."),
        ("end-input.*", TEXT, None, "What happens at the end of input."),
        ("cross-partition-upsert.*", TEXT, None, "Details of keys that move to another partition."),
        ("parquet.*", TEXT, None, "Handed to the Parquet writer of other engines."),
        ("orc.*", TEXT, None, "Handed to the ORC writer of other engines."),
        ("avro.*", TEXT, None, "Handed to the Avro writer of other engines."),
        ("variant.*", TEXT, None, "Details of variants."),
        ("blob*", TEXT, None, "Details of blobs."),
        ("vector*", TEXT, None, "Details of vectors."),
        ("format-table.*", TEXT, None, "Details of format tables."),
    )
)

FOREIGN_OPTIONS: tuple[Option[Any], ...] = (*_OURS, *_REFUSED, *_KEPT)
