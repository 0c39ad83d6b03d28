"""The rows of a table by key, in memory, for changes that come a few at a time.

Rows are in *runs*, each sorted by the hash of its keys. A batch of rows becomes a run, and is merged with smaller ones
behind it, so that a run is at most half as large as the one before it: there are few runs, and a row is merged a few
times in its life. The cost of a batch follows its own rows, not those that are held.

Invariant: of each key, at most one row of all runs is live.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.arrow_kernels.row_ids import same_floats
from tablestore_engine.metadata.bucket_hash import row_hashes
from tablestore_engine.schema.types.types import DataField

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Run:
    """Rows in the order of their hashes; those that are not live were replaced or deleted."""

    hashes: npt.NDArray[np.int32]
    rows: pa.Table
    live: npt.NDArray[np.bool_]

    def take(self, keys: pa.Table, hashes: npt.NDArray[np.int32]) -> tuple[Positions, Positions]:
        """Which of the wanted keys the run holds, and where. Their rows are not live any more."""
        low, high = np.searchsorted(self.hashes, hashes, "left"), np.searchsorted(self.hashes, hashes, "right")
        wanted, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for nth in range(int((high - low).max(initial=0))):  # more than one where keys have the same hash
            asked = np.flatnonzero(low + nth < high)
            at = (low + nth)[asked]
            same = self.live[at] & _equal(self.rows.select(keys.column_names).take(at), keys.take(asked))
            wanted.append(asked[same])
            found.append(at[same])
        positions = np.concatenate(found)
        self.live[positions] = False
        return np.concatenate(wanted), positions


class HeldRows:
    """The newest row of each key."""

    def __init__(self, schema: pa.Schema, keys: Sequence[DataField]) -> None:
        self._schema = schema
        self._keys = [one.name for one in keys]
        self._types = [one.type for one in keys]
        self._runs: list[_Run] = []

    def take(self, keys: pa.Table) -> tuple[pa.Table, Positions]:
        """Remove the rows of different keys. Returns those that were held, and which of the keys they have."""
        hashes = self._hashes(keys)
        parts, positions = [self._schema.empty_table()], [np.zeros(0, np.int64)]
        for run in self._runs:
            wanted, found = run.take(keys.select(self._keys), hashes)
            parts.append(run.rows.take(found))
            positions.append(wanted)
        return pa.concat_tables(parts), np.concatenate(positions)

    def put(self, rows: pa.Table) -> None:
        """Hold rows, whose keys are not held."""
        hashes = self._hashes(rows)
        while self._runs and self._runs[-1].rows.num_rows <= 2 * rows.num_rows:
            last = self._runs.pop()
            rows = pa.concat_tables([last.rows.filter(pa.array(last.live)), rows])
            hashes = np.concatenate([last.hashes[last.live], hashes])
        if rows.num_rows:
            order = np.argsort(hashes, kind="stable")
            self._runs.append(_Run(hashes[order], rows.take(order).combine_chunks(), np.ones(len(order), bool)))

    def _hashes(self, rows: pa.Table) -> npt.NDArray[np.int32]:
        return row_hashes([same_floats(rows.column(name)) for name in self._keys], self._types)


def _equal(some: pa.Table, others: pa.Table) -> npt.NDArray[np.bool_]:
    """Whether rows at the same position are equal. Keys have no nulls."""
    same = np.ones(some.num_rows, bool)
    for name in some.column_names:
        one, other = some.column(name), others.column(name)
        equal = pc.equal(one, other)
        if pa.types.is_floating(one.type):
            equal = pc.or_(equal, pc.and_(pc.is_nan(one), pc.is_nan(other)))
        same &= equal.to_numpy()
    return same
