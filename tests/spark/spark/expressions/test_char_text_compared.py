"""CHAR and VARCHAR in comparisons, joins, subqueries and changes: the answers are Spark's own, of Parquet tables."""

from __future__ import annotations

import pytest
from support.reads import recorded_reads

pytestmark = [pytest.mark.spark, pytest.mark.cover("both")]

COLUMNS = {
    "t": "id int, c char(6), v varchar(6), s string, r struct<c: char(6), v: varchar(6)>, l array<char(3)>",
    "u": "id int, c char(4), d char(8), v varchar(9), s string, r struct<c: char(6), v: varchar(6)>",
}
ROWS = {
    "t": "(1, 'ab', 'ab', 'ab', named_struct('c', 'ab', 'v', 'ab'), array('ab')),"
    " (2, 'abcdef', 'abcdef', 'abcdef', named_struct('c', 'abcdef', 'v', 'a'), array('abc')),"
    " (3, null, null, null, null, null), (4, '', '', '', named_struct('c', '', 'v', ''), array('')),"
    " (5, ' ab', 'ab  ', 'ab    ', named_struct('c', ' ab', 'v', 'ab  '), array(' a')),"
    " (6, 'ab\\t', 'ab\\t', 'ab\\t', null, array())",
    "u": "(1, 'ab', 'ab', 'ab', 'ab', named_struct('c', 'ab', 'v', 'ab')), (2, 'abcd', 'abcdef', 'x', 'abcdef', null),"
    " (3, null, null, null, null, null), (4, '', '', '', '', named_struct('c', '', 'v', '')),"
    " (5, ' ab', ' ab', 'ab    ', 'ab    ', null)",
}
TEXTS = ("'ab'", "'ab    '", "'ab         '", "''", "cast('ab' as string)", "concat('a', 'b')", "s", "v", "null")
CONDITIONS = [
    *(f"{one} {sign} {text}" for one in ("c", "r.c", "get(l, 0)") for sign in ("=", "<=>", "<") for text in TEXTS),
    *(f"{text} >= c" for text in TEXTS),
    "c IN ('ab', 'x')", "c IN ('ab', s)", "c IN (v, s)", "c NOT IN ('ab', 'x')", "r.c IN ('ab')", "'ab' IN (c, v)",
    "c BETWEEN 'ab' AND 'ab'", "c LIKE 'ab'", "c LIKE 'ab%'", "c RLIKE '^ab$'", "c = r.c", "r.c = r.v",
    "upper(c) = 'AB'", "coalesce(c, 'x') = 'ab'", "nullif(c, 'ab') IS NULL", "CASE c WHEN 'ab' THEN true END",
    "(c, id) IN (('ab', 1))",
    "struct(c) = struct('ab')", "array_contains(l, 'ab')", "l = array('ab')", "length(c) = 6", "c || 'x' = 'ab    x'",
]  # fmt: skip
SUBQUERIES = [
    "c IN (SELECT s FROM {0}u)", "c IN (SELECT d FROM {0}u)", "c IN (SELECT c FROM {0}u)", "s IN (SELECT c FROM {0}u)",
    "c NOT IN (SELECT s FROM {0}u WHERE s IS NOT NULL)", "c = (SELECT d FROM {0}u WHERE id = 1)",
    "c = (SELECT s FROM {0}u WHERE id = 1)", "c = (SELECT 'ab')", "r.c IN (SELECT d FROM {0}u)",
    "EXISTS (SELECT 1 FROM {0}u q WHERE q.s = t.c)", "EXISTS (SELECT 1 FROM {0}u q WHERE q.d = t.c)",
    "EXISTS (SELECT 1 FROM {0}u q WHERE t.c IN (q.c, q.d))", "(c, id) IN (SELECT s, id FROM {0}u)",
]  # fmt: skip
JOINS = ("t.c = u.c", "t.c = u.d", "t.c = u.s", "t.c = u.v", "t.s = u.c", "t.c < u.d", "t.r.c = u.r.c", "t.r.c = u.d")


@pytest.fixture(params=["", ", primary key (id) not enforced"], ids=["keyless", "keyed"])
def both(request, store):
    """Our answer to a query, and that of Spark's own tables, which are in the database that its {} names."""
    spark = store.spark
    spark.sql("DROP DATABASE IF EXISTS judge CASCADE")
    spark.sql("CREATE DATABASE judge")
    for name, columns in COLUMNS.items():
        spark.sql(f"CREATE TABLE judge.{name} ({columns}) USING parquet")
        spark.sql(f"INSERT INTO judge.{name} VALUES {ROWS[name]}")
        store.sql(f"CREATE TABLE {name} ({columns}{request.param})")
        store.sql(f"INSERT INTO {name} VALUES {ROWS[name]}")
    yield lambda query: (_rows(store.sql(query.format(""))), _rows(spark.sql(query.format("judge."))))
    spark.sql("DROP DATABASE judge CASCADE")


def _rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def test_comparisons(both):
    """As columns of one query, and then as filters, by which files may be left out."""
    items = ", ".join(f"{one} AS `{at}`" for at, one in enumerate(CONDITIONS))
    ours, judge = both(f"SELECT id, {items} FROM {{0}}t")
    found, expected = (
        {one: [row[at] for row in rows] for at, one in enumerate(CONDITIONS, 1)} for rows in (ours, judge)
    )
    assert found == expected
    assert found["c = 'ab         '"].count(True) == 1, "Spark pads, so there is something to compare"
    filters = [f"SELECT {at} AS n, id FROM {{0}}t WHERE {one}" for at, one in enumerate(CONDITIONS[::4])]
    ours, judge = both(" UNION ALL ".join(filters))
    assert ours == judge


def test_joins_and_subqueries(both):
    several = [f"SELECT {at} AS n, id FROM {{0}}t t WHERE {one}" for at, one in enumerate(SUBQUERIES)]
    ours, judge = both(" UNION ALL ".join(several))
    assert ours == judge
    several = [f"SELECT {at} AS n, t.id, u.id FROM {{0}}t t JOIN {{0}}u u ON {one}" for at, one in enumerate(JOINS)]
    ours, judge = both(" UNION ALL ".join(several))
    assert ours == judge


CHANGES = [
    ("UPDATE t SET s = 'hit' WHERE {}", "c = 'ab'"),
    ("UPDATE t SET s = 'hit' WHERE {}", "c IN (SELECT d FROM {0}u)"),
    ("UPDATE t SET s = 'hit' WHERE {}", "c IN (SELECT s FROM {0}u)"),
    ("DELETE FROM t WHERE {}", "EXISTS (SELECT 1 FROM {0}u q WHERE q.s = t.c)"),
    ("DELETE FROM t WHERE {}", "c NOT IN ('ab', 'x')"),
    ("MERGE INTO t USING (SELECT * FROM u WHERE id < 3) u ON {} WHEN MATCHED THEN DELETE", "t.c = u.d"),
    ("MERGE INTO t USING (SELECT * FROM u WHERE id < 3) u ON {} WHEN MATCHED THEN DELETE", "t.c = u.s"),
]


def test_conditions_of_changes(both, store, request, monkeypatch):
    """A changed row is one that Spark selects, also in a large table of which rows are looked up by key."""
    if "keyed]" in request.node.name:
        recorded_reads(monkeypatch)
    rows = len(both("SELECT id FROM {0}t")[0])
    for statement, condition in CHANGES:
        source = "{0}t t JOIN (SELECT * FROM {0}u WHERE id < 3) u ON" if "MERGE" in statement else "{0}t t WHERE"
        _, expected = both(f"SELECT t.id FROM {source} {condition}")
        store.sql(statement.format(condition.format("")))
        left = store.sql("SELECT id, s FROM t").collect()
        if statement.startswith("UPDATE"):
            assert sorted((row.id,) for row in left if row.s == "hit") == expected, (statement, condition)
        else:
            assert len(left) == rows - len(expected), (statement, condition)
            assert not {(row.id,) for row in left} & set(expected), (statement, condition)
        store.sql("CALL sys.rollback(table => 't', snapshot => 1)")
