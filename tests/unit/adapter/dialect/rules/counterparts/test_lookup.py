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
        ("redshift", "subarray(a, b + 1, 2)", "SLICE(a, ( b + 1 ) + 1, 2)"),
        ("redshift", "subarray(a, 1)", "SLICE(a, 1 + 1, SIZE(a))"),
        ("postgres", "s.age(a), s.prefix(b)", "s.age(a), s.prefix(b)"),
        ("postgres", "num_nulls(a, b)", "( CAST(( a ) IS NULL AS INT) + CAST(( b ) IS NULL AS INT) )"),
        ("postgres", "array_upper(a)", "ARRAY_UPPER(a)"),
        ("databricks", "hll(a)", "HLL(a)"),
        ("snowflake", "hll(a) over (partition by b)", "APPROX_COUNT_DISTINCT(a) OVER (PARTITION BY b)"),
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
