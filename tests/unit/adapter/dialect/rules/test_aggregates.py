"""Aggregates as texts; their values in Spark are in tests/functional/test_dialects.py."""

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

SORTED = "ARRAY_SORT(COLLECT_LIST(DISTINCT NAMED_STRUCT('n0', a IS NULL, 'k0', a, 'v', a))"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("redshift", "listagg(distinct a, ',') within group (order by a)"),
        ("snowflake", "listagg(distinct a, ',') within group (order by a)"),
        ("postgres", "string_agg(distinct a, ',' order by a)"),
    ],
)
def test_distinct_texts_in_an_order_are_a_sorted_set(dialect, text):
    made = one_line(translate(f"select {text}, count(distinct b) from t", dialect))
    assert SORTED in made
    assert "LISTAGG" not in made


def test_texts_in_an_order_are_left_to_spark():
    made = one_line(translate("select listagg(a, ',') within group (order by b) from t", "redshift"))
    assert made == "SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY b NULLS LAST) FROM t"
