"""Queries that only ask for columns."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.query.empty_queries import returns_nothing


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select * from (select * from t) as x where false limit 0", True),
        ("with x as (select * from t) select * from x WHERE FALSE", True),
        ("select * from t where 1 = 0 -- as JDBC has it", True),
        ("select * from t where a group by b limit 0", True),
        ("select * from t union select * from s limit 0", True),
        ("select * from t where false or a", False),
        ("select * from t where false union select * from s", False),
        ("select * from s union select * from t where false", False),
        ("select * from (select * from t limit 0) x right join s", False),
        ("select * from (select * from t where false)", False),
        ("from t |> aggregate count(*) as n |> where false |> union all (from s)", False),
        ("select * from t where `false`", False),
        ("select count(*), (select count(*) from s) from t where false", False),
        ("select *, count(*) from t where false", False),
        ("select * from t limit 10", False),
    ],
)
def test_queries_without_rows(query, expected):
    assert returns_nothing(query) is expected
