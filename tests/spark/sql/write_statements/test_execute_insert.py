"""INSERT, INSERT OVERWRITE and CREATE TABLE … AS."""

from __future__ import annotations

import os
from datetime import date

import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.spark_rows import rows

from tablestore_engine.errors import (
    ConflictError,
    ExecutionError,
    PrimaryKeyError,
    SchemaError,
    TableAlreadyExists,
    TableNotFound,
    TableStoreError,
)

pytestmark = pytest.mark.spark
SALES = "SELECT * FROM sales"
FEBRUARY = date(2024, 2, 1)


@pytest.fixture
def sales(store):
    store.execute("CREATE TABLE sales (id INT, v STRING, day DATE, hr INT) PARTITIONED BY (day, hr)")
    store.execute(
        "INSERT INTO sales VALUES (1, 'a', '2024-01-01', 1), (2, 'b', '2024-01-01', 2), (3, 'c', '2024-01-02', 1)"
    )
    return store


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("INSERT INTO sales (hr, day, id) VALUES (5, '2024-02-01', 9)", (9, None, FEBRUARY, 5)),
        (
            "INSERT INTO sales PARTITION (day = '2024-02-01', hr = 5) VALUES (9, 'x')",
            (9, "x", FEBRUARY, 5),
        ),
        (
            "INSERT INTO sales PARTITION (day = DATE'2024-02-01', hr) VALUES (9, 'x', 5)",
            (9, "x", FEBRUARY, 5),
        ),
        (
            "INSERT INTO sales PARTITION (day = '2024-02-01', hr = 5) (v, id) VALUES ('x', 9)",
            (9, "x", FEBRUARY, 5),
        ),
        (
            "INSERT INTO sales BY NAME SELECT 5 hr, 'x' v, 9 id, DATE'2024-02-01' day",
            (9, "x", FEBRUARY, 5),
        ),
        ("INSERT INTO TABLE sales SELECT 9, 'x', NULL, 5", (9, "x", None, 5)),
    ],
)
def test_column_lists_and_partition_specs(sales, statement, row):
    assert sales.execute(statement).rows_affected == 1
    assert row in rows(sales, SALES)
    assert len(rows(sales, SALES)) == 4
    check_invariants(sales.table("sales"))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("INSERT INTO sales VALUES (1, 'a')", "returns 2 columns"),
        ("INSERT INTO sales (id, id) VALUES (1, 2)", "twice"),
        ("INSERT INTO sales (id, nope) VALUES (1, 2)", "nope"),
        ("INSERT INTO sales PARTITION (v = 'x') VALUES (1, DATE'2024-01-01', 2)", "not partitioned by"),
        ("INSERT INTO sales BY NAME SELECT 1 AS nope", "nope"),
        ("INSERT INTO sales PARTITION (hr = 1, hr = 2) VALUES (9, 'x', DATE'2024-01-01')", "'hr' occurs twice"),
        ("INSERT OVERWRITE sales PARTITION (day = '2024-01-01', DAY) VALUES (9, 'x', 1)", "'day' occurs twice"),
    ],
)
def test_columns_that_do_not_fit(sales, statement, words):
    with pytest.raises(TableStoreError, match=words):
        sales.execute(statement)
    assert len(rows(sales, SALES)) == 3


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        (
            "INSERT OVERWRITE sales VALUES (9, 'x', '2024-01-01', 1)",
            {9, 2, 3},
        ),  # dynamic: the rows' partitions
        (
            "INSERT OVERWRITE sales PARTITION (day = '2024-01-01', hr) VALUES (9, 'x', 7)",
            {9, 1, 2, 3},
        ),
        ("INSERT OVERWRITE sales PARTITION (day = '2024-01-01', hr = 2) VALUES (9, 'x')", {9, 1, 3}),
        (
            "INSERT OVERWRITE sales PARTITION (day = '2024-01-01', hr = 2) SELECT 9, 'x' WHERE false",
            {1, 3},
        ),
        ("INSERT OVERWRITE sales SELECT 9, 'x', DATE'2024-01-01', 1 WHERE false", {1, 2, 3}),
        ("INSERT OVERWRITE sales SELECT id + 10, v, day, hr FROM sales", {11, 12, 13}),
    ],
)
def test_overwrite(sales, statement, left):
    sales.execute(statement)
    assert {r[0] for r in rows(sales, SALES)} == left
    check_invariants(sales.table("sales"))


def test_overwrite_statically(store):
    store.execute(
        "CREATE TABLE sales (id INT, p INT) PARTITIONED BY (p) WITH ('dynamic-partition-overwrite' = 'false')"
    )
    store.execute("INSERT INTO sales VALUES (1, 1), (2, 2)")
    store.execute("INSERT OVERWRITE sales VALUES (3, 3)")
    assert rows(store, SALES) == [(3, 3)]
    store.execute("INSERT OVERWRITE sales SELECT 1, 1 WHERE false")
    assert rows(store, SALES) == []


@pytest.mark.parametrize(
    ("option", "mode", "clause", "left"),
    [
        (None, None, "", {1, 3, 4, 9}),
        (None, None, "PARTITION (hr = 2)", {1, 3, 4, 9}),
        (None, None, "PARTITION (day, hr = 2)", {1, 3, 4, 9}),
        (None, "static", "", {9}),
        (None, "static", "PARTITION (hr = 2)", {1, 3, 9}),
        (None, "static", "PARTITION (day, hr = 2)", {1, 3, 9}),
        ("true", "STATIC", "PARTITION (hr = 2)", {1, 3, 4, 9}),
        ("false", "dynamic", "PARTITION (hr = 2)", {1, 3, 9}),
    ],
)
def test_the_named_or_written_partitions_are_overwritten(sales, option, mode, clause, left):
    """Row 9 goes to the partition of row 2; row 4 is in another one with the same hour."""
    sales.execute("INSERT INTO sales VALUES (4, 'd', '2024-01-03', 2)")
    if option:
        sales.execute(f"ALTER TABLE sales SET TBLPROPERTIES ('dynamic-partition-overwrite' = '{option}')")
    values = "(9, 'x', '2024-01-01')" if clause else "(9, 'x', '2024-01-01', 2)"
    if mode:
        sales.spark.conf.set("spark.sql.sources.partitionOverwriteMode", mode)
    try:
        sales.execute(f"INSERT OVERWRITE sales {clause} VALUES {values}")
    finally:
        sales.spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert {r[0] for r in rows(sales, SALES)} == left


def test_overwrite_of_an_unpartitioned_table(store):
    store.execute("CREATE TABLE sales (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    store.execute("INSERT INTO sales VALUES (1, 1), (2, 2)")
    store.execute("INSERT OVERWRITE sales VALUES (3, 3)")
    assert rows(store, SALES) == [(3, 3)]
    assert len(store.table("sales").live_files()) == 1


def test_truncate(sales):
    assert sales.execute("TRUNCATE TABLE sales PARTITION (day = '2024-01-01')").rows_affected == 2
    assert [r[0] for r in rows(sales, SALES)] == [3]
    sales.execute("TRUNCATE TABLE sales")
    assert rows(sales, SALES) == []


def test_a_failing_insert_leaves_nothing(sales):
    before = data_files(sales.table("sales"))
    with pytest.raises(ExecutionError):
        sales.execute("INSERT INTO sales SELECT raise_error('no'), 'a', DATE'2024-01-01', 1")
    assert data_files(sales.table("sales")) == before


def test_an_insert_into_a_table_that_is_replaced_runs_again(sales, monkeypatch):
    from tablestore_engine.spark.dml import insert_overwrite

    write_held, others = (
        insert_overwrite.write_held,
        ["CREATE OR REPLACE TABLE sales (id INT, v STRING, day DATE, hr INT)"],
    )

    def slow(*args, **kwargs):
        result = write_held(*args, **kwargs)
        if others:
            sales.execute(others.pop())
        return result

    monkeypatch.setattr(insert_overwrite, "write_held", slow)
    sales.execute("INSERT INTO sales VALUES (9, 'late', '2024-01-01', 1)")
    table = sales.table("sales")
    assert table.schema.partition_keys == ()
    assert [r[0] for r in rows(sales, SALES)] == [9]
    check_invariants(table)


# -- CREATE TABLE … AS -------------------------------------------------------------------------------------------


def leftovers(store):
    """Everything in the database's directory except tables."""
    directory = os.path.join(store.catalog.warehouse, "default.db")
    return [n for n in os.listdir(directory) if n.startswith(".")] if os.path.isdir(directory) else []


def test_create_as_with_keys_and_options(store, path):
    result = store.execute(
        "CREATE TABLE c (PRIMARY KEY (p, id) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket' = '3')"
        " AS SELECT cast(id % 2 AS INT) AS p, cast(id AS INT) AS id, concat('v', id) AS v FROM range(100)"
    )
    assert result.rows_affected == 100
    table = store.table("c")
    assert (table.schema.primary_keys, table.options.bucket) == (("p", "id"), 3)
    assert {e.file.level for e in table.live_files()} == {table.options.num_levels - 1}
    check_invariants(table)
    assert store.sql("SELECT count(*) FROM c WHERE p = 1").collect()[0][0] == 50
    with pytest.raises(TableAlreadyExists):
        store.execute("CREATE TABLE c AS SELECT 1 AS x")
    assert store.execute("CREATE TABLE IF NOT EXISTS c AS SELECT 1 AS x").rows_affected == 0


@pytest.mark.cover
@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT raise_error('no') AS x", ExecutionError),
        ("SELECT cast(1 / (id - 5) AS INT) AS x FROM range(10)", ExecutionError),
        ("SELECT nope FROM range(10)", TableStoreError),
        ("SELECT 1 AS a, 2 AS A", SchemaError),
    ],
)
def test_a_failing_create_as_leaves_no_table(store, path, query, error):
    with pytest.raises(error):
        store.execute(f"CREATE TABLE c AS {query}")
    with pytest.raises(TableNotFound):
        store.table("c")
    assert leftovers(store) == []


@pytest.mark.cover
@pytest.mark.parametrize("query", ["SELECT raise_error('no') AS other", "SELECT CAST(NULL AS INT) AS id, 1 AS v"])
def test_a_failing_replacement_leaves_the_old_table(store, path, query):
    store.execute("CREATE TABLE c (PRIMARY KEY (id) NOT ENFORCED) AS SELECT 1 AS id, 2 AS v")
    key = " (PRIMARY KEY (id) NOT ENFORCED)" if " id" in query else ""
    with pytest.raises((ExecutionError, PrimaryKeyError)):
        store.execute(f"CREATE OR REPLACE TABLE c{key} AS {query}")
    assert rows(store, "SELECT * FROM c") == [(1, 2)]
    assert live_paths(store.table("c")) == data_files(store.table("c"))
    assert leftovers(store) == []


def test_replacements(store):
    store.execute("CREATE OR REPLACE TABLE c AS SELECT 1 AS id, 'a' AS v")
    first = store.table("c").latest_snapshot()
    store.execute("CREATE OR REPLACE TABLE c AS SELECT 2 AS id, 'b' AS v")
    assert store.table("c").schema.id == 0, "the same columns need no new schema"
    store.execute("CREATE OR REPLACE TABLE c PARTITIONED BY (p) AS SELECT 3 AS id, 'x' AS p")
    assert rows(store, "SELECT * FROM c") == [(3, "x")]
    store.execute("CREATE OR REPLACE TABLE c (PRIMARY KEY (k) NOT ENFORCED) AS SELECT id AS k, p FROM c")
    assert rows(store, "SELECT * FROM c") == [(3, "x")]
    assert store.sql("SELECT * FROM c VERSION AS OF 1").collect()[0][:] == (1, "a")
    assert store.sql("SELECT * FROM c VERSION AS OF 3").collect()[0][:] == (3, "x")
    assert first.id == 1
    store.execute("INSERT INTO c VALUES (3, 'y'), (4, 'z')")
    assert rows(store, "SELECT * FROM c") == [(3, "y"), (4, "z")]
    check_invariants(store.table("c"))


def test_a_writer_that_keeps_losing_says_so(store, monkeypatch):
    from tablestore_engine.operation.transaction import transaction

    store.execute("CREATE TABLE c (id INT)")
    monkeypatch.setattr(transaction, "ATTEMPTS", 2)

    def conflict(*args, **kwargs):
        raise ConflictError("Somebody else was first.")

    monkeypatch.setattr("tablestore_engine.operation.commit.commit.Committer.commit", conflict)
    with pytest.raises(ConflictError, match="first"):
        store.execute("INSERT INTO c VALUES (1)")
    assert not data_files(store.table("c"))


def test_an_overwrite_that_is_overtaken_by_an_alter_runs_again(store, monkeypatch):
    from tablestore_engine.spark.dml import insert_overwrite

    store.execute("CREATE TABLE c (id INT, v INT)")
    store.execute("INSERT INTO c VALUES (1, 1), (2, 2)")
    write_files, others = insert_overwrite.write_files, ["SET NOT NULL", "DROP NOT NULL"]

    def overtaken(*args, **kwargs):
        for change in [others.pop(0)] if others else []:
            store.execute(f"ALTER TABLE c ALTER COLUMN v {change}")
        return write_files(*args, **kwargs)

    monkeypatch.setattr(insert_overwrite, "write_files", overtaken)
    store.execute("INSERT OVERWRITE c SELECT id + 1, v FROM c")
    assert (rows(store, "SELECT * FROM c"), others) == ([(2, 1), (3, 2)], [])
