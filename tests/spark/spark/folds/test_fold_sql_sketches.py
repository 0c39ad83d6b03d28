"""Columns of sketches through SQL: the union of what was written is the sketch of all rows."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from support.roaring import bitmap_of, numbers_of

from tablestore_engine.errors import ExecutionError, RowKindError
from tablestore_engine.schema.merge_engines.merge_engine import Fold
from tablestore_engine.spark.folds.fold_sql import check_theta

pytestmark = pytest.mark.spark

# Per page so many rows in each of four batches, which overlap by half: a list of coupons, a set, and registers.
ROWS = {1: 3, 2: 60, 3: 3000}


def batch(number, sketch):
    parts = [
        f"SELECT {page} AS page, {sketch}(id) AS who FROM range({number * rows // 2}, {number * rows // 2 + rows})"
        for page, rows in ROWS.items()
    ]
    return " UNION ALL ".join(parts)


def estimates(store, kind, rows="t"):
    found = store.sql(f"SELECT page, {kind}_sketch_estimate(who) FROM {rows} ORDER BY page").collect()
    return dict(found)


@pytest.mark.parametrize("kind", ["hll", "theta"])
def test_distinct_counts(store, kind):
    if kind == "theta":
        try:
            check_theta(Fold("who", "theta_sketch"), store.spark.version)
        except ExecutionError:
            pytest.skip("this Spark has no Theta sketches")
    store.execute(
        "CREATE TABLE t (page INT, who BINARY, PRIMARY KEY (page) NOT ENFORCED) WITH ('merge-engine' = 'aggregation',"
        f" 'fields.who.aggregate-function' = '{kind}_sketch', 'bucket' = '2', 'write-only' = 'true')"
    )
    for number in range(4):
        store.execute(f"INSERT INTO t {batch(number, f'{kind}_sketch_agg')}")
        found = estimates(store, kind)
        expected = {page: rows + number * rows // 2 for page, rows in ROWS.items()}
        assert {page: found[page] for page in (1, 2)} == {page: expected[page] for page in (1, 2)}
        assert found[3] == pytest.approx(expected[3], rel=0.05)
        if number == 2:
            # Without Spark, the same: what Arrow makes of the runs, Spark reads.
            rows = store.table("t").to_arrow()
            store.spark.createDataFrame(rows).createOrReplaceTempView("by_arrow")
            assert estimates(store, kind, "by_arrow") == pytest.approx(found, rel=0.03)
            store.execute("ALTER TABLE t COMPACT")
            assert len(store.table("t").live_files()) <= 2
            assert estimates(store, kind) == pytest.approx(found, rel=0.03)
    # Several rows of a key in one write, nulls, and sketches of another size.
    more = "12" if kind == "theta" else "10"
    store.execute(
        f"INSERT INTO t SELECT 1, {kind}_sketch_agg(id, {more}) FROM range(100, 110) GROUP BY id % 3"
        " UNION ALL SELECT 1, NULL UNION ALL SELECT 4, NULL"
    )
    for _ in range(2):
        now = estimates(store, kind)
        assert (now[1], now[2], now[4]) == (expected[1] + 10, expected[2], None)
        assert now[3] == pytest.approx(found[3], rel=0.03)
        store.execute("ALTER TABLE t COMPACT")


def test_values_that_are_no_sketches(store):
    store.execute(
        "CREATE TABLE t (id INT, v BINARY, PRIMARY KEY (id) NOT ENFORCED) WITH ('merge-engine' = 'aggregation',"
        " 'fields.v.aggregate-function' = 'hll_sketch')"
    )
    with pytest.raises(ExecutionError, match=r"Column 'v' takes HLL sketches.*X'00ff' is not one.*hll_sketch_agg"):
        store.execute("INSERT INTO t VALUES (1, X'00ff')")
    with pytest.raises(ExecutionError, match="Column 'v' takes HLL sketches"):
        store.table("t").write(pa.table({"id": pa.array([1], pa.int32()), "v": pa.array([b"text"], pa.binary())}))
    assert store.sql("SELECT * FROM t").collect() == []


@pytest.mark.parametrize("function", ["rbm32", "rbm64"])
def test_roaring_bitmaps(store, function):
    """Spark has no union of them: a function of the session makes it."""
    store.execute(
        "CREATE TABLE r (id INT, who BINARY, PRIMARY KEY (id) NOT ENFORCED) WITH ('merge-engine' = 'aggregation',"
        f" 'fields.who.aggregate-function' = '{function}', 'write-only' = 'true')"
    )
    for numbers in ([1, 2], [2, 70_000], [5]):
        rows = pa.table({"id": pa.array([1, numbers[0] + 9], pa.int32()), "who": [bitmap_of(numbers, function)] * 2})
        store.table("r").write(rows)
    expected = {1: [1, 2, 5, 70_000], 10: [1, 2], 11: [2, 70_000], 14: [5]}
    assert {row.id: numbers_of(bytes(row.who), function) for row in store.sql("SELECT * FROM r").collect()} == expected
    assert {row["id"]: numbers_of(row["who"], function) for row in store.table("r").to_arrow().to_pylist()} == expected
    with pytest.raises(ExecutionError, match="takes Roaring bitmaps"):
        store.execute("INSERT INTO r VALUES (1, X'0102')")


def test_products_of_wide_decimals(store):
    store.execute(
        "CREATE TABLE w (id INT, v DECIMAL(38, 10), n DECIMAL(30, 0), PRIMARY KEY (id) NOT ENFORCED) WITH"
        " ('merge-engine' = 'aggregation', 'fields.default-aggregate-function' = 'product', 'write-only' = 'true')"
    )
    for values in ("(1, 1.5, 3), (2, NULL, 1)", "(1, 0.0000000055, 10000000000000000000)", "(1, -7, NULL)"):
        store.execute(f"INSERT INTO w VALUES {values}")
    expected = [(1, Decimal("-0.0000000581"), 3 * 10**19), (2, None, 1)]
    assert sorted(tuple(row) for row in store.sql("SELECT * FROM w").collect()) == expected
    assert sorted(tuple(row.values()) for row in store.table("w").to_arrow().to_pylist()) == expected
    with pytest.raises(RowKindError):
        store.execute("INSERT INTO w (_row_kind, id, v, n) VALUES ('-D', 1, 1, 1)")
