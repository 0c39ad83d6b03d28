"""Elements of arrays and maps by a computed index: dialects count from 0 or from 1."""

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

NOT_ZERO = "IF(TYPEOF({}) LIKE 'array%' AND CAST(i AS STRING) = '0', NULL, i)"


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("duckdb", "a[i]", f"TRY_ELEMENT_AT(a, {NOT_ZERO.format('a')})"),
        ("duckdb", "list_extract(b, i)", f"TRY_ELEMENT_AT(b, {NOT_ZERO.format('b')})"),
        ("duckdb", "a[1], a[-2], m['k']", "TRY_ELEMENT_AT(a, 1), TRY_ELEMENT_AT(a, -2), m['k']"),
        ("postgres", "a[i], a[2], a[0]", "GET(a, ( i ) - 1), GET(a, 1), GET(a, -1)"),
        ("postgres", "a[length('x')]", "GET(a, LENGTH('x') + -1)"),
        ("trino", "a[i], m[concat('a', 'b')]", "ELEMENT_AT(a, i), ELEMENT_AT(m, CONCAT('a', 'b'))"),
        ("trino", "a[1], a[cardinality(a)]", "ELEMENT_AT(a, 1), ELEMENT_AT(a, SIZE(a))"),
        ("bigquery", "a[offset(i)], a[safe_offset(i)]", "a[i], GET(a, i)"),
        ("bigquery", "a[ordinal(i)], a[offset(0)]", "ELEMENT_AT(a, i), ELEMENT_AT(a, 1)"),
        ("snowflake", "a[i], a[-1], a[length(b)]", "a[i], GET(a, -1), GET(a, LENGTH(b))"),
        (
            "snowflake",
            "array_size(array_agg(v:k)), array_size(v:l)",
            "SIZE(COLLECT_LIST(GET_JSON_OBJECT(v, '$.k'))), JSON_ARRAY_LENGTH(GET_JSON_OBJECT(v, '$.l'))",
        ),
        ("redshift", "a[i]", "a[i]"),
    ],
)
def test_elements(dialect, text, expected):
    items = one_line(translate(f"select {text} from t", dialect)).removeprefix("SELECT ").removesuffix(" FROM t")
    assert items == expected


def test_a_delimiter_that_is_computed_may_be_null_or_empty():
    made = one_line(translate("select string_to_array(s, d) from t", "postgres"))
    assert "IF( d IS NULL, FILTER(SPLIT(s, ''), _x -> _x <> '')," in made
    assert "IF(d = '', IF(s IS NULL, NULL, ARRAY(s)), SPLIT(" in made


def test_a_null_is_in_no_array_of_postgres():
    made = one_line(translate("select a <@ b, a <@ array[1, null] from t", "postgres"))
    assert "SIZE(ARRAY_EXCEPT(a, ARRAY_COMPACT(b))) = 0" in made
    assert "SIZE(ARRAY_EXCEPT(a, ARRAY_COMPACT(ARRAY(1, NULL)))) = 0" in made


TYPES = {"l": "array<int>", "n": "int", "s": "string"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "array[1, 2] || 3", "CONCAT(ARRAY(1, 2), ARRAY(3))"),
        ("postgres", "3 || array[1]", "CONCAT(ARRAY(3), ARRAY(1))"),
        ("postgres", "l || n", "CONCAT(COALESCE(l, ARRAY()), ARRAY(n))"),
        ("postgres", "'a'::text || l", "CONCAT(ARRAY(CAST('a' AS STRING)), COALESCE(l, ARRAY()))"),
        ("postgres", "l || '{1}'", "l || '{1}'"),
        ("postgres", "l || array[1]", "COALESCE(CONCAT(l, ARRAY(1)), l, ARRAY(1))"),
        ("postgres", "array_cat(l, l)", "COALESCE(CONCAT(l, l), l, l)"),
        ("postgres", "array[2] || array[1]", "ARRAY(2) || ARRAY(1)"),
        ("postgres", "(l || n)[1]", "GET(( CONCAT(COALESCE(l, ARRAY()), ARRAY(n)) ), 0)"),
        ("trino", "(l || n)[1]", "ELEMENT_AT(( CONCAT(l, ARRAY(n)) ), 1)"),
        ("trino", "l || l", "l || l"),
        ("postgres", "s || 1", "s || 1"),
        ("trino", "l || n", "CONCAT(l, ARRAY(n))"),
        ("trino", "array['a'] || 'b'", "CONCAT(ARRAY('a'), ARRAY('b'))"),
        ("trino", "row(1, 'a')[1]", "1"),
        ("trino", "cast(row(1) as row(x integer))[1]", "( CAST(STRUCT(1) AS STRUCT<x: INT>).x )"),
    ],
)
def test_an_element_is_added_to_an_array(dialect, text, expected):
    made = one_line(translate(f"select {text} from `s`.`t`", dialect, lambda parts: TYPES))
    assert made == f"SELECT {expected} FROM `s`.`t`"
