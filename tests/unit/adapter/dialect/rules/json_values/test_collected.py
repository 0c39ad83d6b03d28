"""JSON of rows, with the clauses of its aggregate; the values are in tests/functional."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

KEPT = "MAP( 'ignoreNullFields', 'false'"


@pytest.mark.parametrize("name", ["jsonb_agg", "json_agg"])
def test_the_clauses_stay_at_the_aggregate(name):
    made = one_line(translate(f"select {name}(a) filter (where a > 1) over (partition by b) from t", "postgres"))
    assert "COLLECT_LIST(NAMED_STRUCT('v', a)) FILTER(WHERE a > 1) OVER (PARTITION BY b)" in made
    assert KEPT in made


def test_json_values_are_joined_and_plain_ones_written():
    joined = one_line(translate("select jsonb_agg(j -> 'k') from t group by a", "postgres"))
    assert joined.startswith("SELECT CONCAT( '[', ARRAY_JOIN(")
    assert one_line(translate("select jsonb_agg(a) from t group by b", "postgres")).startswith("SELECT TO_JSON(")


def test_a_whole_row_is_an_object():
    def known(parts):
        return {"a": "int"}

    made = one_line(translate("select jsonb_agg(t) from s.t group by a", "postgres", known))
    assert "NAMED_STRUCT('v', STRUCT(t.*))" in made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with c as (select jsonb_build_object('a', a) as o from t) select jsonb_agg(o) from c", "ARRAY_JOIN("),
        ("select jsonb_agg(x.o) from (select a::jsonb as o from t) x", "ARRAY_JOIN("),
        ("with c as (select a::jsonb as o from t) select jsonb_build_object('k', o) from c", "TRY_PARSE_JSON(o)"),
        ("with c as (select a::jsonb as o from t) select jsonb_object_agg(b, o) from c", "TRY_PARSE_JSON(o)"),
        ("select jsonb_build_object('l', coalesce(jsonb_agg(a), '[]')) from t", "TRY_PARSE_JSON( COALESCE("),
        ("select json_agg(row(a, b)) from t", "NAMED_STRUCT('f1', a, 'f2', b)"),
        ("select json_agg(t.*) from t", "STRUCT(t.*)"),
    ],
)
def test_json_of_another_query_stays_json(text, expected):
    assert expected in one_line(translate(text, "postgres"))


@pytest.mark.parametrize("value", ["jsonb_agg(o)", "jsonb_build_object('k', o)", "o || '[1]'::jsonb"])
def test_a_part_that_another_query_took_is_refused(value):
    with pytest.raises(DbtRuntimeError, match="the part 'o' of JSON of another query"):
        translate(f"with c as (select j -> 'a' as o from t) select {value} from c", "postgres")
