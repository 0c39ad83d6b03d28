"""Decimals that became doubles, in files that store them as integers and in files that do not."""

from __future__ import annotations

from decimal import Decimal

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablestore_engine.spark.scan import stored_integers

pytestmark = [pytest.mark.spark, pytest.mark.cover("table")]

EDGES = ["0.00", "-0.01", "0.01", "9999999999999.99", "-9999999999999.99", "1.10", "4503599627370.49"]
TABLE = "CREATE TABLE t (id INT, a DECIMAL(15, 2), b DECIMAL(9, 0), c DECIMAL(16, 2){key}) WITH ('write-only' = 'true')"
ALTER = "ALTER TABLE t ALTER COLUMN a TYPE DOUBLE, ALTER COLUMN b TYPE DOUBLE, ALTER COLUMN c TYPE DOUBLE"


def fill(store, texts):
    values = ", ".join(f"({n}, {text}, {n - 3}, {text})" for n, text in enumerate(texts))
    store.execute(f"INSERT INTO t VALUES {values}, (90, NULL, NULL, NULL)")


def read(store, query="SELECT id, a, b, c FROM t"):
    return sorted(store.sql(query).collect())


def plan(store, query="SELECT id, a, b, c FROM t"):
    return store.sql(f"EXPLAIN FORMATTED {query}").collect()[0][0]


@pytest.fixture(params=["", ", PRIMARY KEY (id) NOT ENFORCED"], ids=["append", "keyed"])
def table(store, request):
    store.execute(TABLE.format(key=request.param))
    fill(store, EDGES)
    return store


def doubles(store, texts):
    """What Spark's own cast makes of the texts."""
    rows = " UNION ALL ".join(f"SELECT CAST(CAST('{text}' AS DECIMAL(16, 2)) AS DOUBLE) AS a" for text in texts)
    return sorted(row[0] for row in store.spark.sql(rows).collect())


def test_values_are_those_of_sparks_cast(table):
    table.execute(ALTER)
    assert read(table, "SELECT a FROM t WHERE id < 90") == [(one,) for one in doubles(table, EDGES)]
    assert read(table) == [(n, float(text), float(n - 3), float(text)) for n, text in enumerate(EDGES)] + [
        (90, None, None, None)
    ]
    assert "a:bigint" in plan(table), "15 digits are exact"
    assert "b:int" in plan(table)
    assert "c:decimal(16,2)" in plan(table), "16 digits are not"
    assert read(table, "SELECT id FROM t WHERE a > 1.05 AND a < 2") == [(5,)]
    assert read(table, "SELECT id FROM t WHERE a IS NULL") == [(90,)]


def test_files_of_another_writer(table):
    """Some have such decimals as bytes: pypaimon's, and Spark's with `spark.sql.parquet.writeLegacyFormat`."""
    file = table.table("t").scan(table.table("t").latest_snapshot()).buckets[0]
    path = table.table("t").io.local_path(file.path_of(table.table("t").paths, file.files[0]))
    pq.write_table(pq.read_table(path), path)
    table.execute(ALTER)
    fill(table, ["2.50"])
    stored_integers._footers.clear()
    assert "a:decimal(15,2)" in plan(table)
    found = {row[0]: tuple(row)[1:] for row in read(table)}
    assert found[4] == (-9999999999999.99, 1.0, -9999999999999.99)


def test_so_many_footers_are_read(table, monkeypatch):
    monkeypatch.setattr("tablestore_engine.spark.scan.file_scan.MOST_FOOTERS", 1)
    fill(table, ["2.50"])
    table.execute(ALTER)
    assert "a:bigint" in plan(table)
    assert "a:decimal(15,2)" in plan(table)
    assert {2.5, 1.1} < {row[1] for row in read(table)}


def test_deleted_rows_and_columns_of_many_names(table):
    if not table.table("t").schema.is_keyed:  # there, later records supersede rows
        table.execute("ALTER TABLE t SET TBLPROPERTIES ('deletion-vectors.enabled' = 'true')")
    for n in range(10):
        name = table.table("t").schema.field_names[2]
        table.execute(f"INSERT INTO t (id, a, {name}, c) SELECT {100 + n}, {n}.25, {n}, {n}")
        table.execute(f"ALTER TABLE t RENAME COLUMN {name} TO b{n}, ADD COLUMN n{n} INT")
    table.execute("DELETE FROM t WHERE id = 103")
    table.execute("ALTER TABLE t ALTER COLUMN a TYPE DOUBLE, ALTER COLUMN b9 TYPE DOUBLE")
    found = read(table, "SELECT id, a, b9 FROM t WHERE id > 90")
    assert found == [(100 + n, n + 0.25, float(n)) for n in range(10) if n != 3]


@settings(max_examples=200)
@given(st.integers(-(10**15) + 1, 10**15 - 1), st.integers(0, 15))
def test_the_quotient_is_the_nearest_double(number, scale):
    assert number / 10**scale == float(number) / float(10**scale) == float(Decimal(number).scaleb(-scale))
