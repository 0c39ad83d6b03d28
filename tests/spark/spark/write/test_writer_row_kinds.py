"""Rows that say what they do: `_row_kind` in SQL, DataFrames and Arrow tables."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.invariants import check_invariants
from support.spark_rows import rows

from tablestore_engine.errors import RowKindError, SchemaError

pytestmark = [pytest.mark.spark, pytest.mark.cover("t")]


@pytest.fixture(params=["small", "large"])
def t(store, monkeypatch, request):
    if request.param == "large":
        monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    store.execute("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    return store


def test_kinds_in_sql(t):
    t.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    result = t.execute(
        "INSERT INTO t (_row_kind, id, v) VALUES ('-D', 1, 'a'), ('-U', 2, 'b'), ('+U', 2, 'B'), ('+I', 4, 'd')"
    )
    assert result.rows_affected == 4
    assert rows(t) == [(2, "B"), (3, "c"), (4, "d")]
    t.execute("INSERT INTO t (id, _ROW_KIND) SELECT 3, '-D'")
    assert rows(t) == [(2, "B"), (4, "d")]
    # Without a list, the column is known by its name.
    t.execute("INSERT INTO t SELECT 4 AS id, '-D' AS _row_kind, 'd' AS v")
    assert rows(t) == [(2, "B")]
    t.execute("ALTER TABLE t COMPACT")
    assert rows(t) == [(2, "B")]
    check_invariants(t.table("t"))


@pytest.mark.parametrize("before", [False, True])
def test_the_order_of_rows_decides(t, before):
    if before:
        t.execute("INSERT INTO t SELECT cast(id AS INT), 'old' FROM range(4)")
    t.execute(
        "INSERT INTO t (_row_kind, id, v) SELECT k, i, v FROM VALUES"
        " (0, '+I', 1, 'x'), (1, '-D', 1, 'x'), (2, '-D', 2, 'y'), (3, '+I', 2, 'z') AS s(n, k, i, v) ORDER BY n"
    )
    old = [(0, "old"), (3, "old")] if before else []
    assert rows(t) == sorted([*old, (2, "z")])
    check_invariants(t.table("t"))


def test_kinds_in_frames_and_arrow(t):
    frame = t.spark.createDataFrame([("+I", 1, "a"), ("+I", 2, "b")], "_row_kind string, id int, v string")
    assert t.write("t", frame) == 2
    t.table("t").write(pa.table({"id": pa.array([1], pa.int32()), "v": ["a"], "_row_kind": ["-D"]}))
    assert rows(t) == [(2, "b")]
    with pytest.raises(RowKindError, match=r"Unknown row kind: D.*\+I, -U, \+U, -D"):
        t.table("t").write(pa.table({"id": pa.array([1], pa.int32()), "v": ["a"], "_row_kind": ["D"]}))


def test_a_changelog_may_hold_a_key_twice(t):
    changes = "VALUES ('+I', 1, 'a'), ('-D', 1, 'a'), ('+I', 2, 'b')"
    t.execute(f"INSERT INTO t (_row_kind, id, v) {changes}", refuse_duplicates=True)
    assert rows(t) == [(2, "b")]


def test_tables_made_of_changes(store):
    changes = "SELECT * FROM VALUES ('+I', 1, 'a'), ('+I', 2, 'b'), ('-D', 1, 'a') AS s(_row_kind, id, v)"
    store.execute(f"CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) AS {changes}")
    assert store.sql("SELECT * FROM t").columns == ["id", "v"]
    assert rows(store) == [(2, "b")]
    store.execute(f"INSERT OVERWRITE t {changes} UNION ALL SELECT '+I', 7, 'x'")
    assert rows(store) == [(2, "b"), (7, "x")]


@pytest.mark.parametrize(("kind", "message"), [("'X'", "Unknown row kind: X"), ("null", "Unknown row kind: null")])
def test_unknown_kinds(t, kind, message):
    with pytest.raises(RowKindError) as error:
        t.execute(f"INSERT INTO t (_row_kind, id) VALUES ({kind}, 1)")
    assert str(error.value).startswith(f"INSERT INTO default.t failed: {message}. It is one of +I, ")
    assert "SQLSTATE" not in str(error.value)
    assert rows(t) == []


def test_too_few_columns_are_reported_as_ever(t):
    with pytest.raises(SchemaError, match="2 are expected"):
        t.execute("INSERT INTO t (_row_kind, id, v) SELECT '+I', 1")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("(id INT, v INT) WITH ('retractions' = 'refuse')", "no primary key"),
        (
            "(id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('merge-engine' = 'first-row')",
            "'first-row'",
        ),
        (
            (
                "(id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('merge-engine' = "
                "'aggregation', 'fields.v.function' = 'max')"
            ),
            "'v' cannot take back a value",
        ),
    ],
)
def test_tables_that_cannot_retract(store, table, words):
    store.execute(f"CREATE TABLE t {table}")
    store.execute("INSERT INTO t (_row_kind, id, v) VALUES ('+I', 1, 1), ('+U', 2, 2)")
    with pytest.raises(RowKindError, match=f"retraction.*{words}.*'id': 2"):
        store.execute("INSERT INTO t (_row_kind, id, v) VALUES ('+I', 1, 1), ('-D', 2, 2)")
    assert rows(store) == [(1, 1), (2, 2)]


def test_the_name_is_reserved(store):
    with pytest.raises(SchemaError, match="reserved"):
        store.execute("CREATE TABLE t (_row_kind STRING, id INT)")
    assert store.sql("SHOW TABLES").collect() == []


def test_a_new_table_whose_rows_must_say_their_kind_or_must_not(store):
    with_kind = "CREATE OR REPLACE TABLE t (PRIMARY KEY (id) NOT ENFORCED) AS SELECT '+I' AS _row_kind, 1 AS id"
    with pytest.raises(RowKindError, match="nobody asked"):
        store.execute(with_kind, row_kinds=False)
    with pytest.raises(RowKindError, match="no column _row_kind"):
        store.execute("CREATE TABLE t AS SELECT 1 AS id", row_kinds=True)
    assert store.sql("SHOW TABLES").collect() == []
    store.execute(with_kind, row_kinds=True)
    assert rows(store) == [(1,)]


def test_changes_are_not_applied_to_a_new_table_without_a_key(t):
    """What they remove would be missing for ever, so that the table could not be read."""
    t.execute("INSERT INTO t VALUES (1, 'a')")
    t.execute("INSERT INTO t VALUES (1, 'b')")
    for create in ("CREATE TABLE u", "CREATE OR REPLACE TABLE t"):
        with pytest.raises(RowKindError, match="_row_kind AS kind"):
            t.execute(f"{create} AS SELECT * FROM table_changes('t', 1)")
    t.execute("CREATE TABLE u AS SELECT _row_kind AS kind, * EXCEPT (_row_kind) FROM table_changes('t', 1)")
    assert sorted(t.sql("SELECT * FROM u").collect()) == [("+U", 1, "b"), ("-U", 1, "a")]
    t.execute("CREATE TABLE w (PRIMARY KEY (id) NOT ENFORCED) AS SELECT * FROM table_changes('t', 1)")
    assert t.sql("SELECT * FROM w").collect() == [(1, "b")]


def test_frames_are_complete(t):
    t.execute("INSERT INTO t VALUES (1, 'a')")
    with pytest.raises(SchemaError, match=r"no column v.*id, v"):
        t.write("t", t.spark.createDataFrame([(1,)], "id int"))
    assert rows(t) == [(1, "a")]
