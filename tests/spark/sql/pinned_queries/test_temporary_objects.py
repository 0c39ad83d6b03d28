"""Definitions that stay in the warehouse name no temporary view, function or variable of the session."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SqlError, TableStoreError

pytestmark = pytest.mark.spark


@pytest.fixture
def temporary(store):
    """A session with a temporary view, function and variable."""
    store.execute("CREATE TABLE t AS SELECT 1 AS id UNION ALL SELECT 2")
    store.execute("CREATE TEMPORARY VIEW mine AS SELECT id FROM t")
    store.execute("CREATE TEMPORARY FUNCTION my_function(x INT) RETURNS INT RETURN x + 1")
    store.execute("DECLARE OR REPLACE VARIABLE my_variable INT DEFAULT 5")
    store.execute("SET mine = 5")
    yield store
    store.execute("RESET mine")
    store.execute("DROP TEMPORARY VARIABLE my_variable")
    store.execute("DROP TEMPORARY FUNCTION my_function")


WIDE = ", ".join(f"id + {i} AS c{i}" for i in range(60))
OF_SESSION = {
    "CREATE FUNCTION f() RETURNS INT RETURN SELECT max(id) FROM mine": "Function 'default.f' cannot read the temporary "
    "view 'mine'",
    "CREATE FUNCTION f(x INT) RETURNS INT RETURN my_function(x)": "Function 'default.f' cannot call the temporary "
    "function 'my_function'",
    "CREATE FUNCTION f(x INT) RETURNS INT RETURN x + my_variable": "Function 'default.f' cannot read the variable "
    "'my_variable'",
    "CREATE AGGREGATE FUNCTION f(x INT) RETURNS INT RETURN max(x) + my_variable": "cannot read the variable",
    "CREATE VIEW f AS SELECT * FROM mine": "View 'default.f' cannot read the temporary view 'mine'",
    "CREATE VIEW f AS SELECT My_Function(id) AS i FROM t": "View 'default.f' cannot call the temporary function",
    f"CREATE VIEW f AS SELECT {WIDE}, MY_VARIABLE AS v FROM t": "View 'default.f' cannot read the variable",
    "CREATE VIEW f AS SELECT * FROM t WHERE id < session.my_variable": "View 'default.f' cannot read the variable",
    "CREATE TABLE f (a INT, b INT DEFAULT my_variable + 1)": "default value of column 'b' cannot read the variable",
    "CREATE TABLE f (a INT, b STRING DEFAULT '${mine}')": r"default value of column 'b' cannot read the variable '\$",
    "CREATE VIEW f AS SELECT id, '${env:HOME}' AS v FROM t": "View 'default.f' cannot read the variable",
    "CREATE VIEW f AS SELECT id, ${hivevar:mine} AS v FROM t": "View 'default.f' cannot read the variable",
    "CREATE VIEW f AS SELECT id, '${mine}' AS v FROM t": r"View 'default.f' cannot read the variable '\${mine}'",
    "ALTER TABLE t ADD COLUMN b INT DEFAULT my_variable": "default value of column 'b' cannot read the variable",
    "ALTER TABLE t ALTER COLUMN id SET DEFAULT my_function(1)": "of column 'id' cannot call the temporary",
    "CREATE TABLE f (a INT, b AS a + my_variable)": "Column 'b' cannot read the variable 'my_variable'",
    "CREATE TABLE f (a INT, CHECK (a > my_variable))": "CHECK constraint .* cannot read the variable 'my_variable'",
    "ALTER TABLE t ADD CONSTRAINT c CHECK (my_function(id) > 0)": "CHECK constraint c .* cannot call the temporary",
}


@pytest.mark.parametrize("text", OF_SESSION)
def test_definitions_name_nothing_of_the_session(temporary, text):
    before = temporary.table("t").schema
    with pytest.raises(SqlError, match=f"{OF_SESSION[text]}.*, which ends with the session") as refused:
        temporary.execute(text)
    assert "\tat " not in str(refused.value)
    assert temporary.catalog.functions.names("default") == []
    assert temporary.catalog.list_views("default") == []
    assert temporary.catalog.list_tables("default") == ["t"]
    assert temporary.table("t").schema == before


def test_names_of_a_session_have_other_meanings(temporary):
    """A column hides a variable; texts in quotes are no names; and what ends with the session may use all of it."""
    temporary.execute("CREATE TABLE u (my_variable INT, w STRING DEFAULT concat('my_variable', ' my_function(1)'))")
    text = "SELECT my_variable, 'variablereference(my_function=' AS t, '${ no }${id}' AS n FROM u -- ${mine}"
    temporary.execute(f"CREATE VIEW kept AS {text}")
    temporary.execute("CREATE FUNCTION named(my_variable INT) RETURNS INT RETURN my_variable * 2")
    temporary.execute("CREATE TEMPORARY VIEW all_of_it AS SELECT my_function(id) + my_variable AS n FROM mine")
    assert sorted(row[0] for row in temporary.sql("SELECT * FROM all_of_it").collect()) == [7, 8]
    assert temporary.sql("SELECT named(4)").first()[0] == 8


def test_a_temporary_view_is_not_read_for_a_table_that_was_dropped(temporary):
    temporary.execute("CREATE TABLE lost AS SELECT 1 AS id")
    temporary.execute("CREATE VIEW above AS SELECT * FROM lost")
    temporary.execute("CREATE FUNCTION newest() RETURNS INT RETURN SELECT max(id) FROM lost")
    temporary.execute("DROP TABLE lost")
    temporary.execute("CREATE TEMPORARY VIEW lost AS SELECT 99 AS id")
    for text in ("SELECT * FROM above", "SELECT newest()"):
        with pytest.raises(TableStoreError, match=r"'default\.lost' does not exist"):
            temporary.sql(text).collect()
