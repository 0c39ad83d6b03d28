"""A key may be a float: 0.0 and -0.0 are one key, and so is NaN, in whatever bucket and way they are written."""

from __future__ import annotations

import math
from itertools import product

import pyarrow as pa
import pytest

pytestmark = pytest.mark.spark


def rows(store, where=""):
    found = store.sql(f"SELECT k, v FROM t {where}").collect()
    shown = (("nan" if math.isnan(k) else k + 0.0, v) for k, v in found)
    return sorted(v for _, v in found) if where else sorted(shown, key=str)


@pytest.mark.parametrize(
    ("path", "kind", "buckets"),
    [
        pytest.param(
            *one, marks=() if one in (("distributed", "DOUBLE", 8), ("small", "FLOAT", 1)) else pytest.mark.soak
        )
        for one in product(("small", "distributed"), ("DOUBLE", "FLOAT"), (1, 8))
    ],
    indirect=["path"],
)
def test_floats_that_are_equal_are_one_key(store, path, kind, buckets):
    store.execute(f"CREATE TABLE t (k {kind}, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '{buckets}')")
    store.execute("INSERT INTO t VALUES (double('NaN'), 1), (0.0D, 2), (1.5D, 3)")
    store.execute("INSERT INTO t VALUES (-0.0D, 4), (double('NaN'), 5), (-0.0D, 6)")
    expected = {0.0: 6, 1.5: 3, "nan": 5}
    for _ in range(2):
        found = rows(store)
        assert dict(found) == expected
        assert len(found) == 3
        assert rows(store, "WHERE k = 0") == [6]
        assert rows(store, "WHERE k = double('NaN')") == [5]
        store.execute("CALL sys.compact(table => 't')")
    table = store.table("t")
    type_ = pa.float64() if kind == "DOUBLE" else pa.float32()
    table.write(pa.table({"k": pa.array([-0.0, float("nan")], type_), "v": pa.array([7, 8], pa.int32())}))
    found = rows(store)
    assert dict(found) == {0.0: 7, 1.5: 3, "nan": 8}
    assert len(found) == 3
    store.execute("MERGE INTO t USING (SELECT 0.0D AS k, 9 AS v) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET *")
    store.execute("DELETE FROM t WHERE isnan(k)")
    assert rows(store) == [(0.0, 9), (1.5, 3)]


def test_conditions_on_columns_with_nan(store, path):
    """NaN is greater than every number, and equal to itself."""
    store.execute("CREATE TABLE t (k INT, x DOUBLE, f FLOAT, s STRUCT<x: DOUBLE>)")
    store.execute(
        "INSERT INTO t SELECT k, x, float(x), named_struct('x', x) FROM VALUES (1, 1.0D), (2, double('NaN')) AS v(k, x)"
    )
    for column in ("x", "f", "s.x"):
        for condition in ("> 100", "<> 1", "NOT IN (1)", ">= double('NaN')", "= double('NaN')"):
            assert [r.k for r in store.sql(f"SELECT k FROM t WHERE {column} {condition}").collect()] == [2], (
                column,
                condition,
            )
