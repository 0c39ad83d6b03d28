"""How the columns of a data file are encoded, to be small and quick to read.

Every read of a keyed table that has more than one run compares keys, so all of its key columns are decoded for all
of its rows. Rows are sorted by key: differences between neighbours are small, take few bits, and leave nothing to
compress, so decompression would be wasted work for readers. The same is true of a dictionary's codes where no value
is much more frequent than others: their bits are packed already, and decompression costs readers something for each
page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.operation.formats.batch_size import fixed_width
from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.types.system_columns import KEY_PREFIX

_DELTA = "DELTA_BINARY_PACKED"
_SAMPLE_ROWS = 20_000
_DISTINCT_SHARE = 0.6
_DISTINCT_NUMBERS = 0.15
_FEW_ROWS = 1_000
_PACKED = 0.8
_SLICES = 8
_DICTIONARY_BYTES = 32 << 10
_TEXT_BYTES = 32
_CODECS = {one: one for one in ("zstd", "snappy", "lz4", "gzip", "none")}
_CODECS |= {"uncompressed": "none", "lz4_raw": "lz4"}


def encodings(sample: pa.Table, primary_keys: Sequence[str], compression: str, options: CoreOptions) -> dict[str, Any]:
    """Arguments of PyArrow's `ParquetWriter` for a file that begins with these rows, sorted by key."""
    keys = [f.name for f in sample.schema if f.name in primary_keys and pa.types.is_integer(f.type)]
    leaves = [leaf for f in sample.schema for leaf in _leaves(f.name, f.type)]
    dictionaries = dictionary_columns(sample.drop_columns(keys))
    plain = {*keys, *_packed_columns(sample, dictionaries)}
    # Each file says how it is compressed, so one that Arrow, or Spark (brotli), lacks may be replaced.
    codec = _CODECS.get(compression, "zstd")
    level = options.file_compression_zstd_level
    return {
        "use_dictionary": dictionaries,
        "column_encoding": dict.fromkeys(keys, _DELTA) or None,
        "compression": {one: "none" if one in plain else codec for one in leaves},
        "compression_level": {one: level for one in leaves if one not in plain} if codec == "zstd" else None,
    }


def dictionary_columns(sample: pa.Table) -> list[str]:
    """Columns of which a dictionary is worth building, judged by the first rows of a file.

    That of a nearly unique column is built, outgrows its page and is thrown away: a sixth of the time to write a file,
    and the bytes are no fewer. Numbers gain from one only when it is small: sorted ones compress to half the size
    without, and any are read faster.
    """
    rows = sample.slice(0, _SAMPLE_ROWS)
    chosen: list[str] = []
    for field in sample.schema:
        if pa.types.is_nested(field.type):
            chosen += _leaves(field.name, field.type)
        elif not field.name.startswith(KEY_PREFIX):
            share = _DISTINCT_NUMBERS if pa.types.is_primitive(field.type) else _DISTINCT_SHARE
            if not _has_more_values(rows.column(field.name), max(rows.num_rows * share, _FEW_ROWS)):
                chosen.append(field.name)
    return chosen


def _packed_columns(sample: pa.Table, dictionaries: Sequence[str]) -> list[str]:
    """Dictionary columns whose codes, in runs or packed bits, are about as small as zstd makes them.

    Only columns that stay small without compression when later rows are otherwise: small values, few of them in rows
    from all parts of the sample. Small files are left out: their dictionaries are larger than their codes.
    """
    if sample.num_rows < _SAMPLE_ROWS:
        return []
    step, rows = sample.num_rows // _SLICES, _SAMPLE_ROWS // _SLICES
    spread = pa.concat_tables([sample.slice(i * step, rows) for i in range(_SLICES)])
    return [one for one in dictionaries if one in spread.column_names and _is_packed(spread.column(one))]


def _is_packed(column: pa.ChunkedArray) -> bool:
    values = column.combine_chunks().dictionary_encode()
    width = fixed_width(column.type) or _widest(values.dictionary)
    if width > _TEXT_BYTES or width * len(values.dictionary) > _DICTIONARY_BYTES:
        return False
    codes = pc.fill_null(values.indices, -1)
    bits = max(pc.max(codes).as_py(), 1).bit_length()
    runs = 1 + (pc.sum(pc.not_equal(codes[1:], codes[:-1])).as_py() or 0)
    encoded = min(len(codes) * bits / 8, runs * (1 + -(-bits // 8)))
    narrow = pa.int8() if bits < 8 else pa.int16()  # a dictionary of so few bytes has no more codes
    compressed = pa.Codec("zstd").compress(codes.cast(narrow).buffers()[1])
    return bool(compressed.size >= _PACKED * encoded)


def _widest(values: pa.Array) -> int:
    """Bytes of the longest text."""
    return int(pc.max(pc.binary_length(values)).as_py() or 0)


def _leaves(path: str, data_type: pa.DataType) -> list[str]:
    """Parquet's paths of the columns that a column is stored in."""
    if pa.types.is_map(data_type):
        inner = [("key_value.key", data_type.key_type), ("key_value.value", data_type.item_type)]
    elif pa.types.is_struct(data_type):
        inner = [(one.name, one.type) for one in data_type]
    elif pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
        inner = [("list.element", data_type.value_type)]
    else:
        return [path]
    return [leaf for name, kind in inner for leaf in _leaves(f"{path}.{name}", kind)]


def _has_more_values(column: pa.ChunkedArray, most: float) -> bool:
    """Whether a column has more than so many different values."""
    # Where most are different, a part of the rows shows it, and the rest need not be counted.
    first = column[: int(1.25 * most) + 1]
    parts = (first, column) if len(first) < len(column) else (column,)
    return any(pc.count_distinct(rows).as_py() > most for rows in parts)
