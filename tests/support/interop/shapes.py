"""Columns of every type, each with values at its edges, and histories of tables with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType


@dataclass(frozen=True)
class Sample:
    """A type and different values of it, none null."""

    type: DataType
    values: tuple[Any, ...]


def _sample(root: str, *values: Any, precision: int | None = None, scale: int | None = None) -> Sample:
    return Sample(AtomicType(root, True, precision, scale), values)


def _utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[arg-type, misc]


_TEXTS = (
    "", " ", "a", "A", "aa", "b", "seven77", "eight888", "a much longer text, which is in the tail of a row",
    "a much longer text, which is in the tail of a row too", "é", "ß", "日本語", "\uffff", "\U0001f600", "\U0001f601x",
    "tab\tnew\nline", "quote'\"\\", "0", "-1", "null", "%", "a/b",
)  # fmt: skip

ATOMIC: dict[str, Sample] = {
    "string": _sample("STRING", *_TEXTS),
    "varchar": _sample("VARCHAR", *(t for t in _TEXTS if len(t) <= 20), precision=20),
    "char": _sample("CHAR", "abc", "abd", "xyz", "日本語", precision=3),
    "tinyint": _sample("TINYINT", -128, -1, 0, 1, 127),
    "smallint": _sample("SMALLINT", -(2**15), -1, 0, 1, 300, 2**15 - 1),
    "int": _sample("INT", -(2**31), -65536, -1, 0, 1, 42, 2**31 - 1),
    "bigint": _sample("BIGINT", -(2**63), -(2**32), -1, 0, 1, 2**40, 2**63 - 1),
    "boolean": _sample("BOOLEAN", False, True),
    "float": _sample("FLOAT", -1.5, 0.0, 0.25, 3.0e38, 1.0e-30),
    "double": _sample("DOUBLE", -1.7e308, -1.5, 0.0, 0.1, 2.0, 1.0e300),
    "decimal_compact": _sample(
        "DECIMAL", *map(Decimal, ("-99999999.99", "-1.50", "0.00", "0.01", "1.00", "99999999.99")), precision=10, scale=2  # noqa: E501
    ),
    "decimal_tiny": _sample("DECIMAL", *map(Decimal, ("-9.9", "0.0", "0.1", "9.9")), precision=2, scale=1),
    "decimal_18": _sample(
        "DECIMAL", *map(Decimal, ("-999999999999999999", "-1", "0", "1", "999999999999999999")), precision=18, scale=0
    ),
    "decimal_wide": _sample(
        "DECIMAL",
        *map(Decimal, ("-99999999999999999999999999999.999999999", "-1.000000000", "0.000000000", "1.000000001",
                       "99999999999999999999999999999.999999999")),
        precision=38, scale=9,
    ),
    "date": _sample("DATE", date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(9999, 12, 31)),
    "timestamp_0": _sample(
        "TIMESTAMP", datetime(1969, 12, 31, 23, 59, 59), datetime(1970, 1, 1), datetime(2024, 2, 29, 1, 2, 3), precision=0  # noqa: E501
    ),
    "timestamp_3": _sample(
        "TIMESTAMP", datetime(1969, 12, 31, 23, 59, 59, 999000), datetime(1970, 1, 1, 0, 0, 0, 1000),
        datetime(2024, 2, 29, 1, 2, 3, 456000), precision=3,
    ),
    "timestamp_6": _sample(
        "TIMESTAMP", datetime(1900, 1, 1, 0, 0, 0, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1),
        datetime(2024, 2, 29, 1, 2, 3, 456789), datetime(9999, 12, 31, 23, 59, 59, 999999), precision=6,
    ),
    "timestamp_ltz_6": _sample(
        "TIMESTAMP_LTZ", _utc(1900, 1, 1, 0, 0, 0, 1), _utc(1970, 1, 1), _utc(2024, 3, 31, 1, 30, 0, 456789), precision=6  # noqa: E501
    ),
    "timestamp_ltz_3": _sample("TIMESTAMP_LTZ", _utc(1969, 12, 31), _utc(2024, 10, 27, 0, 30, 0, 1000), precision=3),
    "bytes": _sample("BYTES", b"", b"\x00", b"abc", b"abcdefg", b"abcdefgh", b"\xff" * 20),
}  # fmt: skip

TIMES = {"time": _sample("TIME", time(0, 0), time(1, 2, 3, 4000), time(23, 59, 59, 999000), precision=3)}


def _row(*fields: tuple[str, DataType]) -> RowType:
    return RowType(tuple(DataField(i, name, kind) for i, (name, kind) in enumerate(fields)))


_INT, _STRING = AtomicType("INT"), AtomicType("STRING")
_MONEY = AtomicType("DECIMAL", True, 10, 2)
_MOMENT = AtomicType("TIMESTAMP", True, 6)

# NaN, infinities and the two zeros, for columns that are no key.
SPECIAL = {
    root.lower() + "_special": _sample(root, float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.5)
    for root in ("FLOAT", "DOUBLE")
}

NESTED: dict[str, Sample] = {
    "array_int": Sample(ArrayType(_INT), ([], [1], [1, None, -3])),
    "array_string": Sample(ArrayType(_STRING), ([], [""], ["a", None, "日本"])),
    "array_decimal": Sample(ArrayType(_MONEY), ([Decimal("1.50")], [None])),
    "array_array": Sample(ArrayType(ArrayType(_INT)), ([], [[]], [[1], None, [2, None]])),
    "map_plain": Sample(MapType(_STRING, AtomicType("BIGINT")), ([], [("a", 1)], [("a", None), ("b", 2)])),
    "map_array": Sample(MapType(_INT, ArrayType(_STRING)), ([(1, ["x"])], [(1, None), (2, [None])])),
    "row": Sample(
        _row(("a", _INT), ("b", _STRING), ("c", _MOMENT)),
        ({"a": 1, "b": "x", "c": datetime(2024, 1, 2, 3, 4, 5, 6)}, {"a": None, "b": None, "c": None}),
    ),
    "row_row": Sample(
        _row(("inner", _row(("d", _MONEY), ("list", ArrayType(_INT)))), ("e", _STRING)),
        ({"inner": {"d": Decimal("1.00"), "list": [1, None]}, "e": "y"}, {"inner": None, "e": None}),
    ),
    "array_row": Sample(
        ArrayType(_row(("a", _INT), ("b", _STRING))), ([], [{"a": 1, "b": None}, None, {"a": None, "b": "z"}])
    ),
    "map_row": Sample(MapType(_STRING, _row(("a", _INT))), ([("k", {"a": 1})], [("k", None), ("l", {"a": None})])),
}

EVERYTHING = {**ATOMIC, **SPECIAL, **NESTED}


def value_rows(count: int, samples: dict[str, Sample], shift: int = 0) -> list[dict[str, Any]]:
    """Rows that walk through the values of every column; each column is null in some rows, all are in one."""
    rows = []
    for i in range(count):
        row = {}
        for at, (name, sample) in enumerate(samples.items()):
            choices = (*sample.values, None)
            row[name] = None if i == count - 1 else choices[(i + at + shift) % len(choices)]
        rows.append(row)
    return rows
