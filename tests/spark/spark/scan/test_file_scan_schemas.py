"""Files of many schemas are read by few scans, and each column by the names that it had."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from support.spark_rows import in_order, rows

from tablestore_engine.errors import TableStoreError

pytestmark = pytest.mark.spark
NULL_STRUCTS = "spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing"


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_columns_of_many_names_are_read_by_few_scans(store, file_format):
    """Each file has another name of `a`; a later `c` is another column than that of the first five files."""
    options = f"'write-only' = 'true', 'file.format' = '{file_format}'"
    store.execute(f"CREATE TABLE t (id INT, a INT, c INT) WITH ({options})")
    for n in range(12):
        name = store.table("t").schema.field_names[1]
        values = {key: pa.array([n], pa.int32()) for key in ("id", name, "c")}
        store.table("t").write(pa.table(values))
        again = ", DROP COLUMN c, ADD COLUMN c INT" if n == 4 else ""
        store.execute(f"ALTER TABLE t RENAME COLUMN {name} TO a{n}{again}")
    query = "SELECT id, a11, c FROM t"
    assert rows(store, query) == [(n, n, None if n < 5 else n) for n in range(12)]
    assert rows(store, f"{query} WHERE a11 IN (3, 7)") == [(3, 3, None), (7, 7, 7)]
    assert rows(store, f"{query} WHERE c = 7 OR id = 1") == [(1, 1, None), (7, 7, 7)]
    assert scans(store, query) == 2, "one scan of the files with the first column c, one of the others"


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_a_renamed_column_is_read_by_one_scan_unless_it_is_filtered(store, file_format):
    """Spark skips row groups by conditions on names that the files have."""
    store.execute(f"CREATE TABLE t (id INT, a INT) WITH ('write-only' = 'true', 'file.format' = '{file_format}')")
    store.execute("INSERT INTO t VALUES (1, 10), (2, 20)")
    store.execute("ALTER TABLE t RENAME COLUMN a TO b")
    store.execute("INSERT INTO t VALUES (3, 30)")
    queries = {
        "SELECT id, b FROM t": ([(1, 10), (2, 20), (3, 30)], 1),
        "SELECT b FROM t WHERE id > 1": ([(20,), (30,)], 1),
        "SELECT id FROM t WHERE b > 10": ([(2,), (3,)], 2),
    }
    for query, (answer, several) in queries.items():
        assert (rows(store, query), scans(store, query)) == (answer, several), query


@pytest.mark.parametrize("legacy", [False, True])
def test_fields_of_structs_that_older_files_lack(store, legacy):
    """In one scan, but where Spark takes a struct without the fields that are asked for to be null."""
    store.execute("CREATE TABLE t (id INT, s STRUCT<x: INT>, a ARRAY<STRUCT<x: INT>>) WITH ('write-only' = 'true')")
    store.execute(
        "INSERT INTO t VALUES (1, struct(1), array(null, struct(2))), (2, struct(null), array()), (3, null, null)"
    )
    store.execute("ALTER TABLE t ADD COLUMN s.z INT FIRST, ADD COLUMN a.element.z INT")
    store.execute("INSERT INTO t VALUES (4, struct(7, 8), array(struct(5, 6)))")
    answers = {
        "SELECT id, s IS NULL, s.z FROM t": [(1, False, None), (2, False, None), (3, True, None), (4, False, 7)],
        "SELECT id FROM t WHERE s.z IS NULL AND s IS NOT NULL": [(1,), (2,)],
        "SELECT id, a.z FROM t": [(1, [None, None]), (2, []), (3, None), (4, [6])],
        "SELECT id, e IS NULL, e.z FROM t LATERAL VIEW explode(a) AS e": [
            (1, False, None),
            (1, True, None),
            (4, False, 6),
        ],
        "SELECT s FROM t WHERE id = 1": [((None, 1),)],
    }
    if legacy:
        store.spark.conf.set(NULL_STRUCTS, "true")
    try:
        for query, answer in answers.items():
            assert rows(store, query) == in_order(answer), query
            finds = not legacy and tuple(map(int, store.spark.version.split(".")[:2])) >= (4, 1)
            assert scans(store, query) == (1 if finds or query.endswith("1") else 2)
    finally:
        store.spark.conf.unset(NULL_STRUCTS)


def scans(store, query):
    plan = store.sql(f"EXPLAIN FORMATTED {query}").collect()[0][0]
    return len(set(re.findall(r"\((\d+)\) (?:Scan (?:parquet|orc)|\w*MapInArrow)", plan)))


@pytest.mark.parametrize("file_format", ["parquet", "orc", pytest.param("avro", marks=pytest.mark.soak)])
def test_files_differ_only_in_columns_that_the_query_names(store, file_format):
    late = "late_one" if file_format == "avro" else "late one"  # Avro's names have no spaces
    options = f"'write-only' = 'true', 'file.format' = '{file_format}', 'schema.evolution.cast' = 'explicit-error'"
    store.execute(f"CREATE TABLE t (id INT, a INT, c INT) WITH ({options})")
    store.execute("INSERT INTO t VALUES (1, 10, 100)")
    store.execute("ALTER TABLE t ALTER COLUMN a TYPE STRING, DROP COLUMN c")
    store.execute(f"ALTER TABLE t ADD COLUMN c STRING, ADD COLUMN `{late}` INT")
    store.execute("INSERT INTO t VALUES (2, 'x', 'y', 7)")
    store.execute("CREATE VIEW v AS SELECT id, c FROM t")
    answers = {
        "SELECT sum(id) FROM t": [(3,)],
        "SELECT a, c FROM t": [("10", None), ("x", "y")],
        "SELECT * FROM t": [(1, "10", None, None), (2, "x", "y", 7)],
        "SELECT t.* FROM t WHERE ID = 1": [(1, "10", None, None)],
        "SELECT count(*) FROM t": [(2,)],
        f"SELECT `{late}` FROM t": [(7,), (None,)],
        "FROM t |> WHERE id = 2 |> SELECT c": [("y",)],
        "SELECT struct(*).c FROM t WHERE a = '10'": [(None,)],
        "SELECT (SELECT max(c) FROM t), n FROM (SELECT count(a) AS n FROM t)": [("y", 2)],
        "SELECT x.id, y.c FROM t x JOIN t y USING (id) WHERE y.a > '2'": [(2, "y")],
        "SELECT id, c FROM v": [(1, None), (2, "y")],
        "WITH q AS (SELECT a AS z FROM t) SELECT z FROM q": [("10",), ("x",)],
        "SELECT identifier('c') FROM t WHERE id = 2": [("y",)],
    }
    for query, answer in answers.items():
        assert rows(store, query) == in_order(answer), query
    assert rows(store, "SELECT max(t1.c) FROM t t1 NATURAL JOIN t t2") == [("y",)]
    assert rows(store, "SELECT c, x FROM t AS q(x, a, c, d) WHERE x = 2") == [("y", 2)]
    assert scans(store, "SELECT sum(id) FROM t") == 1
    assert scans(store, "SELECT a FROM t") == 2
    store.execute("CREATE TEMPORARY VIEW w AS SELECT id FROM t")
    assert rows(store, "SELECT * FROM w") == [(1,), (2,)]
    assert [one.asDict() for one in store.read("t").where("c = 'y'").collect()] == [
        {"id": 2, "a": "x", "c": "y", late: 7}
    ]
    with pytest.raises(TableStoreError, match=r"`a`.*`c`|`c`.*`a`"):
        store.sql("SELECT nosuch FROM t").collect()
