"""Nested fields go to the fields of their names, except in an INSERT by position."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SchemaError

pytestmark = pytest.mark.spark

COLUMNS = (
    "id INT, s STRUCT<a: STRING, b: STRING>, l ARRAY<STRUCT<a: INT, b: INT>>, "
    "m MAP<STRING, STRUCT<a: INT, `b c`: STRUCT<x: INT, y: INT>>>"
)
SWAPPED = (
    "1 AS id, named_struct('B', 'of b', 'a', 'of a') AS s,"
    " array(named_struct('b', 2, 'a', 1), NULL) AS l,"
    " map('k', named_struct('b c', named_struct('y', 3, 'x', 2), 'a', 1)) AS m"
)
NULLS = "2 AS id, cast(NULL AS STRUCT<b: STRING, a: STRING>) AS s, array() AS l, map() AS m"


def check(store):
    found = store.sql(
        "SELECT id, s.a, s.b, s IS NULL, get(l, 0).a, get(l, 0).b, size(l), m['k'].a, "
        "m['k'].`b c`.x, m['k'].`b c`.y FROM t ORDER BY id"
    ).collect()
    assert tuple(found[0]) == (1, "of a", "of b", False, 1, 2, 2, 1, 2, 3)
    assert [tuple(row[:4]) for row in found[1:]] == [(2, None, None, True)][: len(found) - 1]


@pytest.fixture
def nested(store):
    store.spark.conf.set("spark.sql.ansi.enabled", "true")
    store.execute(f"CREATE TABLE t ({COLUMNS}, PRIMARY KEY (id) NOT ENFORCED)")
    assert store.sql("SELECT * FROM t").collect() == [], "an empty table with fields of odd names is read, too"
    return store


def test_insert_by_name(nested):
    nested.execute(f"INSERT INTO t BY NAME SELECT m, l, s, id FROM (SELECT {SWAPPED})")
    check(nested)


def test_a_frame(nested):
    nested.write("t", nested.spark.sql(f"SELECT {SWAPPED}"))
    check(nested)
    with pytest.raises(SchemaError, match=r"Column 's' is given the fields b, z, but has a, b"):
        nested.write(
            "t",
            nested.spark.sql(f"SELECT {SWAPPED}").selectExpr("id", "named_struct('b', 'x', 'z', 'y') AS s", "l", "m"),
        )


def test_merge(nested):
    nested.execute("INSERT INTO t BY NAME SELECT 1 AS id, NULL AS s, NULL AS l, NULL AS m")
    nested.execute(
        f"MERGE INTO t USING (SELECT {SWAPPED} UNION ALL SELECT {NULLS}) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    check(nested)


def test_by_position_fields_go_by_position(nested):
    nested.execute("INSERT INTO t SELECT 1, named_struct('x', 'of a', 'y', 'of b'), NULL, NULL")
    assert tuple(nested.sql("SELECT s.a, s.b FROM t").first()) == ("of a", "of b")


FIELDS = "named_struct('b', 'of b', 'a', 'of a')"


def fields(store):
    return [
        tuple(row) for row in store.sql("SELECT id, s.a, s.b, get(l, 0).a, get(l, 0).b FROM t ORDER BY id").collect()
    ]


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"], ids=["keyless", "keyed"])
def test_values_of_changes_go_by_the_names_of_their_fields(store, key):
    store.execute(f"CREATE TABLE t ({COLUMNS}{key})")
    store.execute("INSERT INTO t SELECT id, NULL, NULL, NULL FROM VALUES (1), (2), (3) AS v(id)")
    store.execute(f"UPDATE t SET s = {FIELDS}, l = array(named_struct('b', 2, 'a', 1)) WHERE id = 1")
    store.execute(f"UPDATE t SET s = (SELECT {FIELDS}), m = map('k', NULL) WHERE id = 2")
    assert fields(store)[:2] == [(1, "of a", "of b", 1, 2), (2, "of a", "of b", None, None)]
    store.execute(
        f"MERGE INTO t USING (SELECT 1 AS id, named_struct('b', 'B', 'a', 'A') AS v UNION ALL SELECT 4, {FIELDS}) q"
        " ON t.id = q.id WHEN MATCHED THEN UPDATE SET s = q.v WHEN NOT MATCHED THEN INSERT (s, id) VALUES (v, id)"
        " WHEN NOT MATCHED BY SOURCE AND id = 3 THEN UPDATE SET s = named_struct('b', 'no b', 'a', t.s.a)"
    )
    expected = [(1, "A", "B", 1, 2), (2, "of a", "of b", None, None), (3, None, "no b", None, None)]
    assert fields(store) == [*expected, (4, "of a", "of b", None, None)]
    with pytest.raises(SchemaError, match=r"Column 's' is given the fields b, z, but has a, b"):
        store.execute("UPDATE t SET s = named_struct('b', 'x', 'z', 'y')")
    store.execute("UPDATE t SET s = struct('first', 'second') WHERE id = 1")
    assert fields(store)[0][1:3] == ("first", "second"), "fields that nobody named keep their positions"


def test_a_column_list_gives_fields_by_name(nested):
    nested.execute(f"INSERT INTO t (s, id) SELECT {FIELDS}, 1")
    assert tuple(nested.sql("SELECT s.a, s.b FROM t").first()) == ("of a", "of b")


def test_keys_of_maps(store):
    store.execute("CREATE TABLE t (m MAP<STRUCT<a: INT, b: INT>, STRUCT<a: INT, b: INT>>)")
    store.execute("INSERT INTO t (m) SELECT map(named_struct('b', 2, 'a', 1), named_struct('b', 4, 'a', 3))")
    found = store.sql("SELECT k.a, k.b, v.a, v.b FROM (SELECT explode(m) AS (k, v) FROM t)").first()
    assert tuple(found) == (1, 2, 3, 4)
