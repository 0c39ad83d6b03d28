"""Deletion vectors as other writers make them, for tests without these: Roaring bitmaps, and index files of them."""

from __future__ import annotations

import json
import struct
import uuid
import zlib

from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS, IndexEntry
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.index_change import IndexChange


def roaring(positions):
    """A 32-bit bitmap in the portable serialization, of array and bitmap containers."""
    containers = {}
    for position in sorted(set(positions)):
        containers.setdefault(position >> 16, []).append(position & 0xFFFF)
    bodies = [_container(values) for values in containers.values()]
    heads = b"".join(struct.pack("<HH", key, len(values) - 1) for key, values in containers.items())
    at, offsets = 8 + len(heads) + 4 * len(bodies), b""
    for body in bodies:
        offsets += struct.pack("<I", at)
        at += len(body)
    return struct.pack("<II", 12346, len(bodies)) + heads + offsets + b"".join(bodies)


def _container(values):
    if len(values) <= 4096:
        return struct.pack(f"<{len(values)}H", *values)
    bits = bytearray(8192)
    for value in values:
        bits[value >> 3] |= 1 << (value & 7)
    return bytes(bits)


def vector(positions, *, wide=False):
    """A deletion vector as in an index file: its size before it, its checksum after it."""
    if wide:
        parts = {}
        for position in positions:
            parts.setdefault(position >> 32, []).append(position & 0xFFFFFFFF)
        body = struct.pack("<IQ", 1681511377, len(parts))
        body += b"".join(struct.pack("<I", key) + roaring(parts[key]) for key in sorted(parts))
    else:
        body = struct.pack(">I", 1581511376) + roaring(positions)
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def with_options(catalog, table, options):
    """The table with options in its schema that this engine would not set."""
    path = table.paths.schema(table.schema.id)
    schema = json.loads(table.io.read(path))
    schema["options"] |= options
    table.io.write(path, json.dumps(schema).encode())
    return catalog.load_table(*table.identifier)


def delete_positions(table, deleted, *, wide=False, counts=True):
    """Commit a deletion vector for each named data file. `counts`: whether metadata says how many rows each deletes."""
    files = {e.file.file_name: e for e in table.live_files()}
    buckets = {}
    for name, positions in deleted.items():
        buckets.setdefault((files[name].partition, files[name].bucket), []).append((name, list(positions)))
    added = []
    for (partition, bucket), vectors in buckets.items():
        data, ranges = b"\x01", []
        for name, positions in vectors:
            one = vector(positions, wide=wide)
            length = len(one) if wide else len(one) - 8
            count = len(set(positions)) if counts else None
            ranges.append({"f0": name, "f1": len(data), "f2": length, "_CARDINALITY": count})
            data += one
        name = f"index-{uuid.uuid4()}-0"
        table.io.write(table.paths.index_file(name), data)
        added.append(
            IndexEntry(partition, bucket, DELETION_VECTORS, name, len(data), len(ranges), deletion_vectors=ranges)
        )
    identity = CommitIdentity(str(uuid.uuid4()), 1)
    return Committer(table.state).commit(Change("APPEND", index=IndexChange(tuple(added))), identity)
