"""Common table expressions that a statement hands to its queries."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.tokens.common_table_expressions import inline_ctes, with_ctes

OUTER = "WITH a AS (SELECT 1)"


@pytest.mark.parametrize(
    ("outer", "query", "joined"),
    [
        (None, "SELECT 1", "SELECT 1"),
        (OUTER, "SELECT * FROM a", f"{OUTER} SELECT * FROM a"),
        (OUTER, "WITH b AS (SELECT 2) SELECT 3", f"{OUTER}, b AS (SELECT 2) SELECT 3"),
        (OUTER, "WITH RECURSIVE b AS (SELECT 2) SELECT 3", "WITH RECURSIVE a AS (SELECT 1), b AS (SELECT 2) SELECT 3"),
        (
            "WITH RECURSIVE a AS (SELECT 1)",
            "WITH RECURSIVE b AS (SELECT 2) SELECT 3",
            "WITH RECURSIVE a AS (SELECT 1), b AS (SELECT 2) SELECT 3",
        ),
    ],
)
def test_a_query_begins_with_those_of_its_statement(outer, query, joined):
    assert with_ctes(outer, query) == joined


def test_each_outermost_subquery_of_an_expression_begins_with_them():
    expression = "x IN (SELECT i FROM a WHERE j IN (SELECT 1)) AND (y > 1) AND exists(FROM a)"
    assert inline_ctes(None, expression) == expression
    assert inline_ctes(OUTER, expression) == (
        f"x IN ({OUTER} SELECT i FROM a WHERE j IN (SELECT 1)) AND (y > 1) AND exists({OUTER} FROM a)"
    )
