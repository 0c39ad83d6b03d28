"""ARRAY(SELECT …) as a query of one list, or as a function of an array; the values are in tests/functional."""

from __future__ import annotations

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("array(select unnest(l))", "COALESCE(l, ARRAY())"),
        ("array(select distinct unnest(l))", "COALESCE(ARRAY_DISTINCT(l), ARRAY())"),
        ("array(select jsonb_array_elements_text(j))", "COALESCE(FROM_JSON(j, 'ARRAY<STRING>'), ARRAY())"),
        ("array(select upper(x) from unnest(l) as x)", "COALESCE(TRANSFORM(l, x -> UPPER(x)), ARRAY())"),
        ("array(select u.x from unnest(l) as u(x) where u.x > 1)",
         "COALESCE(TRANSFORM(FILTER(l, x -> x > 1), x -> x), ARRAY())"),
        ("array(select jsonb_object_keys(j))", "COALESCE(JSON_OBJECT_KEYS(j), ARRAY())"),
        ("array(select * from unnest(l))", "COALESCE(TRANSFORM(l, unnest -> unnest), ARRAY())"),
        ("exists(select count(*) from unnest(l) as x where x > 1)", "TRUE"),
        ("(select max(distinct x) from unnest(l) as x)", "ARRAY_MAX(TRANSFORM(l, x -> x))"),
        ("(select max(x) from unnest(l) as x limit 0)", "( SELECT MAX(x) FROM EXPLODE(l) AS x(x) LIMIT 0 )"),
        ("exists(select 1 from unnest(t.l) as t where t = 1)", "COALESCE(EXISTS(t.l, t -> t = 1), FALSE)"),
    ],
)  # fmt: skip
def test_a_query_over_an_array_is_a_function_of_it(text, expected):
    assert one_line(translate(f"select {text} from t", "postgres")) == f"SELECT {expected} FROM t"


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "duckdb"])
def test_another_query_is_one_of_a_list(dialect):
    made = one_line(translate("select array(select distinct a from t where b > 1)", dialect))
    assert "COLLECT_LIST(DISTINCT NAMED_STRUCT('v', a)).v" in made
    assert made.startswith("SELECT COALESCE(")


@pytest.mark.parametrize("word", ["union", "union all"])
def test_rows_of_two_queries_are_one_list(word):
    made = one_line(translate(f"select array(select a from t {word} select b from u)", "postgres"))
    assert f"FROM ( SELECT a FROM t {word.upper()} SELECT b FROM u ) AS _rows(_item)" in made
