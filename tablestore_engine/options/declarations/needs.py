"""The needs of options: properties that a table must have, or must not have, so that an option has an effect."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from tablestore_engine.options.option import Need

# The codecs instead of which a format has zstd, and zstd itself.
_ZSTD = {"parquet": ("zstd", "brotli"), "orc": ("zstd", "brotli"), "avro": ("zstd", "brotli", "lz4")}


def _kinds_of_files(table: Any) -> Iterator[tuple[str, str]]:
    """The formats and codecs of the data files of a table, by the options: levels may have others."""
    options = table.core_options
    formats, codecs = {options.file_format}, {options.file_compression}
    if table.is_keyed:
        formats.update(dict(options.file_format_per_level).values())
        codecs.update(dict(options.file_compression_per_level).values())
    return product(formats, codecs)


def _is_zstd(file_format: str, codec: str) -> bool:
    return codec in _ZSTD.get(file_format, ())


KEY = Need("without a primary key", lambda table: table.is_keyed)
KEY_OR_RETRACTIONS = Need(
    "without a primary key and with 'retractions' = 'refuse'",
    lambda table: table.is_keyed or table.merge_engine.rules.is_multiset or table.core_options.retractions != "refuse",
)
NO_KEY = Need("with a primary key", lambda table: not table.is_keyed)
DYNAMIC_BUCKETS = Need(
    "without dynamic buckets, which are those of a table with a primary key and 'bucket' = '-1'",
    lambda table: table.has_dynamic_buckets,
)
INDEX_FILES = Need(
    "without an index of dynamic buckets and without deletion vectors",
    lambda table: table.has_hash_index or table.core_options.deletion_vectors,
)
VECTORS = Need("without 'deletion-vectors.enabled' = 'true'", lambda table: table.core_options.deletion_vectors)
MARKED_ROWS = Need(
    "but in a table without a primary key and with 'deletion-vectors.enabled' = 'true'",
    lambda table: not table.is_keyed and table.core_options.deletion_vectors,
)
PARTITIONS = Need("without partition columns", lambda table: bool(table.partition_keys))
ZSTD = Need("without zstd compression", lambda table: any(_is_zstd(*one) for one in _kinds_of_files(table)))
BLOCKS = Need("in Avro files", lambda table: any(file_format != "avro" for file_format, _ in _kinds_of_files(table)))
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
ROWS_LEFT_OUT = Need(
    "without 'changelog-producer' = 'lookup' or 'full-compaction', nor with "
    "'changelog-producer.row-deduplicate' = 'false'",
    lambda table: COMPARED_CHANGELOG.met(table) and table.core_options.row_deduplicate,
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
