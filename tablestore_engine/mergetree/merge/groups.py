"""Groups of rows: those of one key, neighbours and in the order of their records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, Mask, valid_mask

T = TypeVar("T", bound=np.generic)


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
        return for_each_row(np.arange(self.count), self.starts, self.rows)


def for_each_row(values: NDArray[T], starts: Indices, rows: int) -> NDArray[T]:
    """The values of groups that begin at `starts`, once for each of the rows."""
    return np.repeat(values, np.diff(np.append(starts, rows)))


def none_valid(values: pa.Array, groups: Groups) -> Mask | None:
    """A mask of the groups that have only nulls; None where no value is null."""
    if values.null_count == 0:
        return None
    return ~np.logical_or.reduceat(valid_mask(values), groups.starts)


def no_list(values: pa.Array, groups: Groups) -> Mask:
    """The same as a mask where no value is null, too."""
    none = none_valid(values, groups)
    return np.zeros(groups.count, bool) if none is None else none
