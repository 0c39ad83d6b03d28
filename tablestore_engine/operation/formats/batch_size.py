"""How many rows to hold at a time: bytes bound memory, rows alone do not, since they may be wide.

All rows of a batch are assumed to be equally wide, so a bound is kept approximately. A row wider than the bound is a
batch of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from tablestore_engine.operation.formats.file_format import BatchSizes


def fixed_width(kind: pa.DataType) -> int | None:
    """Bytes of a value in memory; None where values differ."""
    try:
        return int(kind.bit_width + 7) // 8
    except ValueError:
        return None


def rows_within(rows: int, size: int, bound: int) -> int:
    """How many of some rows, which take `size` bytes together, take no more than `bound`; at least one."""
    return rows if size <= bound else max(1, rows * bound // size)


def slices_within(table: pa.Table, bound: int) -> Iterator[pa.Table]:
    """A table as consecutive slices of about `bound` bytes at most; nothing is copied."""
    step = rows_within(table.num_rows, table.nbytes, bound)
    for start in range(0, table.num_rows, max(step, 1)):
        yield table.slice(start, step)


def typed_batches(rows: pa.Table, types: Mapping[str, pa.DataType], sizes: BatchSizes) -> Iterator[pa.RecordBatch]:
    """Rows in batches, their columns in the given types. Rows may have no column: Arrow casts these to no rows."""
    if not rows.num_columns:
        for start in range(0, rows.num_rows, sizes.rows):
            count = min(sizes.rows, rows.num_rows - start)
            yield pa.RecordBatch.from_struct_array(pa.StructArray.from_buffers(pa.struct([]), count, [None]))
        return
    typed = rows.cast(pa.schema([(name, types[name]) for name in rows.column_names]))
    for part in slices_within(typed, sizes.bytes):
        yield from part.to_batches(max_chunksize=sizes.rows)
