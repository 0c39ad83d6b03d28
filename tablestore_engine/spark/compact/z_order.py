"""Z-order: one number that keeps rows together which are near each other in several columns at once.

The *rank* of a value is the number of *bounds* that are not greater than it: quantiles of a sample, so that each rank
holds about as many rows, however the values are distributed. Null has rank 0. The *z-value* interleaves the bits of
the ranks of a row, so that a range of z-values is a box in the space of the columns. Ranks are found by bisection in a
Spark expression; the bounds travel as one row that is joined to all.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.compact.hilbert import hilbert_sql
from tablestore_engine.spark.queries.collect import collect_arrow

Z_COLUMN = "__tablestore_z"
_BOUNDS, _RANK, _HILBERT = "__tablestore_b", "__tablestore_r", "__tablestore_h"
MAX_COLUMNS = 16
_SAMPLE_ROWS = 50_000
_MOST_BITS = 8
_WORD = 62  # bits of a z-value, which is a positive BIGINT


def with_z_value(
    spark: SparkSession, frame: DataFrame, columns: Sequence[str], rows: int, *, hilbert: bool = False
) -> DataFrame:
    """The frame with `Z_COLUMN`, a BIGINT, behind its columns: the z-value, or the position on the Hilbert curve.

    Args:
        spark: the session.
        frame: rows of a table.
        columns: names of up to `MAX_COLUMNS` columns of atomic types.
        rows: about how many rows there are.
        hilbert: order by the Hilbert curve.
    """
    bits = bits_of(len(columns))
    values = [f"{quoted_name(name)} AS {Z_COLUMN}{i}" for i, name in enumerate(columns)]
    sample = frame.selectExpr(*values)
    if rows > _SAMPLE_ROWS:
        sample = sample.sample(fraction=_SAMPLE_ROWS / rows, seed=1)
    found = collect_arrow(sample)
    bounds = [quantiles(found.column(i), bits) for i in range(len(columns))]
    if not any(len(one) for one in bounds):
        return frame.withColumn(Z_COLUMN, F.lit(0).cast("bigint"))
    types = [frame.schema[name].dataType.simpleString() for name in columns]
    lists = {
        f"{_BOUNDS}{i}": pa.ListArray.from_arrays(pa.array([0, len(one)], pa.int32()), one)
        for i, one in enumerate(bounds)
    }
    casts = [f"cast({_BOUNDS}{i} AS array<{kind}>) AS {_BOUNDS}{i}" for i, kind in enumerate(types)]
    one_row = spark.createDataFrame(pa.table(lists)).selectExpr(*casts)
    ranks = [
        f"{rank_sql(f'{Z_COLUMN}{i}', f'{_BOUNDS}{i}', bits)} AS {_RANK}{i}" if len(one) else f"0 AS {_RANK}{i}"
        for i, one in enumerate(bounds)
    ]
    own = [quoted_name(name) for name in frame.columns]
    ranked = frame.selectExpr("*", *values).crossJoin(F.broadcast(one_row)).selectExpr(*own, *ranks)
    names = [f"{_RANK}{i}" for i in range(len(columns))]
    if hilbert:
        ranked = ranked.selectExpr(*own, f"{hilbert_sql(names, bits)} AS {_HILBERT}")
        names = [f"element_at({_HILBERT}, {i + 1})" for i in range(len(columns))]
    z = interleaved_sql(names, bits)
    return ranked.selectExpr(*own, f"{z} AS {Z_COLUMN}")


def bits_of(columns: int) -> int:
    """Bits that each of some columns has in a z-value."""
    return min(_MOST_BITS, _WORD // columns)


def quantiles(values: pa.ChunkedArray, bits: int) -> pa.Array:
    """2^bits − 1 bounds in ascending order which cut the values, nulls left out, into parts of equal size."""
    known = values.drop_null().combine_chunks()
    if len(known) == 0:
        return known
    ordered = known.take(pc.sort_indices(known))
    parts = 1 << bits
    return ordered.take(pa.array([part * len(ordered) // parts for part in range(1, parts)]))


def rank_sql(value: str, bounds: str, bits: int) -> str:
    """Expression for the number of elements of an ascending array of 2^bits − 1 that are not greater than a value."""
    steps = ", ".join(str(1 << bit) for bit in reversed(range(bits)))
    # Each step asks whether that many more of the bounds can be passed.
    passes = f"element_at({bounds}, __rank + __step) <= {value}"
    return f"aggregate(array({steps}), 0, (__rank, __step) -> if({passes}, __rank + __step, __rank))"


def interleaved_sql(ranks: Sequence[str], bits: int) -> str:
    """Expression for the BIGINT whose bits are those of the ranks in turn, the highest first."""
    width = len(ranks)
    terms = [
        f"shiftleft(cast(shiftright({rank}, {bit}) & 1 AS bigint), {bit * width + width - 1 - i})"
        for bit in range(bits)
        for i, rank in enumerate(ranks)
    ]
    return " | ".join(terms)
