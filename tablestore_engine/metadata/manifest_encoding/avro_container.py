"""Avro object container files: those of manifests and manifest lists, and the container of data files.

A file is a header (magic, schema, codec, sync marker) and blocks: record count, byte count, compressed records, sync
marker. The records of a block are an Avro array without its length in front and its zero at the end. So one call of
fastavro's schemaless reader or writer decodes or encodes all of them.

Why not `fastavro.reader` and `fastavro.writer`: they are equally fast (`benchmarks/manifest_read.py`, a manifest of
10,000 entries in zstd: 153 ms to read and 215 ms to write, 162 and 213 ms here), but they need two more compiled
packages, `backports.zstd` for Paimon's default codec and `cramjam` for snappy, which pyarrow has already. They also
make datetimes of timestamps, which would have to be turned back into numbers.

Invariants: files carry their writer's schema, and reading uses only that, so files of older and newer writers are read;
logical types are ignored, so a timestamp is a number; damaged bytes raise nothing but a ValueError.
"""

from __future__ import annotations

import gc
import io
import json
import os
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from tablestore_engine.metadata.manifest_encoding.damaged_bytes import reason_of

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_CODECS = {"zstd": "zstandard", "zstandard": "zstandard", "deflate": "deflate", "snappy": "snappy", "null": "null",
           "none": "null"}  # fmt: skip
_NAMESPACE = "org.apache.paimon.avro.generated"


def _nullable(kind: Any) -> dict[str, Any]:
    return {"type": ["null", kind], "default": None}


def _stats(name: str) -> dict[str, Any]:
    fields = [
        {"name": "_MIN_VALUES", "type": "bytes"},
        {"name": "_MAX_VALUES", "type": "bytes"},
        {"name": "_NULL_COUNTS", **_nullable({"type": "array", "items": ["null", "long"]})},
    ]
    return {"type": "record", "name": name, "fields": fields}


_STRINGS = {"type": "array", "items": "string"}
_FILE = {
    "type": "record",
    "name": "record__FILE",
    "fields": [
        {"name": "_FILE_NAME", "type": "string"},
        {"name": "_FILE_SIZE", "type": "long"},
        {"name": "_ROW_COUNT", "type": "long"},
        {"name": "_MIN_KEY", "type": "bytes"},
        {"name": "_MAX_KEY", "type": "bytes"},
        {"name": "_KEY_STATS", "type": _stats("record__FILE__KEY_STATS")},
        {"name": "_VALUE_STATS", "type": _stats("record__FILE__VALUE_STATS")},
        {"name": "_MIN_SEQUENCE_NUMBER", "type": "long"},
        {"name": "_MAX_SEQUENCE_NUMBER", "type": "long"},
        {"name": "_SCHEMA_ID", "type": "long"},
        {"name": "_LEVEL", "type": "int"},
        {"name": "_EXTRA_FILES", "type": _STRINGS},
        {"name": "_CREATION_TIME", **_nullable({"type": "long", "logicalType": "timestamp-millis"})},
        {"name": "_DELETE_ROW_COUNT", **_nullable("long")},
        {"name": "_EMBEDDED_FILE_INDEX", **_nullable("bytes")},
        {"name": "_FILE_SOURCE", **_nullable("int")},
        {"name": "_VALUE_STATS_COLS", **_nullable(_STRINGS)},
        {"name": "_EXTERNAL_PATH", **_nullable("string")},
        {"name": "_FIRST_ROW_ID", **_nullable("long")},
        {"name": "_WRITE_COLS", **_nullable(_STRINGS)},
    ],
}
_DELETIONS = {
    "type": "record",
    "name": "record__DELETIONS_VECTORS_RANGES",
    "fields": [
        {"name": "f0", "type": "string"},
        {"name": "f1", "type": "int"},
        {"name": "f2", "type": "int"},
        {"name": "_CARDINALITY", **_nullable("long")},
    ],
}
_GLOBAL_INDEX = {
    "type": "record",
    "name": "record__GLOBAL_INDEX",
    "fields": [
        {"name": "_ROW_RANGE_START", "type": "long"},
        {"name": "_ROW_RANGE_END", "type": "long"},
        {"name": "_INDEX_FIELD_ID", "type": "int"},
        {"name": "_EXTRA_FIELD_IDS", **_nullable({"type": "array", "items": "int"})},
        {"name": "_INDEX_META", **_nullable("bytes")},
        {"name": "_SOURCE_META", **_nullable("bytes")},
    ],
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "manifest_entry": {
        "type": "record",
        "name": "record",
        "namespace": _NAMESPACE,
        "fields": [
            {"name": "_VERSION", "type": "int"},
            {"name": "_KIND", "type": "int"},
            {"name": "_PARTITION", "type": "bytes"},
            {"name": "_BUCKET", "type": "int"},
            {"name": "_TOTAL_BUCKETS", "type": "int"},
            {"name": "_FILE", "type": _FILE},
        ],
    },
    "manifest_file_meta": {
        "type": "record",
        "name": "record",
        "namespace": _NAMESPACE,
        "fields": [
            {"name": "_VERSION", "type": "int"},
            {"name": "_FILE_NAME", "type": "string"},
            {"name": "_FILE_SIZE", "type": "long"},
            {"name": "_NUM_ADDED_FILES", "type": "long"},
            {"name": "_NUM_DELETED_FILES", "type": "long"},
            {"name": "_PARTITION_STATS", "type": _stats("record__PARTITION_STATS")},
            {"name": "_SCHEMA_ID", "type": "long"},
            {"name": "_MIN_BUCKET", **_nullable("int")},
            {"name": "_MAX_BUCKET", **_nullable("int")},
            {"name": "_MIN_LEVEL", **_nullable("int")},
            {"name": "_MAX_LEVEL", **_nullable("int")},
            {"name": "_MIN_ROW_ID", **_nullable("long")},
            {"name": "_MAX_ROW_ID", **_nullable("long")},
        ],
    },
    "index_manifest_entry": {
        "type": "record",
        "name": "record",
        "namespace": _NAMESPACE,
        "fields": [
            {"name": "_VERSION", "type": "int"},
            {"name": "_KIND", "type": "int"},
            {"name": "_PARTITION", "type": "bytes"},
            {"name": "_BUCKET", "type": "int"},
            {"name": "_INDEX_TYPE", "type": "string"},
            {"name": "_FILE_NAME", "type": "string"},
            {"name": "_FILE_SIZE", "type": "long"},
            {"name": "_ROW_COUNT", "type": "long"},
            {"name": "_DELETIONS_VECTORS_RANGES", **_nullable({"type": "array", "items": _DELETIONS})},
            {"name": "_EXTERNAL_PATH", **_nullable("string")},
            {"name": "_GLOBAL_INDEX", **_nullable(_GLOBAL_INDEX)},
        ],
    },
}
_META_SCHEMA = {"type": "map", "values": "bytes"}


def encode(
    name: str,
    records: list[dict[str, Any]],
    compression: str = "zstd",
    *,
    blocks: Sequence[int] = (),
    notes: Mapping[str, bytes] | None = None,
) -> bytes:
    """The container file of records of the schema ``name``.

    Args:
        name: ``manifest_entry``, ``manifest_file_meta`` or ``index_manifest_entry``.
        records: dicts with every field of the schema.
        compression: zstd, deflate, snappy or null; zstd replaces others; each file names its own.
        blocks: how many records each block has; by default one block has all.
        notes: metadata that other readers pass over.
    """
    import fastavro

    codec = codec_of(compression)
    sync = new_sync_marker()
    out = io.BytesIO()
    out.write(header(SCHEMAS[name], codec, sync, notes))
    schema, at = _array_of("schema", json.dumps(SCHEMAS[name])), 0
    for size in blocks or ([len(records)] if records else ()):
        body = io.BytesIO()
        fastavro.schemaless_writer(body, schema, records[at : at + size])
        out.write(block(size, body.getvalue()[len(_varint(size)) : -1], codec, sync))
        at += size
    return out.getvalue()


def codec_of(compression: str) -> str:
    """Avro's name of a compression; zstd replaces those that it does not have."""
    return _CODECS.get(compression.lower(), "zstandard")


def new_sync_marker() -> bytes:
    """A marker, which ends the header and each block of one file."""
    return os.urandom(_SYNC_BYTES)


def header(schema: Any, codec: str, sync: bytes, notes: Mapping[str, bytes] | None = None) -> bytes:
    """The beginning of a container file."""
    import fastavro

    out = io.BytesIO()
    out.write(_MAGIC)
    meta = {"avro.schema": json.dumps(schema).encode(), "avro.codec": codec.encode(), **(notes or {})}
    fastavro.schemaless_writer(out, _array_of("map", ""), meta)
    return out.getvalue() + sync


def block(count: int, records: bytes, codec: str, sync: bytes, level: int | None = None) -> bytes:
    """A block of encoded records. `level` is that of zstd."""
    packed = _compress(records, codec, level)
    return _varint(count) + _varint(len(packed)) + packed + sync


def decode(data: bytes) -> list[dict[str, Any]]:
    """The records of a container file, by the writer's own schema.

    Raises:
        ValueError: the bytes are not a complete container file, or use a codec that is not known.
    """
    with _damage(), no_collection():
        return [record for _, records in _decode(data, None) for record in records]


def decode_blocks(data: bytes, wanted: Collection[int]) -> dict[int, list[dict[str, Any]]]:
    """The records of some blocks of a container file, by the block's number from 0. Raises like `decode`."""
    with _damage(), no_collection():
        return dict(_decode(data, wanted))


def read_notes(data: bytes) -> Mapping[str, bytes]:
    """The metadata of a container file. Raises like `decode`."""
    with _damage():
        notes: Mapping[str, bytes] = _begin(io.BytesIO(data))[0]
    return notes


@contextmanager
def no_collection() -> Iterator[None]:
    """Do not search for garbage while many objects are made of which none is garbage: that doubles the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _damage() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # the libraries below raise their own kinds for damaged bytes
        raise ValueError(reason_of(error)) from error


def _decode(data: bytes, wanted: Collection[int] | None) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    import fastavro

    schema_text, blocks = _open(io.BytesIO(data), len(data), wanted)
    schema = _array_of("schema", schema_text)
    for number, count, found_block in blocks:
        body = io.BytesIO(_varint(count) + found_block + b"\0")
        found: Any = fastavro.schemaless_reader(body, schema, None)
        if len(found) != count:
            raise ValueError("a block holds fewer records than it says")
        yield number, found


def open_container(stream: Any, size: int) -> tuple[str, Iterator[tuple[int, bytes]]]:
    """The writer's schema of a container file, and its blocks: the number of records and their bytes.

    Raises:
        ValueError: it is no container file; while blocks are read: it is damaged.
    """
    schema_text, blocks = _open(stream, size, None)
    return schema_text, ((count, found) for _, count, found in blocks)


def _open(stream: Any, size: int, wanted: Collection[int] | None) -> tuple[str, Iterator[tuple[int, int, bytes]]]:
    meta, sync = _begin(stream)
    return meta["avro.schema"].decode(), _blocks(stream, size, meta.get("avro.codec", b"null").decode(), sync, wanted)


def _begin(stream: Any) -> tuple[Any, bytes]:
    """The metadata of a container file and the marker between its blocks."""
    import fastavro

    if stream.read(4) != _MAGIC:
        raise ValueError("it is not an Avro file")
    meta: Any = fastavro.schemaless_reader(stream, _array_of("map", ""), None)
    sync = stream.read(_SYNC_BYTES)
    if len(sync) < _SYNC_BYTES:
        raise ValueError("it ends in the middle")
    return meta, sync


def _blocks(
    stream: Any, end: int, codec: str, sync: bytes, wanted: Collection[int] | None
) -> Iterator[tuple[int, int, bytes]]:
    """Number, count of records and bytes of each wanted block (None: of all)."""
    number = 0
    while stream.tell() < end:
        count, size = _read_varint(stream), _read_varint(stream)
        packed = stream.read(size)
        if len(packed) < size or stream.read(_SYNC_BYTES) != sync:
            raise ValueError("it ends in the middle or its blocks do not fit together")
        if wanted is None or number in wanted:
            yield number, count, _decompress(packed, codec)
        number += 1


@lru_cache(maxsize=64)
def _array_of(kind: str, schema_text: str) -> Any:
    import fastavro

    if kind == "map":
        return fastavro.parse_schema(_META_SCHEMA)
    return fastavro.parse_schema({"type": "array", "items": _without_logical_types(json.loads(schema_text))})


def _without_logical_types(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _without_logical_types(value) for key, value in schema.items() if key != "logicalType"}
    if isinstance(schema, list):
        return [_without_logical_types(one) for one in schema]
    return schema


def _varint(number: int) -> bytes:
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def _read_varint(stream: Any) -> int:
    rest = shift = 0
    while True:
        byte: bytes = stream.read(1)
        if not byte:
            raise ValueError("it ends in the middle")
        rest |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return rest >> 1 if not rest & 1 else -(rest >> 1) - 1


def _compress(block: bytes, codec: str, level: int | None) -> bytes:
    if codec == "null":
        return block
    if codec == "deflate":
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        return packer.compress(block) + packer.flush()
    import pyarrow as pa

    if codec == "snappy":
        return bytes(pa.compress(block, codec="snappy", asbytes=True)) + zlib.crc32(block).to_bytes(4, "big")
    return bytes(pa.Codec("zstd", level).compress(block, asbytes=True))


def _decompress(block: bytes, codec: str) -> bytes:
    if codec == "null":
        return block
    if codec == "deflate":
        return zlib.decompress(block, -15)
    import pyarrow as pa

    if codec == "zstandard":
        # As a stream, because not every writer stores the size of what it compressed.
        with pa.CompressedInputStream(pa.BufferReader(block), "zstd") as unpacked:
            return bytes(unpacked.read())
    if codec == "snappy":
        size = _snappy_size(block)
        return bytes(pa.decompress(block[:-4], size, codec="snappy", asbytes=True))
    if codec == "bzip2":
        import bz2

        return bz2.decompress(block)
    if codec == "xz":
        import lzma

        return lzma.decompress(block)
    raise ValueError(f"its compression {codec} is not known")


def _snappy_size(block: bytes) -> int:
    size = shift = 0
    for byte in block[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return size
