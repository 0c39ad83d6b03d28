"""ORC files: a stripe is what a row group is in Parquet.

Each column has its id in the attribute ``paimon.id``. ORC has no times of day; Paimon stores milliseconds as INT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from pyarrow import orc

from tablestore_engine.errors import UserError
from tablestore_engine.operation.formats.batch_size import typed_batches
from tablestore_engine.operation.formats.file_format import BatchSizes, FileLayout
from tablestore_engine.operation.statistics.column_stats import ColumnStats, RowStats
from tablestore_engine.schema.types.arrow import FIELD_ID

_ORC_ID = b"paimon.id"
_CODECS = {"zstd": "zstd", "snappy": "snappy", "lz4": "lz4", "gzip": "zlib", "none": "uncompressed"}
_CODECS |= {"uncompressed": "uncompressed"}
_FAST_ZSTD = 2
# As Java's writer: a column whose dictionary has more of its values is stored without one.
_DICTIONARY_SHARE = 0.8


class OrcWriter:
    """Statistics come from the rows: Arrow does not show those of the file."""

    def __init__(self, sink: pa.NativeFile, layout: FileLayout) -> None:
        self._stored = pa.schema([_stored_field(one) for one in layout.schema])
        self._stats = RowStats(layout.schema)
        self._with_timestamps = [one for one in layout.schema if _as_read(one.type) != one.type]
        self._with_rows = [one for one in layout.schema if _has_rows(one.type)]
        # ORC has no brotli: each file says how it is compressed.
        codec = _CODECS.get(layout.compression, "zstd")
        self._writer = orc.ORCWriter(
            sink,
            compression=codec,
            compression_strategy=_strategy(codec, layout.options.file_compression_zstd_level),
            stripe_size=layout.group_bytes,
            dictionary_key_size_threshold=_DICTIONARY_SHARE,
        )

    def write(self, rows: pa.Table) -> None:
        """Append rows. Raises a UserError for a timestamp that Arrow could not read again."""
        for field in self._with_timestamps:
            _check_timestamps(rows.column(field.name), field)
        self._stats.add(rows)
        for field in self._with_rows:
            rows = rows.set_column(rows.schema.get_field_index(field.name), field, _plain(rows.column(field.name)))
        self._writer.write(rows.cast(self._stored))

    def close(self) -> None:
        """Write the last stripe and the footer."""
        self._writer.close()

    def stats(self, names: Sequence[str], mode_of: Callable[[str], str]) -> dict[str, ColumnStats]:
        """Statistics of columns."""
        return self._stats.of(names, mode_of)


def _stored_field(field: pa.Field) -> pa.Field:
    """The field as it is stored, with its id where ORC has it."""
    found = (field.metadata or {}).get(FIELD_ID)
    return pa.field(field.name, _stored(field.type), True, {_ORC_ID: found} if found else None)


def _stored(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_time32(kind):
        return pa.int32()
    if pa.types.is_struct(kind):
        return pa.struct([_stored_field(one) for one in kind])
    if pa.types.is_list(kind):
        return pa.list_(_stored_field(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(_stored_field(kind.key_field).with_nullable(False), _stored_field(kind.item_field))
    return kind


def _has_rows(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return _has_rows(kind.value_type)
    if pa.types.is_map(kind):
        return _has_rows(kind.key_type) or _has_rows(kind.item_type)
    return bool(pa.types.is_struct(kind))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values as Arrow writes them rightly: it writes others of a struct array that is a slice, or in which a
    struct that is null has values."""
    whole = (one.take(pa.array(np.arange(len(one)))) for one in column.chunks)
    return pa.chunked_array([_null_below_null(one) for one in whole], column.type)


def _null_below_null(array: pa.Array) -> pa.Array:
    """The same values of an array that is no slice; in a struct that is null, all fields are null."""
    kind = array.type
    if not _has_rows(kind):
        return array
    if pa.types.is_struct(kind):
        own, children = 1, [_null_below_null(one) for one in array.flatten()]
    elif pa.types.is_map(kind):
        entries = [_null_below_null(array.keys), _null_below_null(array.items)]
        own, children = 2, [pa.StructArray.from_arrays(entries, fields=[kind.key_field, kind.item_field])]
    else:
        own, children = 2, [_null_below_null(array.values)]
    return pa.Array.from_buffers(kind, len(array), array.buffers()[:own], children=children)


def _as_read(kind: pa.DataType) -> pa.DataType:
    """The type as Arrow reads it from an ORC file: with nanoseconds."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("ns", kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([one.with_type(_as_read(one.type)) for one in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_as_read(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(
            kind.key_field.with_type(_as_read(kind.key_type)), kind.item_field.with_type(_as_read(kind.item_type))
        )
    return kind


def _check_timestamps(column: pa.ChunkedArray, field: pa.Field) -> None:
    try:
        column.cast(_as_read(field.type))
    except pa.ArrowInvalid as error:
        raise UserError(
            f"Column '{field.name}' has a timestamp that an ORC file cannot hold here: {error}.",
            hint="ORC files hold the years 1678 to 2261. Set 'file.format' = 'parquet' for others.",
        ) from None


def read_orc(handle: pa.NativeFile, columns: Mapping[str, pa.DataType], sizes: BatchSizes) -> Iterator[pa.RecordBatch]:
    """Some columns, those that the file has, in batches. A stripe at a time is in memory."""
    file = orc.ORCFile(handle)
    names = [name for name in file.schema.names if name in columns]
    # Without a column there are no rows to count.
    read = names or file.schema.names[:1]
    for number in range(file.nstripes):
        stripe = pa.Table.from_batches([file.read_stripe(number, read)]).select(names)
        yield from typed_batches(stripe, columns, sizes)


def _strategy(codec: str, zstd_level: int) -> str:
    """ORC's only setting of a level: two of zstd. The fast way of its lz4 compresses next to nothing."""
    is_small = zstd_level > _FAST_ZSTD if codec == "zstd" else codec == "lz4"
    return "compression" if is_small else "speed"
