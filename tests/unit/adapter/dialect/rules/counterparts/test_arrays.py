"""Elements of arrays and maps by a computed index: dialects count from 0 or from 1."""

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("duckdb", "a[i], a[i + 1], a[-i]", "TRY_ELEMENT_AT(a, i), TRY_ELEMENT_AT(a, i + 1), TRY_ELEMENT_AT(a, -i)"),
        ("duckdb", "a[1], m['k'], a[length('x')]", "GET(a, 0), m['k'], a[LENGTH('x') + -1]"),
        ("postgres", "a[i], (array[1, 2])[i]", "TRY_ELEMENT_AT(a, i), TRY_ELEMENT_AT(( ARRAY(1, 2) ), i)"),
        ("trino", "a[i], m[concat('a', 'b')]", "ELEMENT_AT(a, i), ELEMENT_AT(m, CONCAT('a', 'b'))"),
        ("trino", "a[1], a[cardinality(a)]", "a[0], a[SIZE(a) + -1]"),
        ("bigquery", "a[offset(i)], a[safe_offset(i)]", "a[i], GET(a, i)"),
        ("bigquery", "a[ordinal(i)], a[offset(0)]", "ELEMENT_AT(a, i), ELEMENT_AT(a, 1)"),
        ("snowflake", "a[i]", "a[i]"),
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
