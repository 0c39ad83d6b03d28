"""Which types of values a column takes, by the session's policy; tests/spark has Spark's own answers."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T

from tablestore_engine.errors import SchemaError
from tablestore_engine.spark.expressions.assignable_types import check_assignable, is_text_of_time

INT, TEXT, DATE = T.IntegerType(), T.StringType(), T.DateType()
ROW = T.StructType([T.StructField("a", INT)])


def fits(policy, given, wanted):
    try:
        check_assignable(policy, given, wanted, "v")
    except SchemaError:
        return False
    return True


@pytest.mark.parametrize(
    ("given", "wanted", "ansi", "strict"),
    [
        (INT, INT, True, True),
        (T.NullType(), T.ArrayType(INT), True, False),
        (T.LongType(), INT, True, False),
        (INT, T.LongType(), True, True),
        (INT, TEXT, True, True),
        (TEXT, INT, False, False),
        (TEXT, T.BooleanType(), False, False),
        (TEXT, T.BinaryType(), False, False),
        (TEXT, DATE, True, False),
        (T.BooleanType(), INT, False, False),
        (INT, T.TimestampType(), False, False),
        (T.LongType(), T.TimestampType(), False, True),
        (T.TimestampType(), T.LongType(), False, True),
        (T.TimestampType(), DATE, True, False),
        (DATE, T.TimestampNTZType(), True, True),
        (T.ArrayType(INT), TEXT, False, False),
        (ROW, TEXT, False, False),
        (TEXT, ROW, False, False),
        (T.ArrayType(TEXT), T.ArrayType(INT), False, False),
        (T.MapType(INT, TEXT), T.MapType(TEXT, TEXT), True, True),
        (T.StructType([T.StructField("x", TEXT)]), ROW, False, False),
        (T.DecimalType(9, 0), INT, True, True),
        (T.DecimalType(10, 0), INT, True, False),
        (INT, T.DecimalType(9, 0), True, False),
        (INT, T.DecimalType(10, 0), True, True),
        (T.DecimalType(5, 2), T.DecimalType(6, 3), True, True),
        (T.DecimalType(5, 2), T.DecimalType(5, 3), True, False),
    ],
)
def test_types_that_go_together(given, wanted, ansi, strict):
    assert (fits("ANSI", given, wanted), fits("STRICT", given, wanted)) == (ansi, strict)
    assert fits("LEGACY", given, wanted)


def test_the_error_says_what_to_write():
    with pytest.raises(
        SchemaError, match=r"Column 'v' has the type int, and is given values of the type array<int>\."
    ) as e:
        check_assignable("ANSI", T.ArrayType(INT), INT, "v")
    assert "CAST(v AS int)" in str(e.value)
    assert is_text_of_time(TEXT, DATE)
    assert not is_text_of_time(TEXT, INT)
