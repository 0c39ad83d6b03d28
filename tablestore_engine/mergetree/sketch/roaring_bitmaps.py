"""Sets of numbers as Roaring bitmaps, in the formats of Paimon's functions rbm32 and rbm64: their unions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, Mask
from tablestore_engine.metadata.bitmaps.roaring import Cursor, read_bitmap, write_bitmaps
from tablestore_engine.metadata.bitmaps.roaring64 import read_numbers, write_numbers

Numbers = npt.NDArray[Any]
_EMPTY = (12_346).to_bytes(8, "little")


@dataclass(frozen=True)
class BitmapFormat:
    """How the numbers of a set become bytes, and back; `read` raises a ValueError for other bytes."""

    read: Callable[[bytes], Numbers]
    write: Callable[[Numbers], bytes]

    def are_bitmaps(self, values: pa.Array) -> Mask:
        """Which values, none of them null, are bitmaps of this format."""
        return np.array([self._is_bitmap(one) for one in values.to_pylist()], bool)

    def union(self, values: pa.Array, owners: Indices, count: int) -> pa.Array:
        """The union of the bitmaps of each of `count` owners, which ascend; each has one at least."""
        sets = [self.read(one) for one in values.to_pylist()]
        starts = np.searchsorted(owners, np.arange(count))
        ends = np.append(starts[1:], len(sets)).tolist()
        groups = (sets[start:end] for start, end in zip(starts.tolist(), ends, strict=True))
        return pa.array([self.write(np.unique(np.concatenate(group))) for group in groups], pa.binary())

    def _is_bitmap(self, data: bytes) -> bool:
        try:
            self.read(data)
        except ValueError:
            return False
        return True


def _written(numbers: Numbers) -> bytes:
    return write_bitmaps(numbers, np.arange(len(numbers)) == 0)[0] if len(numbers) else _EMPTY


FORMATS = {
    "rbm32": BitmapFormat(lambda data: read_bitmap(Cursor(data)), _written),
    "rbm64": BitmapFormat(read_numbers, write_numbers),
}
"""By the name of the function."""
