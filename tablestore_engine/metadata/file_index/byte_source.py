"""Where the bytes of indexes come from: some in memory, or a file of which only parts are read."""

from __future__ import annotations

from typing import Protocol

_AHEAD = 8 << 10


class ByteSource(Protocol):
    """Bytes that can be read from anywhere."""

    def read_at(self, offset: int, length: int) -> bytes:
        """So many bytes, fewer at the end."""


class BytesInMemory:
    """Bytes that are there already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read_at(self, offset: int, length: int) -> bytes:
        """See `ByteSource.read_at`."""
        return self._data[offset : offset + length]


class BigEndianCursor:
    """Reads what Java's DataOutput writes, one value after the other. Raises ValueError where the bytes end early."""

    def __init__(self, source: ByteSource, at: int) -> None:
        self.at = at
        self._source = source
        self._held, self._held_at = b"", at

    def take(self, count: int) -> bytes:
        """So many bytes."""
        start = self.at - self._held_at
        if start + count > len(self._held):
            self._held, self._held_at = self._source.read_at(self.at, max(count, _AHEAD)), self.at
            start = 0
        taken = self._held[start : start + count]
        if count < 0 or len(taken) != count:
            raise ValueError("it ends early")
        self.at += count
        return taken

    def number(self, width: int = 4) -> int:
        """A signed number."""
        return int.from_bytes(self.take(width), "big", signed=True)

    def text(self) -> str:
        """A text in Java's modified UTF-8, with its length in front."""
        return _from_java_utf(self.take(int.from_bytes(self.take(2), "big")))


def java_utf(text: str) -> bytes:
    """A text as Java's `writeUTF` writes it: each UTF-16 unit by itself, and NUL in two bytes."""
    units = text.encode("utf-16-be", "surrogatepass")
    by_unit = "".join(chr(int.from_bytes(units[i : i + 2], "big")) for i in range(0, len(units), 2))
    data = by_unit.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
    return len(data).to_bytes(2, "big") + data


def _from_java_utf(data: bytes) -> str:
    by_unit = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return by_unit.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
