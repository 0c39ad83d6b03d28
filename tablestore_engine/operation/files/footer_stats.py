"""Column statistics of a data file, folded from its Parquet footer.

Only atomic columns have them. A column's *mode*, of the option `metadata.stats-mode`, says how much to keep: `none`,
the nulls only (`counts`), bounds as well (`full`), or bounds of texts that are cut (`truncate(n)`): a minimum is cut, a
maximum is cut and its last character raised, so both stay bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

DEFAULT_MODE = "truncate(16)"


@dataclass(frozen=True)
class ColumnStats:
    """Bounds and null count of one column; a bound is None when unknown or when every value is null."""

    minimum: Any
    maximum: Any
    null_count: int | None


UNKNOWN = ColumnStats(None, None, None)


def leaves_with_stats(schema: pa.Schema, without: Collection[str]) -> bool | list[str]:
    """The columns of a file that get statistics in its footer, as `ParquetWriter` takes them.

    Parquet leaves NaN out of bounds, and Spark skips rows by them, though NaN is greater than every number to it. So
    there are none for the top-level columns `without`, which hold NaN, and none for floats inside of others.
    """
    leaves = [(path, kind) for field in schema for path, kind in _leaves(field.name, field.type)]
    kept = [path for path, kind in leaves if path not in without and not ("." in path and pa.types.is_floating(kind))]
    return True if len(kept) == len(leaves) else kept


def _leaves(path: str, kind: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """The paths of the columns that Parquet makes of one."""
    if pa.types.is_struct(kind):
        inside = [(one.name, one.type) for one in kind]
    elif pa.types.is_map(kind):
        inside = [("key_value.key", kind.key_type), ("key_value.value", kind.item_type)]
    elif pa.types.is_list(kind):
        inside = [("list.element", kind.value_type)]
    else:
        yield path, kind
        return
    for name, inner in inside:
        yield from _leaves(f"{path}.{name}", inner)


def column_stats(
    metadata: pq.FileMetaData, schema: pa.Schema, mode_of: Callable[[str], str] = lambda name: DEFAULT_MODE
) -> dict[str, ColumnStats]:
    """Fold the row groups' statistics, by top-level column name."""
    leaves = {
        metadata.schema.column(i).path: i
        for i in range(metadata.num_columns)
        if metadata.schema.column(i).max_repetition_level == 0
    }
    result: dict[str, ColumnStats] = {}
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    for field in schema:
        index, mode = leaves.get(field.name), mode_of(field.name)
        if index is None or mode == "none" or pa.types.is_nested(field.type):
            result[field.name] = UNKNOWN
            continue
        found = _fold([g.column(index) for g in groups], _truncation(field.type, mode))
        result[field.name] = ColumnStats(None, None, found.null_count) if mode == "counts" else found
    return result


def _fold(chunks: list[Any], bound: Callable[[Any, Any, int], ColumnStats]) -> ColumnStats:
    minimum: Any = None
    maximum: Any = None
    nulls = 0
    for chunk in chunks:
        stats = chunk.statistics
        if stats is None or not stats.has_null_count:
            return UNKNOWN
        nulls += stats.null_count
        if stats.null_count == chunk.num_values:
            continue
        if not stats.has_min_max:
            return ColumnStats(None, None, None)
        try:
            low, high = stats.min, stats.max
        except OverflowError:  # a time that Python does not have, beyond the year 9999
            return ColumnStats(None, None, None)
        if isinstance(low, float) and (math.isnan(low) or math.isnan(high)):
            return ColumnStats(None, None, None)
        minimum = low if minimum is None else min(minimum, low)
        maximum = high if maximum is None else max(maximum, high)
    return bound(minimum, maximum, nulls)


def _truncation(arrow_type: pa.DataType, mode: str) -> Callable[[Any, Any, int], ColumnStats]:
    if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
        length = re.search(r"\d+", mode)
        return partial(_truncate_text, int(length[0]) if length else None)
    if pa.types.is_binary(arrow_type) or pa.types.is_large_binary(arrow_type):
        return lambda low, high, nulls: ColumnStats(None, None, nulls)
    if pa.types.is_floating(arrow_type):
        # Parquet leaves NaN out of its bounds, so they do not bound what Spark's order puts last.
        return lambda low, high, nulls: ColumnStats(None, None, nulls)
    return ColumnStats


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
