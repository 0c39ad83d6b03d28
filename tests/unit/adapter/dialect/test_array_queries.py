"""Queries over one array in BigQuery as functions of it; their values are in tests/functional."""

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

NO_ROWS = {"": "{}", "array": "COALESCE({}, ARRAY())", "exists": "COALESCE({}, FALSE)"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(select v from unnest(l) where k = 'a')",
         "TRY_ELEMENT_AT(TRANSFORM(FILTER(l, _e -> _e.k = 'a'), _e -> _e.v), 1)"),
        ("array(select distinct x from unnest(l) as x)", "ARRAY_DISTINCT(TRANSFORM(l, x -> x))"),
        ("array(select x.a from unnest(l) as x order by x.b desc limit 3)",
         ("SLICE(REVERSE(ARRAY_SORT(TRANSFORM(l, x -> NAMED_STRUCT('n0', NOT x.b IS NULL, 'k0', x.b, 'v', x.a)))).v, "
          "1, 3)")),
        ("array(select x from unnest(l) as x with offset as o where o > 0 order by o)",
         "TRANSFORM(FILTER(TRANSFORM(l, (_x, _i) -> NAMED_STRUCT('x', _x, 'o', _i)), _e -> _e.o > 0), _e -> _e.x)"),
        # An alias and a number mean the item.
        ("array(select -a as a from unnest(l) order by a, 1)",
         ("ARRAY_SORT(TRANSFORM(l, _e -> NAMED_STRUCT('n0', NOT -_e.a IS NULL, 'k0', -_e.a, "
          "'n1', NOT -_e.a IS NULL, 'k1', -_e.a, 'v', -_e.a))).v")),
        ("array(select -a as a from unnest(l) order by 2 * a)",
         ("ARRAY_SORT(TRANSFORM(l, _e -> NAMED_STRUCT('n0', NOT 2 * (-_e.a) IS NULL, 'k0', 2 * (-_e.a), "
          "'v', -_e.a))).v")),
        ("array(select as struct a, b + 1 as c from unnest(l))",
         "TRANSFORM(l, _e -> NAMED_STRUCT('a', _e.a, 'c', _e.b + 1))"),
        ("exists(select 1 from unnest(l) with offset where offset = 2 and a = 1)",
         ("EXISTS(TRANSFORM(l, (_x, _i) -> NAMED_STRUCT('_v', _x, 'offset', _i)), _e -> _e.offset = 2 AND "
          "_e._v.a = 1)")),
    ],
)  # fmt: skip
def test_a_query_over_an_array_becomes_a_function_of_it(text, expected):
    translated = one_line(translate(f"select {text} from t", "bigquery"))
    expected = NO_ROWS[text.partition("(")[0]].format(expected)
    assert "".join(translated.split()) == "".join(f"SELECT {expected} FROM t".split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(select count(*) from unnest(l))", "COALESCE(SIZE(l), 0)"),
        ("(select max(x) from unnest(l) as x)", "ARRAY_MAX(TRANSFORM(l, x -> x))"),
        ("array(select x + 1 from unnest([1, 2]) as x)", "TRANSFORM(ARRAY(1, 2), x -> x + 1)"),
        ("exists(select max(x) from unnest(l) as x)", "TRUE"),
        ("'a' in unnest(l)", "IF(SIZE(l) > 0, ARRAY_CONTAINS(l, 'a'), FALSE)"),
        ("a not in unnest(['a'])", "NOT ARRAY_CONTAINS(ARRAY('a'), a)"),
    ],
)
def test_an_array_that_is_null_has_no_rows(text, expected):
    assert one_line(translate(f"select {text} from t", "bigquery")) == f"SELECT {expected} FROM t"
