"""Streaming merge of sorted runs on Arrow batches.

Vocabulary: a *cursor* is the unread rest of one run; a *window* is the set of rows, over all cursors, whose
keys are not greater than the smallest last key of the current batches. Every row of a key falls into one
window, because runs are sorted, so windows merge independently and memory stays at one batch per run, and at the rows
of one key. Inside a window the rows are sorted and reduced by Arrow kernels; a window fed by one run passes through
untouched, since a run holds a key once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Reduce = Callable[[pa.Table], pa.Table]


def comparable_key(values: Iterable[Any]) -> tuple[Any, ...]:
    """A key that compares as the format orders keys: NaN equals itself and is greater than every number."""
    return tuple(((True, 0.0) if isnan(v) else (False, v)) if isinstance(v, float) else v for v in values)


class _Cursor:
    def __init__(self, batches: Iterator[pa.RecordBatch], keys: Sequence[str]) -> None:
        self._batches = batches
        self._keys = tuple(keys)
        self.batch: pa.RecordBatch | None = None
        self.columns: list[pa.Array] = []
        self.offset = 0
        self.advance()

    def advance(self) -> None:
        self.offset = 0
        for batch in self._batches:
            if batch.num_rows:
                self.batch = batch
                self.columns = [batch.column(k) for k in self._keys]
                return
        self.batch = None

    def key_at(self, row: int) -> tuple[Any, ...]:
        return comparable_key(column[row].as_py() for column in self.columns)

    def last_key(self) -> tuple[Any, ...]:
        assert self.batch is not None
        return self.key_at(self.batch.num_rows - 1)

    def take_until(self, bound: tuple[Any, ...]) -> list[pa.RecordBatch]:
        """Rows with key <= bound, by bisection; moves past them."""
        taken = []
        while self.batch is not None and self.key_at(self.offset) <= bound:
            low, high = self.offset + 1, self.batch.num_rows
            while low < high:
                middle = (low + high) // 2
                if self.key_at(middle) <= bound:
                    low = middle + 1
                else:
                    high = middle
            taken.append(self.batch.slice(self.offset, low - self.offset))
            self.offset = low
            if low == self.batch.num_rows:
                self.advance()
        return taken


def merge_sorted(
    runs: Sequence[Iterable[pa.RecordBatch]], keys: Sequence[str], reduce: Reduce, *, always: bool = False
) -> Iterator[pa.Table]:
    """Merge runs (oldest first) of equal schema; `reduce` folds each window of several runs, or each at all (`always`).

    `reduce` gets the window's rows in run order, unsorted, and returns one row per key, sorted by key. Runs that hold a
    key more than once are merged with `always`.
    """
    cursors = [c for c in (_Cursor(iter(run), keys) for run in runs) if c.batch is not None]
    while cursors:
        bound = min(c.last_key() for c in cursors)
        parts = [part for c in cursors for part in c.take_until(bound)]
        window = pa.Table.from_batches(parts)
        yield window if len(parts) == 1 and not always else reduce(window)
        cursors = [c for c in cursors if c.batch is not None]


def last_of_key_mask(table: pa.Table, keys: Sequence[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For rows sorted by key: True where the next row has another key (or there is none)."""
    rows = table.num_rows
    mask = np.zeros(rows, dtype=bool)
    if rows == 0:
        return mask
    mask[-1] = True
    for key in keys:
        column = _one_chunk(table.column(key))
        this, other = column.slice(1), column.slice(0, rows - 1)
        differs = pc.not_equal(this, other)
        if pa.types.is_floating(column.type):
            differs = pc.and_not(differs, pc.and_(pc.is_nan(this), pc.is_nan(other)))
        if differs.null_count:
            one_null = pc.xor(column.slice(1).is_null(), column.slice(0, rows - 1).is_null())
            differs = pc.if_else(differs.is_null(), one_null, differs)
        mask[:-1] |= differs.to_numpy(zero_copy_only=False)
    return mask


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


@dataclass(frozen=True)
class SortColumn:
    """A column to order by; nulls come first either way, so that a null never wins."""

    name: str
    descending: bool = False


def sort_stable(table: pa.Table, columns: Sequence[SortColumn]) -> pa.Table:
    """Stable sort with nulls first: the order of Spark, of Paimon's keys and of its sequence fields."""
    # Arrow's sort is not stable for tables, so the row number decides between equals.
    ordinal = "__tablestore_ordinal"
    numbered = table.select([c.name for c in columns]).append_column(
        ordinal, pa.array(np.arange(table.num_rows, dtype=np.int64))
    )
    sort_keys: list[tuple[str, str]] = []
    for column in columns:
        direction = "descending" if column.descending else "ascending"
        if numbered.column(column.name).null_count:
            # Null placement holds for all columns of a sort, so validity becomes a column of its own.
            flag = f"__tablestore_valid_{column.name}"
            numbered = numbered.append_column(flag, pc.is_valid(numbered.column(column.name)))
            sort_keys.append((flag, "ascending"))
        sort_keys.append((column.name, direction))
    indices = pc.sort_indices(numbered, sort_keys=[*sort_keys, (ordinal, "ascending")])
    return table.take(indices)
