"""Which types of values a statement may assign to a column: the rules of `spark.sql.storeAssignmentPolicy`.

ANSI, the default, refuses what loses its meaning: a text for a number, a list for a text. STRICT refuses whatever may
lose a digit, and LEGACY nothing that can be cast. One pair is taken here and refused by Spark: a text for a date or
time under ANSI, because this is how they are written in the SQL of most warehouses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import types as T

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.types.types import DECIMAL_DIGITS
from tablestore_engine.spark.expressions.spark_types import INTEGER_TYPES

ANSI, STRICT, LEGACY = "ANSI", "STRICT", "LEGACY"
_TIMES = (T.DateType, T.TimestampType, T.TimestampNTZType)
_CONSTRUCTED = (T.ArrayType, T.MapType, T.StructType)
_WIDER = (T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType)
_DIGITS: Final = {kind: DECIMAL_DIGITS[root] for kind, root in INTEGER_TYPES.items()}
_OWN_CHECK = ("TimeType", "VariantType")
"""Types that have no others in common, or none that tables hold: a cast to them says what is wrong."""


def check_assignable(policy: str, given: T.DataType, wanted: T.DataType, column: str) -> None:
    """Raise SchemaError if a policy has no values of the type `given` in a column of the type `wanted`.

    `column` is what the error calls it. Structs are not looked into: their fields are values of their own.
    """
    if _fits(_RULES[policy], given, wanted):
        return
    shown = wanted.simpleString()
    hint = f"Cast them, for example: CAST({column} AS {shown})."
    if policy != LEGACY:
        hint += f" Under spark.sql.storeAssignmentPolicy = {LEGACY} any value is cast."
    raise SchemaError(
        f"Column '{column}' has the type {shown}, and is given values of the type {given.simpleString()}.",
        hint=hint if _fits(_legacy, given, wanted) else None,
    )


def _fits(rule: Callable[[T.DataType, T.DataType], bool], given: T.DataType, wanted: T.DataType) -> bool:
    if given == wanted:
        return True
    if isinstance(given, T.NullType):
        return rule is not _strict
    if isinstance(given, T.ArrayType) and isinstance(wanted, T.ArrayType):
        return _fits(rule, given.elementType, wanted.elementType)
    if isinstance(given, T.MapType) and isinstance(wanted, T.MapType):
        return _fits(rule, given.keyType, wanted.keyType) and _fits(rule, given.valueType, wanted.valueType)
    if isinstance(given, T.StructType) and isinstance(wanted, T.StructType):
        return len(given.fields) != len(wanted.fields) or all(
            _fits(rule, mine.dataType, theirs.dataType)
            for mine, theirs in zip(given.fields, wanted.fields, strict=True)
        )
    if isinstance(given, _CONSTRUCTED) or isinstance(wanted, _CONSTRUCTED):
        return rule is _legacy and isinstance(wanted, T.StringType)
    if type(wanted).__name__ in _OWN_CHECK:
        return True
    return rule(given, wanted)


def _ansi(given: T.DataType, wanted: T.DataType) -> bool:
    if isinstance(wanted, T.StringType):
        return True
    if isinstance(given, T.NumericType):
        return isinstance(wanted, T.NumericType)
    if type(given).__name__ == "TimeType":
        return True
    return isinstance(given, (*_TIMES, T.StringType)) and isinstance(wanted, _TIMES)


def _legacy(_given: T.DataType, _wanted: T.DataType) -> bool:
    return True  # a cast that there is not is refused by Spark


def _strict(given: T.DataType, wanted: T.DataType) -> bool:
    if isinstance(wanted, T.StringType):
        return type(given).__name__ not in _OWN_CHECK
    if {type(given), type(wanted)} == {T.LongType, T.TimestampType}:
        return True  # seconds
    if isinstance(given, T.NumericType) and isinstance(wanted, T.NumericType):
        return _is_wider(given, wanted)
    return isinstance(given, _TIMES) and isinstance(wanted, (T.TimestampType, T.TimestampNTZType))


def _is_wider(given: T.NumericType, wanted: T.NumericType) -> bool:
    """Whether a type of numbers has all values of another one, for Spark."""
    if isinstance(wanted, T.DecimalType):
        if isinstance(given, T.DecimalType):
            whole = wanted.precision - wanted.scale >= given.precision - given.scale
            return whole and wanted.scale >= given.scale
        return type(given) in _DIGITS and wanted.precision - wanted.scale >= _DIGITS[type(given)]
    if isinstance(given, T.DecimalType):
        return given.scale == 0 and given.precision < _DIGITS.get(type(wanted), 0)
    return _WIDER.index(type(given)) < _WIDER.index(type(wanted))


_RULES: dict[str, Callable[[T.DataType, T.DataType], bool]] = {ANSI: _ansi, STRICT: _strict, LEGACY: _legacy}
