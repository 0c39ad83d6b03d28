"""Thrift's compact protocol, of which Parquet's footers and page indexes are made: structs as dicts by field number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
SPAN = 0
"""The key under which a struct has the bytes where it begins and ends; no field has this number."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _SET, _MAP = 1, 2, 3, 7, 10, 11

Longs = npt.NDArray[np.int64]
Field = tuple[int, int, Any]
"""Number, type and value of a field to write; the items of a list of structs are written ones (bytes)."""


class ThriftReader:
    """Reads values of known bytes, from `at` on. Raises IndexError or ValueError at bytes that are none."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self.at = at

    def struct(self) -> dict[int, Any]:
        """The struct that begins here."""
        data, start, number = self._data, self.at, 0
        found: dict[int, Any] = {}
        while True:
            head = data[self.at]
            self.at += 1
            if head == 0:
                found[SPAN] = (start, self.at)
                return found
            number = number + (head >> 4) if head >> 4 else self._integer()
            found[number] = self._value(head & 15)

    def list_size(self, number: int, kind: int) -> int | None:
        """The size of the list with which a struct begins here, and move to its first item; None if it does not."""
        if self._data[self.at] != number << 4 | LIST or self._data[self.at + 1] & 15 != kind:
            return None
        self.at += 2
        size = self._data[self.at - 1] >> 4
        return self._varint() if size == 15 else size

    def _varint(self) -> int:
        data, at = self._data, self.at
        byte = data[at]
        at += 1
        value = byte & 127
        shift = 7
        while byte > 127:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
        self.at = at
        return value

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _value(self, kind: int) -> Any:
        if kind in (I32, I64, 4):
            return self._integer()
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind == STRUCT:
            return self.struct()
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (LIST, _SET):
            return self._list()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BYTE:
            return self._bytes(1)[0]
        raise ValueError(f"{kind} is no type of Thrift's")

    def _bytes(self, size: int) -> bytes:
        self.at += size
        return self._data[self.at - size : self.at]

    def _list(self) -> list[Any]:
        head = self._data[self.at]
        self.at += 1
        size, kind = head >> 4, head & 15
        if size == 15:
            size = self._varint()
        if kind in (_TRUE, _FALSE):
            return [one == _TRUE for one in self._bytes(size)]
        return [self._value(kind) for _ in range(size)]


def plain_structs(data: bytes, at: int, count: int, kinds: Sequence[int]) -> Longs | None:
    """The values of structs that follow one another, whose fields 1, 2, … are integers of some kinds: one row each.

    None where they are written otherwise. All are read at once: a large file has some hundred thousand of them.
    """
    every = 2 * len(kinds) + 1
    bytes_ = np.frombuffer(data, np.uint8)[at:]
    ends = np.flatnonzero(bytes_ < 128)[: every * count]
    if len(ends) < every * count:
        return None
    starts = np.append(0, ends[:-1] + 1)
    values = np.zeros(len(ends), np.uint64)
    for byte in range(int((ends - starts).max(initial=-1)) + 1):
        here = starts + byte <= ends
        part = bytes_[np.where(here, starts + byte, 0)].astype(np.uint64) & np.uint64(127)
        values |= np.where(here, part << np.uint64(7 * byte), np.uint64(0))
    rows = values.reshape(count, every)
    heads = np.array([*(1 << 4 | kind for kind in kinds), 0], np.uint64)
    if not (rows[:, 0::2] == heads).all():
        return None
    found = rows[:, 1::2]
    # Zigzag: the last bit is the sign.
    return (found >> np.uint64(1)).astype(np.int64) ^ -(found & np.uint64(1)).astype(np.int64)


def struct_bytes(fields: Sequence[Field]) -> bytes:
    """A struct of fields in order of their numbers, which are less than 16 apart."""
    out, before = bytearray(), 0
    for number, kind, value in fields:
        out.append((number - before) << 4 | kind)
        before = number
        out += _written(kind, value)
    out.append(0)
    return bytes(out)


def list_of(kind: int, items: Sequence[Any]) -> bytes:
    """A list: the value of a field of type LIST."""
    written = items if kind == STRUCT else [_written(kind, item) for item in items]
    head = bytes([len(items) << 4 | kind]) if len(items) < 15 else bytes([0xF0 | kind]) + _varint_bytes(len(items))
    return head + b"".join(written)


def _written(kind: int, value: Any) -> bytes:
    if kind in (I32, I64):
        return _varint_bytes((value << 1) ^ (value >> 63))
    if kind == BINARY:
        return _varint_bytes(len(value)) + bytes(value)
    return bytes(value)  # a struct or a list, written already


def _varint_bytes(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
