"""INSERT INTO … REPLACE WHERE on tables with and without a key, and on multiset tables."""

from __future__ import annotations

import pytest
from support.invariants import check_invariants
from support.spark_rows import rows

from tablestore_engine.errors import ConstraintError, SqlError, TableStoreError

pytestmark = [pytest.mark.spark, pytest.mark.cover("kind")]

KINDS = {
    "append": "",
    "keyed": ", PRIMARY KEY (day, id) NOT ENFORCED",
    "partitioned": ", PRIMARY KEY (day, id) NOT ENFORCED) PARTITIONED BY (day",
}


@pytest.mark.parametrize("kind", [*KINDS, "multiset"])
def test_matching_rows_are_replaced_by_one_commit(store, kind):
    store.execute(f"CREATE TABLE t (id INT, v STRING, day STRING{KINDS.get(kind, '')})")
    store.execute(
        "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y'), (4, 'd', NULL)"
        if kind in ("append", "multiset")
        else "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y'), (4, 'd', 'z')"
    )
    last = (4, "d", None if kind in ("append", "multiset") else "z")
    if kind == "multiset":
        store.execute("CREATE TABLE u (id INT, v STRING, day STRING) WITH ('merge-engine' = 'tablestore-count')")
        store.execute("INSERT INTO u SELECT * FROM t")
        store.execute("DROP TABLE t")
        store.execute("ALTER TABLE u RENAME TO t")
    before = len(store.table("t").snapshots())
    store.execute("INSERT INTO t REPLACE WHERE day = 'x' SELECT id + 1, upper(v), day FROM t WHERE day = 'x'")
    assert len(store.table("t").snapshots()) == before + 1
    assert rows(store) == [(2, "A", "x"), (3, "B", "x"), (3, "c", "y"), last]
    with pytest.raises(ConstraintError) as refused:
        store.execute("INSERT INTO t REPLACE WHERE day = 'x' VALUES (9, 'z', 'x'), (8, 'z', 'y')")
    assert str(refused.value) == (
        "INSERT INTO default.t failed: A row of the query does not match REPLACE WHERE day = 'x'. "
        "Nothing was written. Filter the query by the condition."
    )
    assert len(rows(store)) == 4
    store.execute("INSERT INTO t REPLACE WHERE day = 'y' AND id > 100 VALUES (101, 'n', 'y')")
    store.execute("INSERT INTO t REPLACE WHERE day = 'x' SELECT * FROM t WHERE false")
    assert rows(store) == [(3, "c", "y"), last, (101, "n", "y")]
    check_invariants(store.table("t"))


def test_tables_that_fold_records_refuse_to_replace_rows(store):
    store.execute("CREATE TABLE t (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('merge-engine' = 'aggregation')")
    with pytest.raises(SqlError, match="merge-engine"):
        store.execute("INSERT INTO t REPLACE WHERE n = 1 VALUES (1, 1)")


@pytest.mark.parametrize("kind", [*KINDS, "marks"])
def test_new_columns_are_added_where_the_write_evolves_the_schema(store, kind):
    marks = " WITH ('deletion-vectors.enabled' = 'true', 'write-only' = 'true')" if kind == "marks" else ""
    store.execute(f"CREATE TABLE t (id INT, v INT, day STRING{KINDS.get(kind, '')}){marks}")
    store.execute("INSERT INTO t VALUES (1, 10, 'x'), (2, 20, 'x'), (3, 30, 'y')")
    before = len(store.table("t").snapshots())
    query = "SELECT 'x' AS day, id, v + 5000000000L AS v, named_struct('n', v) AS s FROM t WHERE id = 1"
    with pytest.raises(TableStoreError, match="does not have"):
        store.execute(f"INSERT INTO t BY NAME REPLACE WHERE day = 'x' {query}")
    with pytest.raises(TableStoreError, match="does not match REPLACE WHERE day = 'y'"):
        store.execute(f"INSERT WITH SCHEMA EVOLUTION INTO t BY NAME REPLACE WHERE day = 'y' {query}")
    assert store.table("t").schema.field_names == ("id", "v", "day")
    store.execute(f"INSERT WITH SCHEMA EVOLUTION INTO t BY NAME REPLACE WHERE day = 'x' {query}")
    assert rows(store, "SELECT id, v, day, s.n FROM t") == [(1, 5_000_000_010, "x", 10), (3, 30, "y", None)]
    assert len(store.table("t").snapshots()) == before + 1
    check_invariants(store.table("t"))


def test_the_condition_may_name_a_computed_column(store):
    store.execute("CREATE TABLE t (id INT, v INT, twice AS v * 2)")
    store.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    store.execute("INSERT INTO t REPLACE WHERE twice >= 4 SELECT 3, 5")
    assert rows(store, "SELECT * FROM t") == [(1, 1, 2), (3, 5, 10)]
    with pytest.raises(ConstraintError, match="does not match REPLACE WHERE twice >= 4"):
        store.execute("INSERT INTO t REPLACE WHERE twice >= 4 SELECT 3, 1")
