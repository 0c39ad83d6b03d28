"""Functions that the warehouse keeps: made once, called by queries, views and statements of any later session."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import (
    BrokenViewError,
    DependencyError,
    FunctionAlreadyExists,
    FunctionNotFound,
    SqlError,
    TableStoreError,
)
from tablestore_engine.spark.session.session import new_session
from tablestore_engine.store import TableStore

pytestmark = pytest.mark.spark


def one(store, text):
    return store.sql(text).first()[0]


def later(store):
    """A store of a later process: another session."""
    return TableStore(store.catalog.warehouse, new_session(store.spark))


@pytest.fixture
def shop(store):
    store.sql("CREATE TABLE t (id INT, v STRING)")
    store.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    store.sql("CREATE SCHEMA s")
    return store


def test_sql_functions(shop):
    shop.sql("CREATE FUNCTION s.plus(x INT COMMENT 'an x', y INT DEFAULT 10) RETURNS INT COMMENT 'adds' RETURN x + y")
    shop.sql("CREATE FUNCTION newest() RETURNS INT RETURN SELECT max(id) FROM t")
    shop.sql("CREATE FUNCTION twice(x INT) RETURNS INT RETURN s.plus(x, x)")
    shop.sql("CREATE VIEW w AS SELECT id, s.plus(id) AS p, twice(id) AS d FROM t WHERE id = newest()")
    for session in (shop, later(shop)):
        answer = session.sql("SELECT s.plus(1), s.plus(1, y => 2), tablestore.s.plus(id), twice(3) FROM t WHERE id = 1")
        assert answer.columns[0] == "s.plus(1)"
        assert list(answer.first()) == [11, 3, 11, 6]
        assert session.sql("SELECT * FROM w").collect() == [(2, 12, 4)]
    shop.sql("UPDATE t SET id = s.plus(id, 1) WHERE twice(id) = 4")
    shop.sql("INSERT INTO t SELECT s.plus(newest()), 'c'")
    assert one(shop, "SELECT sum(id) FROM t") == 1 + 3 + 13
    kept = shop.sql("SELECT s.plus(1)")
    shop.sql("CREATE OR REPLACE FUNCTION s.plus(x INT) RETURNS BIGINT RETURN x - 1")
    assert (one(shop, "SELECT s.plus(1)"), kept.first()[0]) == (0, 11)
    with pytest.raises(BrokenViewError, match="twice"):
        shop.sql("DROP FUNCTION twice")
        shop.sql("SELECT * FROM w")
    with pytest.raises(DependencyError, match="plus"):
        shop.sql("DROP SCHEMA s")
    shop.sql("DROP SCHEMA s CASCADE")


def test_python_functions(shop):
    shop.sql(
        "CREATE FUNCTION root(x DOUBLE DEFAULT 16) RETURNS DOUBLE LANGUAGE PYTHON HANDLER = 'f' PACKAGES = ('numpy') "
        "AS $$\nimport numpy as np\n\ndef f(x):\n    return None if x is None else float(np.sqrt(x))\n$$"
    )
    shop.sql(
        "CREATE FUNCTION shout(t STRING) RETURNS STRING LANGUAGE PYTHON AS $$\nif t:\n  t = t.upper()\nreturn t\n$$"
    )
    shop.sql(
        "CREATE AGGREGATE FUNCTION squared_sum(v INT) RETURNS DOUBLE LANGUAGE PYTHON HANDLER = 'S' AS $$\n"
        "class S:\n  def __init__(self):\n    self.n = 0\n  def accumulate(self, v):\n    self.n += v\n"
        "  def finish(self):\n    return self.n ** 2\n$$"
    )
    for session in (shop, later(shop)):
        rows = session.sql("SELECT root(id * 4), shout(v), root(), root(null) FROM t ORDER BY id").collect()
        assert rows == [(2.0, "A", 4.0, None), (8**0.5, "B", 4.0, None)]
        assert one(session, "SELECT squared_sum(id) FROM t") == 9.0
    shop.sql("CREATE AGGREGATE FUNCTION spread(v INT) RETURNS DOUBLE RETURN max(v) - min(v)")
    assert one(shop, "SELECT spread(id) + 1 FROM t HAVING spread(id) > 0") == 2.0
    with pytest.raises(TableStoreError, match="nothing"):
        shop.sql("CREATE AGGREGATE FUNCTION bad(v INT) RETURNS DOUBLE RETURN sum(nothing)")
    for body, message in (("def g(x):\n  return 1", "no function 'f'"), ("def f(x:", "cannot be read")):
        with pytest.raises(SqlError, match=message):
            shop.sql(f"CREATE FUNCTION bad() RETURNS INT LANGUAGE PYTHON HANDLER = 'f' AS $$\n{body}\n$$")
    assert shop.catalog.functions.names("default") == ["root", "shout", "spread", "squared_sum"]


def test_errors_of_python_functions_name_them(shop):
    shop.sql("CREATE FUNCTION s.small(x INT) RETURNS TINYINT LANGUAGE PYTHON AS $$return x$$")
    shop.sql("CREATE FUNCTION bad(x INT) RETURNS INT LANGUAGE PYTHON AS $$raise ValueError(f'boom {x}')$$")
    lost = "CREATE FUNCTION lost(x INT) RETURNS INT LANGUAGE PYTHON HANDLER = 'f' AS $$\nimport no_such\ndef f(x): 1$$"
    assert one(shop, "SELECT s.small(-128) + s.small(127)") == -1
    for query, message in (
        ("SELECT bad(1)", r"Function 'default\.bad' failed: ValueError: boom 1"),
        ("SELECT s.small(128)", r"Function 's\.small' returned 128, which is no TINYINT"),
        (lost, r"Python code of function 'default\.lost' cannot be run: ModuleNotFoundError: .*no_such"),
    ):
        with pytest.raises(TableStoreError, match=message):
            shop.sql(query).collect()


def test_functions_are_described_and_their_errors_named(shop):
    shop.sql("CREATE FUNCTION s.f(y STRING COMMENT 'c', x INT DEFAULT 1) RETURNS INT COMMENT 'of s' RETURN x")
    shop.sql("CREATE FUNCTION IF NOT EXISTS s.f() RETURNS INT RETURN 7")
    with pytest.raises(FunctionAlreadyExists, match="OR REPLACE"):
        shop.sql("CREATE FUNCTION s.f() RETURNS INT RETURN 7")
    shop.sql("SELECT s.f('a', 1)")
    assert [r[0] for r in shop.sql("SHOW USER FUNCTIONS IN s").collect()] == ["s.f"]
    assert [r[0] for r in shop.sql("SHOW FUNCTIONS IN s LIKE 'f|ab*'").collect()] == ["abs", "s.f"]
    assert shop.sql("SHOW USER FUNCTIONS IN s LIKE 'g*'").collect() == []
    lines = [r[0] for r in shop.sql("DESCRIBE FUNCTION EXTENDED s.f").collect()]
    assert lines[:3] == ["Function:      s.f", "Type:          SCALAR", "Input:         y STRING 'c'"]
    assert "Comment:       of s" in lines
    assert "Body:          x" in lines
    assert "abs" in shop.sql("DESCRIBE FUNCTION abs").first()[0]
    for bad in ("RETURN nothing", "RETURN f_unknown(x)", "RETURN s.f(x)"):
        with pytest.raises(TableStoreError):
            shop.sql(f"CREATE OR REPLACE FUNCTION s.f(x INT) RETURNS INT {bad}")
            shop.sql("SELECT s.f(1)")
    with pytest.raises(SqlError, match=r"Function 's\.again' calls itself\. Write it without recursion"):
        shop.sql("CREATE FUNCTION s.again(x INT) RETURNS INT RETURN if(x > 0, again(x - 1), 0)")
    shop.sql("DROP FUNCTION s.f")
    shop.sql("DROP FUNCTION IF EXISTS s.f")
    with pytest.raises(FunctionNotFound, match=r"s\.f"):
        shop.sql("DROP FUNCTION s.f")


def test_values_call_functions(store):
    """Spark's VALUES takes no functions of SQL or Python, so such rows are selected."""
    store.execute("CREATE FUNCTION twice(x INT) RETURNS INT RETURN x * 2")
    store.execute("CREATE TABLE t (a INT, b STRING DEFAULT 'd')")
    store.execute("INSERT INTO t VALUES (twice(1), 'x'), (7, upper('y')), (twice(twice(2)), DEFAULT)")
    store.execute("INSERT INTO t (a) VALUES (default.twice(5))")
    store.execute(
        "MERGE INTO t USING (VALUES (10, twice(8)), (11, 3)) AS s(a, n) ON t.a = s.a"
        " WHEN MATCHED THEN UPDATE SET a = s.n WHEN NOT MATCHED THEN INSERT (a, b) VALUES (twice(s.a), 'new')"
    )
    found = [tuple(row) for row in store.sql("SELECT * FROM t ORDER BY a").collect()]
    assert found == [(2, "x"), (7, "Y"), (8, "d"), (16, "d"), (22, "new")]
    for text, answer in (
        ("VALUES (twice(1), 2), (3, 4)", [(2, 2), (3, 4)]),
        ("VALUES (1, 2) UNION ALL VALUES (twice(3), 4) ORDER BY 1 DESC", [(6, 4), (1, 2)]),
        ("SELECT col2, v.col1 FROM VALUES (twice(1), 'a') v", [("a", 2)]),
        ("SELECT * FROM VALUES twice(1), twice(2) AS v(n) JOIN VALUES (twice(2)) w(m) ON n = m", [(4, 4)]),
        ("SELECT twice(a) FROM VALUES (1), (2) AS v(a)", [(2,), (4,)]),
    ):
        assert [tuple(row) for row in store.sql(text).collect()] == answer, text


def test_functions_are_called_by_a_text_and_refreshed(shop):
    shop.sql("CREATE FUNCTION s.plus(x INT, y INT DEFAULT 10) RETURNS INT RETURN x + y")
    shop.sql("CREATE AGGREGATE FUNCTION spread(v INT) RETURNS INT RETURN max(v) - min(v)")
    answer = shop.sql(
        "SELECT identifier('s.plus')(id), IDENTIFIER('tablestore.s' || '.plus')(id, 1) FROM t ORDER BY id"
    )
    assert [tuple(row) for row in answer.collect()] == [(11, 2), (12, 3)]
    assert one(shop, "SELECT identifier('spread')(id) + identifier('abs')(-1) FROM t") == 2
    assert shop.sql("SELECT identifier(:f)(1)", args={"f": "s.plus"}).first()[0] == 11
    shop.sql("REFRESH FUNCTION s.plus")
    with pytest.raises(FunctionNotFound, match=r"s\.minus"):
        shop.sql("REFRESH FUNCTION s.minus")
