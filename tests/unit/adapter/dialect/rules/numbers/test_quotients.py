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
        ("duckdb", "id / 2", "id / 2"),
    ],
)  # fmt: skip
def test_a_quotient_of_integers_is_exact(dialect, text, expected):
    made = translated(dialect, text).replace("( ", "(").replace(" )", ")")
    assert made == f"SELECT {expected} FROM orders"


def test_a_quotient_of_what_is_no_known_quotient_is_tested_by_its_parts():
    made = translated("postgres", "x / 2 / id")
    inner = f"IF(TYPEOF(x) IN {KINDS}, CAST(x / 2 AS BIGINT), x / 2)"
    assert f"IF( TYPEOF(x) IN {KINDS}, CAST({inner} / id AS BIGINT), {inner} / id )" in made
