"""Facts by the text of a query."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.pinned_views.text_facts import has_subquery, named_fields


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


def test_named_fields():
    sql = "SELECT s.F, s . `of it`, s['g'], a[0], t.s.h.i FROM d.t WHERE k = 'a.b' AND x = 1.5"
    assert named_fields(sql) >= {"f", "of it", "g", "s", "h", "i", "t"}
    assert named_fields(sql).isdisjoint(["k", "x", "d"])
