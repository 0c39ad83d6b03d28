"""The needs of options: properties that a table must have, or must not have, so that an option has an effect."""

from __future__ import annotations

from tablestore_engine.options.option import Need

KEY = Need("without a primary key", lambda table: table.is_keyed)
NO_KEY = Need("with a primary key", lambda table: not table.is_keyed)
DYNAMIC_BUCKETS = Need(
    "without dynamic buckets, which are those of a table with a primary key and 'bucket' = '-1'",
    lambda table: table.has_dynamic_buckets,
)
INDEX_FILES = Need(
    "without dynamic buckets and without deletion vectors",
    lambda table: table.has_dynamic_buckets or table.core_options.deletion_vectors,
)
MARKED_ROWS = Need(
    "but in a table without a primary key and with 'deletion-vectors.enabled' = 'true'",
    lambda table: not table.is_keyed and table.core_options.deletion_vectors,
)
PARTITIONS = Need("without partition columns", lambda table: bool(table.partition_keys))
ZSTD = Need(
    "without zstd compression",
    # Formats that lack one of the other two have zstd instead.
    lambda table: (
        table.core_options.file_compression in ("zstd", "brotli", "lz4")
        or "zstd" in dict(table.core_options.file_compression_per_level).values()
    ),
)
BLOCKS = Need(
    "in Avro files",
    lambda table: (
        {table.core_options.file_format, *dict(table.core_options.file_format_per_level).values()} != {"avro"}
    ),
)
INDEXED_COLUMNS = Need(
    "without 'file-index.bloom-filter.columns' or 'file-index.bitmap.columns'",
    lambda table: bool(table.core_options.bloom_filter_columns or table.core_options.bitmap_columns),
)
SEQUENCE = Need("without 'sequence.field'", lambda table: bool(table.core_options.sequence_field))
CHANGELOG = Need("without a 'changelog-producer'", lambda table: table.core_options.changelog_producer != "none")
CHANGELOG_OR_LOG = Need(
    "without a 'changelog-producer' or a 'log.system'",
    lambda table: table.core_options.changelog_producer != "none" or table.core_options.log_system != "none",
)
COMPARED_CHANGELOG = Need(
    "without 'changelog-producer' = 'lookup' or 'full-compaction'",
    lambda table: table.core_options.changelog_producer in ("lookup", "full-compaction"),
)
LOOKUP = Need(
    "without 'changelog-producer' = 'lookup'", lambda table: table.core_options.changelog_producer == "lookup"
)
LOG = Need("without 'log.system' = 'kafka'", lambda table: table.core_options.log_system != "none")
SCHEDULE = Need(
    "without 'compaction.schedule.enabled' = 'true'", lambda table: table.core_options.compaction_schedule_enabled
)
AUTOMATIC_TAGS = Need(
    "without 'tag.automatic-creation'", lambda table: table.core_options.tag_automatic_creation != "none"
)
TAGS_OF_PERIODS = Need(
    "without 'tag.automatic-creation' = 'process-time' or 'watermark'",
    lambda table: table.core_options.tag_automatic_creation in ("process-time", "watermark"),
)
TAGS_BY_CLOCK = Need(
    "without 'tag.automatic-creation' = 'process-time' or 'batch'",
    lambda table: table.core_options.tag_automatic_creation in ("process-time", "batch"),
)
TAGS_BY_WATERMARK = Need(
    "without 'tag.automatic-creation' = 'watermark'",
    lambda table: table.core_options.tag_automatic_creation == "watermark",
)
TAGS_OF_BATCHES = Need(
    "without 'tag.automatic-creation' = 'batch'", lambda table: table.core_options.tag_automatic_creation == "batch"
)
