"""The time of a partition, read from its values.

Vocabulary: a *pattern* such as `$dt $hr:00` says which partition columns make up the time, by default the first
column; a *formatter* such as `yyyyMMdd` is a pattern of Java's DateTimeFormatter, by default for a date or a date and a
time. Times have no zone: they are local times of this machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from functools import cached_property
from typing import Any

from tablestore_engine.errors import OptionError, UserError, did_you_mean
from tablestore_engine.options import CoreOptions

_FIELD = re.compile(r"\$(\w+)")
_TOKEN = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|.", re.DOTALL)
_LETTERS = {
    "y": ("year", r"\d{4}"), "u": ("year", r"\d{4}"), "M": ("month", r"\d{1,2}"), "d": ("day", r"\d{1,2}"),
    "H": ("hour", r"\d{1,2}"), "m": ("minute", r"\d{1,2}"), "s": ("second", r"\d{1,2}"), "S": ("", r"\d+"),
}  # fmt: skip
_DEFAULT = re.compile(
    r"(?P<year>\d{1,10})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.\d{1,9})?)?)?"
)


@dataclass(frozen=True)
class PartitionTime:
    """How one table's partitions become times.

    Raises UserError when it is made with a pattern that names no partition column, or with letters that are not known.
    """

    columns: tuple[str, ...]
    pattern: str | None = None
    formatter: str | None = None

    def __post_init__(self) -> None:
        unknown = [name for name in _FIELD.findall(self.pattern or "") if name not in self.columns]
        if unknown:
            raise UserError(
                f"The timestamp pattern '{self.pattern}' names '{unknown[0]}', which is no partition column.",
                hint=did_you_mean(unknown[0], self.columns),
            )
        _ = self._expression

    def of(self, values: Sequence[Any]) -> datetime | None:
        """The time of a partition with these values; None if they contain none."""
        texts = {name: _text(value) for name, value in zip(self.columns, values, strict=True)}
        if self.pattern is None:
            text = texts[self.columns[0]]
        elif any(texts[name] is None for name in _FIELD.findall(self.pattern)):
            return None
        else:
            text = _FIELD.sub(lambda found: str(texts[found[1]]), self.pattern)
        match = self._expression.fullmatch(text) if text is not None else None
        return _time(match.groupdict()) if match else None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return _DEFAULT if self.formatter is None else _expression(self.formatter)


def check_expiration(options: CoreOptions, partition_keys: Sequence[str]) -> None:
    """Raise a UserError if a table's partitions cannot expire as its options say."""
    if options.partition_expiration_time_millis is None:
        return
    if not partition_keys:
        raise OptionError("Option 'partition.expiration-time' needs partition columns.")
    PartitionTime(tuple(partition_keys), options.partition_timestamp_pattern, options.partition_timestamp_formatter)


def _text(value: Any) -> str | None:
    if isinstance(value, datetime):
        naive = value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        return naive.isoformat(" ")
    if isinstance(value, date):
        return value.isoformat()
    return None if value is None else str(value)


def _expression(formatter: str) -> re.Pattern[str]:
    parts: list[str] = []
    seen: set[str] = set()
    for found in _TOKEN.finditer(formatter):
        token, letter = found[0], found[1]
        if letter is None:
            literal = token[1:-1].replace("''", "'") if token.startswith("'") and len(token) > 1 else token
            parts.append(re.escape(literal or "'"))
            continue
        if letter not in _LETTERS:
            raise UserError(
                f"The timestamp formatter '{formatter}' has '{token}', which is not supported.",
                hint="It consists of yyyy, MM, dd, HH, mm, ss, SSS and signs; other letters must be in single quotes.",
            )
        name, digits = _LETTERS[letter]
        if len(token) > 1 and letter in "MdHms":
            digits = rf"\d{{{len(token)}}}"
        parts.append(f"(?P<{name}>{digits})" if name and name not in seen else digits)
        seen.add(name)
    return re.compile("".join(parts))


def _time(parts: Mapping[str, str | None]) -> datetime | None:
    numbers = {name: int(text) for name, text in parts.items() if text is not None}
    try:
        return datetime(
            numbers["year"],
            numbers.get("month", 1),
            numbers.get("day", 1),
            numbers.get("hour", 0),
            numbers.get("minute", 0),
            numbers.get("second", 0),
        )
    except (KeyError, ValueError):  # no year, or no such day
        return None
