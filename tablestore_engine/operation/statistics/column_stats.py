"""Column statistics of a data file, as its metadata keeps them.

Only atomic columns have them. A column's *mode*, of the option `metadata.stats-mode`, says how much to keep: `none`,
the nulls only (`counts`), bounds as well (`full`), or bounds of texts that are cut (`truncate(n)`): a minimum is cut, a
maximum is cut and its last character raised, so both stay bounds.

A Parquet file has bounds in its footer (`parquet_footer_stats`); for other formats they are computed from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

DEFAULT_MODE = "truncate(16)"


@dataclass(frozen=True)
class ColumnStats:
    """Bounds and null count of one column; a bound is None when unknown or when every value is null."""

    minimum: Any
    maximum: Any
    null_count: int | None


UNKNOWN = ColumnStats(None, None, None)


def stats_of(kind: pa.DataType, mode: str, minimum: Any, maximum: Any, nulls: int) -> ColumnStats:
    """The statistics that a mode keeps of a column with these bounds."""
    # Parquet leaves NaN out of its bounds, so they do not bound what Spark's order puts last.
    if mode == "counts" or not _is_bounded(kind):
        return ColumnStats(None, None, nulls)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        length = re.search(r"\d+", mode)
        return _truncate_text(int(length[0]) if length else None, minimum, maximum, nulls)
    return ColumnStats(minimum, maximum, nulls)


def _is_bounded(kind: pa.DataType) -> bool:
    return not (pa.types.is_floating(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


class RowStats:
    """The statistics of rows that are written one table after the other."""

    def __init__(self, schema: pa.Schema) -> None:
        self._types = {f.name: f.type for f in schema if not pa.types.is_nested(f.type)}
        self._bounds: dict[str, tuple[Any, Any]] = {}
        self._nulls = dict.fromkeys(self._types, 0)
        self._unknown: set[str] = set()

    def add(self, rows: pa.Table) -> None:
        """Take rows of the schema."""
        for name, kind in self._types.items():
            column = rows.column(name)
            self._nulls[name] += column.null_count
            if not _is_bounded(kind) or column.null_count == len(column):
                continue
            try:
                found = pc.min_max(column).as_py()
            except OverflowError:  # a time that Python does not have, beyond the year 9999
                self._unknown.add(name)
                continue
            low, high = self._bounds.get(name, (found["min"], found["max"]))
            self._bounds[name] = (min(low, found["min"]), max(high, found["max"]))

    def of(self, names: Sequence[str], mode_of: Callable[[str], str]) -> dict[str, ColumnStats]:
        """The statistics of some columns, each as its mode says."""
        return {name: self._stats_of_column(name, mode_of(name)) for name in names}

    def _stats_of_column(self, name: str, mode: str) -> ColumnStats:
        if name not in self._types or mode == "none":
            return UNKNOWN
        low, high = (None, None) if name in self._unknown else self._bounds.get(name, (None, None))
        return stats_of(self._types[name], mode, low, high, self._nulls[name])


def _truncate_text(length: int | None, minimum: Any, maximum: Any, nulls: int) -> ColumnStats:
    if minimum is None:
        return ColumnStats(None, None, nulls)
    minimum, maximum = _text(minimum), _text(maximum)
    if length is not None and len(maximum) > length:
        raised = _raise_last(maximum[:length])
        if raised is None:
            return ColumnStats(None, None, nulls)
        maximum = raised
    return ColumnStats(minimum[:length], maximum, nulls)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _raise_last(text: str) -> str | None:
    """The least text of this length that is greater than every text with this prefix."""
    for end in range(len(text), 0, -1):
        code = ord(text[end - 1]) + 1
        if 0xD800 <= code <= 0xDFFF:
            code = 0xE000
        if code <= 0x10FFFF:
            return text[: end - 1] + chr(code)
    return None
