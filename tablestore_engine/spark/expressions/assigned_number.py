"""Numbers that a statement assigns to columns: one that the column cannot hold is an error.

Without ANSI mode, a cast makes another number of it, or null. Spark's own writes refuse it in both modes, unless the
session says `spark.sql.storeAssignmentPolicy = LEGACY`.
"""

from __future__ import annotations

from pyspark.sql import types as T

from tablestore_engine.schema.types.sql_literals import literal
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.spark_types import to_spark_type

_DIGITS: dict[type[T.DataType], int] = {T.ByteType: 3, T.ShortType: 5, T.IntegerType: 10, T.LongType: 19}


def is_number(field: DataField) -> bool:
    """Whether a column holds numbers."""
    return isinstance(to_spark_type(field.type), T.NumericType)


def may_be_out_of_range(given: T.DataType, wanted: T.DataType) -> bool:
    """Whether a number of the type `given` may be none of the type `wanted`; False for other types."""
    if isinstance(wanted, (T.FloatType, T.DoubleType)) or not isinstance(wanted, T.NumericType):
        return False
    if isinstance(given, (T.FloatType, T.DoubleType)):
        return True
    if not isinstance(given, T.NumericType):
        return False
    if type(given) in _DIGITS and type(wanted) in _DIGITS:
        return _DIGITS[type(given)] > _DIGITS[type(wanted)]
    if type(wanted) in _DIGITS:
        return _whole_digits(given) >= _DIGITS[type(wanted)]
    # A decimal with as many digits before the point may be rounded up to one more.
    more = _whole_digits(given) - _whole_digits(wanted)
    return more > 0 or (more == 0 and _scale(given) > _scale(wanted))


def assigned_number_sql(value: str, wanted: T.DataType, column: str, what: str = "number") -> str:
    """SQL of a number, or of another value, as a column or field of the type `wanted` holds it; of an error where it
    does not. `column` and `what` are what the error calls both."""
    kind = wanted.simpleString()
    complaint = f"Column '{column}' ({kind}) cannot hold the {what} "
    failed = f"raise_error(concat({literal(complaint)}, CAST({value} AS STRING), '.'))"
    return f"coalesce(try_cast({value} AS {kind}), CASE WHEN {value} IS NOT NULL THEN CAST({failed} AS {kind}) END)"


def _whole_digits(kind: T.DataType) -> int:
    return kind.precision - kind.scale if isinstance(kind, T.DecimalType) else _DIGITS[type(kind)]


def _scale(kind: T.DataType) -> int:
    return kind.scale if isinstance(kind, T.DecimalType) else 0
