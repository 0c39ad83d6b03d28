"""Integers of hexadecimal digits by way of BIT(n); their values are in tests/functional/test_dialect_values.py."""

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("('x' || substr(a, 1, 16))::bit(64)::bigint",
         "CAST(CONV(RPAD(SUBSTRING(a, 1, 16), 16, '0'), 16, -10) AS BIGINT)"),
        ("('X' || a || b)::bit(28)::bigint", "CAST(CONV(RPAD(a || b, 7, '0'), 16, -10) AS BIGINT)"),
        ("cast('x1f'::bit(16) as int)", "CAST(CAST(CONV(RPAD('1f', 4, '0'), 16, -10) AS BIGINT) AS INT)"),
        ("('x' || a)::bit(32)::int",
         "CAST(SHIFTRIGHT(SHIFTLEFT(CAST(CONV(RPAD(a, 8, '0'), 16, -10) AS BIGINT), 32), 32) AS INT)"),
    ],
)  # fmt: skip
def test_bits_of_digits_are_an_integer(text, expected):
    assert one_line(translate(f"select {text} as id from t", "postgres")) == f"SELECT {expected} AS id FROM t"


@pytest.mark.parametrize(
    "text", ["5::bit(8)", "a::bit(64)::bigint", "('x' || a)::bit(63)::bigint", "('x' || a)::bit(8)"]
)
def test_other_strings_of_bits_are_refused(text):
    with pytest.raises(DbtRuntimeError, match=r"the type BIT\(n\), except in .*, in line 1, column"):
        translate(f"select {text} from t", "postgres")
