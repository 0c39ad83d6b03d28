"""Z-values: near in all columns, near in the order."""

from __future__ import annotations

import datetime as dt
import itertools
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from tablestore_engine.spark.compact.hilbert import hilbert_sql
from tablestore_engine.spark.compact.z_order import (
    Z_COLUMN,
    bits_of,
    interleaved_sql,
    with_z_value,
)


@pytest.mark.spark
def test_bits_take_turns(spark):
    rows = [(0b01, 0b10), (0b11, 0b00), (0b00, 0b11)]
    frame = spark.createDataFrame(rows, "a int, b int")
    found = frame.selectExpr(f"{interleaved_sql(['a', 'b'], 2)} AS z").collect()
    assert [row[0] for row in found] == [0b0110, 0b1010, 0b0101]


@pytest.mark.spark
@pytest.mark.parametrize(("columns", "bits"), [(2, 3), (3, 2), (5, 1), (2, 1)])
def test_neighbours_on_the_hilbert_curve_differ_by_one_in_one_column(spark, columns, bits):
    names = [f"r{i}" for i in range(columns)]
    ranks = list(itertools.product(range(1 << bits), repeat=columns))
    frame = spark.createDataFrame(ranks, ", ".join(f"{n} int" for n in names))
    turned = frame.selectExpr("*", f"{hilbert_sql(names, bits)} AS h")
    z = interleaved_sql([f"element_at(h, {i + 1})" for i in range(columns)], bits)
    rows = turned.selectExpr(f"{z} AS z", *names).collect()
    curve = [tuple(row)[1:] for row in sorted(rows)]
    assert sorted(row.z for row in rows) == list(range(len(ranks)))
    assert {sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in pairwise(curve)} == {1}


@pytest.mark.spark
@pytest.mark.parametrize("hilbert", [False, True])
def test_neighbours_in_two_columns_stay_together(spark, hilbert):
    """Cut into 16 ranges of z, a square of 64 × 64 falls into 16 squares, whatever the values look like."""
    x, y = np.divmod(np.random.default_rng(1).permutation(64 * 64), 64)
    table = pa.table({"x": x, "y": [f"{2.0**v:030.0f}" for v in y]})
    found = with_z_value(spark, spark.createDataFrame(table), ["x", "y"], 64 * 64, hilbert=hilbert).toArrow()
    assert found.column_names == ["x", "y", Z_COLUMN]
    ordered = found.sort_by(Z_COLUMN)
    rank = {text: n for n, text in enumerate(sorted(set(table.column("y").to_pylist())))}
    for part in range(16):
        rows = ordered.slice(part * 256, 256)
        ys = [rank[text] for text in rows.column("y").to_pylist()]
        xs = rows.column("x").to_pylist()
        assert max(xs) - min(xs) <= 16
        assert max(ys) - min(ys) <= 16


@pytest.mark.spark
def test_every_type_that_has_an_order(spark):
    now = dt.datetime(2024, 1, 31, 12, 30, 1, 250_000)
    types = {
        "b": ("boolean", True),
        "t": ("tinyint", 1),
        "i": ("int", -1),
        "l": ("bigint", 2**60),
        "f": ("float", float("nan")),
        "d": ("double", -0.5),
        "n": ("decimal(20, 3)", Decimal("12345678901234.567")),
        "s": ("string", "ü"),
        "y": ("binary", b"\0\xff"),
        "a": ("date", now.date()),
        "w": ("timestamp", now.replace(tzinfo=dt.timezone.utc)),
        "z": ("timestamp_ntz", now),
    }
    schema = ", ".join(f"{name} {kind}" for name, (kind, _) in types.items())
    values = tuple(value for _, value in types.values())
    frame = spark.createDataFrame([values, (None,) * len(values), values], schema)
    found = with_z_value(spark, frame, list(types), 3).select(Z_COLUMN).collect()
    ranked = sorted(row[0] for row in found)
    assert ranked[0] == 0, "nulls come first"
    assert ranked[1] == ranked[2] == 2 ** (bits_of(len(types)) * len(types)) - 1


@pytest.mark.spark
def test_columns_of_nulls_do_not_matter(spark):
    frame = spark.range(4).selectExpr("id AS a", "cast(null AS string) AS b")
    assert sorted(r[Z_COLUMN] for r in with_z_value(spark, frame, ["b"], 4).collect()) == [0, 0, 0, 0]
    both = sorted(with_z_value(spark, frame, ["b", "a"], 4).collect(), key=lambda r: r["a"])
    assert [r[Z_COLUMN] for r in both] == sorted({r[Z_COLUMN] for r in both})
