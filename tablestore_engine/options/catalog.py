"""Every table option, once. The documentation is generated from this page.

Order: the table and its keys, files, merging, compaction, commit, snapshots, metadata, our own options, then the
options of Paimon that are known (a table may carry them) but not acted on yet.
"""

from __future__ import annotations

from typing import Any

from tablestore_engine.options.option import Effect, Option, OptionType

_BOOL, _INT, _TEXT, _ENUM = OptionType.BOOLEAN, OptionType.INT, OptionType.TEXT, OptionType.ENUM
_MEMORY, _DURATION, _COLUMNS = OptionType.MEMORY, OptionType.DURATION, OptionType.COLUMNS
_STATS, _FLOAT, _FILE_NAME = OptionType.STATS_MODE, OptionType.FLOAT, OptionType.FILE_NAME
AGGREGATE_FUNCTIONS = ("sum", "product", "max", "min", "last_value", "last_non_null_value", "first_value",
                       "first_non_null_value", "count", "listagg", "bool_and", "bool_or", "collect", "merge_map",
                       "nested_update", "hll_sketch", "theta_sketch")  # fmt: skip
"""The aggregate functions that this engine knows."""
COUNT_ENGINE = "tablestore-count"
"""The merge engine of tables without a key that take retractions; no other reader knows it, so all refuse them."""
MERGE_ENGINES = ("deduplicate", "partial-update", "aggregation", "first-row", COUNT_ENGINE)
_MB, _SECOND, _HOUR = 1 << 20, 1000, 3_600_000
_INT_MAX = 2**31 - 1


def _later(key: str, type_: OptionType, default: Any, description: str, effect: Effect = Effect.NONE,
           **more: Any) -> Option:  # fmt: skip
    """An option of Paimon that is known but not acted on yet."""
    return Option(key, type_, default, description, supported=False, effect=effect, **more)


_TABLE = (
    Option("bucket", _INT, -1, "Number of buckets of a partition. -1: with a key as many as the rows need (dynamic "
           "buckets), without a key one that is not " "bounded. A number may be set to " "another one: partitions keep theirs "  # noqa: E501
           "until they are overwritten or rescaled.", immutable=True, minimum=-2),
    Option("bucket-key", _COLUMNS, (), "Columns whose hash chooses the bucket; the primary key without the "
           "partition columns when not set.", immutable=True),
    Option("dynamic-bucket.target-row-num", _INT, 2_000_000, "Keys of a dynamic bucket; new keys go to another one "
           "then.", minimum=1),
    Option("dynamic-bucket.initial-buckets", _INT, 1, "Dynamic buckets that the first write of a partition opens at "
           "once.", minimum=1),
    Option("dynamic-bucket.max-buckets", _INT, -1, "Dynamic buckets of a partition at most, however full they are; -1 "
           "is no limit.", minimum=-1),
    Option("index-file-in-data-file-dir", _BOOL, False, "Keep the index of dynamic buckets beside the data files.",
           immutable=True),
    Option("primary-key", _COLUMNS, (), "Primary key, as an option instead of a constraint.", immutable=True),
    Option("partition", _COLUMNS, (), "Partition columns, as an option instead of a clause.", immutable=True),
    Option("partition.default-name", _TEXT, "__DEFAULT_PARTITION__", "Directory name of a null or blank partition "
           "value.", immutable=True),
    Option("partition.expiration-time", _DURATION, None, "Age at which a partition is removed; it stays when not set."),
    Option("partition.expiration-strategy", _ENUM, "values-time", "Whether a partition's age counts from the time that its "  # noqa: E501
           "values stand for, or from its last change.", choices=("values-time", "update-time")),
    Option("partition.expiration-check-interval", _DURATION, _HOUR, "Commits look for expired partitions once in this "
           "time.", minimum=0),
    Option("partition.expiration-max-num", _INT, 100, "Partitions that expire at once at most.", minimum=1),
    Option("partition.timestamp-pattern", _TEXT, None, "How partition columns make up a time, such as '$dt $hr:00:00'; "
           "the first column when not set."),
    Option("partition.timestamp-formatter", _TEXT, None, "How that text is read, such as " "'yyyyMMdd'; as a date or a date "  # noqa: E501
           "and a time when not set."),
    Option("partition.legacy-name", _BOOL, True, "Write dates in partition directories as day numbers. New tables "
           "store 'false' when a partition column is a date or a time.", immutable=True),
    Option("type", _ENUM, "table", "Type of the table. Directories of other types are other things than tables.",
           choices=("table", "materialized-table", "format-table", "object-table", "lance-table", "iceberg-table"),
           accepted=("table", "materialized-table"), effect=Effect.READ, immutable=True),
)  # fmt: skip

_FILES = (
    Option("file.format", _ENUM, "parquet", "Format of data files.", choices=("parquet", "orc", "avro"),
           accepted=("parquet",), effect=Effect.READ),
    Option("file.compression", _ENUM, "zstd", "Compression of data files.",
           choices=("zstd", "snappy", "lz4", "gzip", "brotli", "none", "uncompressed")),
    Option("write-buffer-size", _MEMORY, 256 * _MB,
           "Rows of one bucket that a writer without " "Spark holds before it sorts " "them and spills them to local disk. In "  # noqa: E501
           "Spark's tasks Spark's own sort is the buffer: it spills by itself, and one bucket is open at a time."),
    Option("write-buffer-total-size", _MEMORY, 256 * _MB,
           "Rows of all buckets together that such a writer holds; then the largest buckets are spilled. Besides, it "
           "holds a row group of the file that it writes."),
    Option("file.compression.zstd-level", _INT, 1, "Level of zstd compression, 1 (fast) to 22 (small).", minimum=1),
    Option("target-file-size", _MEMORY, None, "Size at which a data file is closed and the next one begun: 128 mb "
           "for keyed tables, 256 mb for others when not set.", minimum=1),
    Option("data-file.prefix", _FILE_NAME, "data-", "First part of the names of data files."),
)  # fmt: skip

_MERGE = (
    Option("merge-engine", _ENUM, "deduplicate", "How records of one key become one row.", immutable=True,
           choices=MERGE_ENGINES, accepted=MERGE_ENGINES, effect=Effect.READ),
    Option("fields.*.aggregate-function", _ENUM, None, "Function that folds the values of one column; the merge "
           "engine is aggregation.", choices=AGGREGATE_FUNCTIONS, accepted=AGGREGATE_FUNCTIONS, immutable=True,
           effect=Effect.READ,
           fallback_keys=("fields.*.function",)),
    Option("fields.default-aggregate-function", _ENUM, "last_non_null_value", "Function of columns without their "
           "own.", choices=AGGREGATE_FUNCTIONS, accepted=AGGREGATE_FUNCTIONS, immutable=True, effect=Effect.READ),
    Option("fields.*.list-agg-delimiter", _TEXT, ",", "Text between the parts of a listagg.", immutable=True,
           effect=Effect.READ),
    Option("fields.*.distinct", _BOOL, False, "Whether listagg and collect keep a value once.", immutable=True,
           effect=Effect.READ),
    Option("fields.*.nested-key", _COLUMNS, (), "Fields of the rows in a nested_update that tell them apart.",
           immutable=True, effect=Effect.READ),
    Option("fields.*.ignore-retract", _BOOL, False, "Leave retractions (-U, -D) out of the aggregate of one column.",
           immutable=True, effect=Effect.READ),
    Option("fields.*.sequence-group", _COLUMNS, (), "Columns that are replaced together, by the record in which the "
           "named column (or columns, separated by commas) is greatest; the merge engine is partial-update.",
           immutable=True, effect=Effect.READ),
    Option("aggregation.remove-record-on-delete", _BOOL, False, "A delete (-D) removes the row, instead of taking "
           "values back.", immutable=True, effect=Effect.READ),
    Option("partial-update.remove-record-on-delete", _BOOL, False, "A delete (-D) removes the row.", immutable=True,
           effect=Effect.READ),
    Option("partial-update.remove-record-on-sequence-group", _COLUMNS, (), "Sequence columns: a delete (-D) that does "
           "not come too late for the sequence group of one of them removes the row.", immutable=True,
           effect=Effect.READ),
    Option("sequence.field", _COLUMNS, (), "Columns that order the records of one key: the greatest wins, whatever "
           "the order of arrival.", immutable=True),
    Option("sequence.field.sort-order", _ENUM, "ascending", "Whether the greatest or the smallest sequence wins.",
           choices=("ascending", "descending"), immutable=True),
    Option("retractions", _ENUM, "auto", "What a table without a key does with its first row of kind -U or -D: auto "
           "makes it count rows (merge engine tablestore-count, which other readers refuse), refuse is an error. An "
           "option of this engine.", choices=("auto", "refuse")),
    Option("ignore-delete", _BOOL, False, "Drop retractions (-D and -U) when they are written.", immutable=True,
           effect=Effect.READ, fallback_keys=(
               "first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete")),
    Option("ignore-update-before", _BOOL, False, "Drop records of kind -U when they are written.", immutable=True,
           effect=Effect.WRITE),
    Option("rowkind.field", _TEXT, None, "Text column that says the kind of each row (+I, -U, +U, -D).",
           immutable=True, effect=Effect.WRITE),
)  # fmt: skip

_COMPACTION = (
    Option("write-only", _BOOL, False, "Never compact while writing; somebody else does.",
           fallback_keys=("write.compaction-skip",)),
    Option("num-sorted-run.compaction-trigger", _INT, 5, "Sorted runs of a bucket at which a compaction starts.",
           minimum=1),
    Option("num-levels", _INT, None, "Number of levels; compaction trigger + 1 when not set.", minimum=2),
    Option("compaction.max-size-amplification-percent", _INT, 200, "Full compaction when the upper runs exceed this "
           "percentage of the last run.", minimum=1),
    Option("compaction.size-ratio", _INT, 1, "Percentage by which a run may be larger than those before it to be "
           "compacted with them.", minimum=0),
    Option("compaction.optimization-interval", _DURATION, None, "A write compacts its buckets fully when this time "
           "has passed since the last full compaction."),
    Option("compaction.total-size-threshold", _MEMORY, None, "A write compacts a bucket fully while it is smaller "
           "than this."),
    Option("compaction.incremental-size-threshold", _MEMORY, None, "A write compacts a bucket fully when more than "
           "this lies outside its top level."),
    Option("compaction.min.file-num", _INT, 5, "Small files of an append table that are worth compacting: so many at "
           "least, of which none is larger than the others together.",
           minimum=1),
    Option("compaction.schedule.enabled", _BOOL, False, "A write that brings the count of `compaction.delta-commits` "
           "schedules a compaction instead of compacting; `CALL sys.run_compaction` or `tablestore compact` carries it "
           "out.", ours=True),
    Option("compaction.delta-commits", _INT, 5, "Commits after which a write schedules the next compaction.",
           minimum=1, ours=True),
    Option("compaction.lease", _DURATION, 600 * _SECOND, "Time without a sign of life after which another process "
           "may take over a scheduled compaction.", minimum=1, ours=True),
)  # fmt: skip

_COMMIT = (
    Option("commit.max-retries", _INT, 10, "Attempts after the first one when other commits win.", minimum=0),
    Option("commit.timeout", _DURATION, None, "Time after which a commit that keeps losing against others gives up, "
           "and the statement with it; unlimited when not set."),
    Option("commit.min-retry-wait", _DURATION, 10, "Shortest pause before a retry."),
    Option("commit.max-retry-wait", _DURATION, 10 * _SECOND, "Longest pause before a retry."),
    Option("commit.user-prefix", _TEXT, None, "First part of the commit user's name."),
    Option("dynamic-partition-overwrite", _BOOL, True, "INSERT OVERWRITE without a full PARTITION clause replaces "
           "only the partitions that it writes."),
    Option("manifest.target-file-size", _MEMORY, 8 * _MB, "Size of a manifest after merging.", minimum=1),
    Option("manifest.merge-min-count", _INT, 30, "Small manifests at which they are merged.", minimum=1),
    Option("manifest.compression", _ENUM, "zstd", "Compression of manifests.",
           choices=("zstd", "deflate", "snappy", "null", "none")),
    Option("manifest.format", _ENUM, "avro", "Format of manifests.", choices=("avro", "orc", "parquet"),
           accepted=("avro",), effect=Effect.READ),
)  # fmt: skip

_SNAPSHOTS = (
    Option("snapshot.num-retained.min", _INT, 10, "Snapshots that expiration always keeps.", minimum=1),
    Option("snapshot.num-retained.max", _INT, _INT_MAX, "Snapshots that expiration keeps at most.", minimum=1),
    Option("snapshot.time-retained", _DURATION, _HOUR, "Age until which a snapshot is kept."),
    Option("snapshot.expire.limit", _INT, 50, "Snapshots that one commit expires at most.", minimum=1),
    Option("tag.default-time-retained", _DURATION, None, "Time for which a tag is kept that was given none; without it "
           "until it is deleted."),
)  # fmt: skip

_METADATA = (
    Option("metadata.stats-mode", _STATS, "truncate(16)", "Column statistics kept in manifests: none, counts, "
           "truncate(n), full."),
    Option("fields.*.stats-mode", _STATS, None, "Column statistics of one column."),
    Option("metadata.stats-dense-store", _BOOL, True, "Store statistics only of the columns that have them."),
)  # fmt: skip

_OURS = (
    Option("ctas.atomicity", _ENUM, "atomic", "What a failed CREATE TABLE AS leaves behind: atomic (nothing, and "
           "nobody sees it half done), rollback (cleaned up afterwards), none.",
           choices=("atomic", "rollback", "none"), supported=False, ours=True),
    Option("change-tracking", _BOOL, True, "Keep the changes of this table for readers of changes.",
           supported=False, ours=True),
)  # fmt: skip

_LATER_ANSWERS = (
    _later("changelog-producer", _ENUM, "none", "How complete changelogs are produced.", Effect.WRITE,
           choices=("none", "input", "lookup", "full-compaction")),
    _later("deletion-vectors.enabled", _BOOL, False, "Keep deleted rows as bitmaps beside the files. Tables of other "
           "tools that do are read, and not written.", Effect.WRITE, immutable=True),
    _later("deletion-vectors.bitmap64", _BOOL, False, "Use 64-bit deletion bitmaps.", Effect.WRITE),
    _later("deletion-vectors.merge-on-read", _BOOL, False, "Read files that are not compacted yet as well.",
           Effect.WRITE),
    _later("bucket-function.type", _ENUM, "default", "Function that chooses the bucket.", Effect.READ,
           choices=("default", "mod", "hive"), immutable=True),
    _later("upsert-key", _COLUMNS, (), "Columns by which writers of other tools " "find the row to replace.", Effect.WRITE),  # noqa: E501
    _later("pk-*.index.columns", _COLUMNS, (), "Columns with an index beside the files of a primary key.", Effect.WRITE),  # noqa: E501
    _later("postpone.merge-on-read", _BOOL, False, "Read what is not in its bucket yet as well.", Effect.READ),
    _later("row-tracking.enabled", _BOOL, False, "Give every row a stable id.", Effect.WRITE, immutable=True),
    _later("data-evolution.enabled", _BOOL, False, "Store columns of one row in several files.", Effect.READ,
           immutable=True),
    _later("record-level.expire-time", _DURATION, None, "Age at which single rows expire.", Effect.READ),
    _later("record-level.time-field", _TEXT, None, "Column that dates a row for its expiration.", Effect.READ),
    _later("primary-key.nullable", _BOOL, False, "Allow nulls in the primary key.", Effect.READ, immutable=True),
    _later("pk-clustering-override", _BOOL, False, "Cluster by other columns than the key.", Effect.READ),
    _later("sequence.snapshot-ordering", _BOOL, False, "Order records of a key by snapshot.", Effect.READ),
    _later("chain-table.enabled", _BOOL, False, "Chain of snapshot and delta branches.", Effect.READ),
    _later("scan.fallback-branch", _TEXT, None, "Branch read when a partition is missing.", Effect.READ),
    _later("scan.fallback-snapshot-branch", _TEXT, None, "Branch read when a partition is missing.", Effect.READ),
    _later("scan.fallback-delta-branch", _TEXT, None, "Branch of changes read when a partition is missing.", Effect.READ),  # noqa: E501
    _later("scan.primary-branch", _TEXT, None, "Branch read first.", Effect.READ),
    _later("branch", _TEXT, "main", "Branch of the table.", Effect.READ),
    _later("scan.mode", _ENUM, "default", "What part of the table a read takes.", Effect.READ,
           accepted=("default", "latest", "latest-full", "full"), fallback_keys=("log.scan",)),
    *(
        _later(key, _TEXT, None, "Past of the table that a read takes.", Effect.READ)
        for key in ("scan.snapshot-id", "scan.tag-name", "scan.version", "scan.watermark", "scan.timestamp",
                    "scan.timestamp-millis", "scan.creation-time-millis", "scan.file-creation-time-millis",
                    "incremental-between", "incremental-between-timestamp", "incremental-to-auto-tag")
    ),
    _later("scan.bucket", _INT, None, "The only bucket that a read takes.", Effect.READ),
    _later("file.format.per.level", _TEXT, None, "File format of single levels.", Effect.READ),
    _later("changelog-file.format", _TEXT, None, "Format of changelog files.", Effect.WRITE),
    _later("query-auth.enabled", _BOOL, False, "Ask the catalog which rows and columns may be read.", Effect.READ),
    _later("data-file.external-paths", _TEXT, None, "Other places where data files are written.", Effect.WRITE),
    _later("data-file.path-directory", _TEXT, None, "Directory of data files below the table.", Effect.READ),
    _later("partial-update.*", _TEXT, None, "Options of the partial-update merge engine.", Effect.READ),
    _later("aggregation.*", _TEXT, None, "Options of the aggregation merge engine.", Effect.READ),
    _later("fields.*.count-limit", _INT, None, "Size limit of a nested table.", Effect.READ),
    _later("fields.*.nested-sequence-field", _COLUMNS, (), "Fields that order the rows of a nested table.", Effect.READ),  # noqa: E501
    _later("fields.*.nested-key-null-strategy", _ENUM, "merge", "What becomes of nested rows whose key has a null.",
           Effect.READ),
    _later("fields.*.ts-field", _TEXT, None, "Field that orders the values of a map.", Effect.READ),
    _later("fields.*.map.storage-layout", _ENUM, "default", "How a map is stored.", Effect.READ),
    _later("fields.*.default-value", _TEXT, None, "Value that replaces null in one column.", Effect.READ),
)  # fmt: skip

_LATER_HARMLESS = tuple(
    _later(key, type_, default, description)
    for key, type_, default, description in (
        ("dynamic-bucket.assigner-parallelism", _INT, None, "Parallelism of the bucket assigner."),
        ("bucket-append-ordered", _BOOL, True, "Keep the order of arrival in a bucket of an append table."),
        ("data-file.thin-mode", _BOOL, False, "Leave the copies of the key columns out of data files (not here)."),
        ("data-file.external-paths.*", _TEXT, None, "How external paths are chosen."),
        ("fields.*.map.shared-shredding.*", _TEXT, None, "Details of how a map is stored."),
        ("batch-scan-mode", _TEXT, None, "For the inside of other engines."),
        ("stream-scan-mode", _TEXT, None, "For the inside of other engines."),
        ("key-value.*", _TEXT, None, "For the inside of other engines."),
        ("table-read.*", _TEXT, None, "Columns of the audit log in other engines."),
        ("bitmap-index.*", _TEXT, None, "Details of bitmap indexes."),
        ("btree-index.*", _TEXT, None, "Details of sorted indexes."),
        ("sorted-index.*", _TEXT, None, "Details of sorted indexes."),
        ("full-text-index.*", _TEXT, None, "Details of text indexes."),
        ("scalar-index.*", _TEXT, None, "Details of indexes of values."),
        ("mosaic.*", _TEXT, None, "Handed to the Mosaic writer of other engines."),
        ("chain-table.*", _TEXT, None, "Details of chained branches."),
        ("commit.native.enabled", _BOOL, False, "How other engines commit."),
        ("file-operation.thread-num", _INT, None, "Threads that remove files."),
        ("manifest.merge-optimize.enabled", _BOOL, False, "How manifests are merged."),
        ("materialized-table.*", _TEXT, None, "How other engines refresh the table."),
        ("partition.timestamp-format.strict", _BOOL, False, "Refuse partitions that are no time."),
        ("video-frame-field", _TEXT, None, "Columns of video frames."),
        ("visibility-callback.*", _TEXT, None, "Waiting of other engines until rows are seen."),
        ("auto-create", _BOOL, False, "Create the table when it is first used."),
        ("path", _TEXT, None, "Directory of the table."),
        ("owner", _TEXT, None, "Owner of the table."),
        ("provider", _TEXT, None, "Provider that other engines show."),
        ("connector", _TEXT, None, "Connector that other engines show."),
        ("comment", _TEXT, None, "Comment that other engines show."),
        ("file.block-size", _MEMORY, None, "Size of a row group."),
        ("file.compression.per.level", _TEXT, None, "Compression of single levels."),
        ("file.suffix.include.compression", _BOOL, False, "Name the compression in file names."),
        ("changelog-file.prefix", _TEXT, "changelog-", "First part of the names of changelog files."),
        ("changelog-file.compression", _TEXT, None, "Compression of changelog files."),
        ("changelog-file.stats-mode", _TEXT, None, "Statistics of changelog files."),
        ("changelog-producer.*", _TEXT, None, "Details of changelog production."),
        ("changelog.*", _TEXT, None, "How long changelogs are kept."),
        ("commit.force-compact", _BOOL, False, "Compact before every commit."),
        ("commit.force-create-snapshot", _BOOL, False, "Commit even when nothing changed."),
        ("commit.discard-duplicate-files", _BOOL, False, "Drop files that are committed twice."),
        ("commit.callback*", _TEXT, None, "Callbacks of other engines after a commit."),
        ("commit.strict-mode.last-safe-snapshot", _INT, None, "Snapshot since which no other commit is allowed."),
        ("compaction.delete-ratio-threshold", _FLOAT, 0.2, "Deleted share at which a file is rewritten."),
        ("compaction.force-rewrite-all-files", _BOOL, False, "A full compaction rewrites every file."),
        ("compaction.force-up-level-0", _BOOL, False, "Every compaction includes level 0."),
        ("compaction.file-num-limit", _INT, 100_000, "Files that one append compaction looks at."),
        ("compaction.offpeak*", _TEXT, None, "Off-peak hours and their size ratio."),
        ("compaction.skip-expired-partitions", _BOOL, False, "Leave expired partitions alone."),
        ("compaction.small-file-ratio", _FLOAT, 0.7, "Share of the target size below which a file is small."),
        ("num-sorted-run.stop-trigger", _INT, None, "Sorted runs of a bucket at which a write waits for compaction."),
        ("target-file-row-num", _INT, None, "Rows at which a data file is closed."),
        ("snapshot.clean-empty-directories", _BOOL, False, "Remove empty directories when snapshots expire."),
        ("snapshot.expire.execution-mode", _TEXT, "sync", "Expire in the commit or beside it."),
        ("snapshot.ignore-empty-commit", _BOOL, None, "Whether an empty commit makes no snapshot."),
        ("snapshot.watermark-idle-timeout", _DURATION, None, "Pause after which a source counts as idle."),
        ("tag.*", _TEXT, None, "Automatic tags."),
        ("consumer*", _TEXT, None, "Progress of consumers."),
        ("scan.*", _TEXT, None, "Details of a scan."),
        ("incremental-between*", _TEXT, None, "Range of an incremental read."),
        ("streaming*", _TEXT, None, "Details of streaming reads."),
        ("continuous.discovery-interval", _DURATION, 10 * _SECOND, "Pause between looks for new snapshots."),
        ("source.*", _TEXT, None, "Splitting of reads."),
        ("read.*", _TEXT, None, "Details of readers."),
        ("lookup*", _TEXT, None, "Details of lookups."),
        ("write.*", _TEXT, None, "Details of writers."),
        ("write-buffer-for-append", _BOOL, False, "Buffer appended rows."),
        ("write-buffer-spillable", _BOOL, True, "Spill the write buffer."),
        ("write-buffer-spill.max-disk-size", _TEXT, None, "Disk that spilling may use."),
        ("write-max-writers-to-spill", _INT, 10, "Writers at which an append spills."),
        ("write-manifest-cache", _MEMORY, 0, "Memory for cached manifests."),
        ("local-*", _TEXT, None, "Local merging, sorting and caching."),
        ("sort-*", _TEXT, None, "Details of sorting."),
        ("spill-compression*", _TEXT, None, "Compression of spilled data."),
        ("sink.*", _TEXT, None, "Details of sinks."),
        ("metadata.stats-keep-first-n-columns", _INT, -1, "Columns that get statistics."),
        ("metadata.stats-mode.per.level", _TEXT, None, "Statistics of single levels."),
        ("metastore.*", _TEXT, None, "Synchronisation with a metastore."),
        ("metadata.iceberg.*", _TEXT, None, "Iceberg metadata beside Paimon's."),
        ("manifest.delete-file-drop-stats", _BOOL, False, "Leave statistics out of delete entries."),
        ("manifest.full-compaction-threshold-size", _MEMORY, 16 * _MB, "Changes at which all manifests are rewritten."),
        ("manifest.sidecar.enabled", _BOOL, False, "Write sidecar indexes of manifests."),
        ("manifest-sort*", _TEXT, None, "Sorting of manifests."),
        ("partition.expiration-batch-size", _INT, None, "Partitions that one commit removes when they expire."),
        ("partition.mark-done-action*", _TEXT, None, "What marks a partition as done."),
        ("partition.end-input-to-done", _BOOL, False, "Mark partitions done at the end of input."),
        ("partition.idle-time-to-report-statistic", _DURATION, 0, "Pause before statistics are reported."),
        ("partition.sink-strategy", _TEXT, "none", "How sinks shuffle partitions."),
        ("file-index.*", _TEXT, None, "File indexes."),
        ("file-reader-async-threshold", _MEMORY, 10 * _MB, "File size read asynchronously."),
        ("async-file-write", _BOOL, True, "Write files asynchronously."),
        ("full-compaction.delta-commits", _INT, None, "Commits between full compactions."),
        ("delete.force-produce-changelog", _BOOL, False, "Produce changes for DELETE."),
        ("clustering.*", _TEXT, None, "Clustering of append tables."),
        ("zorder.var-length-contribution", _INT, 8, "Bytes of a text in a z-order."),
        ("row-tracking.*", _TEXT, None, "Details of row tracking."),
        ("data-evolution.*", _TEXT, None, "Details of data evolution."),
        ("deletion-vectors.modifiable", _BOOL, False, "Allow deletion vectors to be switched later."),
        ("deletion-vector.index-file.target-size", _MEMORY, 2 * _MB, "Size of an index of deletion vectors."),
        ("global-index.*", _TEXT, None, "Global indexes."),
        ("postpone.*", _TEXT, None, "Details of postponed buckets."),
        ("page-size", _MEMORY, 64 << 10, "Size of a memory page."),
        ("cache-page-size", _MEMORY, 64 << 10, "Size of a cached page."),
        ("add-column-before-partition", _BOOL, False, "Where new columns go."),
        ("alter-column-null-to-not-null.disabled", _BOOL, True, "Refuse NULL to NOT NULL."),
        ("disable-explicit-type-casting", _BOOL, False, "Refuse explicit casts in schema changes."),
        ("overwrite-upgrade", _BOOL, True, "Upgrade files after an overwrite."),
        ("force-lookup", _BOOL, False, "Always compact by lookup."),
        ("end-input.*", _TEXT, None, "What happens at the end of input."),
        ("cross-partition-upsert.*", _TEXT, None, "Details of keys that change partition."),
        ("parquet.*", _TEXT, None, "Handed to the Parquet writer of other engines."),
        ("orc.*", _TEXT, None, "Handed to the ORC writer of other engines."),
        ("avro.*", _TEXT, None, "Handed to the Avro writer of other engines."),
        ("variant.*", _TEXT, None, "Details of variants."),
        ("blob*", _TEXT, None, "Details of blobs."),
        ("vector*", _TEXT, None, "Details of vectors."),
        ("format-table.*", _TEXT, None, "Details of format tables."),
    )
)  # fmt: skip

OPTIONS: tuple[Option, ...] = (
    *_TABLE, *_FILES, *_MERGE, *_COMPACTION, *_COMMIT, *_SNAPSHOTS, *_METADATA, *_OURS,
    *_LATER_ANSWERS, *_LATER_HARMLESS,
)  # fmt: skip
