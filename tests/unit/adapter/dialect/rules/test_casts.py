"""Casts as texts; their values in Spark are in tests/functional/test_dialects.py."""

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("to_decimal('1,234.5', '9,999.9')", "CAST(TO_NUMBER('1,234.5', '9,999.9') AS DECIMAL(38, 0))"),
        ("to_number('1,234.5', '9,999.9', 10, 1)", "CAST(TO_NUMBER('1,234.5', '9,999.9') AS DECIMAL(10, 1))"),
        ("try_to_decimal(a, '99')", "TRY_CAST(TRY_TO_NUMBER(a, '99') AS DECIMAL(38, 0))"),
        ("to_number(a, 10, 2)", "CAST(a AS DECIMAL(10, 2))"),
        ("to_number(a)", "CAST(a AS DECIMAL(38, 0))"),
    ],
)
def test_a_number_of_a_text_is_whole_without_a_scale(text, expected):
    assert one_line(translate(f"select {text} from t", "snowflake")) == f"SELECT {expected} FROM t"
