"""Retracted rows, and removing them from a stream of rows.

`Retractions` holds the retracted rows in memory, not the rows that they are removed from, so a compaction of a large
bucket needs memory only for what was removed. If that is much, too, the work is done in *parts*: a hash of the atomic
columns assigns each row to a part, equal rows to the same one, and the parts are processed one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import how_often_before, one_array
from tablestore_engine.mergetree.arrow_kernels.row_ids import Numbers, first_rows, row_ids, same_floats
from tablestore_engine.mergetree.multiset.multiset import negative_count
from tablestore_engine.metadata.bucket_hash import row_hashes
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.system_columns import COUNT
from tablestore_engine.schema.types.types import AtomicType, DataField

PART_ROWS = 500_000
"""About so many retracted rows are in memory at a time."""


@dataclass(frozen=True)
class Part:
    """One of `count` parts of all rows, from 0."""

    number: int = 0
    count: int = 1

    def of(self, rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
        """The rows of this part."""
        if self.count == 1:
            return rows
        hashes = np.abs(content_hashes(rows, fields).astype(np.int64))
        return rows.filter(pa.array(hashes % self.count == self.number))


def parts_for(retracted_rows: int) -> list[Part]:
    """The parts in which so many retracted rows are processed."""
    count = max(1, -(-retracted_rows // PART_ROWS))
    return [Part(number, count) for number in range(count)]


def content_hashes(rows: pa.Table, fields: Sequence[DataField]) -> npt.NDArray[np.int32]:
    """A hash of each row, equal for equal rows: of its atomic columns, zero when there are none."""
    atomic = [f for f in fields if isinstance(f.type, AtomicType)]
    if not atomic or rows.num_rows == 0:
        return np.zeros(rows.num_rows, np.int32)
    columns = [same_floats(one_array(rows.column(f.name))) for f in atomic]
    return row_hashes(columns, [f.type for f in atomic])


def settled(rows: pa.Table, retracts: npt.NDArray[np.bool_]) -> tuple[pa.Table, pa.Table | None]:
    """The outcome of rows of which some are retractions: rows to add, in order, and rows to take away with `COUNT`.

    A row that is added and taken away equally often is in neither.
    """
    ids = row_ids([one_array(c) for c in rows.columns], rows.num_rows)
    totals = np.bincount(ids, np.where(retracts, -1.0, 1.0)).astype(np.int64)
    given = np.flatnonzero(~retracts)
    added = given[how_often_before(ids[given]) < totals[ids[given]]]
    removed = np.flatnonzero(totals < 0)
    if not len(removed):
        return rows.take(pa.array(added)), None
    taken = rows.take(pa.array(first_rows(ids)[removed]))
    return rows.take(pa.array(added)), taken.append_column(COUNT.name, pa.array(totals[removed]))


class Retractions:
    """Rows to remove, each once, and how often each is still to be removed."""

    def __init__(self, rows: pa.Table, fields: Sequence[DataField]) -> None:
        """`rows` have the columns of `fields` and `COUNT`, negative; a row may occur in them several times."""
        counts = one_array(rows.column(COUNT.name)).to_numpy()
        self._fields = tuple(fields)
        self._names = [f.name for f in fields]
        rows = rows.select(self._names)
        ids = row_ids([one_array(c) for c in rows.columns], rows.num_rows)
        first = first_rows(ids)
        self._rows = rows.take(pa.array(first)).combine_chunks()
        self._left = np.zeros(len(first), np.int64)
        np.subtract.at(self._left, ids, counts)
        hashes = content_hashes(self._rows, self._fields)
        self._by_hash = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._by_hash]

    def any_match(self, rows: pa.Table) -> bool:
        """Whether any of some rows may be taken away."""
        _, found = self._matches(rows)
        return bool((self._left[found] > 0).any())

    def cancel(self, rows: pa.Table) -> pa.Table:
        """The rows that stay. A row that is removed reduces the count of its retraction."""
        at, found = self._matches(rows)
        removed = how_often_before(found) < self._left[found]
        if not removed.any():
            return rows
        np.subtract.at(self._left, found[removed], 1)
        kept = np.ones(rows.num_rows, bool)
        kept[at[removed]] = False
        return rows.filter(pa.array(kept))

    def rest(self) -> pa.Table | None:
        """The retractions that are left, with `COUNT`; None if there are none."""
        left = np.flatnonzero(self._left)
        if not len(left):
            return None
        return self._rows.take(pa.array(left)).append_column(COUNT.name, pa.array(-self._left[left]))

    def check_done(self, table: str) -> None:
        """Raise NegativeCountError, which shows a row of the table, if retractions are left."""
        rest = self.rest()
        if rest is not None:
            row = rest.slice(0, 1).to_pylist()[0]
            raise negative_count(row, row.pop(COUNT.name), table)

    def _matches(self, rows: pa.Table) -> tuple[Numbers, Numbers]:
        """Which rows are retracted, and the number of the retraction of each."""
        hashes = content_hashes(rows, self._fields)
        low = np.searchsorted(self._hashes, hashes, "left")
        at = np.flatnonzero(low < np.searchsorted(self._hashes, hashes, "right"))
        if not len(at):
            return at, at
        own = self._by_hash[np.flatnonzero(np.isin(self._hashes, hashes[at]))]
        mine, theirs = self._rows.take(pa.array(own)), rows.take(pa.array(at))
        columns = [_joined(mine.column(name), theirs.column(name)) for name in self._names]
        ids = row_ids(columns, len(own) + len(at))
        retraction = np.full(int(ids.max()) + 1, -1)
        retraction[ids[: len(own)]] = own
        found = retraction[ids[len(own) :]]
        return at[found >= 0], found[found >= 0]


@dataclass(frozen=True)
class Taken:
    """The effect of retractions on some rows: which they take away, and which rows are `missing` for them (None: none).

    `missing` has the columns of the rows and `COUNT`, negative.
    """

    rows: npt.NDArray[np.bool_]
    missing: pa.Table | None


def taken_from(rows: pa.Table, retracted: pa.Table) -> Taken:
    """The rows that the retractions `retracted` take away from `rows`, which have the same columns and `COUNT`.

    Both are held in memory. Of equal rows the first ones go.
    """
    names = [name for name in retracted.column_names if name != COUNT.name]
    own = retracted.num_rows
    ids = row_ids([_joined(retracted.column(n), rows.column(n)) for n in names], own + rows.num_rows)
    left = np.zeros(int(ids.max(initial=-1)) + 1, np.int64)
    np.subtract.at(left, ids[:own], one_array(retracted.column(COUNT.name)).to_numpy())
    found = ids[own:]
    taken = how_often_before(found) < left[found]
    np.subtract.at(left, found[taken], 1)
    short = np.flatnonzero(left)
    if not len(short):
        return Taken(taken, None)
    missing = retracted.select(names).take(pa.array(first_rows(ids)[short]))
    return Taken(taken, missing.append_column(COUNT.name, pa.array(-left[short])))


def _joined(first: pa.ChunkedArray, second: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays([one_array(first), one_array(second).cast(first.type)])


def retractions_of(
    batches: Iterable[pa.RecordBatch], fields: Sequence[DataField], part: Part | None = None
) -> Retractions:
    """The retractions that some files hold, or those of one part; `batches` are their rows with `COUNT`."""
    part = part or Part()
    tables = [part.of(pa.Table.from_batches([batch]), fields) for batch in batches]
    if tables:
        return Retractions(pa.concat_tables(tables), fields)
    columns = [(f.name, to_arrow_type(f.type)) for f in (*fields, COUNT)]
    return Retractions(pa.schema(columns).empty_table(), fields)
