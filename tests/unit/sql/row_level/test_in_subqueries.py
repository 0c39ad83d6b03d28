"""Which conditions of a WHERE clause say that columns are among the rows of a subquery."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.row_level.in_subqueries import is_true, memberships


def owner(parts):
    return parts[-1] if parts[:-1] in ((), ("t",)) else None


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("id IN (SELECT id FROM s)", [(("id",), "SELECT id FROM s", "true")]),
        ("v > 1 AND t.id in ( VALUES (1), (2) )", [(("id",), " VALUES (1), (2) ", "v > 1 AND true")]),
        ("(t.a, b) IN (WITH q AS (SELECT 1, 2) FROM q) AND c", [(("a", "b"), "WITH q AS (SELECT 1, 2) FROM q", "true AND c")]),  # noqa: E501
        ("a IN (SELECT 1) AND b IN (TABLE s)", [(("a",), "SELECT 1", "true AND b IN (TABLE s)"), (("b",), "TABLE s", "a IN (SELECT 1) AND true")]),  # noqa: E501
        ("id IN (1, 2)", []),
        ("id NOT IN (SELECT id FROM s)", []),
        ("NOT id IN (SELECT id FROM s)", []),
        ("id IN (SELECT id FROM s) OR v = 1", []),
        ("id IN (SELECT id FROM s) = false", []),
        ("id + 1 IN (SELECT id FROM s)", []),
        ("s.id IN (SELECT id FROM s)", []),
        ("(id, v + 1) IN (SELECT * FROM s)", []),
        ("EXISTS (SELECT 1 FROM s WHERE s.id = t.id)", []),
    ],
)  # fmt: skip
def test_memberships(where, expected):
    assert [(one.columns, one.query_sql, one.rest_sql) for one in memberships(where, owner)] == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("true", True), ("(( TRUE ))", True), ("true AND c", False), ("NOT true", False), ("`true`", False)],
)
def test_whether_nothing_is_left_to_test(condition, expected):
    assert is_true(condition) is expected
