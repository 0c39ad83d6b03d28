"""Rows that are looked up by values of some of their columns, and which rows of a table have them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Longs = npt.NDArray[np.int64]
_ORDINAL = "ordinal"
_MOST_NUMBERS = 1 << 62


def numbers_of(values: pa.Array) -> npt.NDArray[Any] | None:
    """Values as numbers in the same order; None where they are none."""
    kind = values.type
    if values.null_count or not (pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date32(kind)):
        return None
    plain = values if pa.types.is_integer(kind) else values.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    found: npt.NDArray[Any] = plain.to_numpy()
    return found


@dataclass(frozen=True, eq=False)
class RowKeys:
    """A row is looked for if its columns have the values of some row of `values`.

    These are in the Arrow types of the table's columns, and are none that equality treats in its own way: no nulls, no
    floating point numbers. They may repeat.
    """

    values: pa.Table

    @property
    def names(self) -> tuple[str, ...]:
        """The columns by which rows are looked up."""
        return tuple(self.values.column_names)

    @cached_property
    def distinct(self) -> dict[str, pa.Array]:
        """The values of each column, once, in rising order."""
        found = {name: pc.unique(self.values.column(name)) for name in self.names}
        return {name: values.take(pc.array_sort_indices(values)) for name, values in found.items()}

    def sorted_numbers(self, name: str) -> npt.NDArray[Any] | None:
        """The values of a column, once, as sorted numbers; None where they are none."""
        if name not in self._numbers_of:
            self._numbers_of[name] = numbers_of(self.distinct[name])
        return self._numbers_of[name]

    @cached_property
    def _numbers_of(self) -> dict[str, npt.NDArray[Any] | None]:
        return {}

    def where(self, mask: Any) -> RowKeys:
        """Those for which a mask is true."""
        return RowKeys(self.values.filter(mask))

    def positions_in(self, rows: pa.Table) -> Longs:
        """The positions of those of the rows that are looked for; `rows` has the columns, in their types."""
        most = max(self.names, key=lambda name: len(self.distinct[name]))
        found = pc.is_in(rows.column(most), value_set=self.distinct[most])
        positions = np.flatnonzero(found.to_numpy(zero_copy_only=False))
        if len(self.names) == 1 or not len(positions):
            return positions
        near = rows.select(list(self.names)).take(pa.array(positions))
        numbers, sought = self._numbers(near), self.row_numbers
        found = self._joined(near) if numbers is None or sought is None else np.isin(numbers, sought)
        return positions[found]

    @cached_property
    def row_numbers(self) -> Longs | None:
        """A number for each row of `values`, equal for equal rows only; None when there are too many combinations."""
        return self._numbers(self.values)

    def _numbers(self, rows: pa.Table) -> Longs | None:
        """One number for each combination of values that rows of the columns have, -1 where one value is not looked
        for; None when there are too many combinations."""
        if math.prod(len(values) for values in self.distinct.values()) >= _MOST_NUMBERS:
            return None
        numbers, known = np.zeros(rows.num_rows, np.int64), np.ones(rows.num_rows, np.bool_)
        for name, values in self.distinct.items():
            found = pc.fill_null(pc.index_in(rows.column(name), value_set=values), -1)
            at = found.to_numpy(zero_copy_only=False).astype(np.int64)
            numbers, known = numbers * len(values) + at, known & (at >= 0)
        return np.where(known, numbers, -1)

    def _joined(self, rows: pa.Table) -> npt.NDArray[np.bool_]:
        # Arrow takes a name with dots for a path.
        numbered = [f"k{i}" for i in range(len(self.names))]
        left = rows.rename_columns(numbered).append_column(_ORDINAL, pa.array(np.arange(rows.num_rows)))
        both = left.join(self.values.rename_columns(numbered), numbered, join_type="left semi")
        kept = np.zeros(rows.num_rows, np.bool_)
        kept[both.column(_ORDINAL).to_numpy()] = True
        return kept
