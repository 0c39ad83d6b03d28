"""How the columns of a data file are encoded, to be small and quick to read.

Every read of a keyed table that has more than one run compares keys, so all of its key columns are decoded for all
of its rows. Rows are sorted by key: differences between neighbours are small, take few bits, and leave nothing to
compress, so decompression would be wasted work for readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.types.system_columns import KEY_PREFIX

_DELTA = "DELTA_BINARY_PACKED"
_SAMPLE_ROWS = 20_000
_DISTINCT_SHARE = 0.6
_DISTINCT_NUMBERS = 0.15
_FEW_ROWS = 1_000
_CODECS = {one: one for one in ("zstd", "snappy", "lz4", "gzip", "brotli", "none")}
_CODECS |= {"uncompressed": "none", "lz4_raw": "lz4"}


def encodings(sample: pa.Table, primary_keys: Sequence[str], compression: str, options: CoreOptions) -> dict[str, Any]:
    """Arguments of PyArrow's `ParquetWriter` for a file that begins with these rows, sorted by key."""
    keys = [f.name for f in sample.schema if f.name in primary_keys and pa.types.is_integer(f.type)]
    leaves = [leaf for f in sample.schema for leaf in _leaves(f.name, f.type)]
    # Each file says how it is compressed, so one that Arrow lacks, of another tool, may be replaced.
    codec = _CODECS.get(compression, "zstd")
    return {
        "use_dictionary": [one for one in dictionary_columns(sample) if one not in keys],
        "column_encoding": dict.fromkeys(keys, _DELTA) or None,
        "compression": {one: "none" if one in keys else codec for one in leaves},
        "compression_level": (
            {one: options.file_compression_zstd_level for one in leaves if one not in keys} if codec == "zstd" else None
        ),
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
            if _distinct(rows.column(field.name)) <= max(rows.num_rows * share, _FEW_ROWS):
                chosen.append(field.name)
    return chosen


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


def _distinct(column: pa.ChunkedArray) -> int:
    return int(pc.count_distinct(column).as_py())
