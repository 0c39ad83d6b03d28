"""Which queries are plain selections of one table."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.query.updatable_views import PlainSelection, plain_selection
from tablestore_engine.sql.statements.statement import TableName

T = TableName(None, "t")


@pytest.mark.parametrize(
    ("query", "selection"),
    [
        ("select * from t", PlainSelection(T)),
        ("TABLE s.t", PlainSelection(TableName("s", "t"))),
        ("select a, `b c` from spark_catalog.s.t", PlainSelection(TableName("s", "t"), ("a", "b c"), ("a", "b c"))),
        ("select * from t where a = 1", None),
        ("select a as b, c from t", PlainSelection(T, ("a", "c"), ("b", "c"))),
        ("select a + 1 from t", None),
        ("select distinct a from t", None),
        ("select * from t version as of 1", None),
        ("select * from t join u", None),
        ("select * from (select * from t)", None),
        ("select * from t limit 1", None),
        ("with t as (select 1) select * from t", None),
        ("select 1", None),
    ],
)
def test_plain_selections(query, selection):
    assert plain_selection(query) == selection
