"""Subqueries of expressions, by the text of a query."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.pinned_queries.text_facts import has_subquery


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT a, (SELECT max(b) FROM u WHERE u.k = t.k) FROM t", True),
        ("SELECT a FROM t WHERE EXISTS(select 1 FROM u WHERE u.k = t.k)", True),
        ("SELECT a FROM t WHERE k NOT IN (\n SELECT k FROM u)", True),
        ("SELECT a FROM t WHERE k = (WITH c AS (SELECT 1 AS k) SELECT k FROM c)", True),
        ("SELECT (SELECT 1)", True),
        ("SELECT a FROM t WHERE EXISTS (-- paid\n SELECT 1 FROM u)", True),
        ("SELECT a FROM t WHERE k IN /* few */ (/* keys */ SELECT k FROM u)", True),
        ("SELECT a, '(SELECT 1)' FROM t -- (SELECT 2)", False),
        ("WITH c AS (SELECT 1 AS k) SELECT * FROM c JOIN (SELECT 2) d ON true", False),
        ("SELECT a FROM (SELECT a FROM t) UNION ALL (SELECT a FROM u)", False),
        ("SELECT extract(DAY FROM d), selected(a) FROM t WHERE (a + b) * (c) > 1", False),
    ],
)
def test_has_subquery(sql, found):
    assert has_subquery(sql) is found
