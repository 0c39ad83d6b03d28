"""Columns whose kind the text or the tables show, and what is made of them."""

from __future__ import annotations

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

TYPES = {"a": "date", "b": "date", "ts": "timestamp", "n": "int"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "select a - b as d from s.days where a - b > 3",
         "SELECT DATEDIFF(a, b) AS d FROM s.days WHERE DATEDIFF(a, b) > 3"),
        ("snowflake", "with x as (select p::date as a, q::date as b from t) select a - b as d from x",
         "WITH x AS ( SELECT CAST(p AS DATE) AS a, CAST(q AS DATE) AS b FROM t ) SELECT DATEDIFF(a, b) AS d FROM x"),
        ("duckdb", "with x as (select max(a) as m, min(b) as l from s.days) select m - l as d from x",
         "WITH x AS ( SELECT MAX(a) AS m, MIN(b) AS l FROM s.days ) SELECT DATEDIFF(m, l) AS d FROM x"),
        ("redshift", "select coalesce(a, b) - case when n > 1 then a end as d from s.days",
         "SELECT DATEDIFF(COALESCE(a, b), CASE WHEN n > 1 THEN a END) AS d FROM s.days"),
        ("postgres", "select (a - b)::text as d from s.days",
         "SELECT CAST(( DATEDIFF(a, b) ) AS STRING) AS d FROM s.days"),
        ("postgres", "select a - ts, a - n, case when n > 1 then a else ts end - a from s.days",
         "SELECT a - ts, a - n, CASE WHEN n > 1 THEN a ELSE ts END - a FROM s.days"),
        ("trino", "select a - b as d from s.days", "SELECT a - b AS d FROM s.days"),
    ],
)  # fmt: skip
def test_differences_of_dates_are_numbers_of_days(dialect, text, expected):
    assert one_line(translate(text, dialect, lambda parts: TYPES if parts[-1] == "days" else None)) == expected
