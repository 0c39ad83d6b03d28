"""Deciding from metadata that a partition, bucket or file holds no row that a predicate accepts.

Everything here answers *may it match?*; in doubt, yes. A constant takes part only when its comparison with the
column's type is lossless, because the engine that evaluates the query may convert differently.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal
from functools import lru_cache, partial
from itertools import product
from operator import and_, or_
from typing import Any, NamedTuple

from tablestore_engine.metadata.bucket_hash import bucket_of
from tablestore_engine.schema.table.predicate import (
    And,
    Compare,
    In,
    IsNotNull,
    IsNull,
    OfCast,
    Or,
    Predicate,
    digits_of,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DECIMAL_DIGITS, INTEGER_ROOTS, MOST_DIGITS, AtomicType, DataType

MAX_KEY_COMBINATIONS = 1_000
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_DECIMALS = Context(prec=80)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d(\.\d{6})?([+-]\d\d:\d\d)?)?", re.ASCII)


@dataclass(frozen=True)
class Bounds:
    """The bounds of one column in one file or partition; `known` False means that nothing is known of it."""

    minimum: Any = None
    maximum: Any = None
    null_count: int | None = None
    row_count: int | None = None


class ColumnBounds(NamedTuple):
    """The bounds of one column in many files: each sequence has one item for each file."""

    minima: Sequence[Any]
    maxima: Sequence[Any]
    null_counts: Sequence[int | None]
    row_counts: Sequence[int]


def may_match(predicate: Predicate | None, bounds: Callable[[str], tuple[DataType, Bounds] | None]) -> bool:
    """Whether some row may satisfy the predicate. `bounds(column)` gives type and bounds, None if unknown."""
    if predicate is None:
        return True
    if isinstance(predicate, And):
        return all(may_match(child, bounds) for child in predicate.children)
    if isinstance(predicate, Or):
        return any(may_match(child, bounds) for child in predicate.children)
    found = None if isinstance(predicate, OfCast) else bounds(predicate.column)
    if found is None or isinstance(predicate, OfCast):
        return True
    data_type, known = found
    return _bounds_test(predicate, data_type)(known.minimum, known.maximum, known.null_count, known.row_count)


def each_may_match(
    predicate: Predicate, files: int, bounds: Callable[[str], tuple[DataType, ColumnBounds] | None]
) -> list[bool]:
    """Whether some row of each of so many files may satisfy the predicate, as `may_match` decides. `bounds(column)`
    gives the type of a column and its bounds in all of them."""
    if isinstance(predicate, (And, Or)):
        join = and_ if isinstance(predicate, And) else or_
        answers = [join is and_] * files
        for child in predicate.children:
            answers = list(map(join, answers, each_may_match(child, files, bounds)))
        return answers
    found = None if isinstance(predicate, OfCast) else bounds(predicate.column)
    if found is None or isinstance(predicate, OfCast):
        return [True] * files
    data_type, known = found
    if isinstance(predicate, (Compare, In)) and _fits_nowhere(predicate, data_type, known):
        return [False] * files
    test = _bounds_test(predicate, data_type)
    return list(map(test, known.minima, known.maxima, known.null_counts, known.row_counts))


def _fits_nowhere(predicate: Compare | In, data_type: DataType, known: ColumnBounds) -> bool:
    """Whether no value between the least and the greatest of all files may fit: three passes instead of a call each."""
    fits = _values_test(predicate, data_type)
    try:
        low, high = min(known.minima, default=None), max(known.maxima, default=None)
    except TypeError:  # a file without bounds
        return False
    return fits is not None and low is not None and high is not None and not fits(low, high)


_BETWEEN: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "=": lambda value, low, high: low <= value <= high,
    "<": lambda value, low, _high: low < value,
    "<=": lambda value, low, _high: low <= value,
    ">": lambda value, _low, high: high > value,
    ">=": lambda value, _low, high: high >= value,
}
"""Whether something between two values compares so with another value."""

_BoundsTest = Callable[[Any, Any, "int | None", "int | None"], bool]
"""Whether a row may fit, by the least and the greatest value of a column, its nulls, and the number of rows."""


def _bounds_test(predicate: Compare | In | IsNull | IsNotNull, data_type: DataType) -> _BoundsTest:
    """The test of a predicate on a column of a type."""
    if isinstance(predicate, IsNull):
        # Java Paimon writes -1 where a Parquet footer has no count.
        return lambda _low, _high, nulls, _rows: nulls != 0
    if isinstance(predicate, IsNotNull):
        return lambda _low, _high, nulls, rows: nulls is None or nulls != rows
    fits = _values_test(predicate, data_type)

    def test(low: Any, high: Any, nulls: int | None, rows: int | None) -> bool:
        if nulls is not None and nulls == rows:
            return False
        return fits is None or low is None or high is None or bool(fits(low, high))

    return test


def _values_test(predicate: Compare | In, data_type: DataType) -> Callable[[Any, Any], Any] | None:
    """Whether a value between two others may fit; None where the constants do not compare with a type."""
    if isinstance(predicate, In):
        values = _in_order(predicate.values, tuple(map(type, predicate.values)), data_type)
        return None if values is None else partial(_is_one_between, values)
    value = comparable(predicate.value, data_type)
    if value is None:
        return None
    return partial(_BETWEEN[predicate.op], value)


def _is_one_between(values: Sequence[Any], low: Any, high: Any) -> bool:
    """Whether one of some sorted values is between two others."""
    at = bisect_left(values, low)
    return at < len(values) and values[at] <= high


@lru_cache(maxsize=64)
def _in_order(values: tuple[Any, ...], kinds: tuple[type, ...], data_type: DataType) -> list[Any] | None:
    """The constants as values of the column's type, sorted: one list for all files. None when one does not compare.

    `kinds` are their types, by which the cache distinguishes 1 from True.
    """
    found = [comparable(value, data_type) for value in values]
    return None if any(value is None for value in found) else sorted(found)


def comparable(value: Any, data_type: DataType) -> Any:
    """The constant as a Python value that compares with the column's values; None when that may lose meaning."""
    if not isinstance(data_type, AtomicType):
        return None
    root = data_type.root
    if root in INTEGER_ROOTS or root == "DECIMAL":
        number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
        return value if number and _is_compared_exactly(value, data_type) else None
    if root in ("STRING", "VARCHAR"):
        return value if isinstance(value, str) else None
    if root == "BOOLEAN":
        return value if isinstance(value, bool) else None
    if isinstance(value, str):
        value = _moment(value)
        if root == "DATE":
            return None if value is None else value.date()
        if root == "TIMESTAMP":
            return None if value is None else value.replace(tzinfo=None)
    if root == "DATE" and type(value) is date:
        return value
    if root == "TIMESTAMP" and isinstance(value, datetime) and value.tzinfo is None:
        return value
    if root == "TIMESTAMP_LTZ" and isinstance(value, datetime) and value.tzinfo is not None:
        return value
    return None


def _is_compared_exactly(value: int | Decimal, data_type: AtomicType) -> bool:
    """Whether a decimal holds all digits of the constant and of the column's values: Spark rounds others."""
    if data_type.root == "DECIMAL":
        scale = data_type.scale or 0
        own = (data_type.precision or 10) - scale, scale
    elif isinstance(value, int):
        return True
    else:
        own = DECIMAL_DIGITS[data_type.root], 0
    return sum(map(max, own, digits_of(value))) <= MOST_DIGITS


def _moment(text: str) -> datetime | None:
    """The day or time that a text is to Spark, which casts a text to the type of the date or timestamp that it is
    compared with; None where that is not certain. Only a timestamp with local time zone heeds the zone in a text."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def buckets_for(predicate: Predicate | None, schema: TableSchema, num_buckets: int) -> set[int] | None:
    """The buckets that rows with the predicate's key values hash to; None means all."""
    if predicate is None or num_buckets <= 1 or not schema.bucket_keys:
        return None
    allowed = equalities(predicate, schema)
    choices: list[Sequence[Any]] = []
    for field in schema.bucket_fields:
        constants = allowed.get(field.name)
        if constants is None:
            return None
        converted = [key_value(v, field.type) for v in constants]
        if any(v is None for v in converted):
            return None
        choices.append(converted)
    if math.prod(len(values) for values in choices) > MAX_KEY_COMBINATIONS:
        return None
    types = [f.type for f in schema.bucket_fields]
    return {bucket_of(values, types, num_buckets) for values in product(*choices)}


def key_value(value: Any, data_type: DataType) -> Any:
    """The constant as the one key value that equals it; None when there is none or it is not certain."""
    converted = comparable(value, data_type)
    if converted is None or not isinstance(data_type, AtomicType):
        return None
    if data_type.root in INTEGER_ROOTS:
        fits = converted == int(converted) and int(converted).bit_length() < _BITS[data_type.root]
        return int(converted) if fits else None
    if data_type.root == "DECIMAL":
        exact, scale = Decimal(converted), data_type.scale or 0
        if exact.adjusted() + 1 > (data_type.precision or 10) - scale:
            return None
        scaled = exact.quantize(Decimal(1).scaleb(-scale), context=_DECIMALS)
        return scaled if scaled == exact else None
    return converted


def equalities(predicate: Predicate, schema: TableSchema) -> Mapping[str, tuple[Any, ...]]:
    """Columns that the predicate pins to a list of constants."""
    if isinstance(predicate, Compare) and predicate.op == "=":
        return _of_column(predicate.column, (predicate.value,), schema)
    if isinstance(predicate, In):
        return _of_column(predicate.column, predicate.values, schema)
    if isinstance(predicate, And):
        found: dict[str, tuple[Any, ...]] = {}
        for child in predicate.children:
            for column, values in equalities(child, schema).items():
                if column not in found or len(values) < len(found[column]):
                    found[column] = values
        return found
    return {}


def _of_column(name: str, values: tuple[Any, ...], schema: TableSchema) -> Mapping[str, tuple[Any, ...]]:
    return {schema.field(name).name: values} if schema.has_field(name) else {}
