"""The container of a data file's indexes: a head that names columns, kinds and byte ranges, then the indexes.

    magic (8) · version (4) · head length (4) · number of columns (4)
    per column: name · number of indexes (4) · per index: kind · start (4) · length (4)
    length of what later versions add (4, zero) · the indexes

Numbers are big-endian, starts count from the container's first byte. An index that its writer left out, because the
file has no value of the column, starts at -1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tablestore_engine.metadata.file_index.byte_source import BigEndianCursor, ByteSource, java_utf

# The format's permanent marks.
_MAGIC = 1_493_475_289_347_502
_VERSION = 1
_LEFT_OUT = -1
_BEFORE_COLUMNS = 8 + 4 + 4
_AFTER_COLUMNS = 4


@dataclass(frozen=True)
class IndexRange:
    """Where an index is in its container; `left_out` when the file holds no value of the column."""

    start: int
    length: int

    @property
    def left_out(self) -> bool:
        return self.start == _LEFT_OUT


Heads = Mapping[str, Mapping[str, IndexRange]]
"""Indexes by column and kind. The value of a key in a map has the column name `map[key]`."""


def write_container(indexes: Mapping[str, Mapping[str, bytes]]) -> bytes:
    """Indexes by column and kind as one container."""
    names = sum(len(java_utf(name)) + sum(len(java_utf(kind)) + 8 for kind in kinds) for name, kinds in indexes.items())
    start = _BEFORE_COLUMNS + 4 + names + 4 * len(indexes) + _AFTER_COLUMNS
    head = [_number(_MAGIC, 8), _number(_VERSION), _number(start), _number(len(indexes))]
    body = []
    for name, kinds in indexes.items():
        head += [java_utf(name), _number(len(kinds))]
        for kind, data in kinds.items():
            head += [java_utf(kind), _number(start), _number(len(data))]
            body.append(data)
            start += len(data)
    return b"".join([*head, _number(0), *body])


def read_heads(source: ByteSource) -> Heads:
    """Which indexes a container has. Raises ValueError: it is damaged, or of another version."""
    cursor = BigEndianCursor(source, 0)
    if cursor.number(8) != _MAGIC:
        raise ValueError("it is not a file index")
    version = cursor.number()
    if version != _VERSION:
        raise ValueError(f"it is a file index of version {version}, and only {_VERSION} is known")
    cursor.number()  # the length of the head
    found: dict[str, dict[str, IndexRange]] = {}
    for _ in range(cursor.number()):
        kinds = found.setdefault(cursor.text(), {})
        for _ in range(cursor.number()):
            kind = cursor.text()
            kinds[kind] = IndexRange(cursor.number(), cursor.number())
    return found


def _number(value: int, width: int = 4) -> bytes:
    return value.to_bytes(width, "big", signed=True)
