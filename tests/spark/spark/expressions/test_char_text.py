"""CHAR has its full length, VARCHAR its limit; both stay what they are in CREATE TABLE … AS and in views."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.files import path_of

from tablestore_engine.errors import SchemaError

pytestmark = [pytest.mark.spark, pytest.mark.cover("texts")]

WRITES = [
    "INSERT INTO t VALUES (1, 'ab', 'x')",
    "INSERT INTO t (c, v, id) SELECT 'ab        ', 'x', 1",
    "INSERT OVERWRITE t VALUES (1, 'ab', 'x')",
    "MERGE INTO t USING (SELECT 1 AS id, 'ab' AS c, 'x' AS v) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
    "MERGE INTO t USING (SELECT 1 AS i) s ON t.id = i WHEN NOT MATCHED THEN INSERT (id, c, v) VALUES (1, 'ab', 'x')",
]


@pytest.fixture(params=["", ", PRIMARY KEY (id) NOT ENFORCED"], ids=["keyless", "keyed"])
def texts(request, store):
    store.execute(f"CREATE TABLE t (id INT, c CHAR(6), v VARCHAR(3){request.param})")
    return store


def stored(store):
    return store.table("t").to_arrow().to_pylist()


def check(store, value="ab"):
    """As Spark: a CHAR is compared without regard to blanks at the end."""
    items = f"c, length(c), c = '{value}', c = '{value}    ', c IN ('{value}'), c < '{value}'"
    found = store.sql(f"SELECT {items} FROM t WHERE c = '{value}'").collect()
    assert [tuple(row) for row in found] == [(value.ljust(6), 6, True, True, True, False)]


@pytest.mark.parametrize("statement", WRITES)
def test_writes(texts, statement):
    texts.execute(statement)
    assert stored(texts) == [{"id": 1, "c": "ab    ", "v": "x"}], "other readers find it, too"
    check(texts)


def test_changes_and_frames(texts):
    texts.execute("INSERT INTO t VALUES (1, NULL, NULL)")
    texts.execute("UPDATE t SET c = (SELECT 'cd')")
    check(texts, "cd")
    texts.execute("MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET c = 'é'")
    check(texts, "é")
    texts.write("t", texts.spark.sql("SELECT 2 AS id, 'ef' AS c, 'y' AS v"))
    check(texts, "ef")
    texts.table("t").write(pa.table({"id": pa.array([3, 4], pa.int32()), "c": ["gh      ", None], "v": ["z", "z"]}))
    check(texts, "gh")
    texts.execute("DELETE FROM t WHERE c = 'gh'")
    assert [row["c"] for row in sorted(stored(texts), key=lambda row: row["id"])] == ["é     ", "ef    ", None]


@pytest.mark.parametrize("values", ["(1, 'abcdefg', 'x')", "(1, 'a', 'wxyz')"])
def test_texts_that_are_too_long(texts, values):
    with pytest.raises(SchemaError, match=r"(CHAR\(6\), and a value has 7|VARCHAR\(3\), and a value has 4)"):
        texts.execute(f"INSERT INTO t VALUES {values}")
    assert stored(texts) == []


def test_a_char_that_others_stored_shorter(store):
    import pyarrow.parquet as pq

    store.execute("CREATE TABLE t (id INT, c CHAR(6), v VARCHAR(3))")
    store.execute("INSERT INTO t VALUES (1, 'ab', 'x')")
    table = store.table("t")
    path = path_of(table, table.live_files()[0])
    rows = pq.read_table(path)
    pq.write_table(rows.set_column(1, rows.schema.field("c"), pa.array(["ab"], rows.schema.field("c").type)), path)
    check(store)


def test_a_key_is_one_key(store):
    store.execute("CREATE TABLE t (c CHAR(6), v INT, PRIMARY KEY (c) NOT ENFORCED) WITH ('bucket' = '2')")
    store.execute("INSERT INTO t VALUES ('ab', 1), ('cd', 1)")
    store.execute("INSERT INTO t VALUES ('ab   ', 2)")
    store.execute("UPDATE t SET v = 3 WHERE c = 'cd'")
    assert sorted(map(tuple, store.sql("SELECT c, v FROM t").collect())) == [("ab    ", 2), ("cd    ", 3)]
    assert store.sql("SELECT v FROM t WHERE c = 'ab'").collect()[0][0] == 2


def test_the_types_stay(store):
    store.execute("CREATE TABLE t (id INT, c CHAR(6), v VARCHAR(3))")
    store.execute("INSERT INTO t VALUES (1, 'ab', 'x')")
    store.execute("CREATE VIEW w AS SELECT v AS other, c FROM t")
    store.execute("CREATE TABLE copied AS SELECT * FROM t WHERE v = 'x'")
    store.execute("CREATE TABLE of_view AS SELECT other, c, concat(c, other) AS both FROM w")
    store.execute("CREATE TABLE alike LIKE t")
    types = {"id": "INT", "c": "CHAR(6)", "v": "VARCHAR(3)"}
    for name in ("copied", "alike"):
        assert {f.name: str(f.type) for f in store.table(name).schema.fields} == types
    expected = {"other": "VARCHAR(3)", "c": "CHAR(6)", "both": "STRING"}
    assert {f.name: str(f.type) for f in store.table("of_view").schema.fields} == expected
    assert [str(c.type) for c in store.catalog.load_view("default", "w").columns] == ["VARCHAR(3)", "CHAR(6)"]
    assert tuple(store.sql("SELECT * FROM copied").first()) == (1, "ab    ", "x")


def test_a_partition(store):
    store.execute("CREATE TABLE t (id INT, c CHAR(3)) PARTITIONED BY (c)")
    store.execute("INSERT INTO t VALUES (1, 'ab'), (2, 'cd'), (3, 'efg')")
    store.execute("INSERT OVERWRITE t PARTITION (c = 'ab') VALUES (4)")
    store.execute("INSERT OVERWRITE t PARTITION (c = lower('CD')) VALUES (5)")
    store.execute("TRUNCATE TABLE t PARTITION (c = 'efg')")
    expected = [(4, "ab "), (5, "cd ")]
    assert sorted(map(tuple, store.sql("SELECT id, c FROM t").collect())) == expected
    store.execute("TRUNCATE TABLE t PARTITION (c = 'ab')")
    assert [tuple(row) for row in store.sql("SELECT id FROM t WHERE c = 'cd'").collect()] == [(5,)]


def test_a_char_inside_of_other_values(store):
    kind = "STRUCT<c: CHAR(6), v: VARCHAR(4)>"
    store.execute(f"CREATE TABLE t (id INT, s {kind}, l ARRAY<CHAR(3)>, m MAP<STRING, CHAR(3)>)")
    store.execute("INSERT INTO t VALUES (1, named_struct('c', 'ab', 'v', 'x'), array('a', NULL), map('k', 'v'))")
    full = {"id": 1, "s": {"c": "ab    ", "v": "x"}, "l": ["a  ", None], "m": [("k", "v  ")]}
    assert stored(store) == [full]
    store.execute("UPDATE t SET s.c = 'cd', l = array('bcd ')")
    assert stored(store) == [{**full, "s": {"c": "cd    ", "v": "x"}, "l": ["bcd"]}]
    store.execute("UPDATE t SET s = named_struct('v', 'y', 'c', 'ef'), m = NULL")
    assert stored(store) == [{"id": 1, "s": {"c": "ef    ", "v": "y"}, "l": ["bcd"], "m": None}]
    source = "(SELECT 2 AS id, named_struct('v', 'z', 'c', 'gh') AS s, array('i') AS l, map('k', 'j') AS m)"
    store.execute(f"MERGE INTO t USING {source} q ON t.id = q.id WHEN NOT MATCHED THEN INSERT *")
    items = "length(s.c), length(l[0]), length(m['k'])"
    assert [tuple(row) for row in store.sql(f"SELECT {items} FROM t WHERE id = 2").collect()] == [(6, 3, 3)]
    with pytest.raises(SchemaError, match=r"VARCHAR\(4\) inside"):
        store.execute("UPDATE t SET s.v = 'abcde'")
    store.execute("CREATE TABLE copied AS SELECT * FROM t")
    types = [str(f.type) for f in store.table("t").schema.fields]
    assert [str(f.type) for f in store.table("copied").schema.fields] == types
