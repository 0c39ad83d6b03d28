"""What a table option is, and how its text becomes a value.

Vocabulary: an *option* is declared once (key, type, default, description); a *pattern* option has ``*`` in its
key and covers a family (``fields.*.aggregate-function``); an option is *supported* when this engine acts on it;
*accepted* names the values of an option that are acted on when not all of them are; *effect* says what a value
that is not acted on would make wrong: nothing, writes, or every answer.

Invariant: parsing is pure and total: a text becomes a value of the declared type or an OptionError that names
the key, the value and what would have been accepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tablestore_engine.errors import OptionError

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
    """The number of bytes in a text like ``128 mb``. Raises ValueError."""
    match = _NUMBER_AND_UNIT.fullmatch(text.strip().lower())
    if not match or match[2] not in _MEMORY_UNITS:
        raise ValueError("a size such as '128 mb' is expected (b, kb, mb, gb, tb)")
    return int(match[1]) * _MEMORY_UNITS[match[2]]


def parse_duration(text: str) -> int:
    """The whole milliseconds in a text like ``10 s`` or ``1 h``. Raises ValueError."""
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


def _parse_columns(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _parse_file_name(text: str) -> str:
    # From Spark, a dot or an underscore in front hides a file, and some characters make a pattern of its name.
    if text[:1] in (".", "_") or not _FILE_NAME.fullmatch(text):
        raise ValueError("the beginning of a file name is expected: no '.' or '_' first, none of / \\ : * ? { } [ ]")
    return text


def _parse_stats_mode(text: str) -> str:
    lower = text.strip().lower()
    if not _STATS_MODE.fullmatch(lower):
        raise ValueError("none, counts, full or truncate(n) is expected")
    return lower


class OptionType(Enum):
    """The type of an option's value; ``value`` is its name in the documentation."""

    BOOLEAN = "boolean"
    INT = "int"
    FLOAT = "float"
    TEXT = "text"
    ENUM = "enum"
    MEMORY = "memory size"
    DURATION = "duration"
    COLUMNS = "column list"
    STATS_MODE = "stats mode"
    FILE_NAME = "file name"


_PARSERS: dict[OptionType, Callable[[str], Any]] = {
    OptionType.BOOLEAN: _parse_bool,
    OptionType.INT: _parse_int,
    OptionType.FLOAT: _parse_float,
    OptionType.TEXT: str,
    OptionType.ENUM: lambda text: text.strip().lower(),
    OptionType.MEMORY: parse_memory,
    OptionType.DURATION: parse_duration,
    OptionType.COLUMNS: _parse_columns,
    OptionType.STATS_MODE: _parse_stats_mode,
    OptionType.FILE_NAME: _parse_file_name,
}


class Effect(Enum):
    """What goes wrong when a value that is not acted on were ignored."""

    NONE = "nothing"
    WRITE = "writes"
    READ = "reads and writes"


@dataclass(frozen=True)
class Option:
    """One table option. ``default`` is already parsed (bytes, milliseconds, tuple of columns, …) or None."""

    key: str
    type: OptionType
    default: Any
    description: str
    immutable: bool = False
    fallback_keys: tuple[str, ...] = ()
    supported: bool = True
    choices: tuple[str, ...] = ()
    accepted: tuple[Any, ...] | None = None
    effect: Effect = Effect.NONE
    minimum: int | None = None
    ours: bool = False

    @property
    def is_pattern(self) -> bool:
        """True for a family of keys such as ``fields.*.aggregate-function``."""
        return "*" in self.key

    @property
    def keys(self) -> tuple[str, ...]:
        """The key and the other spellings that are accepted for it."""
        return (self.key, *self.fallback_keys)

    def parse(self, text: str, key: str | None = None) -> Any:
        """The value that ``text`` stands for. Raises OptionError."""
        name = key or self.key
        try:
            value = _PARSERS[self.type](text)
        except ValueError as error:
            raise OptionError(f"Option '{name}' cannot be '{text}': {error}.") from None
        if self.choices and value not in self.choices:
            raise OptionError(f"Option '{name}' cannot be '{text}': one of {', '.join(self.choices)} is expected.")
        if self.minimum is not None and value is not None and value < self.minimum:
            raise OptionError(f"Option '{name}' cannot be '{text}': at least {self.minimum} is expected.")
        return value

    def acts_on(self, value: Any) -> bool:
        """True when this engine gives ``value`` its meaning, or when ignoring it changes nothing."""
        if self.effect is Effect.NONE or value == self.default:
            return True
        if self.accepted is not None:
            return value in self.accepted
        return self.supported
