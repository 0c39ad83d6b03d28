"""Spark's own answer judges the door: the same text runs over managed tables and over views of the same rows.

Answers are compared as multisets of rows, with the names of their columns.
"""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import DataFrame, SparkSession
from support.spark_rows import normal

from tablestore_engine.errors import SqlError
from tablestore_engine.spark.session.session import new_session
from tablestore_engine.store import TableStore

pytestmark = pytest.mark.spark

KEY = "TBLPROPERTIES ('primary-key' = 'x')"

# By name: columns, clauses of the managed table, and the rows behind VALUES. Between them: keys, partitions, buckets,
# nulls and rows that occur twice.
TABLES = {
    "a": (
        "x INT, y INT, z INT, q STRING, xs ARRAY<INT>",
        "TBLPROPERTIES ('primary-key' = 'x', 'bucket' = '2')",
        """(1, 10, 5, 'Q1', array(1, 2)), (2, 10, NULL, 'Q2', array()), (3, 20, 7, 'Q1', NULL),
        (4, NULL, 7, NULL, array(4)), (5, 30, 5, 'Q2', array(5, NULL, 5)), (6, 30, 1, 'Q3', array(6))""",
    ),
    "b": (
        "x INT, y INT, z INT",
        "PARTITIONED BY (y)",
        "(1, 10, 5), (1, 11, 5), (1, 11, 5), (3, 20, NULL), (7, NULL, 7), (NULL, 30, 1)",
    ),
    "c": ("x INT", "", "(1), (1), (10), (20), (5)"),
    "d": ("x INT, y INT, z INT", KEY, "(1, 10, 3), (4, 11, 4), (5, 30, 5)"),
    "e": ("x INT, y INT, z INT", "", "(1, 10, 3), (NULL, 10, 4), (6, NULL, 5)"),
    "s.a": ("x INT, y INT, z INT", KEY, "(1, 2, 3), (4, 5, 6), (7, 8, NULL)"),
    "s.b": ("x INT, y INT, z INT", "", "(1, 1, 1), (4, NULL, 6), (4, 3, 2)"),
    "mails": ("`from` STRING, to STRING, `select` INT", "", "('a', 'b', 1), ('b', NULL, 3)"),
}

QUERIES = [
    "SELECT * FROM a JOIN b USING (x) LEFT JOIN s.b t ON t.x = a.x AND t.y IS NOT NULL",
    "SELECT a.x, b.y FROM a RIGHT JOIN b ON a.x = b.x FULL JOIN d ON d.x = a.x CROSS JOIN c",
    "SELECT * FROM b LEFT SEMI JOIN a ON a.x = b.x LEFT ANTI JOIN s.a ON a.x = b.x + 3",
    "SELECT a.x, top, i FROM a, LATERAL (SELECT max(y) AS top FROM b WHERE b.x = a.x) m, LATERAL explode(a.xs) AS e(i)",
    "SELECT * FROM a JOIN LATERAL (SELECT * FROM s.b WHERE b.x = a.x) t LEFT JOIN LATERAL explode(a.xs) ON true",
    "SELECT * FROM (SELECT y, q, z FROM a) PIVOT (sum(z) AS s, count(*) AS n FOR q IN ('Q1' AS one, 'Q2'))",
    "SELECT x, n, v FROM b UNPIVOT INCLUDE NULLS (v FOR n IN (y, z AS `zed`)) u",
    "WITH RECURSIVE r(n) AS (SELECT min(x) FROM a UNION ALL SELECT n + 1 FROM r WHERE n < 4) TABLE r",
    "SELECT x FROM b UNION ALL SELECT x FROM e EXCEPT ALL SELECT x FROM c",
    "SELECT x, y FROM b INTERSECT SELECT x, y FROM e UNION (SELECT x, y FROM d)",
    "SELECT x FROM a MINUS TABLE c",
    """SELECT (SELECT count(*) FROM b WHERE b.x = a.x) AS n, x IN (TABLE c) AS i FROM a
    WHERE y >= (SELECT min(y) FROM s.a) OR NOT EXISTS (SELECT 1 FROM d WHERE d.x = a.x) ORDER BY (SELECT 1)""",
    "SELECT x FROM a WHERE x NOT IN (SELECT x FROM b)",
    "SELECT y, count(*) AS n FROM b GROUP BY y HAVING count(*) >= (SELECT min(x) FROM c)",
    "SELECT x, sum(z) OVER w AS s, rank() OVER (PARTITION BY q ORDER BY y DESC) AS r FROM a WINDOW w AS (ORDER BY x)",
    "SELECT x, row_number() OVER (PARTITION BY x ORDER BY y) AS n FROM b QUALIFY n = 1",
    "SELECT y, q, grouping_id(y, q) AS g, sum(z) AS s FROM a GROUP BY GROUPING SETS ((y, q), (y), ())",
    "SELECT x, y, count(*) FROM b GROUP BY CUBE (x, y) UNION ALL SELECT x, y, sum(z) FROM e GROUP BY ROLLUP (x, y)",
    "TABLE b",
    "SELECT * FROM VALUES (1, 'FROM b'), (2, 'c') AS v(x, n) JOIN a USING (x)",
    "SELECT /*+ BROADCAST(b), COALESCE(1) */ a.x, b.z FROM a JOIN b ON a.x = b.x",
    "FROM a |> WHERE x IN (SELECT x FROM b) |> LEFT JOIN d USING (x) |> AGGREGATE sum(x) AS n GROUP BY q",
    "FROM b |> SELECT x, y |> UNION ALL (SELECT x, y FROM s.b) |> EXCEPT (FROM e |> SELECT x, y)",
    "SELECT `from` AS select, m.to where, m.select + 1 AS `join` FROM mails m WHERE from <> 'FROM a'",
    "SELECT x table, y view, z limit FROM s.a values WHERE values.x > 1",
    "SELECT t.x FROM IDENTIFIER('s.' || 'a') t JOIN IDENTIFIER('b') ON t.x = b.x",
    "SELECT * FROM explode((SELECT collect_list(x) FROM c)) AS e(i), range(2) r",
    "FROM b |> EXTEND x + 1 AS w |> SET y = w * 2 |> DROP z |> AS t |> SELECT t.y |> PIVOT (count(*) FOR y IN (4, 8))",
    "SELECT DISTINCT * EXCEPT (z) FROM b ORDER BY ALL LIMIT 100 OFFSET 0",
    "SELECT o.x, CASE WHEN EXISTS (SELECT 1 FROM d WHERE d.x = o.x) THEN (SELECT 'c') END AS k FROM (TABLE a) AS o",
]


class Both:
    """A store, and a session of Spark's in which the names of its tables are views of the same rows."""

    def __init__(self, store: TableStore, own: SparkSession) -> None:
        self.store, self.own = store, own
        store.sql("CREATE SCHEMA s")
        own.sql("CREATE DATABASE s")
        for name, (columns, clauses, rows) in TABLES.items():
            store.sql(f"CREATE TABLE {name} ({columns}) {clauses}")
            store.sql(f"INSERT INTO {name} VALUES {rows}")
            kind = "VIEW" if "." in name else "TEMPORARY VIEW"
            names = ", ".join(column.split()[0] for column in columns.split(", "))
            own.sql(f"CREATE {kind} {name} AS SELECT * FROM VALUES {rows} AS t({names})")

    def check(self, text: str, args: dict | list | None = None) -> None:
        assert answer(self.store.sql(text, args)) == answer(self.own.sql(text, args))


def answer(frame: DataFrame) -> tuple[list[str], Counter[str]]:
    return frame.columns, Counter(str([normal(value) for value in row]) for row in frame.collect())


@pytest.fixture(scope="module")
def both(spark, tmp_path_factory):
    sessions = [new_session(spark) for _ in range(2)]
    own = sessions[1]
    try:
        yield Both(TableStore(tmp_path_factory.mktemp("door") / "warehouse", sessions[0]), own)
    finally:
        own.sql("DROP DATABASE IF EXISTS s CASCADE")


@pytest.mark.parametrize("text", QUERIES)
def test_queries(both: Both, text: str) -> None:
    both.check(text)


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("SELECT x, :v AS v FROM IDENTIFIER(:t) WHERE x > :n", {"v": "it's FROM b", "t": "s.a", "n": 1}),
        ("SELECT x, ? FROM b WHERE y BETWEEN ? AND ? AND x IN (SELECT x FROM a WHERE z = ?)", [1.5, 1, 20, 5]),
    ],
)
def test_parameters(both: Both, text: str, args: dict | list) -> None:
    both.check(text, args)


# Statements one after the other on a table t, each with the query of what t then holds; it reads t as it was before.
CHANGES = [
    ("INSERT INTO t SELECT x, y, z FROM a WHERE x IN (TABLE c)", "SELECT x, y, z FROM a WHERE x IN (TABLE c)"),
    (
        "WITH n AS (SELECT x, z FROM s.a WHERE x > 1) INSERT INTO t (z, x) SELECT z, x FROM n",
        "TABLE t UNION ALL SELECT x, NULL, z FROM s.a WHERE x > 1",
    ),
    (
        "UPDATE t SET y = (SELECT max(b.y) FROM b WHERE b.x = t.x), z = x + 1 WHERE x IN (SELECT x FROM s.a)",
        """SELECT x, y, z FROM t WHERE x NOT IN (SELECT x FROM s.a) UNION ALL
        SELECT x, (SELECT max(b.y) FROM b WHERE b.x = t.x), x + 1 FROM t WHERE x IN (SELECT x FROM s.a)""",
    ),
    (
        """MERGE INTO t USING (SELECT x, sum(z) AS z FROM b WHERE x IS NOT NULL GROUP BY x) u ON t.x = u.x
        WHEN MATCHED AND u.z > 10 THEN DELETE WHEN MATCHED THEN UPDATE SET y = t.y + 1, z = u.z
        WHEN NOT MATCHED THEN INSERT (x, z) VALUES (u.x, -1)
        WHEN NOT MATCHED BY SOURCE AND t.x = 5 THEN UPDATE SET y = 0""",
        """WITH u AS (SELECT x, sum(z) AS z FROM b WHERE x IS NOT NULL GROUP BY x)
        SELECT x, t.y + 1, u.z FROM t JOIN u USING (x) WHERE u.z <= 10 OR u.z IS NULL
        UNION ALL SELECT x, NULL, -1 FROM u LEFT ANTI JOIN t USING (x)
        UNION ALL SELECT x, if(x = 5, 0, y), z FROM t LEFT ANTI JOIN u USING (x)""",
    ),
    (
        "DELETE FROM t WHERE EXISTS (SELECT 1 FROM d WHERE d.x = t.x AND d.z > 4) OR x = (SELECT max(x) FROM s.a)",
        "SELECT t.* FROM t LEFT ANTI JOIN d ON d.x = t.x AND d.z > 4 WHERE t.x <> (SELECT max(x) FROM s.a)",
    ),
    (
        "INSERT OVERWRITE t SELECT x, max(b.y), 1 FROM b JOIN a USING (x) GROUP BY x",
        "SELECT x, max(b.y), 1 FROM b JOIN a USING (x) GROUP BY x",
    ),
]


def test_changes(both: Both) -> None:
    both.store.sql(f"CREATE OR REPLACE TABLE t (x INT, y INT, z INT) {KEY}")
    for change, query in CHANGES:
        expected = both.own.sql(query).collect()
        assert expected
        both.store.sql(change)
        both.own.createDataFrame(expected, "x INT, y INT, z INT").createOrReplaceTempView("t")
        both.check("TABLE t")


def test_an_insert_into_several_tables_is_refused_and_writes_nothing(both: Both) -> None:
    with pytest.raises(SqlError, match="INSERT … SELECT"):
        both.store.sql("FROM a INSERT INTO d SELECT x, y, z INSERT INTO e SELECT x, y, z")
    both.check("TABLE d")
    both.check("TABLE e")
