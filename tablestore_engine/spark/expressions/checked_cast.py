"""Casts of values that a statement assigns to columns: a value that the column cannot hold is an error that names both.

Spark's own error names the types and not the column. Without ANSI mode, a cast makes another number of such a value, or
null; Spark's own writes refuse it in both modes, unless the session says `spark.sql.storeAssignmentPolicy = LEGACY`.
"""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql import types as T

from tablestore_engine.schema.types.sql_literals import literal
from tablestore_engine.schema.types.types import INTEGER_DIGITS
from tablestore_engine.spark.expressions.spark_types import INTEGER_TYPES

_MOST_SHOWN: Final = 100  # characters of a value in a message
_NOT_HELD: Final = "cannot hold the value"
NOT_HELD: Final = re.compile(rf"Column '[^\n]*' \([^\n]*\) {_NOT_HELD} .*", re.DOTALL)
"""The message of a value that its column cannot hold."""
NOT_HELD_HINT: Final = "Correct the value; try_cast makes null of it."

_DIGITS: Final = {kind: INTEGER_DIGITS[root] for kind, root in INTEGER_TYPES.items()}


def may_fail(given: T.DataType, wanted: T.DataType) -> bool:
    """Whether the cast of a value of the type `given` to another type may fail, as far as it is checked: one of a
    number to numbers, or of a text or time to values of another kind."""
    if isinstance(given, T.StringType):
        return not isinstance(wanted, (T.StringType, T.BinaryType))
    return may_be_out_of_range(given, wanted) or (
        isinstance(given, (T.TimestampType, T.TimestampNTZType)) and isinstance(wanted, T.NumericType)
    )


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


class CheckedCast(str):
    """SQL of a checked cast. `given_sql` is SQL of the value that is cast, of the type `given`."""

    __slots__ = ("given", "given_sql")

    given: T.DataType
    given_sql: str


def checked_cast(value: str, wanted: T.DataType, column: str, given: T.DataType) -> CheckedCast:
    """SQL of a value of the type `given` in the type of a column or field; of an error where that does not hold it.

    `column` is what the error calls it.
    """
    kind = wanted.simpleString()
    complaint, quote = f"Column '{column}' ({kind}) {_NOT_HELD} ", "'" if isinstance(given, T.StringType) else ""
    shown = f"left(CAST({value} AS STRING), {_MOST_SHOWN})"
    failed = f"raise_error(concat({literal(complaint + quote)}, {shown}, {literal(quote + '.')}))"
    made = CheckedCast(
        f"coalesce(try_cast({value} AS {kind}), CASE WHEN {value} IS NOT NULL THEN CAST({failed} AS {kind}) END)"
    )
    made.given_sql, made.given = value, given
    return made


def _whole_digits(kind: T.DataType) -> int:
    return kind.precision - kind.scale if isinstance(kind, T.DecimalType) else _DIGITS[type(kind)]


def _scale(kind: T.DataType) -> int:
    return kind.scale if isinstance(kind, T.DecimalType) else 0
