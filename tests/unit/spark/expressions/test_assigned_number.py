"""Which numbers a column may not hold."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T

from tablestore_engine.spark.expressions.assigned_number import may_be_out_of_range

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
