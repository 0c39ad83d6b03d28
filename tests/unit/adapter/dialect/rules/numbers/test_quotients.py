"""Quotients as texts; their values in Spark are in tests/functional/test_dialects.py."""

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

TYPES = {"orders": {"id": "bigint", "qty": "int", "amount": "decimal(10,2)", "at": "timestamp", "status": "string"}}
KINDS = "('tinyint', 'smallint', 'int', 'bigint')"


def translated(dialect, text):
    return one_line(translate(f"select {text} from orders", dialect, lambda parts: TYPES.get(parts[-1])))


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("redshift", "id / 2", "id DIV 2"),
        ("trino", "-id / (qty / 3)", "-id DIV (qty DIV 3)"),
        ("postgres", "2 * id / qty % 5", "2 * id DIV qty % 5"),
        ("postgres", "amount / 2", "amount / 2"),
        ("postgres", "id / 2.0", "id / 2.0"),
        ("postgres", "9223372036854775808 / 2", "9223372036854775808 / 2"),
        ("postgres", "status::int / 2", "CAST(CAST(status AS DECIMAL(38, 0)) AS INT) DIV 2"),
        ("postgres", "(case when qty > 1 then 1 else null end) / 2",
         "(CASE WHEN qty > 1 THEN 1 ELSE NULL END) DIV 2"),
        ("postgres", "count(distinct status) / 2", "COUNT(DISTINCT status) DIV 2"),
        ("postgres", "max(qty) filter (where id > 1) / 2", "MAX(qty) FILTER(WHERE id > 1) DIV 2"),
        ("postgres", "(select max(qty) from orders) / 2", "(SELECT MAX(qty) FROM orders) DIV 2"),
        # PostgreSQL 16: select sum(1::bigint) / 2, sum(1) / 2 → 0.5, 0
        ("postgres", "sum(id) over () / 2", "SUM(id) OVER () / 2"),
        ("postgres", "sum(qty) over () / 2", "SUM(qty) OVER () DIV 2"),
        ("trino", "sum(id) over () / 2", "SUM(id) OVER () DIV 2"),
        # select floor(5) / 2, round(5) / 2, abs(-5) / 2 → 2.5, 2.5, 2
        ("postgres", "floor(qty) / 2", "FLOOR(qty) / 2"),
        ("postgres", "abs(qty) / 2", "ABS(qty) DIV 2"),
        ("trino", "floor(qty) / 2", "FLOOR(qty) DIV 2"),
        ("trino", "floor(x) / 2", f"IF(TYPEOF(x) IN {KINDS}, CAST(FLOOR(x) / 2 AS BIGINT), FLOOR(x) / 2)"),
        ("postgres", "extract(year from at) / 10", "EXTRACT(YEAR FROM at) / 10"),
        ("trino", "extract(year from at) / 10", "EXTRACT(YEAR FROM at) DIV 10"),
        ("redshift", "datediff(day, at, at) / 7", "DATEDIFF(CAST(at AS DATE), CAST(at AS DATE)) DIV 7"),
        ("redshift", "count(*) as n, n / 2", "COUNT(*) AS n, n DIV 2"),
        ("trino", "try(qty / id)", "IF(id = 0, NULL, (qty DIV id))"),
        ("postgres", "x / 2", f"IF(TYPEOF(x) IN {KINDS}, CAST(x / 2 AS BIGINT), x / 2)"),
        ("postgres", "(-x + qty) / 2", f"IF(TYPEOF(x) IN {KINDS}, CAST((-x + qty) / 2 AS BIGINT), (-x + qty) / 2)"),
        # DuckDB 2.0.1: typeof(1 / 2), typeof(1.5 / 2), typeof(avg(1.5)) → DOUBLE; 1 / 0 → inf, 0 / 0 → nan
        ("duckdb", "id / 2", "id / 2"),
        ("duckdb", "x / -2.5", "CAST(x AS DOUBLE) / -2.5"),
        ("duckdb", "100.0 * id / nullif(qty, 0)", "CAST(100.0 * id AS DOUBLE) / NULLIF(qty, 0)"),
        ("duckdb", "id / qty", "COALESCE(TRY_DIVIDE(id, qty), id * POWER(qty, -1))"),
        ("duckdb", "amount / 0",
         "COALESCE(TRY_DIVIDE(CAST(amount AS DOUBLE), 0), CAST(amount AS DOUBLE) * POWER(0, -1))"),
        ("duckdb", "id / (count(*) * 2)",
         "COALESCE(TRY_DIVIDE(id, COUNT(*) * 2), id * POWER(COUNT(*) * 2, -1))"),
        ("duckdb", "(at - at) / 2", "(at - at) * 1D / 2"),
        ("duckdb", "amount // 2", "(CAST(amount AS DOUBLE) / 2)"),
        ("duckdb", "id // 2", "id DIV 2"),
        ("duckdb", "mean(id), 1 - avg(amount)",
         "AVG(id), 1 - (CAST(SUM(amount) AS DOUBLE) / NULLIF(COUNT(amount), 0))"),
        ("duckdb", "avg(distinct amount) filter (where id > 1)",
         ("(CAST(SUM(DISTINCT amount) FILTER(WHERE id > 1) AS DOUBLE) / "
          "NULLIF(COUNT(DISTINCT amount) FILTER(WHERE id > 1), 0))")),
        ("duckdb", "avg(amount) over (partition by id)",
         ("(CAST(SUM(amount) OVER (PARTITION BY id) AS DOUBLE) / "
          "NULLIF(COUNT(amount) OVER (PARTITION BY id), 0))")),
        # Trino: 1e0 / 0 → Infinity; 1 / 0 and 1.0 / 0 fail
        ("trino", "cast(id as double) / qty",
         "COALESCE(TRY_DIVIDE(CAST(id AS DOUBLE), qty), CAST(id AS DOUBLE) * POWER(qty, -1))"),
        ("trino", "try(avg(id) / qty)", "COALESCE(TRY_DIVIDE(AVG(id), qty), TRY_MULTIPLY(AVG(id), POWER(qty, -1)))"),
        ("trino", "amount / qty", "amount / qty"),
    ],
)  # fmt: skip
def test_a_quotient_has_the_type_of_the_warehouse(dialect, text, expected):
    made = translated(dialect, text).replace("( ", "(").replace(" )", ")")
    assert made == f"SELECT {expected} FROM orders"


def test_a_quotient_of_what_is_no_known_quotient_is_tested_by_its_parts():
    made = translated("postgres", "x / 2 / id")
    inner = f"IF(TYPEOF(x) IN {KINDS}, CAST(x / 2 AS BIGINT), x / 2)"
    assert f"IF( TYPEOF(x) IN {KINDS}, CAST({inner} / id AS BIGINT), {inner} / id )" in made
