"""Windows that Spark refuses, as texts."""

from __future__ import annotations

from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

CASES = [
    ("postgres", "select row_number() over () from t", "SELECT ROW_NUMBER() OVER (ORDER BY 1) FROM t"),
    ("bigquery", "select rank() over (partition by a), sum(b) over (), lag(c) over (order by d) from t",
     ("SELECT RANK() OVER (PARTITION BY a ORDER BY 1), SUM(b) OVER (), LAG(c) OVER (ORDER BY d) FROM t")),
    ("trino", "select lead(a) ignore nulls over () from t", "SELECT LEAD(a) IGNORE NULLS OVER (ORDER BY 1) FROM t"),
    ("duckdb", "select a from t qualify row_number() over (partition by b) = 1",
     ("SELECT * EXCEPT (_kept) FROM ( SELECT a, ( ROW_NUMBER() OVER (PARTITION BY b ORDER BY 1) = 1 ) AS _kept "
     "FROM t ) AS _t WHERE _kept")),
    ("postgres", "select ntile(2) over w, sum(a) over w from t window w as (partition by b)",
     ("SELECT NTILE(2) OVER (PARTITION BY b ORDER BY 1), SUM(a) OVER w FROM t WINDOW w AS (PARTITION BY b)")),
    ("postgres", "select rank() over (w order by c), count(*) over v from t window w as (partition by b), v as (w)",
     ("SELECT RANK() OVER (PARTITION BY b ORDER BY c NULLS LAST), COUNT(*) OVER v FROM t WINDOW w AS (PARTITION "
     "BY b), v AS (PARTITION BY b)")),
    ("redshift", "select sum(a) over (range between unbounded preceding and current row) from t",
     "SELECT SUM(a) OVER (ORDER BY 1 range BETWEEN UNBOUNDED preceding AND CURRENT ROW) FROM t"),
    ("snowflake", "select conditional_true_event(a) over (order by b) from t",
     ("SELECT COUNT_IF(a) OVER (ORDER BY b NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM "
     "t")),
    ("trino", "select lag(a) over w, sum(a) over w from t window w as (order by b rows 1 preceding)",
     ("SELECT LAG(a) OVER (ORDER BY b NULLS LAST), SUM(a) OVER w FROM t WINDOW w AS (ORDER BY b NULLS LAST rows "
      "BETWEEN 1 preceding AND CURRENT ROW)")),
    ("postgres", "select rank() over (order by b rows 1 preceding), nth_value(a, 2) over (order by b rows 1 preceding)",
     ("SELECT RANK() OVER (ORDER BY b NULLS LAST), NTH_VALUE(a, 2) OVER (ORDER BY b NULLS LAST rows BETWEEN 1 "
      "preceding AND CURRENT ROW)")),
    ("databricks", "select row_number() over () from t", "SELECT ROW_NUMBER() OVER () FROM t"),
]  # fmt: skip


def test_windows_have_the_order_that_spark_wants():
    for dialect, text, expected in CASES:
        assert one_line(translate(text, dialect)) == expected, text
