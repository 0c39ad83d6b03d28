"""Column statistics of a Parquet file, folded from its footer (see `column_stats`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tablestore_engine.operation.statistics.column_stats import DEFAULT_MODE, UNKNOWN, ColumnStats, stats_of


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
        result[field.name] = _fold([g.column(index) for g in groups], partial(stats_of, field.type, mode))
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
