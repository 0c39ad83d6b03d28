"""Options of a table's files: data files, the buffer that is written to them, statistics, manifests."""

from __future__ import annotations

from typing import Any

from tablestore_engine.options.declarations.needs import BLOCKS, INDEXED_COLUMNS, KEY, VECTORS, ZSTD
from tablestore_engine.options.option import ColumnOption, Derived, Effect, Option
from tablestore_engine.options.option_type import (
    BOOLEAN,
    BY_LEVEL,
    COLUMNS,
    ENUM,
    FILE_NAME,
    FLOAT,
    INT,
    MEMORY,
    STATS_MODE,
)

_MB = 1 << 20


def _target_file_size(options: Any) -> int:
    return (128 if options.keyed else 256) * _MB


class FileOptions:
    """The data files, write buffer, statistics and manifests of a table."""

    __slots__ = ()

    # -- data files

    file_format = Option(
        "file.format",
        ENUM,
        "parquet",
        "Format of new data files; files that are there stay as they are.",
        choices=("parquet", "orc", "avro"),
        effect=Effect.READ,
    )
    file_format_per_level = Option(
        "file.format.per.level",
        BY_LEVEL,
        (),
        "Format of data files of single levels of a table with a key, such as '0:avro,5:parquet'; other levels have "
        "`file.format`.",
        needs=KEY,
    )
    file_compression = Option(
        "file.compression",
        ENUM,
        "zstd",
        "Compression of data files. Files have zstd instead of brotli, which Spark does not read as it comes, and Avro "
        "files instead of lz4.",
        choices=("zstd", "snappy", "lz4", "gzip", "brotli", "none", "uncompressed"),
    )
    file_compression_zstd_level = Option(
        "file.compression.zstd-level",
        INT,
        1,
        "Level of zstd compression, 1 (fast) to 22 (small). ORC files know two: 1 and 2 are fast, others small.",
        minimum=1,
        maximum=22,
        needs=ZSTD,
    )
    file_compression_per_level = Option(
        "file.compression.per.level",
        BY_LEVEL,
        (),
        "Compression of data files of single levels of a table with a key, such as '0:lz4,1:zstd'; other levels have "
        "`file.compression`.",
        needs=KEY,
    )
    file_block_size = Option(
        "file.block-size",
        MEMORY,
        None,
        "Size in memory at which a row group of a Parquet file, or a stripe of an ORC file, is closed; when not set, "
        "64 mb or 1,000,000 rows.",
        minimum=1,
        needs=BLOCKS,
    )
    data_file_thin_mode = Option(
        "data-file.thin-mode",
        BOOLEAN,
        False,
        "Leave the copies of the key columns out of the data files of a table with a key.",
        needs=KEY,
    )
    target_file_size = Option(
        "target-file-size",
        MEMORY,
        Derived(_target_file_size),
        "Size at which a data file is closed and the next one is begun; when not set, 128 mb in tables with a key and "
        "256 mb in others.",
        minimum=1,
    )
    target_file_row_num = Option(
        "target-file-row-num",
        INT,
        None,
        "Number of rows at which a data file is closed and the next one is begun; when not set, only its size counts.",
        minimum=1,
    )
    data_file_prefix = Option("data-file.prefix", FILE_NAME, "data-", "First part of the names of data files.")
    deletion_vectors = Option(
        "deletion-vectors.enabled",
        BOOLEAN,
        False,
        "Keep the positions of deleted and replaced rows as bitmaps in files of their own. In a table without a key, "
        "UPDATE, DELETE and MERGE then write changed rows only, instead of the files that hold them. With a primary "
        "key, of all merge engines but `first-row`, reads need not merge, and every write looks its keys up. Other "
        "tables with it, which other tools make, are read.",
        immutable=True,
    )
    deletion_vectors_bitmap64 = Option(
        "deletion-vectors.bitmap64",
        BOOLEAN,
        False,
        "Write deletion vectors as 64-bit bitmaps, which some readers do not know; 32 bits are enough for "
        "files of four billion rows.",
        immutable=True,
        needs=VECTORS,
    )
    deletion_vectors_merge_on_read = Option(
        "deletion-vectors.merge-on-read",
        BOOLEAN,
        False,
        "Also read files that are not compacted yet.",
        supported=False,
        effect=Effect.WRITE,
        ignored="each write would compact its rows at once",
    )

    # -- indexes of data files

    bloom_filter_columns = Option(
        "file-index.bloom-filter.columns",
        COLUMNS,
        (),
        "Columns of which each data file has a bloom filter; queries by equality or IN skip files by it. `m[k]` names "
        "the values of a key of a map.",
    )
    bloom_filter_fpp = ColumnOption(
        "file-index.bloom-filter.*.fpp",
        FLOAT,
        None,
        "How often a value that is not in a file is taken for one that is; 0.1 when not set.",
    )
    bloom_filter_items = ColumnOption(
        "file-index.bloom-filter.*.items",
        INT,
        None,
        "Distinct values of a file that a bloom filter has room for; 1,000,000 (600 kb) when not set.",
        minimum=1,
    )
    bitmap_columns = Option(
        "file-index.bitmap.columns",
        COLUMNS,
        (),
        "Columns of which each data file has a bitmap index: for each value, its rows. For columns of few values.",
    )
    bitmap_versions = ColumnOption(
        "file-index.bitmap.*.version",
        INT,
        None,
        "Form of a bitmap index: 2 when not set, 1 for readers before Paimon 1.2.",
    )
    bitmap_block_sizes = ColumnOption(
        "file-index.bitmap.*.index-block-size",
        MEMORY,
        None,
        "Size of a block of values of a bitmap index, of which a look-up reads one; 16 kb when not set.",
    )
    file_index_threshold = Option(
        "file-index.in-manifest-threshold",
        MEMORY,
        500,
        "Indexes of a data file up to this size are kept in the manifest, larger ones in a file.",
        needs=INDEXED_COLUMNS,
    )
    file_index_read = Option(
        "file-index.read.enabled",
        BOOLEAN,
        True,
        "Skip data files by their indexes.",
    )

    # -- the write buffer

    write_buffer_size = Option(
        "write-buffer-size",
        MEMORY,
        256 * _MB,
        "Memory for the rows of one bucket in a writer that takes rows in any order: of record batches without Spark, "
        "and in the tasks of a stream. When it is full, the rows are sorted and spilled to local disk. SQL and "
        "DataFrames need no such buffer: Spark sorts their rows, spills by itself, and one bucket is open at a time.",
    )
    write_buffer_total_size = Option(
        "write-buffer-total-size",
        MEMORY,
        256 * _MB,
        "Memory for the rows of all buckets in such a writer; when it is full, the largest buckets are spilled. In "
        "addition the writer holds a row group of the file that it is writing.",
    )

    write_buffer_spillable = Option(
        "write-buffer-spillable",
        BOOLEAN,
        True,
        "Spill such rows to local disk; `false` writes them as data files at once, which makes more files. Rows are "
        "spilled all the same with dynamic buckets, where the records of a key must be folded in order, and where the "
        "rows of a key come in any order: in large batches of streams into tables with a key.",
    )

    # -- statistics

    metadata_stats_mode = Option(
        "metadata.stats-mode",
        STATS_MODE,
        "truncate(16)",
        "Column statistics that manifests keep: none, counts, truncate(n), full.",
    )
    column_stats_modes = ColumnOption("fields.*.stats-mode", STATS_MODE, None, "Column statistics of one column.")
    stats_dense_store = Option(
        "metadata.stats-dense-store",
        BOOLEAN,
        True,
        "Store statistics only of the columns that have them.",
    )

    # -- manifests

    manifest_target_size = Option(
        "manifest.target-file-size",
        MEMORY,
        8 * _MB,
        "Size that manifests have after they are merged.",
        minimum=1,
    )
    manifest_merge_min_count = Option(
        "manifest.merge-min-count",
        INT,
        30,
        "Number of small manifests at which the newest of them are merged.",
        minimum=1,
    )
    manifest_full_compaction_size = Option(
        "manifest.full-compaction-threshold-size",
        MEMORY,
        16 * _MB,
        "Size of small manifests, and of those that delete files, at which all of them are merged.",
        minimum=1,
    )
    manifest_compression = Option(
        "manifest.compression",
        ENUM,
        "zstd",
        "Compression of manifests.",
        choices=("zstd", "deflate", "snappy", "null", "none"),
    )
    manifest_format = Option(
        "manifest.format",
        ENUM,
        "avro",
        "Format of manifests. All are read.",
        choices=("avro", "orc", "parquet"),
        accepted=("avro",),
        effect=Effect.WRITE,
    )
