"""Partition directories: ``dt=2024-01-01/hr=3``, and back.

Names and values are escaped like ``%3A``; a null or blank value is a directory of the default name. In *legacy*
naming, which is what a table without the option ``partition.legacy-name`` has, dates are day numbers, times are
milliseconds and timestamps look like ``2024-01-01T10:00``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tablestore_engine.errors import SchemaError
from tablestore_engine.metadata.binary_row import decode_row, encode_row, from_unscaled, row_arity, unscaled
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_ROOTS,
    STRING_ROOTS,
    AtomicType,
    DataField,
    DataType,
)

if TYPE_CHECKING:
    from tablestore_engine.schema.table.table_schema import TableSchema

DEFAULT_NAME = "__DEFAULT_PARTITION__"

_ESCAPED = {chr(code) for code in (*range(32), 127)} | set("\"#%'*/:=?\\{}[]^")
_EPOCH = date(1970, 1, 1)


def partition_path(
    names: Sequence[str],
    values: Sequence[Any],
    types: Sequence[DataType],
    default_name: str = DEFAULT_NAME,
    *,
    legacy: bool = False,
) -> str:
    """The directory of a partition, without a slash at either end; empty without partition columns.

    Args:
        names: partition columns.
        values: their Python values (see ``binary_row``).
        types: their types; all atomic.
        default_name: directory name of nulls and blanks.
        legacy: whether the table has legacy naming.
    """
    parts = []
    for name, value, data_type in zip(names, values, types, strict=True):
        text = "" if value is None else _text(value, data_type, legacy)
        parts.append(f"{escape(name)}={escape(default_name if not text or text.isspace() else text)}")
    return "/".join(parts)


def partition_from_path(
    path: str,
    names: Sequence[str],
    types: Sequence[DataType],
    default_name: str = DEFAULT_NAME,
    *,
    legacy: bool = False,
) -> tuple[Any, ...]:
    """The values of a partition directory. Parts of the path that are not ``name=value`` are passed over.

    Raises:
        ValueError: a partition column is missing, or its text is not a value of its type.
    """
    found = {}
    for part in path.strip("/").split("/"):
        name, equals, text = part.partition("=")
        if equals:
            found[unescape(name)] = unescape(text)
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"the path {path} has no directory for {', '.join(missing)}")
    return tuple(
        None if found[name] == default_name else value_from_text(found[name], data_type, legacy=legacy)
        for name, data_type in zip(names, types, strict=True)
    )


class _Unknown:
    """The value of a column in a partition that was written before it became a partition column."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = _Unknown()
"""A value that a partition does not say: its rows may have any."""


class PartitionFormat:
    """How one table names its partitions: between values, BinaryRow bytes and directories.

    The number of fields of a BinaryRow says to which layout it belongs: the table may have had others before. Where
    one had as many columns, nulls fill the rows of the later one.
    """

    def __init__(self, schema: TableSchema) -> None:
        self.names = schema.partition_keys
        self.types = tuple(one.type for one in schema.partition_fields)
        self.default_name = schema.core_options.partition_default_name
        self.legacy = schema.core_options.partition_legacy_name
        self._columns = tuple((one.id, one.type.as_nullable(True)) for one in schema.partition_fields)
        self._layouts = schema.partition_layouts
        self._fill = (None,) * schema.partition_fill
        self._filled = (*self.types, *[AtomicType("INT")] * schema.partition_fill)
        self._paths: dict[bytes, str] = {}

    def encode(self, values: Sequence[Any]) -> bytes:
        """The BinaryRow of partition values."""
        return encode_row((*values, *self._fill), self._filled)

    def is_current(self, partition: bytes) -> bool:
        """Whether a BinaryRow has the partition columns of today."""
        return len(self._layouts) == 1 or self._layout(partition) is None

    def decode(self, partition: bytes) -> tuple[Any, ...]:
        """The values of a BinaryRow in the partition columns of today; `UNKNOWN` where it says none."""
        layout = None if len(self._layouts) == 1 else self._layout(partition)
        if layout is None:
            return decode_row(partition, self.types)
        # A column that had another type is unknown, too: its values may be others now.
        columns = ((one.id, one.type.as_nullable(True)) for one in layout)
        values = dict(zip(columns, decode_row(partition, _types(layout)), strict=True))
        return tuple(values.get(one, UNKNOWN) for one in self._columns)

    def splits(self, wanted: Mapping[int, Any], partition: bytes) -> bool:
        """Whether wanted values may choose some rows of a partition and others not: it was written when the table had
        other partition columns."""
        values = self.decode(partition)
        known = all(values[at] is UNKNOWN or values[at] == value for at, value in wanted.items())
        return known and any(values[at] is UNKNOWN for at in wanted)

    def covers(self, wanted: Mapping[int, Any], partition: bytes) -> bool:
        """Whether wanted values, by the positions of partition columns, choose all rows of a partition, or none.

        Raises:
            SchemaError: they may choose some: it was written when the table had other partition columns.
        """
        values = self.decode(partition)
        if any(values[at] is not UNKNOWN and values[at] != value for at, value in wanted.items()):
            return False
        if self.splits(wanted, partition):
            unsure = [self.names[at] for at in wanted if values[at] is UNKNOWN]
            path = self.path_of(partition)
            raise SchemaError(
                f"Partition {path or 'of all rows'} was written before '{unsure[0]}' became a partition column, so "
                "some of its rows may be meant and others not.",
                hint="Choose rows by DELETE FROM … WHERE …; or write the partition anew first, by INSERT OVERWRITE "
                "with 'dynamic-partition-overwrite' = 'false' and the rows that it has.",
            )
        return True

    def path(self, values: Sequence[Any]) -> str:
        """The directory of partition values."""
        return partition_path(self.names, values, self.types, self.default_name, legacy=self.legacy)

    def path_of(self, partition: bytes) -> str:
        """The directory of a BinaryRow."""
        path = self._paths.get(partition)
        if path is None:
            names, values, types = self._own(partition)
            path = partition_path(names, values, types, self.default_name, legacy=self.legacy)
            self._paths[partition] = path
        return path

    def texts_of(self, partition: bytes) -> list[str]:
        """The values of a BinaryRow as texts, never the legacy ones of directories; ``null`` for null."""
        _, values, types = self._own(partition)
        pairs = zip(values, types, strict=True)
        return ["null" if value is None else _text(value, kind, legacy=False) for value, kind in pairs]

    def braced(self, partition: bytes) -> str:
        """The values of a BinaryRow as `{2024-01-01, 3}`."""
        return f"{{{', '.join(self.texts_of(partition))}}}"

    def shown(self, partition: bytes) -> str:
        """A BinaryRow as `dt=2024-01-01/hr=3`: its directory, without escapes and legacy texts."""
        names, values, types = self._own(partition)
        texts = (
            self.default_name if value is None else _text(value, kind, legacy=False)
            for value, kind in zip(values, types, strict=True)
        )
        return "/".join(f"{name}={one}" for name, one in zip(names, texts, strict=True))

    def names_of(self, partition: bytes) -> Sequence[str]:
        """The names of the partition columns that a BinaryRow has."""
        return self._own(partition)[0]

    def _own(self, partition: bytes) -> tuple[Sequence[str], tuple[Any, ...], Sequence[DataType]]:
        layout = self._layout(partition)
        if layout is None:
            return self.names, decode_row(partition, self.types), self.types
        types = _types(layout)
        return [one.name for one in layout], decode_row(partition, types), types

    def _layout(self, partition: bytes) -> tuple[DataField, ...] | None:
        """The former partition columns of a BinaryRow; None for those of today."""
        arity = row_arity(partition) if partition else len(self._filled)
        return None if arity == len(self._filled) else self._layouts.get(arity)

    def parse(self, path: str) -> tuple[Any, ...]:
        """The partition values of a directory. Raises ValueError."""
        return partition_from_path(path, self.names, self.types, self.default_name, legacy=self.legacy)


def _types(layout: Sequence[DataField]) -> list[DataType]:
    return [one.type for one in layout]


def escape(text: str) -> str:
    """The text, with ``%XX`` for each character that a directory name must not contain."""
    if not _ESCAPED.intersection(text):
        return text
    return "".join(f"%{ord(one):02X}" if one in _ESCAPED else one for one in text)


def unescape(text: str) -> str:
    """The text that ``escape`` was given."""
    if "%" not in text:
        return text
    parts = text.split("%")
    out = [parts[0]]
    for part in parts[1:]:
        code = part[:2]
        if len(code) == 2 and all(one in "0123456789abcdefABCDEF" for one in code):
            out.append(chr(int(code, 16)) + part[2:])
        else:
            out.append("%" + part)
    return "".join(out)


def _text(value: Any, data_type: DataType, legacy: bool) -> str:
    root = data_type.root if isinstance(data_type, AtomicType) else ""
    if root == "BOOLEAN":
        return "true" if value else "false"
    if root in ("FLOAT", "DOUBLE"):
        return java_float_text(float(value), single=root == "FLOAT")
    if root == "DECIMAL" and isinstance(data_type, AtomicType):
        scale = data_type.scale or 0
        return format(from_unscaled(unscaled(value, scale), scale), "f")
    if root == "DATE":
        return str((value - _EPOCH).days) if legacy else value.isoformat()
    if root == "TIME":
        millis = ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
        return str(millis) if legacy else _time_text(value, data_type)
    if root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        moment = value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        return _legacy_timestamp(moment) if legacy else _timestamp_text(moment, data_type)
    if root in BINARY_ROOTS:
        return bytes(value).decode()
    return str(value)


def _fraction(microsecond: int, data_type: DataType) -> str:
    digits = f"{microsecond:06d}000"
    precision = data_type.precision or 0 if isinstance(data_type, AtomicType) else 0
    kept = digits.rstrip("0")
    text = digits[: max(len(kept), precision)]
    return "." + text if text else ""


def _timestamp_text(value: datetime, data_type: DataType) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0") + _fraction(value.microsecond, data_type)


def _time_text(value: time, data_type: DataType) -> str:
    return value.strftime("%H:%M:%S") + _fraction(value.microsecond // 1000 * 1000, data_type)


def _legacy_timestamp(value: datetime) -> str:
    if value.microsecond:
        text = value.isoformat(timespec="microseconds")
        return text[:-3] if value.microsecond % 1000 == 0 else text
    return value.isoformat(timespec="seconds" if value.second else "minutes")


def java_float_text(value: float, *, single: bool) -> str:
    """The text that Java gives a float (``single``) or double: ``1.0``, ``1.0E10``, ``NaN``."""
    if math.isnan(value):
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if str(value).startswith("-") else "0.0"
    sign, digits, exponent = Decimal(_shortest(value, "<f" if single else "<d")).as_tuple()
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + int(exponent)  # position of the decimal point, counted from the first digit
    minus = "-" if sign else ""
    if 1e-3 <= abs(value) < 1e7:
        if point <= 0:
            return f"{minus}0.{'0' * -point}{shown}"
        whole = shown[:point].ljust(point, "0")
        return f"{minus}{whole}.{shown[point:] or '0'}"
    return f"{minus}{shown[0]}.{shown[1:] or '0'}E{point - 1}"


def _shortest(value: float, form: str) -> str:
    # The fewest digits that give the same float or double again, but at least the two that Java always has.
    packed = struct.pack(form, value)
    for precision in range(2, 18):
        text = f"{value:.{precision}g}"
        try:
            if struct.pack(form, float(text)) == packed:
                return text
        except OverflowError:  # rounded up beyond the greatest float
            continue
    return repr(value)


def value_from_text(text: str, data_type: DataType, *, legacy: bool = False) -> Any:
    """The Python value that a partition text, or a value in a PARTITION clause, denotes.

    Raises:
        ValueError: the text is not a value of that type.
    """
    root = data_type.root if isinstance(data_type, AtomicType) else ""
    try:
        if root in STRING_ROOTS:
            return text
        if root in INTEGER_ROOTS:
            return int(text)
        if root == "BOOLEAN":
            return {"true": True, "false": False}[text.lower()]
        if root in ("FLOAT", "DOUBLE"):
            return float(text)
        if root == "DECIMAL":
            return Decimal(text)
        if root == "DATE":
            # Day numbers are read either way: a table may have been renamed by an option later on.
            return date.fromisoformat(text) if "-" in text[1:] else date.fromordinal(int(text) + _EPOCH.toordinal())
        if root == "TIME":
            return _time_from(text, legacy)
        if root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
            moment = _datetime_from(text)
            return moment.replace(tzinfo=timezone.utc) if root == "TIMESTAMP_LTZ" else moment
        if root in BINARY_ROOTS:
            return text.encode()
    except (ValueError, KeyError, ArithmeticError, OverflowError):
        pass
    raise ValueError(f"'{text}' is not a value of type {data_type}")


def _time_from(text: str, legacy: bool) -> time:
    if legacy or ":" not in text:
        seconds, millis = divmod(int(text), 1000)
        return time(seconds // 3600, seconds // 60 % 60, seconds % 60, millis * 1000)
    return time.fromisoformat(_six_digits(text))


def _datetime_from(text: str) -> datetime:
    return datetime.fromisoformat(_six_digits(text))


def _six_digits(text: str) -> str:
    # Before Python 3.11 fromisoformat takes only 3 or 6 fractional digits.
    whole, dot, fraction = text.partition(".")
    return f"{whole}.{fraction[:6]:0<6}" if dot else whole
