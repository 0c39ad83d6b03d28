"""Statements at the edge of what tables take: each works, or says why not and what to do."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.spark_rows import rows

from tablestore_engine.errors import SchemaError, SqlError
from tablestore_engine.schema.types.types import NULL_DEFAULT

pytestmark = pytest.mark.spark


def refused(store, text):
    with pytest.raises(SqlError) as error:
        store.sql(text)
    return str(error.value)


def test_defaults_in_the_list_of_create_table_as(store):
    store.sql(
        "CREATE TABLE t (id, v INT DEFAULT 7, w DEFAULT upper('x') COMMENT 'w') AS SELECT 1 AS a, 2 AS b, 'c' AS c"
    )
    store.sql("INSERT INTO t (id) VALUES (2)")
    assert rows(store, "SELECT * FROM t") == [(1, 2, "c"), (2, 7, "X")]
    store.sql("CREATE OR REPLACE TABLE t (id DEFAULT 5, v) AS SELECT 1, 2")
    store.sql("INSERT INTO t (v) VALUES (3)")
    assert rows(store, "SELECT * FROM t") == [(1, 2), (5, 3)]
    assert "cannot have DEFAULT" in refused(store, "CREATE TABLE u (id INT DEFAULT nothing()) AS SELECT 1")
    assert not store.catalog.table_exists("default", "u")


@pytest.mark.parametrize("column", ["b AS a + 1", "b INT GENERATED ALWAYS AS (a + 1)"])
def test_computed_columns_are_added_after_create_table_as(store, column):
    assert "ALTER TABLE … ADD COLUMN b AS" in refused(store, f"CREATE TABLE t (a, {column}) AS SELECT 1")
    store.sql("CREATE TABLE t (a) AS SELECT 1")
    store.sql("ALTER TABLE t ADD COLUMN b AS a + 1")
    assert rows(store, "SELECT * FROM t") == [(1, 2)]


def test_default_is_a_value_of_a_partition(store):
    store.sql("CREATE TABLE t (a INT, p STRING DEFAULT 'x', q INT DEFAULT 1 + 1) PARTITIONED BY (p, q)")
    store.sql("INSERT INTO t PARTITION (p = DEFAULT, q = 5) VALUES (1)")
    store.sql("INSERT INTO t PARTITION (q = default, p) SELECT 2, 'y'")
    assert rows(store, "SELECT * FROM t") == [(1, "x", 5), (2, "y", 2)]
    store.sql("INSERT OVERWRITE t PARTITION (p = DEFAULT, q = 5) VALUES (3)")
    assert rows(store, "SELECT * FROM t") == [(2, "y", 2), (3, "x", 5)]


def test_default_null_lets_rows_leave_a_column_out(store):
    store.sql("CREATE TABLE t (id INT, a STRING DEFAULT NULL, b INT DEFAULT null, c ARRAY<INT> DEFAULT NULL)")
    table = store.table("t")
    table.write(pa.table({"id": pa.array([1], pa.int32())}))
    store.write("t", store.spark.createDataFrame([(2, 5)], "id INT, b INT"))
    store.sql("INSERT INTO t (id) VALUES (3)")
    store.sql("INSERT INTO t VALUES (4, DEFAULT, 7, array(1))")
    expected = [(1, None, None, None), (2, None, 5, None), (3, None, None, None), (4, None, 7, [1])]
    assert rows(store, "SELECT * FROM t") == expected
    assert "`a` STRING DEFAULT NULL" in rows(store, "SHOW CREATE TABLE t")[0][0].replace("a STRING", "`a` STRING")
    store.sql("CREATE TABLE u LIKE t")
    assert [f.default_value for f in store.table("u").schema.fields][1:] == [NULL_DEFAULT] * 3
    store.sql("ALTER TABLE t ALTER COLUMN b DROP DEFAULT")
    with pytest.raises(SchemaError, match="no column b"):
        store.table("t").write(pa.table({"id": pa.array([1], pa.int32())}))
    store.sql("ALTER TABLE t ALTER COLUMN b SET DEFAULT NULL")
    store.table("t").write(pa.table({"id": pa.array([5], pa.int32())}))
    assert rows(store, "SELECT count(*) FROM t WHERE b IS NULL") == [(3,)]


@pytest.mark.parametrize("text", ["TRUNCATE TABLE t", "DROP TABLE t", "ALTER TABLE t ADD COLUMN b INT"])
def test_statements_without_a_query_have_no_plan(store, text):
    store.sql("CREATE TABLE t (a INT)")
    message = refused(store, f"EXPLAIN {text}")
    assert " ".join(text.split()[:2]) in message
    assert "has no plan" in message
    assert store.catalog.table_exists("default", "t")


def test_functions_of_the_warehouse_are_named_in_definitions(store):
    store.sql("CREATE FUNCTION twice(x INT) RETURNS INT RETURN 2 * x")
    for text in ("a INT DEFAULT twice(1)", "a INT, b AS twice(a)", "a INT, CHECK (twice(a) > 0)"):
        assert "those of CREATE FUNCTION are not known" in refused(store, f"CREATE TABLE t ({text})")
    assert not store.catalog.table_exists("default", "t")


@pytest.mark.parametrize(
    ("call", "clause"),
    [
        ("range_of(DISTINCT x)", "DISTINCT"),
        ("range_of(x) FILTER (WHERE x > 1)", "FILTER"),
        ("range_of(x) OVER ()", "OVER"),
    ],
)
def test_clauses_of_aggregates_are_refused_for_functions_in_sql(store, call, clause):
    store.sql("CREATE AGGREGATE FUNCTION range_of(x INT) RETURNS INT RETURN max(x) - min(x)")
    message = refused(store, f"SELECT {call} FROM VALUES (1), (4) AS v(x)")
    assert f"'default.range_of' is an aggregate function in SQL, which takes no {clause}" in message
    assert rows(store, "SELECT range_of(x) FROM VALUES (1), (4) AS v(x)") == [(3,)]


def test_the_catalog_has_one_name_in_all_statements(store):
    store.sql("CREATE SCHEMA s")
    store.sql("CREATE TABLE tablestore.s.t AS SELECT 1 AS a")
    assert ("tablestore",) in rows(store, "SHOW CATALOGS")
    assert rows(store, "SHOW CATALOGS LIKE 'table*'") == [("tablestore",)]
    store.sql("USE CATALOG tablestore")
    store.sql("SET CATALOG tablestore")
    assert rows(store, "SELECT current_catalog(), current_catalog() AS c") == [("tablestore", "tablestore")]
    assert store.sql("SELECT current_catalog()").columns == ["current_catalog()"]
    assert rows(store, "SHOW CURRENT SCHEMA") == [("tablestore", "default")]
    assert rows(store, "SHOW TABLES IN tablestore.s") == [("s", "t", False)]
    store.sql("USE tablestore.s")
    assert rows(store, "SELECT a FROM tablestore.s.t JOIN t USING (a)") == [(1,)]


def test_a_random_default_among_values(store):
    store.sql("CREATE TABLE t (id INT, u STRING DEFAULT uuid(), n DOUBLE DEFAULT rand())")
    store.sql("INSERT INTO t VALUES (1, DEFAULT, DEFAULT), (2, 'given', 5), (3, DEFAULT, 7), (4, NULL, DEFAULT)")
    store.sql("INSERT INTO t (u, id) VALUES (DEFAULT, 5)")
    found = {row[0]: row[1:] for row in rows(store, "SELECT * FROM t")}
    assert found[2] == ("given", 5.0)
    assert found[4][0] is None
    assert found[3][1] == 7.0
    assert len({found[1][0], found[3][0], found[5][0]}) == 3, "each row has a value of its own"
    assert all(len(found[key][0]) == 36 for key in (1, 3, 5))
    assert len({found[key][1] for key in (1, 4, 5)}) == 3
