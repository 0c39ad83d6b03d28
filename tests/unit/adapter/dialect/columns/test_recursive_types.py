"""Recursive queries whose later rows have the types of the first ones."""

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

TYPES = {"orders": {"id": "int", "qty": "int", "amount": "decimal(10,2)", "share": "double", "day": "date"}}


@pytest.mark.parametrize(
    ("dialect", "first", "later", "expected"),
    [
        # DuckDB 2.0.1: the type of each column is that of the first query
        ("duckdb", "cast(1 as decimal(10, 2))", "x + 1.5",
         ("CAST(1 AS DECIMAL(10, 2)) AS x", "CAST(x + 1.5 AS DECIMAL(10, 2))")),
        ("duckdb", "amount", "r.x * 1.5555", ("amount AS x", "CAST(r.x * 1.5555 AS DECIMAL(10, 2))")),
        ("duckdb", "1", "x * 1.5", ("1 AS x", "CAST(CAST(x * 1.5 AS DECIMAL(38, 0)) AS INT)")),
        ("duckdb", "1", "x + 1 - 2", ("1 AS x", "x + 1 - 2")),
        ("duckdb", "2.5", "x * 3", ("2.5 AS x", "CAST(x * 3 AS DECIMAL(2, 1))")),
        ("duckdb", "share", "qty", ("share AS x", "CAST(qty AS DOUBLE) AS qty")),
        ("postgres", "amount", "amount", ("amount AS x", "amount")),
        ("duckdb", "share", "share", ("share AS x", "share")),
        ("duckdb", "day", "x + interval 1 day", ("day AS x", "CAST(x + INTERVAL '1' DAY AS DATE)")),
        ("snowflake", "amount * 0.5", "x * 2",
         ("CAST(amount * 0.5 AS DECIMAL(38, 10)) AS x", "CAST(x * 2 AS DECIMAL(38, 10))")),
        # PostgreSQL's numeric has any number of digits, and 1.0 is a FLOAT64 in BigQuery.
        ("postgres", "1.0", "x * 1.1", ("CAST(1.0 AS DECIMAL(38, 10)) AS x", "CAST(x * 1.1 AS DECIMAL(38, 10))")),
        ("bigquery", "1.0", "x * 1.1", ("CAST(1.0 AS DOUBLE) AS x", "CAST(x * 1.1 AS DOUBLE)")),
        ("postgres", "cast(id as text)", "x || 'a'", ("CAST(id AS STRING) AS x", "x || 'a'")),
    ],
)  # fmt: skip
def test_later_rows_have_the_types_of_the_first(dialect, first, later, expected):
    queries = f"select {first} as x from orders union all select {later} from r cross join orders"
    text = f"with recursive r as ({queries}) select 1"
    made = one_line(translate(text, dialect, lambda parts: TYPES.get(parts[-1])))
    assert f"( SELECT {expected[0]} FROM orders UNION ALL SELECT {expected[1]} FROM r CROSS JOIN orders )" in made


def test_queries_of_stars_are_left():
    made = translate("with recursive r as (select * from orders union all select r.* from r) select 1", "duckdb")
    assert "CAST" not in made
