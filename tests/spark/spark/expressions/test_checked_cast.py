"""Without ANSI mode, too, a number that a column cannot hold is an error, as in Spark's own writes."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

from tablestore_engine.errors import TableStoreError

pytestmark = pytest.mark.spark

STATEMENTS = {
    "INSERT INTO t (id, n) VALUES (2, 3000000000)": "'n' (int) cannot hold the value 3000000000",
    "INSERT INTO t BY NAME SELECT 2 AS id, 99999.995 AS e": "'e' (decimal(7,2)) cannot hold the value 99999.995",
    "INSERT INTO t (id, e) VALUES (2, 1e10)": "cannot hold the value 1.0E10",
    "UPDATE t SET n = n + 3000000000": "cannot hold the value 3000000001",
    "UPDATE t SET s.a = 300": "'s.a' (tinyint) cannot hold the value 300",
    """MERGE INTO t USING (SELECT 1 AS id, 3000000000 AS n) q ON t.id = q.id
    WHEN MATCHED THEN UPDATE SET n = q.n""": "'n' (int) cannot hold",
    """MERGE INTO t USING (SELECT 3 AS id, 3000000000 AS n, 1 AS e, NULL AS s) q ON t.id = q.id
    WHEN NOT MATCHED THEN INSERT *""": "'n' (int) cannot hold",
    """MERGE INTO t USING (SELECT 3 AS id, 3000000000 AS n) q ON t.id = q.id
    WHEN NOT MATCHED THEN INSERT (id, n) VALUES (q.id, q.n)""": "'n' (int) cannot hold",
}


@pytest.fixture
def table(store):
    store.execute("SET spark.sql.ansi.enabled = false")
    store.execute(
        "CREATE TABLE t (id INT, n INT, e DECIMAL(7, 2), s STRUCT<a: TINYINT>, PRIMARY KEY (id) NOT ENFORCED)"
    )
    store.execute("INSERT INTO t VALUES (1L, 1L, 1.5D, named_struct('a', 1Y))")
    return store


def check_refused(store, statement, message):
    with pytest.raises(TableStoreError) as failed:
        store.execute(statement)
    assert message in str(failed.value)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_numbers_that_a_column_cannot_hold(table, statement):
    check_refused(table, statement, STATEMENTS[statement])
    assert len(rows(table)) == 1
    assert rows(table, "SELECT n, s.a FROM t") == [(1, 1)]


@pytest.mark.parametrize("value", ["4294967297", "4294967297 + 0", "'1x'"])
def test_partitions_that_there_cannot_be(store, value):
    store.execute("SET spark.sql.ansi.enabled = false")
    store.execute("CREATE TABLE t (id INT, p INT) PARTITIONED BY (p)")
    store.execute("INSERT INTO t VALUES (1, 1), (2, NULL)")
    for verb in ("INSERT INTO", "INSERT OVERWRITE"):
        with pytest.raises(TableStoreError, match=r"'p' \(int\) cannot hold the value"):
            store.execute(f"{verb} t PARTITION (p = {value}) SELECT 9")
    store.execute("INSERT OVERWRITE t PARTITION (p = '1') SELECT 3")
    assert rows(store) == [(2, None), (3, 1)]


NESTED = {
    "INSERT INTO t VALUES (2, named_struct('x', 300, 'y', 1), NULL, NULL)": "'s.a' (tinyint) cannot hold the value",
    "INSERT INTO t (s, id) VALUES (named_struct('b', 1, 'a', 300), 2)": "'s.a' (tinyint) cannot hold the value 300",
    "INSERT INTO t (id, l) VALUES (2, array(named_struct('n', array(1, 70000))))": "'l.n' (smallint) cannot hold",
    "INSERT INTO t (id, m) VALUES (2, map('k', 1e9))": "'m' (decimal(4,1)) cannot hold the value 1.0E9",
    "INSERT INTO t (id, m) SELECT 2, map('k', cast(1000.0 AS DECIMAL(7, 2)))": "'m' (decimal(4,1)) cannot hold",
    "UPDATE t SET l = array(named_struct('n', array(70000)))": "'l.n' (smallint) cannot hold the value 70000",
    "UPDATE t SET m = map('k', 1000)": "'m' (decimal(4,1)) cannot hold the value 1000",
    """MERGE INTO t USING (SELECT 1 AS id, named_struct('b', 1, 'a', -129) AS v) q ON t.id = q.id
    WHEN MATCHED THEN UPDATE SET s = q.v""": "'s.a' (tinyint) cannot hold the value -129",
    """MERGE INTO t USING (SELECT 3 AS id, NULL AS s, NULL AS l, map('k', 1000) AS m) q ON t.id = q.id
    WHEN NOT MATCHED THEN INSERT *""": "'m' (decimal(4,1)) cannot hold",
}


@pytest.fixture
def nested(store):
    store.execute("SET spark.sql.ansi.enabled = false")
    store.execute(
        "CREATE TABLE t (id INT, s STRUCT<a: TINYINT, b: INT>, l ARRAY<STRUCT<n: ARRAY<SMALLINT>>>, "
        "m MAP<STRING, DECIMAL(4, 1)>, PRIMARY KEY (id) NOT ENFORCED)"
    )
    store.execute("INSERT INTO t VALUES (1, named_struct('a', 1, 'b', 2), NULL, NULL)")
    return store


@pytest.mark.parametrize("statement", NESTED)
def test_numbers_that_a_nested_field_cannot_hold(nested, statement):
    check_refused(nested, statement, NESTED[statement])
    assert rows(nested, "SELECT id, s.a, l IS NULL, m IS NULL FROM t") == [(1, 1, True, True)]


def test_numbers_that_a_nested_field_can_hold(nested):
    nested.execute(
        "INSERT INTO t VALUES (2, struct(-128, 7), array(named_struct('n', array(32767, NULL)), NULL), "
        "map('k', 999.94D, 'l', NULL)), (3, NULL, NULL, NULL)"
    )
    found = rows(nested, "SELECT id, s.a, s.b, l[0].n, size(l), CAST(m['k'] AS STRING), size(m) FROM t WHERE id > 1")
    assert found == [(2, -128, 7, [32767, None], 2, "999.9", 2), (3, None, None, None, -1, None, -1)]


def test_fields_of_one_name_go_by_position(nested):
    nested.execute("INSERT INTO t (id) SELECT 2")
    nested.execute("INSERT INTO t SELECT 3, named_struct('x', 4, 'X', 5), NULL, NULL")
    assert rows(nested, "SELECT s.a, s.b FROM t WHERE id = 3") == [(4, 5)]


def test_numbers_that_it_can_hold(table):
    table.execute("INSERT INTO t (id, n, e) VALUES (2, 2147483647L, 99999.994), (3, NULL, NULL), (4, 7.9D, 8)")
    table.execute("UPDATE t SET n = n - 1L, s.a = 127 WHERE id = 2")
    assert rows(table, "SELECT id, n, CAST(e AS STRING), s.a FROM t WHERE id > 1") == [
        (2, 2147483646, "99999.99", 127),
        (3, None, None, None),
        (4, 7, "8.00", None),
    ]


def test_a_session_that_asks_for_them(table):
    table.execute("SET spark.sql.storeAssignmentPolicy = LEGACY")
    table.execute("INSERT INTO t (id, n) VALUES (2, 4294967297)")
    assert rows(table, "SELECT n FROM t WHERE id = 2") == [(1,)]
