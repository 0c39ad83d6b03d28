"""The statement PIVOT as a query; its rows are in tests/functional."""

from __future__ import annotations

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

SUMS = "SELECT g, SUM(v) FILTER(WHERE k IS NOT DISTINCT FROM 'a') AS `a{}` FROM {} GROUP BY g"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pivot s.t on k in ('a') using sum(v)", SUMS.format("", "s.t")),
        ("pivot s.t on k in ('a') using sum(v) as x group by g", SUMS.format("_x", "s.t")),
        ("from (pivot s.t on k in ('a') using sum(v)) p", f"SELECT * FROM ( {SUMS.format('', 's.t')} ) AS p"),
        ("with c as (from s.t) pivot c on k in ('a') using sum(v)",
         f"WITH c AS ( SELECT * FROM s.t ) {SUMS.format('', 'c')}"),
    ],
)  # fmt: skip
def test_each_value_is_a_column(text, expected):
    made = translate(text, "duckdb", lambda parts: {"g": "int", "k": "string", "v": "int"})
    assert one_line(made).replace("`g`", "g") == expected
