"""Statements that change rows through a temporary view: its table changes if the view is a plain selection of it."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

from tablestore_engine.errors import ReadOnlyError, SqlError, TableNotFound

pytestmark = pytest.mark.spark


@pytest.fixture
def shop(store):
    store.sql("CREATE SCHEMA s")
    store.sql("CREATE TABLE s.t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    store.sql("INSERT INTO s.t VALUES (1, 10), (2, 20)")
    return store


def test_a_plain_selection_is_written_to_and_shows_the_new_rows(shop):
    shop.sql("USE s")
    shop.sql("CREATE TEMP VIEW w AS SELECT * FROM t")
    shop.sql("USE default")
    for change, expected in (
        ("UPDATE w SET v = w.v + 1 WHERE w.id = 1", [(1, 11), (2, 20)]),
        ("INSERT INTO w VALUES (3, 30)", [(1, 11), (2, 20), (3, 30)]),
        ("DELETE FROM w WHERE id IN (SELECT max(id) FROM w)", [(1, 11), (2, 20)]),
        (
            "MERGE INTO w USING (SELECT 2 AS id) q ON w.id = q.id WHEN MATCHED THEN UPDATE SET w.v = w.v * 2",
            [(1, 11), (2, 40)],
        ),
        ("INSERT OVERWRITE w SELECT 5, 50", [(5, 50)]),
    ):
        shop.sql(change)
        assert rows(shop, "SELECT * FROM w") == rows(shop, "SELECT * FROM s.t") == expected


@pytest.mark.parametrize(
    "query",
    ["SELECT id, v + 1 AS v FROM s.t", "SELECT * FROM s.t WHERE id = 1", "SELECT v, id FROM s.t", "SELECT id FROM s.t"],
)
def test_any_other_view_cannot_be_written_to(shop, query):
    shop.sql(f"CREATE TEMP VIEW w AS {query}")
    with pytest.raises(ReadOnlyError, match="'w' is a temporary view, which cannot be written to"):
        shop.sql("UPDATE w SET v = 0")
    assert rows(shop, "SELECT * FROM s.t") == [(1, 10), (2, 20)]


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"], ids=["without a key", "with a key"])
def test_a_view_with_other_names_is_written_to_under_the_names_of_the_table(store, key):
    store.sql(f"CREATE TABLE t (id INT, v INT, s STRING{key})")
    store.sql("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')")
    store.sql("CREATE TEMP VIEW w (v, id, c) AS SELECT * FROM t")
    store.sql("UPDATE w SET id = w.id + v, c = (SELECT max(c) FROM w) WHERE v = 1 OR id = 20 AND v > 2")
    assert rows(store, "SELECT * FROM t") == [(1, 11, "b"), (2, 20, "b")]
    store.sql(
        "MERGE INTO w USING (SELECT 2 AS v, 50 AS id, 'z' AS c UNION ALL SELECT 3, 30, 'n') q ON w.v = q.v "
        "WHEN MATCHED THEN UPDATE SET id = w.id + q.id WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows(store, "SELECT id, v, c FROM w") == [(11, 1, "b"), (30, 3, "n"), (70, 2, "b")]
    assert "(v" in store.sql("EXPLAIN DELETE FROM w WHERE id = 30").first()[0]
    store.sql("DELETE FROM w WHERE id IN (30, 1)")
    store.sql("INSERT INTO w (c, v) VALUES ('q', 7)")
    assert rows(store, "SELECT * FROM t") == [(1, 11, "b"), (2, 70, "b"), (7, None, "q")]
    with pytest.raises(SqlError, match=r"takes no rows BY NAME"):
        store.sql("INSERT INTO w BY NAME SELECT 1 AS v")


def test_a_view_that_was_made_over_again_is_another_one(shop):
    shop.sql("CREATE TEMP VIEW w AS SELECT id, v FROM s.t")
    shop.spark.range(3).createOrReplaceTempView("w")
    with pytest.raises(ReadOnlyError, match="temporary view"):
        shop.sql("DELETE FROM w WHERE id = 1")
    shop.sql("DROP VIEW w")
    with pytest.raises(TableNotFound):
        shop.sql("DELETE FROM w WHERE id = 1")
