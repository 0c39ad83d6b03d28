"""Counterparts of functions as texts; their values in Spark are in tests/functional/test_dialect_functions.py."""

from __future__ import annotations

import pytest
from sqlglot import parse_one
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.rules.counterparts.templates import REASONS, TEMPLATES
from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "quote_nullable(a + 1)", (r"COALESCE(CONCAT('\'', REPLACE(CAST(( a + 1 ) AS STRING), '\'', '\'\'')"
         r", '\''), 'NULL')")),
        ("duckdb", "add(a, b) * 2", "( a + b ) * 2"),
        ("snowflake", "to_date('1704067200'), try_to_date('1704067200000')",
         "DATE_FROM_UNIX_DATE(19723), DATE_FROM_UNIX_DATE(19723)"),
        ("postgres", "regexp_substr(a, 'b', 1, 2), regexp_substr(a, 'b(c)', 1, 1, 'i', 1)",
         ("GET(REGEXP_EXTRACT_ALL(a, 'b', 0), 1), IF(a RLIKE CONCAT('(?i)', 'b(c)'), REGEXP_EXTRACT(a, "
          "CONCAT('(?i)', 'b(c)'), 1), NULL)")),
        ("redshift", "subarray(a, b + 1, 2)", "SLICE(a, ( b + 1 ) + 1, 2)"),
        ("redshift", "subarray(a, 1)", "SLICE(a, 1 + 1, SIZE(a))"),
        ("postgres", "s.age(a), s.prefix(b)", "s.age(a), s.prefix(b)"),
        ("postgres", "num_nulls(a, b)", "( CAST(( a ) IS NULL AS INT) + CAST(( b ) IS NULL AS INT) )"),
        ("postgres", "array_upper(a)", "ARRAY_UPPER(a)"),
        ("databricks", "hll(a)", "HLL(a)"),
        ("snowflake", "hll(a) over (partition by b)", "APPROX_COUNT_DISTINCT(a) OVER (PARTITION BY b)"),
        ("snowflake", "hll(distinct a)", "APPROX_COUNT_DISTINCT(a)"),
        ("snowflake", "boolxor_agg(a) filter (where b) or c",
         "( COUNT_IF(CAST(a AS BOOLEAN)) FILTER(WHERE b) = 1 ) OR c"),
        ("trino", "geometric_mean(sum(a)) filter (where b) over (order by c)",
         "EXP(AVG(LN(SUM(a))) FILTER(WHERE b) OVER (ORDER BY c NULLS LAST))"),
        ("bigquery", "array_concat_agg(distinct a) over ()", "FLATTEN(COLLECT_SET(a) OVER ())"),
        ("bigquery", "percentile_disc(a, 0.5) over ()", "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY a) OVER ()"),
        ("duckdb", "first(a order by b) filter (where c)",
         ("TRY_ELEMENT_AT( ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('n0', b IS NULL, 'k0', b, 'v', a)) FILTER(WHERE c)).v, "
          "1 )")),
    ],
)  # fmt: skip
def test_a_function_is_replaced_with_its_arguments(dialect, text, expected):
    assert one_line(translate(f"select {text} from t", dialect)) == f"SELECT {expected} FROM t"


def test_each_text_is_one_expression_of_spark():
    for dialect, texts in TEMPLATES.items():
        for name, given in texts.items():
            for text in [given] if isinstance(given, str) else [one for one in given if one]:
                assert parse_one(text, read="spark").sql("spark"), (dialect, name)
            assert (dialect, name) not in REASONS
