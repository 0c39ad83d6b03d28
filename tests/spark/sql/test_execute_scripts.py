"""Statements that contain statements: scripts, EXECUTE IMMEDIATE, variables, functions; and names in double quotes."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

from tablestore_engine.errors import ParseError, SqlError


@pytest.fixture
def shop(store):
    """Table `t` with the keys 1 and 2, table `mails` with columns called `from` and `to`."""
    store.sql("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)")
    store.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    store.sql("CREATE TABLE mails (from STRING, to STRING, where INT)")
    store.sql("INSERT INTO mails VALUES ('ann', 'bob', 1)")
    return store


def test_columns_called_by_keywords(shop):
    assert rows(shop, "select from, to from mails") == [("ann", "bob")]
    shop.sql("UPDATE mails SET where = where + where WHERE from = 'ann'")
    assert rows(shop, "select where from mails where where = 2") == [(2,)]
    shop.sql("UPDATE mails SET to = from")
    assert rows(shop, "select from, to from mails") == [("ann", "ann")]


def test_merge_with_keywords_for_aliases(shop):
    shop.sql(
        "MERGE INTO t when USING (SELECT 2 AS id, 'x' AS v) then ON then.id = when.id AND when.id > 1 "
        "WHEN MATCHED AND then.v > 'b' THEN UPDATE SET v = then.v"
    )
    assert rows(shop, "SELECT * FROM t") == [(1, "a"), (2, "x")]


def test_a_script_of_plain_statements(shop):
    result = shop.execute(
        "BEGIN INSERT INTO t VALUES (3, 'c'); UPDATE t SET v = 'z' WHERE id = 1; DELETE FROM t WHERE id = 2; END"
    )
    assert result.rows_affected == 1
    assert rows(shop, "BEGIN INSERT INTO t VALUES (4, 'd'); SELECT * FROM t; END") == [(1, "z"), (3, "c"), (4, "d")]


def test_each_statement_of_a_script_runs(shop):
    with pytest.raises(Exception, match="stop here"):
        shop.execute("BEGIN SELECT raise_error('stop here') FROM t; INSERT INTO t VALUES (3, 'c'); END")
    assert len(rows(shop, "SELECT * FROM t")) == 2


def test_a_script_with_control_flow_reads_tables(shop):
    script = (
        "BEGIN DECLARE n INT DEFAULT 0; SET n = (SELECT max(id) FROM t); "
        "FOR r AS SELECT id FROM t DO SET n = n + r.id; END FOR; "
        "IF n > (SELECT count(*) FROM t) THEN SELECT n AS total, v FROM t; ELSE SELECT 'few'; END IF; END"
    )
    assert rows(shop, script) == [(5, "a"), (5, "b")]


def test_a_script_with_control_flow_does_not_write(shop):
    with pytest.raises(SqlError, match="'INSERT INTO t VALUES \\(9, 'x'\\)' cannot run in a script"):
        shop.sql("BEGIN DECLARE n INT; IF true THEN INSERT INTO t VALUES (9, 'x'); END IF; END")
    assert len(rows(shop, "SELECT * FROM t")) == 2


def test_variables(shop):
    shop.sql("DECLARE OR REPLACE VARIABLE door_n INT")
    shop.sql("SET VAR door_n = 10 + (SELECT max(id) FROM t)")
    assert rows(shop, "SELECT door_n") == [(12,)]
    shop.sql("SET VARIABLE (door_n) = (SELECT min(id) FROM t)")
    assert rows(shop, "SELECT * FROM t WHERE id = door_n") == [(1, "a")]
    with pytest.raises(SqlError, match="default of a variable cannot hold a subquery"):
        shop.sql("DECLARE door_m INT DEFAULT (SELECT max(id) FROM t)")


def test_functions_read_tables(shop):
    shop.sql("CREATE OR REPLACE TEMPORARY FUNCTION door_max() RETURNS INT RETURN SELECT max(id) FROM t")
    shop.sql(
        "CREATE OR REPLACE TEMPORARY FUNCTION door_rows(n INT) RETURNS TABLE (v STRING) "
        "RETURN SELECT v FROM t WHERE id = n"
    )
    assert rows(shop, "SELECT v FROM t WHERE id = door_max()") == [("b",)]
    assert rows(shop, "SELECT * FROM door_rows(1)") == [("a",)]


def test_execute_immediate(shop):
    shop.sql("DECLARE OR REPLACE VARIABLE door_text STRING DEFAULT 'SELECT v FROM t WHERE id = '")
    shop.sql("DECLARE OR REPLACE VARIABLE door_id INT DEFAULT 2")
    shop.sql("DECLARE OR REPLACE VARIABLE door_found STRING")
    assert rows(shop, "EXECUTE IMMEDIATE door_text || '1'") == [("a",)]
    assert rows(shop, "EXECUTE IMMEDIATE door_text || '?' USING door_id") == [("b",)]
    assert rows(shop, "EXECUTE IMMEDIATE 'SELECT :x, v FROM t WHERE id = :door_id' USING 'it''s' AS x, door_id") == [
        ("it's", "b")
    ]
    shop.sql("EXECUTE IMMEDIATE 'SELECT v FROM t WHERE id = ?' INTO door_found USING 1 + 1")
    assert rows(shop, "SELECT door_found") == [("b",)]
    result = shop.execute("EXECUTE IMMEDIATE 'INSERT INTO t VALUES (?, ?)' USING door_id + 1, upper('c')")
    assert result.rows_affected == 1
    assert rows(shop, "SELECT * FROM t WHERE id = 3") == [(3, "C")]
    value = "SELECT typeof(:d), :d, typeof(:n) FROM t WHERE id = 1"
    using = "date_add(DATE '2024-01-31', 1) AS d, CAST(NULL AS DECIMAL(5, 2)) AS n"
    ((kind, day, of_null),) = rows(shop, f"EXECUTE IMMEDIATE '{value}' USING {using}")
    assert (kind, str(day), of_null) == ("date", "2024-02-01", "decimal(5,2)")
    with pytest.raises(SqlError, match="needs the text of a statement"):
        shop.sql("EXECUTE IMMEDIATE door_id")
    with pytest.raises(SqlError, match="INTO needs a query"):
        shop.sql("EXECUTE IMMEDIATE 'DELETE FROM t' INTO door_found")


def test_a_hint_follows_its_table(shop):
    plan = rows(shop, "EXPLAIN EXTENDED SELECT /*+ BROADCAST(default.t) */ * FROM default.t JOIN mails ON t.v = from")
    assert "strategy=broadcast" in plan[0][0]


def test_double_quoted_names(shop):
    conf = shop.spark.conf
    text = 'SELECT "v" AS "a b" FROM "default"."t" WHERE "id" = 1'
    with pytest.raises(Exception, match="default"):
        shop.sql(text).collect()
    ansi = conf.get("spark.sql.ansi.enabled")
    conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    try:
        conf.set("spark.sql.ansi.enabled", "false")  # without which the setting has no effect
        assert rows(shop, 'SELECT "v"') == [("v",)]
        conf.set("spark.sql.ansi.enabled", "true")
        assert rows(shop, text) == [("a",)]
        shop.sql('INSERT INTO "t" ("id", "v") VALUES (5, \'"e"\')')
        assert rows(shop, "SELECT v FROM t WHERE id = 5") == [('"e"',)]
    finally:
        conf.unset("spark.sql.ansi.doubleQuotedIdentifiers")
        conf.set("spark.sql.ansi.enabled", ansi)


def test_a_query_may_nest_deeply_up_to_a_limit(shop):
    query = "SELECT * FROM (" * 60 + "SELECT id FROM t" + ")" * 60
    assert rows(shop, query) == [(1,), (2,)]
    with pytest.raises(ParseError, match=r"more than 500 levels"):
        shop.sql("SELECT * FROM (" * 2000 + "SELECT id FROM t" + ")" * 2000).collect()


def test_the_parameters_of_execute_immediate_do_not_depend_on_how_strings_are_escaped(shop):
    setting = "spark.sql.parser.escapedStringLiterals"
    shop.spark.conf.set(setting, "true")
    try:
        found = rows(shop, r"EXECUTE IMMEDIATE 'SELECT ?, id FROM t WHERE id = 1' USING concat('a\b', chr(39))")
    finally:
        shop.spark.conf.unset(setting)
    assert found == [("a\\b'", 1)]


def test_columns_called_case_and_end(shop):
    shop.sql("CREATE TABLE cases (case STRING, end STRING)")
    shop.sql("INSERT INTO cases VALUES ('x', 'y')")
    assert rows(shop, "SELECT case FROM cases WHERE case = 'x' UNION SELECT v end FROM t") == [("a",), ("b",), ("x",)]
    shop.sql("INSERT INTO cases SELECT case, end FROM cases")
    assert rows(shop, "SELECT CASE case WHEN 'x' THEN case END AS case FROM cases") == [("x",), ("x",)]
