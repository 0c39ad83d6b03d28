"""The rows of a MERGE's target and source that are in memory, in pairs.

Arrow joins them. So the clauses are computed in Arrow, too, or, where only Spark knows them, in a query over one
relation, which Spark need not join: of two small relations that takes it two more jobs and most of the time of a small
MERGE. It computes the clauses when it plans the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.system_columns import OWN_PREFIX
from tablestore_engine.spark.queries.collect import arrow_frame

MOST_PAIRED = 20_000
"""Rows of both sides: a query over more is left to generated code, on all processors."""
_PAIRS = f"{OWN_PREFIX}pairs"
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PairedSide:
    """The rows of one side, and what Spark calls them: their columns, the alias (quoted), and the column that is true
    where a pair has a row of this side, and else null."""

    rows: pa.Table
    columns: T.StructType
    alias: str
    flag: str

    def taken(self, positions: pa.ChunkedArray) -> list[pa.ChunkedArray]:
        """The columns of the rows at some positions, null where there is none, and the flag."""
        there = pc.is_valid(positions)
        columns = [pc.take(column, positions) for column in self.rows.columns]
        return [*columns, pc.if_else(there, there, pa.scalar(None, pa.bool_()))]

    def fields(self) -> list[T.StructField]:
        """The same columns in Spark, called by their numbers."""
        kinds = [*self.columns, T.StructField(self.flag, T.BooleanType())]
        return [
            T.StructField(f"{self.flag}_value_{i}", one.dataType, True, one.metadata) for i, one in enumerate(kinds)
        ]

    def item(self) -> str:
        """The item of a FROM list, after `from_pairs`, that has the columns under their names and the alias."""
        names = [*self.columns.names, self.flag]
        items = (f"{_PAIRS}.{self.flag}_value_{i} AS {quoted_name(name)}" for i, name in enumerate(names))
        return f"LATERAL (SELECT {', '.join(items)}) AS {self.alias}"


@dataclass(frozen=True)
class PairedRows:
    """Positions of rows of the target and of the source; null where a row has none of the other side."""

    target: pa.ChunkedArray
    source: pa.ChunkedArray

    def matched(self) -> tuple[Longs, Longs]:
        """The positions of both in pairs of two rows."""
        both = pc.and_(pc.is_valid(self.target), pc.is_valid(self.source))
        return _plain(self.target.filter(both)), _plain(self.source.filter(both))

    def unmatched(self) -> tuple[Longs, Longs]:
        """The rows of the target without one of the source, and those of the source without one of the target."""
        return _plain(self.target.filter(pc.is_null(self.source))), _plain(self.source.filter(pc.is_null(self.target)))

    def frame(self, spark: SparkSession, target: PairedSide, source: PairedSide) -> DataFrame:
        """The pairs as a relation with the columns of both sides."""
        fields = T.StructType([*target.fields(), *source.fields()])
        columns = [*target.taken(self.target), *source.taken(self.source)]
        return arrow_frame(spark, pa.table(columns, fields.names), fields)


def paired(target: pa.Table, source: pa.Table, on: Sequence[tuple[str, str]], kind: str) -> PairedRows | None:
    """The pairs of rows whose columns `on` (of the target and the source) are equal, and as the `kind` of join says the
    rows of one side without the other; None where Arrow cannot compare the columns."""
    names = [f"k{i}" for i in range(len(on))]  # Arrow takes a name with dots for a path
    left = pa.table([target.column(name) for name, _ in on], names)
    values = [source.column(column) for _, column in on]
    try:
        right = pa.table([_as(one, kind) for one, kind in zip(values, left.schema.types, strict=True)], names)
    except pa.ArrowInvalid:
        return None
    both = _numbered(left, "left").join(_numbered(right, "right"), names, join_type=kind, use_threads=False)
    return PairedRows(both.column("left"), both.column("right"))


def from_pairs(view: str, *sides: PairedSide) -> str:
    """A FROM list of sides of the pairs in a view (quoted)."""
    return ", ".join([f"{view} AS {_PAIRS}", *(side.item() for side in sides)])


def _plain(positions: pa.ChunkedArray) -> Longs:
    found: Longs = positions.to_numpy()
    return found


def _numbered(keys: pa.Table, name: str) -> pa.Table:
    return keys.append_column(name, pa.array(np.arange(keys.num_rows)))


def _as(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Values in the type of the column that they are compared with, null where they are none of it."""
    cast = values.cast(kind, safe=False)
    return pc.if_else(pc.equal(cast.cast(values.type, safe=False), values), cast, pa.scalar(None, kind))
