"""Operators of JSON, which texts and arrays have with another meaning; their values are in tests/functional."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select a || b from t", "SELECT a || b FROM t"),
        ("select a - 1 from t", "SELECT a - 1 FROM t"),
        ("select j ->> 'k' || 'x' from t", "SELECT GET_JSON_OBJECT(j, '$.k') || 'x' FROM t"),
        ("select a @> array[1] from t", "SELECT SIZE(ARRAY_EXCEPT(ARRAY(1), ARRAY_COMPACT(a))) = 0 FROM t"),
        ("select a <@ array[1] from t", "SELECT SIZE(ARRAY_EXCEPT(a, ARRAY(1))) = 0 FROM t"),
    ],
)
def test_texts_numbers_and_arrays_keep_their_operators(text, expected):
    assert one_line(translate(text, "postgres")) == expected


@pytest.mark.parametrize(
    "text",
    [
        "select a::jsonb || b from t",
        "select j -> 'k' || b from t",
        "select jsonb_build_object('k', a) || b from t",
        "select coalesce(a::jsonb, b) || c from t",
        "with c as (select a::jsonb as j from t) select j || b from c",
        "select a::jsonb || b || c from t",
    ],
)
def test_a_value_that_is_surely_json_is_joined_as_json(text):
    made = one_line(translate(text, "postgres"))
    assert "MAP_CONCAT" in made
    assert "||" not in made


def test_containment_asks_for_each_part():
    text = """select j::jsonb @> '{"k": "it''s", "l": [true]}' from t"""
    made = one_line(translate(text, "postgres")).replace("( ", "(").replace(" )", ")")
    assert (
        "CAST(TRY_VARIANT_GET(TRY_PARSE_JSON(CAST(j AS STRING)), '$[\\'k\\']', 'variant') AS STRING) = 'it\\'s'" in made
    )
    assert "_e0 -> (SCHEMA_OF_VARIANT(_e0) = 'BOOLEAN' AND CAST(_e0 AS STRING) = 'true')" in made


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(j -> 'a') || (j ->> 'b')", "JSON and a text"),
        ("upper(a) || (j -> 'b')", "JSON and a text"),
        ("(j -> 'a') || ' '", "JSON and a text"),
        ("""j::jsonb @> '{"a": 1e400}'""", "the number 1e400"),
        ("""j::jsonb @> '{"a": 0.00000000001}'""", "the number 0.00000000001"),
        ("""j::jsonb @> '{"a": NaN}'""", "no JSON"),
    ],
)
def test_texts_and_long_numbers_are_refused(text, reason):
    with pytest.raises(DbtRuntimeError, match=reason):
        translate(f"select {text} from t", "postgres")


@pytest.mark.parametrize(
    "text",
    [
        "select coalesce(j -> 'a', '[]'::jsonb) || '[1]'::jsonb from t",
        "select case when b then j -> 'a' else '[]'::jsonb end || '[1]' from t",
        "select jsonb_agg(coalesce(j -> 'a', '{}'::jsonb)) from t",
        "select jsonb_build_object('k', coalesce(j -> 'a', '{}'::jsonb)) from t",
    ],
)
def test_a_branch_that_is_a_part_of_json_has_its_quotes(text):
    assert "TO_JSON(VARIANT_GET(TRY_PARSE_JSON(j), '$.a'))" in one_line(translate(text, "postgres"))


def test_without_a_key_that_is_null_json_is_null():
    assert "IF( CAST(k AS STRING) IS NULL, NULL," in one_line(translate("select j::jsonb - k::text from t", "postgres"))
