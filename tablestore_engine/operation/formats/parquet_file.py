"""Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from tablestore_engine.operation.formats.batch_size import fixed_width
from tablestore_engine.operation.formats.column_encoding import encodings
from tablestore_engine.operation.formats.file_format import BatchSizes, FileLayout
from tablestore_engine.operation.statistics.column_stats import ColumnStats
from tablestore_engine.operation.statistics.parquet_footer_stats import column_stats, leaves_with_stats

# Readers that look for a few keys skip pages: the fewer rows in each, the less they read. Readers of all rows pay for
# each page, next to Arrow's 20,000 rows a few percent; half of Spark's batch is cheaper than a number near to it.
PAGE_ROWS = 2_048
_ALONE = 512 << 10  # bytes of a row group that several threads would not read sooner
_OFFSET = 4  # bytes of the offset of a value of variable width


class ParquetWriter:
    """Statistics come from the footer, which the writer has computed anyway."""

    def __init__(self, sink: pa.NativeFile, layout: FileLayout, first: pa.Table) -> None:
        self._layout = layout
        self._footers: list[pq.FileMetaData] = []
        self._writer = pq.ParquetWriter(
            sink,
            layout.schema,
            store_decimal_as_integer=True,
            write_statistics=leaves_with_stats(layout.schema, layout.without_bounds),
            metadata_collector=self._footers,
            write_page_index=True,
            max_rows_per_page=PAGE_ROWS,
            **encodings(first, layout.primary_keys, layout.compression, layout.options),
        )

    def write(self, rows: pa.Table) -> None:
        """Append a row group, or several if the rows are too many for one."""
        self._writer.write_table(rows, row_group_size=self._layout.group_rows)

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()

    def stats(self, names: Sequence[str], mode_of: Callable[[str], str]) -> dict[str, ColumnStats]:
        """Statistics of columns."""
        return column_stats(self._footers[0], pa.schema([self._layout.schema.field(n) for n in names]), mode_of)


def read_parquet(
    handle: pa.NativeFile, columns: Mapping[str, pa.DataType], sizes: BatchSizes
) -> Iterator[pa.RecordBatch]:
    """Some columns, those that the file has, in batches."""
    ahead = sizes.read_ahead_bytes
    buffered = {"buffer_size": ahead, "pre_buffer": False} if ahead else {}
    file = pq.ParquetFile(handle, **buffered)
    # One row group at a time: Arrow would hold what it has read of all of them until the last.
    widest = 1
    for number in range(file.num_row_groups):
        # A value that is repeated takes less room in the file than in memory: the last row group shows how much.
        widest = max(widest, row_bytes(file.metadata.row_group(number), columns))
        size = max(1, min(sizes.rows, sizes.bytes // widest))
        threads = file.metadata.row_group(number).total_byte_size > _ALONE
        for batch in file.iter_batches(size, row_groups=[number], columns=list(columns), use_threads=threads):
            widest = max(widest, batch.nbytes // max(batch.num_rows, 1))
            yield batch


def row_bytes(group: pq.RowGroupMetaData, kinds: Mapping[str, pa.DataType]) -> int:
    """About what a row takes in memory, of the columns of a row group that are given with their types.

    For texts and nested values the footer has the bytes in the file, before compression.
    """
    widths = {name: fixed_width(kind) for name, kind in kinds.items()}
    fixed = sum(_OFFSET if width is None else width for width in widths.values())
    varying = [name for name, width in widths.items() if width is None]
    chunks = (group.column(i) for i in range(group.num_columns)) if varying else ()
    encoded = sum(c.total_uncompressed_size for c in chunks if _is_of(c.path_in_schema, varying))
    return int(fixed + encoded // max(group.num_rows, 1))


def _is_of(path: str, names: Collection[str]) -> bool:
    """Whether a leaf of the file belongs to one of some columns."""
    while path and path not in names:
        path = path.rpartition(".")[0]
    return bool(path)
