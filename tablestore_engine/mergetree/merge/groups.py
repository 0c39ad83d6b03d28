"""Groups of rows: those of one key, neighbours and in the order of their records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, Mask, valid_mask


@dataclass(frozen=True)
class Groups:
    """Where the groups of some rows begin; there is at least one group, and none is empty."""

    starts: Indices
    rows: int

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.starts)

    @property
    def ends(self) -> Indices:
        """The last row of each group."""
        return np.append(self.starts[1:], self.rows) - 1

    @property
    def ids(self) -> Indices:
        """The number of each row's group."""
        return np.repeat(np.arange(self.count), np.diff(np.append(self.starts, self.rows)))


def none_valid(values: pa.Array, groups: Groups) -> Mask | None:
    """Which groups have only nulls."""
    if values.null_count == 0:
        return None
    return ~np.logical_or.reduceat(valid_mask(values), groups.starts)


def no_list(values: pa.Array, groups: Groups) -> Mask:
    """Which groups have only nulls."""
    none = none_valid(values, groups)
    return np.zeros(groups.count, bool) if none is None else none
