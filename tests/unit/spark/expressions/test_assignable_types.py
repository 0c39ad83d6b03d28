"""Which types of values a column takes, by the session's policy; tests/spark has Spark's own answers."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T

from tablestore_engine.errors import SchemaError
from tablestore_engine.spark.expressions.assignable_types import check_assignable

INT, TEXT, DATE = T.IntegerType(), T.StringType(), T.DateType()
ROW = T.StructType([T.StructField("a", INT)])


def fits(policy, given, wanted):
    try:
        check_assignable(policy, given, wanted, "v")
    except SchemaError:
        return False
    return True


@pytest.mark.parametrize(
    ("given", "wanted", "ansi", "strict", "legacy"),
    [
        (INT, INT, True, True, True),
        (T.NullType(), T.ArrayType(INT), True, False, True),
        (T.LongType(), INT, True, False, True),
        (INT, T.LongType(), True, True, True),
        (INT, TEXT, True, True, True),
        (TEXT, INT, False, False, True),
        (TEXT, T.BooleanType(), False, False, True),
        (TEXT, T.BinaryType(), False, False, True),
        (TEXT, DATE, True, False, True),
        (T.BooleanType(), INT, False, False, True),
        (INT, T.TimestampType(), False, False, True),
        (T.LongType(), T.TimestampType(), False, True, True),
        (T.TimestampType(), T.LongType(), False, True, True),
        (T.TimestampType(), DATE, True, False, True),
        (DATE, T.TimestampNTZType(), True, True, True),
        (T.ArrayType(INT), TEXT, False, False, True),
        (ROW, TEXT, False, False, True),
        (TEXT, ROW, False, False, False),
        (T.ArrayType(TEXT), T.ArrayType(INT), False, False, True),
        (T.MapType(INT, TEXT), T.MapType(TEXT, TEXT), True, True, True),
        (T.StructType([T.StructField("x", TEXT)]), ROW, False, False, True),
        (T.DecimalType(9, 0), INT, True, True, True),
        (T.DecimalType(10, 0), INT, True, False, True),
        (INT, T.DecimalType(9, 0), True, False, True),
        (INT, T.DecimalType(10, 0), True, True, True),
        (T.DecimalType(5, 2), T.DecimalType(6, 3), True, True, True),
        (T.DecimalType(5, 2), T.DecimalType(5, 3), True, False, True),
    ],
)
def test_types_that_go_together(given, wanted, ansi, strict, legacy):
    assert (fits("ANSI", given, wanted), fits("STRICT", given, wanted)) == (ansi, strict)
    assert fits("LEGACY", given, wanted) is legacy


def test_the_error_says_what_to_write():
    with pytest.raises(
        SchemaError, match=r"Column 'v' has the type int, and is given values of the type string\."
    ) as e:
        check_assignable("ANSI", TEXT, INT, "v")
    assert "CAST(v AS int)" in str(e.value)
    assert "LEGACY" in str(e.value)
    with pytest.raises(SchemaError, match=r"values of the type array<int>\.$"):  # which no cast makes a number
        check_assignable("LEGACY", T.ArrayType(INT), INT, "v")
