"""Which values a column may not hold, and the casts that say so."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T

from tablestore_engine.spark.expressions.checked_cast import (
    NOT_HELD,
    checked_cast,
    may_be_out_of_range,
    may_fail,
)

BYTE, INT, LONG, DOUBLE = T.ByteType(), T.IntegerType(), T.LongType(), T.DoubleType()


@pytest.mark.parametrize(
    ("given", "wanted", "may_be"),
    [
        (LONG, INT, True),
        (INT, LONG, False),
        (INT, INT, False),
        (DOUBLE, LONG, True),
        (LONG, DOUBLE, False),
        (T.DecimalType(38, 0), T.FloatType(), False),
        (DOUBLE, T.DecimalType(38, 2), True),
        (INT, T.DecimalType(10, 0), False),
        (INT, T.DecimalType(11, 2), True),
        (LONG, T.DecimalType(19, 0), False),
        (T.DecimalType(3, 0), BYTE, True),
        (T.DecimalType(3, 1), BYTE, False),
        (T.DecimalType(9, 2), T.DecimalType(9, 3), True),
        (T.DecimalType(9, 2), T.DecimalType(8, 1), True),  # 9999999.99 is rounded to eight digits
        (T.DecimalType(9, 1), T.DecimalType(10, 2), False),
        (T.StringType(), INT, False),
        (T.BooleanType(), INT, False),
        (LONG, T.StringType(), False),
    ],
)
def test_numbers_that_a_type_may_not_hold(given, wanted, may_be):
    assert may_be_out_of_range(given, wanted) is may_be


@pytest.mark.parametrize(
    ("given", "wanted", "may"),
    [
        (T.StringType(), T.DateType(), True),
        (T.StringType(), INT, True),
        (T.StringType(), T.StringType(), False),
        (T.TimestampType(), INT, True),
        (T.TimestampType(), T.DateType(), False),
        (LONG, INT, True),
        (INT, LONG, False),
    ],
)
def test_casts_that_may_fail(given, wanted, may):
    assert may_fail(given, wanted) is may


def test_a_checked_cast_knows_what_is_cast():
    found = checked_cast("(t.n + 1)", INT, "n", LONG)
    assert (found.given_sql, found.given) == ("(t.n + 1)", LONG)
    assert found.startswith(
        "coalesce(try_cast((t.n + 1) AS int), CASE WHEN (t.n + 1) IS NOT NULL THEN CAST(raise_error("
    )
    assert found.endswith(" AS int) END)")


def test_the_message_in_an_error_of_spark():
    text = "[USER_RAISED_EXCEPTION] Column 'a.b' (decimal(5,2)) cannot hold the value 'x\ny'."
    assert NOT_HELD.search(text)[0] == "Column 'a.b' (decimal(5,2)) cannot hold the value 'x\ny'."
