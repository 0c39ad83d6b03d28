"""Writes that evolve the table: `write.merge-schema` and WITH SCHEMA EVOLUTION."""

from __future__ import annotations

import pytest
from support.invariants import check_invariants
from support.spark_rows import rows

from tablestore_engine.errors import SchemaError, UnsupportedTypeError

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_inserts_evolve_the_table_in_one_commit(store, key):
    store.execute(f"CREATE TABLE t (id INT NOT NULL, v INT{key})")
    store.execute("INSERT INTO t VALUES (1, 10)")
    with pytest.raises(SchemaError, match="'w' that the table does not have"):
        store.execute("INSERT INTO t BY NAME SELECT 2 AS id, 'x' AS w")
    store.execute("INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 2 AS id, 'x' AS w, 5000000000 AS v")
    assert rows(store) == [(1, 10, None), (2, 5_000_000_000, "x")]
    assert len(store.table("t").snapshots()) == 2
    store.execute("INSERT INTO t /*+ OPTIONS('write.merge-schema' = 'true') */ SELECT 3, 30, 'y', 1.5 AS d")
    store.execute("INSERT INTO t (id, v) VALUES (4, 40)")
    frame = store.spark.sql("SELECT 5 AS id, named_struct('a', 1) AS s")
    store.write("t", frame, options={"write.merge-schema": True})
    store.spark.conf.set("spark.paimon.write.merge-schema", "true")
    try:
        store.execute("INSERT INTO t BY NAME SELECT 6 AS id, named_struct('a', 2L, 'b', 'n') AS s")
    finally:
        store.spark.conf.unset("spark.paimon.write.merge-schema")
    found = [(row[0], row[1], row[2], row[3] and float(row[3]), row[4] and tuple(row[4])) for row in rows(store)]
    assert found == [
        (1, 10, None, None, None),
        (2, 5_000_000_000, "x", None, None),
        (3, 30, "y", 1.5, None),
        (4, 40, None, None, None),
        (5, None, None, None, (1, None)),
        (6, None, None, None, (2, "n")),
    ]
    check_invariants(store.table("t"))
    assert rows(store, "SELECT count(*) FROM t VERSION AS OF 1") == [(1,)]


def test_a_write_that_fails_adds_no_column(store):
    store.execute("CREATE TABLE t (id INT NOT NULL) WITH ('write.merge-schema' = 'true')")
    store.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(Exception, match="stop"):
        store.execute("INSERT INTO t BY NAME SELECT CAST(id AS INT) AS id, raise_error('stop') AS w FROM range(3)")
    assert store.table("t").schema.field_names == ("id",)
    store.execute("INSERT OVERWRITE t BY NAME SELECT 2 AS id, 'b' AS w")
    store.execute("ALTER TABLE t ADD COLUMN z INT")
    assert rows(store) == [(2, "b", None)]


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_merge_with_schema_evolution(store, key):
    store.execute(f"CREATE TABLE t (id INT NOT NULL, v INT, keep STRING DEFAULT 'd'{key})")
    store.execute("INSERT INTO t VALUES (1, 10, 'k1'), (2, 20, 'k2')")
    source = "USING (SELECT * FROM VALUES (2, 21, 'a'), (3, 31, 'b') AS s(id, v, w)) s ON t.id = s.id"
    with pytest.raises(SchemaError, match="has no column keep"):
        store.execute(f"MERGE INTO t {source} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
    store.execute(
        f"MERGE WITH SCHEMA EVOLUTION INTO t {source} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows(store) == [(1, 10, "k1", None), (2, 21, "k2", "a"), (3, 31, "d", "b")]
    assert len(store.table("t").snapshots()) == 2
    store.execute(
        "MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 1 AS id, 'n' AS x, 'o' AS y) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET x = s.x"
    )
    assert rows(store, "SELECT id, x FROM t") == [(1, "n"), (2, None), (3, None)]
    assert store.table("t").schema.field_names == ("id", "v", "keep", "w", "x")


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_structs_of_literals_may_be_null_later(store, file_format):
    made = "named_struct('y', 1.5D, 'l', array(named_struct('q', 1)))"
    none = "named_struct('y', CAST(NULL AS DOUBLE), 'l', array(named_struct('q', CAST(NULL AS INT))))"
    store.execute(f"CREATE TABLE n WITH ('file.format' = '{file_format}') AS SELECT 1 AS id, {made} AS s")
    store.execute(f"INSERT WITH SCHEMA EVOLUTION INTO n BY NAME SELECT 2 AS id, {none} AS s, {made} AS more")
    store.execute(f"INSERT INTO n VALUES (3, NULL, NULL), (4, NULL, {none})")
    store.execute("ALTER TABLE n COMPACT")
    full, empty = {"y": 1.5, "l": [{"q": 1}]}, {"y": None, "l": [{"q": None}]}
    found = store.sql("SELECT s, more FROM n ORDER BY id").toArrow().to_pylist()
    assert [tuple(row.values()) for row in found] == [(full, None), (empty, full), (None, None), (None, empty)]


@pytest.mark.parametrize("producer", ["lookup", "full-compaction"])
def test_new_columns_in_the_changelog(store, producer):
    store.execute(
        "CREATE TABLE l (id INT, a INT, PRIMARY KEY (id) NOT ENFORCED)"
        f" WITH ('bucket' = '1', 'changelog-producer' = '{producer}')"
    )
    store.execute("INSERT INTO l VALUES (1, 1)")
    store.execute("INSERT WITH SCHEMA EVOLUTION INTO l BY NAME SELECT 1 AS id, 2 AS a, 'x' AS b")
    store.execute("ALTER TABLE l COMPACT")
    recorded = store.changes("l", 0, recorded=True).collect()
    kinds = [("+I", 1, None), ("+U", 2, "x"), ("-U", 1, None)]
    assert sorted((row._row_kind, row.a, row.b) for row in recorded) == kinds


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE c AS SELECT 1 AS id, {}",
        "CREATE OR REPLACE TABLE t AS SELECT 1 AS id, {}",
        "INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 1 AS id, {}",
        "MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 1 AS id, {}) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
    ],
)
def test_texts_of_a_collation_make_no_column(store, statement):
    """A table's texts have none, so `s = 'A'` would be false of its rows and true of the query's."""
    store.execute("CREATE TABLE t (id INT)")
    for value, kind in (("'a' COLLATE UTF8_LCASE AS s", "UTF8_LCASE"), ("array('a' COLLATE UNICODE) AS s", "UNICODE")):
        with pytest.raises(UnsupportedTypeError, match=f"'s' of the query has texts of the collation {kind}"):
            store.execute(statement.format(value))
    store.execute(statement.format("collate('a' COLLATE UTF8_LCASE, 'UTF8_BINARY') AS s"))
    store.execute("CREATE TABLE u (s STRING)")
    store.execute("INSERT INTO u SELECT 'a' COLLATE UTF8_LCASE")
