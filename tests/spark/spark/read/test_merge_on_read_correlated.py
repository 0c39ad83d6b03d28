"""Subqueries that name columns of the query around them, over tables whose runs are merged: Spark cannot plan them over
every shape of a read."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.cover("merged")]

ROWS = (
    "SELECT CAST(id AS INT) AS k, named_struct('b', if(id % 2 = 0, 'a', 'b'), 'n', named_struct('x', "
    "CAST(id % 3 AS INT), 'y', 'p')) AS st, CAST(id % 3 AS INT) AS v FROM range({})"
)
ENGINES = {
    "partial-update": "'merge-engine' = 'partial-update', 'partial-update.remove-record-on-delete' = 'true'",
    "sequence": "'sequence.field' = 'v'",
}


@pytest.fixture(params=ENGINES)
def merged(request, store, monkeypatch):
    """A table of two runs, the same rows in plain files, and some of them in another table."""
    monkeypatch.setattr("tablestore_engine.spark.read.merge_on_read._FEW_FILES", 0)
    store.execute(
        "CREATE TABLE t (k INT, st STRUCT<b: STRING, n: STRUCT<x: INT, y: STRING>>, v INT, "
        f"PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', {ENGINES[request.param]})"
    )
    store.execute(f"INSERT INTO t {ROWS.format(8)}")
    store.execute(f"INSERT INTO t {ROWS.format(8)} WHERE id > 5")
    store.execute(f"CREATE TABLE few AS {ROWS.format(4)}")
    store.spark.sql(ROWS.format(8)).createOrReplaceTempView("plain")
    return store


CONDITIONS = [
    "EXISTS (SELECT 1 FROM few y WHERE y.st.n.x = x.st.n.x AND y.k = 1)",
    "NOT EXISTS (SELECT 1 FROM few y WHERE y.st.b = x.st.b AND y.v >= x.v)",
    "x.st.b IN (SELECT y.st.b FROM few y WHERE y.st.n.x = x.st.n.x AND y.k > 1)",
    "x.v = (SELECT max(y.v) FROM few y WHERE y.st.b = x.st.b)",
]


def test_nested_fields_in_conditions(merged):
    for condition in CONDITIONS:
        expected = sorted(row.k for row in merged.sql(f"SELECT x.k FROM plain x WHERE {condition}").collect())
        assert 0 < len(expected) < 8
        found = merged.sql(f"SELECT x.k FROM t x WHERE {condition}").collect()
        assert sorted(row.k for row in found) == expected
        assert merged.execute(f"UPDATE t x SET v = v WHERE {condition}").rows_affected == len(expected)
    assert merged.execute(f"DELETE FROM t x WHERE {condition}").rows_affected == len(expected)


def test_counts_of_a_select_list(merged):
    count = "(SELECT count(*) FROM few y WHERE y.v = x.v)"
    expected = sorted(merged.sql(f"SELECT x.k, {count} FROM plain x").collect())
    assert sorted(merged.sql(f"SELECT x.k, {count} FROM t x").collect()) == expected
    of_nothing = count.replace("few", "(SELECT * FROM few WHERE k < 0)")
    assert sorted(merged.sql(f"SELECT x.k, {of_nothing} FROM t x").collect()) == [(k, 0) for k in range(8)]
    assert merged.execute(f"UPDATE t x SET v = CAST({count} AS INT) + 10").rows_affected == 8
    assert sorted(merged.sql("SELECT k, v - 10 FROM t").collect()) == expected


def test_subqueries_in_bodies_of_functions(merged):
    merged.execute("CREATE FUNCTION as_many(x INT) RETURNS BIGINT RETURN (SELECT count(*) FROM few y WHERE y.v = x)")
    exists = "EXISTS (SELECT 1 FROM few y WHERE y.st.b = b)"
    merged.execute(f"CREATE FUNCTION one_of(b STRING) RETURNS BOOLEAN RETURN {exists}")
    count = "(SELECT count(*) FROM few y WHERE y.v = x.v)"
    expected = sorted(merged.sql(f"SELECT x.k, {count} FROM plain x").collect())
    assert sorted(merged.sql("SELECT k, as_many(v) FROM t").collect()) == expected
    assert len(merged.sql("SELECT k FROM t WHERE one_of(st.b)").collect()) == 8


def test_lateral_joins(merged):
    lateral = "LATERAL (SELECT count(*) AS n FROM few y WHERE y.st.n.x = x.st.n.x) q"
    expected = sorted(merged.sql(f"SELECT x.k, q.n FROM plain x, {lateral}").collect())
    assert sorted(merged.sql(f"SELECT x.k, q.n FROM t x, {lateral}").collect()) == expected
    assert sorted(merged.sql(f"SELECT x.k, q.n FROM t x LEFT JOIN {lateral}").collect()) == expected
