"""Bounds of the partitions in each block of a large manifest, by which a reader skips blocks without decoding them.

They are a note in the header of the Avro file: readers that do not know it pass over it. A large manifest is sorted by
partition, so that few blocks hold entries of one partition. Invariant: a note that is damaged, or does not fit, is no
note; then all blocks are read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablestore_engine.metadata.manifest_encoding import avro_container
from tablestore_engine.metadata.manifest_encoding.data_file_meta import SimpleStats

_NOTE = "tablestore.partition-bounds"
_AVRO = b"Obj\x01"


@dataclass(frozen=True)
class BlockBounds:
    """The number of entries of a block, and the bounds of their partitions."""

    entry_count: int
    partition_stats: SimpleStats


def note_of(bounds: Sequence[BlockBounds]) -> dict[str, bytes]:
    """The bounds of all blocks of a file as metadata of its header."""
    stats = [(one.entry_count, one.partition_stats) for one in bounds]
    listed = [[n, one.min_values.hex(), one.max_values.hex(), list(one.null_counts)] for n, one in stats]
    text = json.dumps(listed, separators=(",", ":")).encode()
    return {_NOTE: b"%08x" % zlib.crc32(text) + text}


def bounds_in(data: bytes) -> list[BlockBounds] | None:
    """The bounds of the blocks of a manifest; None for one without them. Raises ValueError for a damaged header."""
    if not data.startswith(_AVRO):
        return None
    return _parsed(avro_container.read_notes(data))


def _parsed(notes: Mapping[str, bytes]) -> list[BlockBounds] | None:
    note = notes.get(_NOTE, b"")
    text = note[8:]
    if not text or note[:8] != b"%08x" % zlib.crc32(text):
        return None
    return [
        BlockBounds(count, SimpleStats(bytes.fromhex(low), bytes.fromhex(high), tuple(nulls)))
        for count, low, high, nulls in json.loads(text)
    ]
