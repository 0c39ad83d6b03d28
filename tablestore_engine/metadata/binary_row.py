"""BinaryRow: how partitions, keys and statistics are written down in metadata.

Layout, little endian unless said otherwise::

    arity: 4 bytes, big endian          (not part of the row that is hashed for its bucket)
    header: 1 byte (row kind, 0 here)   then one null bit per field, padded to 8 bytes together
    one 8-byte slot per field           the value, or where it is
    tail                                what does not fit a slot, each padded to 8 bytes

A text or binary of up to 7 bytes sits in its slot, with ``0x80 | length`` in the last byte; a longer one is in
the tail and its slot is ``offset << 32 | length``. DECIMAL up to 18 digits is its unscaled long; beyond, 16 bytes of
tail hold the big-endian unscaled bytes. TIMESTAMP up to milliseconds is a long; beyond, the milliseconds are in
the tail and the slot is ``offset << 32 | nanoOfMillisecond``. A null of either of those two still takes its tail.

Values in Python: int, float, bool, str, bytes, Decimal, date, time, datetime (aware, UTC, for TIMESTAMP_LTZ), None.
ARRAY, MAP and ROW can only be null here. Invariant: the bytes are persisted and hashed; they must never change.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    STRING_ROOTS,
    TIMESTAMP_ROOTS,
    AtomicType,
    DataType,
)

MAX_COMPACT_DECIMAL = 18
MAX_COMPACT_TIMESTAMP = 3
MAX_INLINE = 7

_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1)
_UTC_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_DECIMALS = Context(prec=80, rounding=ROUND_HALF_UP)
_SLOT = struct.Struct("<q")
_PACKERS = {
    "BOOLEAN": struct.Struct("<?"), "TINYINT": struct.Struct("<b"), "SMALLINT": struct.Struct("<h"),
    "INT": struct.Struct("<i"), "BIGINT": _SLOT, "FLOAT": struct.Struct("<f"), "DOUBLE": struct.Struct("<d"),
    "DATE": struct.Struct("<i"), "TIME": struct.Struct("<i"),
}  # fmt: skip

_FIXED, _BYTES, _DECIMAL, _TIMESTAMP, _NESTED = range(5)


def null_bits_size(arity: int) -> int:
    """Bytes of the header with the null bits, for a number of fields."""
    return (arity + 63 + 8) // 64 * 8


def is_compact(data_type: AtomicType) -> bool:
    """For DECIMAL and timestamps: whether the value fits its slot."""
    limit = MAX_COMPACT_DECIMAL if data_type.root == "DECIMAL" else MAX_COMPACT_TIMESTAMP
    return (data_type.precision or 0) <= limit


def unscaled(value: Decimal | int | float | str, scale: int) -> int:
    """The integer that ``value`` is at that many fractional digits, rounded half up."""
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    return int(_DECIMALS.quantize(number, Decimal(1).scaleb(-scale)).scaleb(scale, _DECIMALS))


def from_unscaled(number: int, scale: int) -> Decimal:
    """The decimal value of an unscaled integer."""
    return Decimal(number).scaleb(-scale, _DECIMALS)


def timestamp_micros(value: datetime) -> int:
    """Microseconds since 1970. A naive value is taken as it is, an aware one in UTC."""
    return (value - (_EPOCH if value.tzinfo is None else _UTC_EPOCH)) // _MICROSECOND


def _time_millis(value: time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def _as_it_is(value: Any) -> Any:
    return value


class _Field:
    """How one field is written and read: its kind, and the functions between value and stored form."""

    __slots__ = ("kind", "packer", "read", "write")

    def __init__(self, data_type: DataType) -> None:
        self.kind = _NESTED
        self.packer = _SLOT
        self.write: Callable[[Any], Any] = _as_it_is
        self.read: Callable[[Any], Any] = _as_it_is
        if not isinstance(data_type, AtomicType):
            return
        root, scale = data_type.root, data_type.scale or 0
        if root in _PACKERS:
            self.kind, self.packer = _FIXED, _PACKERS[root]
            if root == "DATE":
                self.write, self.read = (lambda value: value.toordinal() - _EPOCH_ORDINAL), _date_of
            elif root == "TIME":
                self.write, self.read = _time_millis, _time_of
        elif root in STRING_ROOTS:
            self.kind = _BYTES
            self.write, self.read = (lambda value: value.encode()), (lambda data: data.decode())
        elif root in BINARY_ROOTS:
            self.kind, self.write = _BYTES, bytes
        elif root == "DECIMAL":
            self.kind = _FIXED if is_compact(data_type) else _DECIMAL
            self.write = lambda value: unscaled(value, scale)
            self.read = lambda number: from_unscaled(number, scale)
        elif root in TIMESTAMP_ROOTS:
            aware = root == "TIMESTAMP_LTZ"
            self.kind = _FIXED if is_compact(data_type) else _TIMESTAMP
            if self.kind == _FIXED:
                self.write = lambda value: timestamp_micros(value) // 1000
                self.read = lambda millis: _datetime_of(millis * 1000, aware)
            else:
                self.write = timestamp_micros
                self.read = lambda micros: _datetime_of(micros, aware)


def _date_of(days: int) -> date | None:
    # Other writers may hold days that Python's calendar cannot: those are unknown here.
    ordinal = days + _EPOCH_ORDINAL
    return date.fromordinal(ordinal) if 1 <= ordinal <= date.max.toordinal() else None


def _time_of(millis: int) -> time:
    seconds, rest = divmod(millis, 1000)
    return time(seconds // 3600, seconds // 60 % 60, seconds % 60, rest * 1000)


def _datetime_of(micros: int, aware: bool) -> datetime | None:
    try:
        return (_UTC_EPOCH if aware else _EPOCH) + timedelta(microseconds=micros)
    except OverflowError:
        return None


@lru_cache(maxsize=1024)
def _fields_of(types: tuple[DataType, ...]) -> tuple[_Field, ...]:
    return tuple(map(_field_of, types))


@lru_cache(maxsize=1024)
def _field_of(data_type: DataType) -> _Field:
    return _Field(data_type)


def _padded(length: int) -> int:
    return (length + 7) & ~7


def _big_endian(number: int) -> bytes:
    # The fewest bytes of two's complement, as Java's BigInteger gives them.
    bits = number.bit_length() if number >= 0 else (~number).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)


def encode_row(values: Sequence[Any], types: Sequence[DataType]) -> bytes:
    """The bytes of a row, arity first.

    Raises:
        TypeError, ValueError, struct.error, OverflowError: a value that is not one of its type.
    """
    fields = _fields_of(tuple(types))
    arity = len(fields)
    if len(values) != arity:
        raise ValueError(f"{len(values)} values for {arity} types")
    start = null_bits_size(arity)
    end = start + 8 * arity
    fixed = bytearray(end)
    tail: list[bytes] = []
    for position, (field, value) in enumerate(zip(fields, values, strict=True)):
        slot = start + 8 * position
        kind = field.kind
        if value is None:
            bit = position + 8
            fixed[bit >> 3] |= 1 << (bit & 7)
            size = 16 if kind == _DECIMAL else 8 if kind == _TIMESTAMP else 0
            if size:
                _SLOT.pack_into(fixed, slot, end << 32)
                tail.append(bytes(size))
                end += size
            continue
        if kind == _NESTED:
            raise TypeError("ARRAY, MAP and ROW values cannot be part of a key, a partition or statistics")
        stored = field.write(value)
        if kind == _FIXED:
            field.packer.pack_into(fixed, slot, stored)
            continue
        if kind == _TIMESTAMP:
            millis, micros = divmod(stored, 1000)
            data, second = _SLOT.pack(millis), micros * 1000
        elif kind == _DECIMAL:
            data = _big_endian(stored)
            second = len(data)
            data = data.ljust(16, b"\0")
        else:
            length = len(stored)
            if length <= MAX_INLINE:
                fixed[slot : slot + length] = stored
                fixed[slot + 7] = 0x80 | length
                continue
            data, second = stored.ljust(_padded(length), b"\0"), length
        _SLOT.pack_into(fixed, slot, end << 32 | second)
        tail.append(data)
        end += len(data)
    return b"".join((arity.to_bytes(4, "big"), fixed, *tail))


EMPTY_ROW = encode_row((), ())
"""The row without fields: the key of tables without a key, the partition of tables without partitions."""


def row_arity(data: bytes) -> int:
    """The number of fields of a row written by ``encode_row``."""
    return int.from_bytes(data[:4], "big")


def decode_row(data: bytes, types: Sequence[DataType]) -> tuple[Any, ...]:
    """The values of a row written by ``encode_row``; as many as there are types.

    Empty bytes are a row of nulls, and so are fields beyond the row's own arity. A date or timestamp outside of
    Python's calendar reads as None.

    Raises:
        ValueError: the bytes end before the row does.
    """
    fields = _fields_of(tuple(types))
    if not data:
        return (None,) * len(fields)
    arity = row_arity(data)
    start = 4 + null_bits_size(arity)
    if len(data) < start + 8 * arity:
        raise ValueError(_too_short(data))
    values: list[Any] = []
    for position, field in enumerate(fields):
        bit = position + 8
        if position >= arity or field.kind == _NESTED or data[4 + (bit >> 3)] >> (bit & 7) & 1:
            values.append(None)
            continue
        slot = start + 8 * position
        if field.kind == _FIXED:
            values.append(field.read(field.packer.unpack_from(data, slot)[0]))
        else:
            values.append(field.read(_stored_at(data, slot, field.kind)))
    return tuple(values)


def decode_column(rows: Sequence[bytes], position: int, data_type: DataType) -> list[Any]:
    """The value at one position of many rows, each as `decode_row` gives it and raising like it."""
    field, bit = _field_of(data_type), position + 8
    kind, read, unpack = field.kind, field.read, field.packer.unpack_from
    null_at, null = 4 + (bit >> 3), 1 << (bit & 7)
    if kind == _FIXED and (alike := _alike_rows(rows, position, field)) is not None:
        if read is _as_it_is:
            return [None if flags & null else value for flags, value in alike]
        return [None if flags & null else read(value) for flags, value in alike]
    values: list[Any] = []
    head, is_there, slot, end = b"", False, 0, 0  # alike in rows of as many fields
    for data in rows:
        if not data:
            values.append(None)
            continue
        if data[:4] != head:
            head, arity = data[:4], row_arity(data)
            start = 4 + null_bits_size(arity)
            is_there, slot, end = position < arity and kind != _NESTED, start + 8 * position, start + 8 * arity
        if len(data) < end:
            raise ValueError(_too_short(data))
        if not is_there or data[null_at] & null:
            values.append(None)
        else:
            values.append(read(unpack(data, slot)[0] if kind == _FIXED else _stored_at(data, slot, kind)))
    return values


def _alike_rows(rows: Sequence[bytes], position: int, field: _Field) -> Iterator[tuple[int, Any]] | None:
    """The byte of null bits and the stored value of a field of fixed width, of rows that have as many fields and bytes
    as the first; None where some have others. All are unpacked by one call."""
    size = len(rows[0]) if rows else 0
    arity = row_arity(rows[0]) if size else 0
    null_at, slot = 4 + (position + 8 >> 3), 4 + null_bits_size(arity) + 8 * position
    if position >= arity or size < slot + 8 * (arity - position):
        return None
    if set(map(len, rows)) != {size} or {data[:4] for data in rows} != {rows[0][:4]}:
        return None
    code = field.packer.format
    between, after = slot - null_at - 1, size - slot - field.packer.size
    return struct.Struct(f"{code[0]}{null_at}xB{between}x{code[1:]}{after}x").iter_unpack(b"".join(rows))


def _too_short(data: bytes) -> str:
    return f"a row of {row_arity(data)} fields needs more than {len(data)} bytes"


def _stored_at(data: bytes, slot: int, kind: int) -> Any:
    if kind == _BYTES and data[slot + 7] & 0x80:
        return data[slot : slot + (data[slot + 7] & 0x7F)]
    word = _SLOT.unpack_from(data, slot)[0]
    offset, second = 4 + (word >> 32), word & 0xFFFFFFFF
    end = offset + (8 if kind == _TIMESTAMP else second)
    if end > len(data):
        raise ValueError(f"a field ends at byte {end} of {len(data)}")
    if kind == _TIMESTAMP:
        return _SLOT.unpack_from(data, offset)[0] * 1000 + second // 1000
    stored = data[offset:end]
    return int.from_bytes(stored, "big", signed=True) if kind == _DECIMAL else stored
