"""Intervals of several units, under other names, and with fractions, as sums of Spark's."""

from __future__ import annotations

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "t + interval '2 days 1 month'", "t + INTERVAL '1' MONTH + INTERVAL '2' DAY"),
        ("postgres", "t - interval '1 year 3 hours'", "t - INTERVAL '1' YEAR - INTERVAL '3' HOUR"),
        ("postgres", "t + interval '1.5 hours'", "t + INTERVAL '5400' SECOND"),
        ("postgres", "t + interval '3 mons'", "t + INTERVAL '3' MONTH"),
        ("postgres", "t + interval '-01:30'", "t + INTERVAL '-5400' SECOND"),
        ("postgres", "t + interval '2 decades'", "t + INTERVAL '240' MONTH"),
        ("postgres", "t + '1 day'::interval", "t + INTERVAL '1' DAY"),
        ("postgres", "t + (n || ' days')::interval", "t + ( ( n ) * INTERVAL '1' DAY )"),
        ("duckdb", "t + interval (n) hour", "t + ( n ) * INTERVAL '1' HOUR"),
        ("duckdb", "t + to_days(n)", "t + ( n ) * INTERVAL '1' DAY"),
        ("duckdb", "t + to_hours(n + 1)", "t + ( n + 1 ) * INTERVAL '1' HOUR"),
        ("snowflake", "d + interval '1 year, 2 days'", "d + INTERVAL '1' YEAR + INTERVAL '2' DAY"),
    ],
)
def test_an_interval_becomes_intervals_of_one_unit(dialect, text, expected):
    assert one_line(translate(f"select {text} from x", dialect)) == f"SELECT {expected} FROM x"
