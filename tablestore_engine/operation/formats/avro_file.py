"""Avro files, by Paimon's schema of them.

A type that may be null is a union of null and the type. A map whose keys are no texts is an array of keys and values.
A timestamp of the local zone is called ``local-timestamp``, and one without a zone ``timestamp``: not as Avro has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tablestore_engine.metadata.manifest_encoding import avro_container
from tablestore_engine.metadata.manifest_encoding.damaged_bytes import reason_of
from tablestore_engine.operation.formats.avro_decode import decode_blocks
from tablestore_engine.operation.formats.avro_encode import encode_rows
from tablestore_engine.operation.formats.batch_size import typed_batches
from tablestore_engine.operation.formats.file_format import BatchSizes, FileLayout
from tablestore_engine.operation.statistics.column_stats import ColumnStats, RowStats
from tablestore_engine.schema.types.types import check_avro_name

_NAMESPACE = "org.apache.paimon.avro.generated"
# The decoder reads blocks side by side, so many small ones are read faster; smaller ones compress worse.
_BLOCK_BYTES = 32 << 10
_ENCODED_ROWS = 8_192  # at a time; a byte takes some twenty while it is encoded
_DECODED_BYTES = 16 << 20
_PLAIN = {pa.bool_(): "boolean", pa.int8(): "int", pa.int16(): "int", pa.int32(): "int", pa.int64(): "long",
          pa.float32(): "float", pa.float64(): "double", pa.string(): "string", pa.binary(): "bytes"}  # fmt: skip
_CODECS = {"gzip": "deflate", "uncompressed": "null"}
_UNITS = {"ms": "millis", "us": "micros"}


class AvroWriter:
    """Statistics come from the rows: Avro files have none."""

    def __init__(self, sink: pa.NativeFile, layout: FileLayout) -> None:
        self._sink = sink
        self._stats = RowStats(layout.schema)
        self._codec = avro_container.codec_of(_CODECS.get(layout.compression, layout.compression))
        self._level = layout.options.file_compression_zstd_level
        self._sync = avro_container.new_sync_marker()
        sink.write(avro_container.header(avro_schema(layout.schema), self._codec, self._sync))

    def write(self, rows: pa.Table) -> None:
        """Append rows."""
        self._stats.add(rows)
        for start in range(0, rows.num_rows, _ENCODED_ROWS):
            self._write(rows.slice(start, _ENCODED_ROWS))

    def _write(self, rows: pa.Table) -> None:
        sizes, data = encode_rows(rows)
        ends = np.cumsum(sizes)
        done = first = 0
        while first < rows.num_rows:
            last = max(int(np.searchsorted(ends, done + _BLOCK_BYTES, side="right")), first + 1)
            end = int(ends[last - 1])
            records = data[done:end].tobytes()
            self._sink.write(avro_container.block(last - first, records, self._codec, self._sync, self._level))
            done, first = end, last

    def close(self) -> None:
        """Nothing is held, and there is no footer."""

    def stats(self, names: Sequence[str], mode_of: Callable[[str], str]) -> dict[str, ColumnStats]:
        """Statistics of columns."""
        return self._stats.of(names, mode_of)


def avro_schema(schema: pa.Schema) -> dict[str, Any]:
    """The schema of a file. Raises a SchemaError for the name of a column or field that Avro cannot have."""
    return _record(schema, "record") | {"namespace": _NAMESPACE}


def _record(fields: Any, name: str) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [_field(one, f"{name}_{one.name}") for one in fields]}


def _field(field: pa.Field, name: str) -> dict[str, Any]:
    check_avro_name(field.name)
    typed = {"name": field.name, "type": _union(field, name)}
    return typed | ({"default": None} if field.nullable else {})


def _union(field: pa.Field, name: str) -> Any:
    kind = _type(field.type, name)
    return ["null", kind] if field.nullable else kind


def _type(kind: pa.DataType, name: str) -> Any:
    if pa.types.is_timestamp(kind):
        zone = "local-" if kind.tz else ""
        return {"type": "long", "logicalType": f"{zone}timestamp-{_UNITS[kind.unit]}"}
    if pa.types.is_date32(kind):
        return {"type": "int", "logicalType": "date"}
    if pa.types.is_time32(kind):
        return {"type": "int", "logicalType": "time-millis"}
    if pa.types.is_decimal(kind):
        return {"type": "bytes", "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
    if pa.types.is_struct(kind):
        return _record(kind, name)
    if pa.types.is_list(kind):
        return {"type": "array", "items": _union(kind.value_field, name)}
    if pa.types.is_map(kind):
        if pa.types.is_string(kind.key_type):
            return {"type": "map", "values": _union(kind.item_field, name)}
        entry = _record([kind.key_field, kind.item_field], name)
        return {"type": "array", "items": entry, "logicalType": "map"}
    return _PLAIN[kind]


def read_avro(handle: pa.NativeFile, columns: Mapping[str, pa.DataType], sizes: BatchSizes) -> Iterator[pa.RecordBatch]:
    """Some columns, those that the file has, in batches. All values of some blocks are in memory."""
    try:
        text, blocks = avro_container.open_container(handle, handle.size())
        schema = json.loads(text)
        for some in _side_by_side(blocks):
            found = decode_blocks(some, schema, list(columns))
            yield from typed_batches(pa.Table.from_batches([found]), columns, sizes)
    except OSError:
        raise
    except Exception as error:  # numbers of damaged bytes lead anywhere
        raise pa.ArrowInvalid(reason_of(error)) from error


def _side_by_side(blocks: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """As many blocks at a time as may be decoded together."""
    held: list[tuple[int, bytes]] = []
    size = 0
    for count, data in blocks:
        held.append((count, data))
        size += len(data)
        if size >= _DECODED_BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held
