"""Matching retractions with the rows that they take back, in tables without a key: by the positions of these rows.

They are computed once per process, so that reads compare positions, not rows.

A *position* is a file and the number of a row in it. Files never change, so the positions that some retractions take
from some plain files never change either. Spark finds the *candidates*, first by a hash of discriminating columns, then
by a hash of all columns; the candidates and the retractions are collected here, where equality of rows decides.

Many retractions, or many copies of a row, are not collected: then nothing is returned, and the reader groups rows in
Spark.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.multiset.multiset import multiset_row_count
from tablestore_engine.mergetree.multiset.retractions import taken_from
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.scan.discriminating_columns import discriminating_columns, hashable_columns, narrower
from tablestore_engine.operation.scan.multiset_file_overlap import Values, values_of
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.schema.types.system_columns import COUNT, COUNT_COLUMNS
from tablestore_engine.spark.expressions.format_braces import formatted
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.spark.read.changed_keys import constant
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITION_COLUMN, SIZE_COLUMN, SIZES
from tablestore_engine.spark.scan.file_scan import BucketFile, FileScans

HELD_ROWS = 500_000
HELD_BYTES = 16 << 20
"""Retractions are looked at here up to this many rows, and bytes of their files."""
_SPARE_CANDIDATES = 20_000
_CACHED_POSITIONS = 4_000_000
_ROW_POSITION = "__tablestore_row_position"
_LONG_BITS = 62


@dataclass(frozen=True)
class OverlappingFiles:
    """Retraction files, and the plain files that may hold rows they remove."""

    plain: list[BucketFile] = field(default_factory=list)
    retractions: list[BucketFile] = field(default_factory=list)

    @property
    def retracted(self) -> int:
        """How many rows are removed."""
        return -sum(multiset_row_count(f) for _, f in self.retractions)

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the files of either sort, which are never given twice in a table."""
        return tuple(tuple(sorted(f.file_name for _, f in files)) for files in (self.plain, self.retractions))


@dataclass(frozen=True)
class RowPositions:
    """Positions as one BIGINT: the size of the file, and in the lowest `bits` the number of the row.

    Where two files have one size, they are `named`: the path is needed, too.
    """

    bits: int
    named: bool

    @classmethod
    def of(cls, files: Sequence[DataFileMeta]) -> RowPositions | None:
        """None when no BIGINT holds the positions in these files."""
        bits = max(f.row_count for f in files).bit_length()
        if bits + max(f.file_size for f in files).bit_length() > _LONG_BITS:
            return None
        return cls(bits, len({f.file_size for f in files}) < len(files))

    def sql(self, alias: str) -> str:
        """The position of a row of a scan with sizes."""
        return f"shiftleft({alias}.{SIZE_COLUMN}, {self.bits}) + {alias}.{POSITION_COLUMN}"

    @property
    def columns(self) -> list[str]:
        """The columns of a table of positions."""
        return [_ROW_POSITION, FILE_COLUMN] if self.named else [_ROW_POSITION]

    def selected(self, alias: str) -> str:
        """These columns of the rows of a scan with sizes, as SQL."""
        path = f", {alias}.{FILE_COLUMN}" if self.named else ""
        return f"{self.sql(alias)} AS {_ROW_POSITION}{path}"

    def joined(self, alias: str, positions: str) -> str:
        """The condition that a row of a scan with sizes has one of the positions."""
        path = f" AND {alias}.{FILE_COLUMN} = {positions}.{FILE_COLUMN}" if self.named else ""
        return f"{self.sql(alias)} = {positions}.{_ROW_POSITION}{path}"


@dataclass(frozen=True)
class RetractedRows:
    """The positions that are retracted in some plain files.

    `table` has the columns of `positions`, `sizes` are the sizes of the files of these positions. `missing` is a row
    that was removed more often than the files hold it, with its total; None when there is none.
    """

    positions: RowPositions
    table: pa.Table
    sizes: frozenset[int]
    missing: tuple[Mapping[str, Any], int] | None


def _size(found: RetractedRows | None) -> int:
    # An entry with few positions costs a few hundred bytes, mostly file names.
    return 1_000 + (found.table.num_rows if found else 0)


_known: RecentlyUsed[Hashable, RetractedRows | None] = RecentlyUsed(_CACHED_POSITIONS, _size)
"""Results by the files they are computed from."""


class RetractedRowsFinder:
    """Looks for the retracted rows of some files."""

    def __init__(self, scans: FileScans, files: OverlappingFiles) -> None:
        self._scans = scans
        self._schema = scans.schema
        self._files = files

    def known(self) -> RetractedRows | None:
        """An earlier result; None when there is none."""
        return _known.get(self._key)

    def find(self) -> RetractedRows | None:
        """The retracted rows; None when the retractions are too many, or the rows that are like them."""
        files = self._files
        if files.retracted > HELD_ROWS or sum(f.file_size for _, f in files.retractions) > HELD_BYTES:
            return None
        with suppress(KeyError):
            return _known[self._key]
        positions = RowPositions.of([f for _, f in files.plain])
        found = self._found(positions) if positions else None
        _known.put(self._key, found)
        return found

    @property
    def _key(self) -> tuple[object, ...]:
        return self._scans.location, self._schema.id, *self._files.names

    def _found(self, positions: RowPositions) -> RetractedRows | None:
        files = self._files
        most = 2 * files.retracted + _SPARE_CANDIDATES
        retracted = self._scans.scan(files.retractions, COUNT_COLUMNS)
        plain = self._scans.scan(files.plain, last=SIZES)
        text = f"{self._candidates(positions)} LIMIT {most + 1}"
        candidates = collect_arrow(self._scans.spark.sql(text, plain=plain, retractions=retracted))
        if candidates.num_rows > most:
            return None
        taken = taken_from(candidates.select(list(self._schema.field_names)), collect_arrow(retracted))
        missing = None
        if taken.missing is not None:
            row = taken.missing.slice(0, 1).to_pylist()[0]
            missing = row, row.pop(COUNT.name)
        retracted = candidates.select(positions.columns).filter(pa.array(taken.rows))
        at = one_array(retracted.column(_ROW_POSITION)).to_numpy()
        sizes = frozenset(np.unique(at >> positions.bits).tolist())
        if not sizes <= {f.file_size for _, f in files.plain}:
            return None  # another writer's metadata is wrong, and sizes do not identify its files
        return RetractedRows(positions, retracted, sizes, missing)

    def _candidates(self, positions: RowPositions) -> str:
        """Query for the positions and columns of the rows of ``{plain}`` that ``{retractions}`` may have."""
        schema = self._schema
        retractions = self._values(f for _, f in self._files.retractions)
        few = discriminating_columns(schema.fields, retractions)
        selected = f"{_qualified('p', schema.field_names)}, {positions.selected('p')}"
        where = _within(narrower(retractions, self._values(f for _, f in self._files.plain)), "p")
        found = _hashed_alike("{plain} p", few, selected) + where
        hashed = hashable_columns(schema.fields)
        if few == hashed:
            return found
        return _hashed_alike(f"({found}) p", hashed, "p.*")

    def _values(self, files: Iterable[DataFileMeta]) -> dict[str, Values]:
        return values_of(files, self._schema, self._scans.schema_of)


def _hashed_alike(rows: str, names: Sequence[str], selected: str) -> str:
    """Query for the `rows` (alias p) of which a retraction has the hash of some columns."""
    hashes = f"SELECT xxhash64({_qualified('r', names) or 0}) AS h FROM {{retractions}} r"
    on = f"xxhash64({_qualified('p', names) or 0}) = c.h"
    return f"SELECT /*+ BROADCAST(c) */ {selected} FROM {rows} LEFT SEMI JOIN ({hashes}) c ON {on}"


def _within(values: Mapping[str, Values], alias: str) -> str:
    """The WHERE that leaves rows with these values, as far as SQL can say it; row groups of Parquet are skipped by
    it."""
    parts = []
    for name, one in values.items():
        low, high = constant(one.low), constant(one.high)
        if low is not None and high is not None:
            parts.append(f"{alias}.{formatted(name)} BETWEEN {low} AND {high}")
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def _qualified(alias: str, names: Iterable[str]) -> str:
    return ", ".join(f"{alias}.{formatted(name)}" for name in names)
