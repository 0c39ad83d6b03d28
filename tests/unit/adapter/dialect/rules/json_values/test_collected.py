"""JSON of rows, with the clauses of its aggregate; the values are in tests/functional."""

from __future__ import annotations

import pytest
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
