"""Writes that evolve the table: `write.merge-schema` and WITH SCHEMA EVOLUTION."""

from __future__ import annotations

import pytest
from support.invariants import check_invariants
from support.spark_rows import rows

from tablestore_engine.errors import SchemaError, UnsupportedTypeError

pytestmark = [pytest.mark.spark, pytest.mark.cover("key")]


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


STRUCTS = "s STRUCT<x INT, y STRUCT<p INT, q STRING>>, l ARRAY<STRUCT<a INT, b INT>>"
LACKING = (
    "(SELECT 1 AS id, named_struct('y', named_struct('q', 'new'), 'w', 5) AS s, array(named_struct('b', 2)) AS l"
    " UNION ALL SELECT 2, NULL, NULL UNION ALL SELECT 3, named_struct('y', NULL, 'w', 6), array(NULL)) q"
)


@pytest.mark.parametrize(("key", "explicit"), [("", True), (", PRIMARY KEY (id) NOT ENFORCED", False)])
def test_fields_that_the_source_lacks(store, key, explicit):
    """`SET *` keeps them, as Paimon and Spark's `assign.by.field`; everything else gives nulls."""
    store.execute(f"CREATE TABLE t (id INT, {STRUCTS}{key})")
    store.execute(
        "INSERT INTO t SELECT id, named_struct('x', id, 'y', named_struct('p', 7, 'q', 'old')),"
        " array(named_struct('a', 1, 'b', 1)) FROM VALUES (1), (2) AS v(id)"
    )
    merge = f"INTO t USING {LACKING} ON t.id = q.id WHEN MATCHED THEN UPDATE SET"
    insert = "WHEN NOT MATCHED THEN INSERT *"
    with pytest.raises(SchemaError, match="'s' is given the fields y, w, but has x, y"):
        store.execute(f"MERGE {merge} * {insert}")
    store.execute(f"MERGE WITH SCHEMA EVOLUTION {merge} {'s = q.s, l = q.l' if explicit else '*'} {insert}")
    found = store.sql("SELECT s, l FROM t ORDER BY id").toArrow().to_pylist()
    kept = (None, None) if explicit else (1, 7)
    assert found == [
        {"s": {"x": kept[0], "y": {"p": kept[1], "q": "new"}, "w": 5}, "l": [{"a": None, "b": 2}]},
        {"s": None, "l": None},
        {"s": {"x": None, "y": None, "w": 6}, "l": [None]},
    ]
    store.execute("INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 4 AS id, named_struct('w', 8) AS s")
    assert store.sql("SELECT s FROM t WHERE id = 4").toArrow().to_pylist() == [{"s": {"x": None, "y": None, "w": 8}}]


def test_only_what_a_clause_takes_evolves(store):
    store.execute("CREATE TABLE t (id INT, v INT, s STRUCT<a: INT, b: STRUCT<c: INT>>, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t VALUES (1, 1, struct(1, struct(1)))")
    before = store.table("t").schema
    source = "(SELECT id, 5L AS v, named_struct('e', 1, 'f', 2) AS s FROM VALUES (1), (2) AS v(id)) q ON t.id = q.id"
    merge = f"MERGE WITH SCHEMA EVOLUTION INTO t USING {source} WHEN MATCHED THEN UPDATE SET"
    store.execute(f"{merge} s.b.c = 7, v = q.v + 1 WHEN NOT MATCHED THEN INSERT (id) VALUES (q.id)")
    assert store.table("t").schema == before
    store.execute(f"{merge} s.f = q.s.f")
    found = store.sql("SELECT s, v FROM t ORDER BY id").toArrow().to_pylist()
    one, two = {"a": 1, "b": {"c": 7}, "f": 2}, {"a": None, "b": None, "f": 2}
    assert found == [{"s": one, "v": 6}, {"s": two, "v": None}]


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
