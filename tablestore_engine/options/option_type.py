"""The types of option values, and how a text becomes a value of each.

Invariant: parsing is pure and total. A text becomes a value of the type, or a ValueError that says what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)

_MEMORY_UNITS = {
    "": 1, "b": 1, "bytes": 1,
    "k": 1 << 10, "kb": 1 << 10, "kibibytes": 1 << 10,
    "m": 1 << 20, "mb": 1 << 20, "mebibytes": 1 << 20,
    "g": 1 << 30, "gb": 1 << 30, "gibibytes": 1 << 30,
    "t": 1 << 40, "tb": 1 << 40, "tebibytes": 1 << 40,
}  # fmt: skip
_DURATION_NANOS = {
    "ns": 1, "nano": 1, "nanosecond": 1, "nanoseconds": 1,
    "µs": 10**3, "us": 10**3, "micro": 10**3, "microsecond": 10**3, "microseconds": 10**3,
    "": 10**6, "ms": 10**6, "milli": 10**6, "millisecond": 10**6, "milliseconds": 10**6,
    "s": 10**9, "sec": 10**9, "second": 10**9, "seconds": 10**9,
    "m": 60 * 10**9, "min": 60 * 10**9, "minute": 60 * 10**9, "minutes": 60 * 10**9,
    "h": 3600 * 10**9, "hour": 3600 * 10**9, "hours": 3600 * 10**9,
    "d": 86400 * 10**9, "day": 86400 * 10**9, "days": 86400 * 10**9,
}  # fmt: skip
_NUMBER_AND_UNIT = re.compile(r"(\d+)\s*([a-zµ]*)")
_FILE_NAME = re.compile(r"[^/\\:*?{}\[\]\x00-\x1f]*")
_STATS_MODE = re.compile(r"none|counts|full|truncate\(\s*[1-9]\d*\s*\)")


def parse_memory(text: str) -> int:
    """The number of bytes in a text such as ``128 mb``. Raises ValueError."""
    match = _NUMBER_AND_UNIT.fullmatch(text.strip().lower())
    if not match or match[2] not in _MEMORY_UNITS:
        raise ValueError("a size such as '128 mb' is expected (b, kb, mb, gb, tb)")
    return int(match[1]) * _MEMORY_UNITS[match[2]]


def parse_duration(text: str) -> int:
    """The whole milliseconds in a text such as ``10 s`` or ``1 h``. Raises ValueError."""
    match = _NUMBER_AND_UNIT.fullmatch(text.strip().lower())
    if not match or match[2] not in _DURATION_NANOS:
        raise ValueError("a duration such as '10 s' or '1 h' is expected (ms, s, min, h, d)")
    return int(match[1]) * _DURATION_NANOS[match[2]] // 10**6


def _parse_bool(text: str) -> bool:
    lower = text.strip().lower()
    if lower not in ("true", "false"):
        raise ValueError("true or false is expected")
    return lower == "true"


def _parse_int(text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise ValueError("a whole number is expected") from None


def _parse_float(text: str) -> float:
    try:
        return float(text.strip())
    except ValueError:
        raise ValueError("a number is expected") from None


def _parse_enum(text: str) -> str:
    return text.strip().lower()


def _parse_enums(text: str) -> tuple[str, ...]:
    return tuple(_parse_enum(one) for one in text.split(",") if one.strip())


def _parse_columns(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _parse_file_name(text: str) -> str:
    # Spark does not see files whose names start with a dot or an underscore, and reads some characters as a pattern.
    if text[:1] in (".", "_") or not _FILE_NAME.fullmatch(text):
        raise ValueError("the beginning of a file name is expected: no '.' or '_' first, none of / \\ : * ? { } [ ]")
    return text


def _parse_stats_mode(text: str) -> str:
    lower = text.strip().lower()
    if not _STATS_MODE.fullmatch(lower):
        raise ValueError("none, counts, full or truncate(n) is expected")
    return lower


def _parse_by_level(text: str) -> tuple[tuple[int, str], ...]:
    found: dict[int, str] = {}
    for part in text.split(","):
        level, colon, value = part.partition(":")
        if not colon or not level.strip().isdigit() or not value.strip():
            raise ValueError("levels and their values are expected, such as '0:lz4,1:zstd'")
        found[int(level)] = value.strip().lower()
    return tuple(sorted(found.items()))


@dataclass(frozen=True)
class OptionType(Generic[T_co]):
    """A type of option values: its name in the documentation, and how a text becomes a value (or a ValueError)."""

    name: str
    parse: Callable[[str], T_co]


BOOLEAN = OptionType("boolean", _parse_bool)
INT = OptionType("int", _parse_int)
FLOAT = OptionType("float", _parse_float)
TEXT = OptionType("text", str)
ENUM = OptionType("enum", _parse_enum)
"""One of the option's ``choices``, without regard to case."""
ENUMS = OptionType("enum list", _parse_enums)
"""Some of the option's ``choices``, with commas between them."""
MEMORY = OptionType("memory size", parse_memory)
"""A number of bytes."""
DURATION = OptionType("duration", parse_duration)
"""A number of milliseconds."""
COLUMNS = OptionType("column list", _parse_columns)
BY_LEVEL = OptionType("value by level", _parse_by_level)
"""Pairs of a level and its value."""
STATS_MODE = OptionType("stats mode", _parse_stats_mode)
FILE_NAME = OptionType("file name", _parse_file_name)
