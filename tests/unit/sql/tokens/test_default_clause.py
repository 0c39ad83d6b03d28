"""DEFAULT as a clause of a column, and as a value."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SchemaError, SqlError
from tablestore_engine.schema.types.types import NULL_DEFAULT
from tablestore_engine.sql.tokens.default_clause import default_text, with_default_values
from tablestore_engine.sql.types.types import parse_sql_type


@pytest.mark.parametrize(
    ("kind", "sql", "text"),
    [
        ("int", "3", "3"),
        ("int", "(-3)", "-3"),
        ("int", "NULL", NULL_DEFAULT),
        ("int", "1 + 2", "1 + 2"),
        ("string", "'a b'", "'a b'"),
        ("string", "7", "'7'"),
        ("string", "uuid()", "(CAST(uuid() AS STRING))"),
        ("date", "DATE '2024-02-29'", "'2024-02-29'"),
        ("timestamp_ntz", "TIMESTAMP_NTZ '2024-02-29 01:02:03'", "'2024-02-29 01:02:03'"),
        ("timestamp", "TIMESTAMP '2024-02-29 01:02:03'", "TIMESTAMP '2024-02-29 01:02:03'"),
        ("decimal(5, 2)", "1.5", "1.5"),
        ("boolean", "FALSE", "false"),
        ("array<int>", "array(1, 2)", "array(1, 2)"),
    ],
)
def test_the_text_that_is_kept(kind, sql, text):
    assert default_text("c", parse_sql_type(kind, "c"), sql) == text


@pytest.mark.parametrize(
    ("kind", "sql", "error"),
    [("int", "'x'", SchemaError), ("tinyint", "300", SchemaError), ("int", "(SELECT 1)", SqlError)],
)
def test_wrong_defaults_are_refused(kind, sql, error):
    with pytest.raises(error, match="'c'"):
        default_text("c", parse_sql_type(kind, "c"), sql)


@pytest.mark.parametrize(
    ("query", "filled"),
    [
        ("VALUES (1, DEFAULT), (default, 'DEFAULT')", "VALUES (1, <b>), (<a>, 'DEFAULT')"),
        ("VALUES DEFAULT, 2, DEFAULT", "VALUES <a>, 2, <a>"),
        ("VALUES (f(1, DEFAULT), DEFAULT)", "VALUES (f(1, DEFAULT), <b>)"),
        ("WITH x AS (SELECT 1) VALUES (1, DEFAULT)", "WITH x AS (SELECT 1) VALUES (1, <b>)"),
        ("SELECT DEFAULT FROM VALUES (DEFAULT)", "SELECT <a> FROM VALUES (DEFAULT)"),
        ("SELECT DISTINCT x, default AS y", "SELECT DISTINCT x, <b> AS y"),
        ("SELECT f(DEFAULT), DEFAULT d FROM t", "SELECT f(DEFAULT), <b> d FROM t"),
        ("SELECT `DEFAULT`, t.default, default + 1", "SELECT `DEFAULT`, t.default, default + 1"),
        (
            "SELECT 1, DEFAULT UNION ALL SELECT DEFAULT, 2 ORDER BY DEFAULT",
            "SELECT 1, <b> UNION ALL SELECT <a>, 2 ORDER BY DEFAULT",
        ),
        (
            "WITH x AS (SELECT DEFAULT) SELECT count(*), DEFAULT FROM x WHERE (SELECT DEFAULT)",
            "WITH x AS (SELECT DEFAULT) SELECT count(*), <b> FROM x WHERE (SELECT DEFAULT)",
        ),
        ("SELECT 2 * 3, DEFAULT", "SELECT 2 * 3, <b>"),
        ("FROM t SELECT DEFAULT", "FROM t SELECT DEFAULT"),
        ("VALUES (1, 2, DEFAULT)", "VALUES (1, 2, NULL)"),
    ],
)
def test_default_as_a_value(query, filled):
    assert with_default_values(query, ["a", "b"], lambda name: f"<{name}>") == filled


@pytest.mark.parametrize(
    ("query", "filled"),
    [
        (
            "VALUES (1, DEFAULT), (DEFAULT, 'x')",
            "SELECT col1, if(col3, uuid(), col2) FROM VALUES (1, NULL, true), (7, 'x', false)",
        ),
        (
            "WITH q AS (SELECT 1) VALUES (f(1, 2), default)",
            "WITH q AS (SELECT 1) SELECT col1, if(col3, uuid(), col2) FROM VALUES (f(1, 2), NULL, true)",
        ),
        ("VALUES (DEFAULT, 'x'), (2, uuid())", "VALUES (7, 'x'), (2, uuid())"),
        ("VALUES (1, DEFAULT) AS v(a, b)", "VALUES (1, uuid()) AS v(a, b)"),
    ],
)
def test_a_random_default_is_behind_the_rows(query, filled):
    """Spark takes no random value in VALUES."""
    assert with_default_values(query, ["a", "b"], {"a": "7", "b": "uuid()"}.__getitem__) == filled


def test_a_random_default_of_bare_rows():
    filled = "SELECT if(col2, rand(), col1) FROM VALUES (NULL, true), (2, false), ((3)+4, false)"
    assert with_default_values("VALUES DEFAULT, 2, ((3)+4)", ["a"], lambda _: "rand()") == filled


def test_default_after_a_star_is_refused():
    with pytest.raises(SqlError, match="after \\*"):
        with_default_values("SELECT t.*, DEFAULT FROM t", ["a", "b"], str)
