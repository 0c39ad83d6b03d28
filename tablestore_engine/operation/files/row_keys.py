"""Rows that are looked up by values of some of their columns, and which rows of a table have them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Longs = npt.NDArray[np.int64]
_ORDINAL = "ordinal"


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
        """The values of each column, once."""
        return {name: pc.unique(self.values.column(name)) for name in self.names}

    def where(self, mask: Any) -> RowKeys:
        """Those for which a mask is true."""
        return RowKeys(self.values.filter(mask))

    def places_in(self, rows: pa.Table) -> Longs:
        """Which of the rows are looked for; `rows` has the columns, in their types."""
        most = max(self.names, key=lambda name: len(self.distinct[name]))
        found = pc.is_in(rows.column(most), value_set=self.distinct[most])
        places = np.flatnonzero(found.to_numpy(zero_copy_only=False))
        if len(self.names) == 1 or not len(places):
            return places
        # Arrow takes a name with dots for a path.
        numbered = [f"k{i}" for i in range(len(self.names))]
        left = rows.select(list(self.names)).take(pa.array(places)).rename_columns(numbered)
        left = left.append_column(_ORDINAL, pa.array(places))
        both = left.join(self.values.rename_columns(numbered), numbered, join_type="left semi")
        return np.sort(both.column(_ORDINAL).to_numpy())
