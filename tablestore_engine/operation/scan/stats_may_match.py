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
from functools import lru_cache
from itertools import product
from typing import Any

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
    if isinstance(predicate, IsNull):
        return known.null_count != 0  # Java Paimon writes -1 where a Parquet footer has no count
    all_null = known.null_count is not None and known.null_count == known.row_count
    if isinstance(predicate, IsNotNull):
        return not all_null
    if all_null:
        return False
    if known.minimum is None or known.maximum is None:
        return True
    if isinstance(predicate, In):
        values = _in_order(predicate.values, tuple(map(type, predicate.values)), data_type)
        if values is None:
            return True
        at = bisect_left(values, known.minimum)
        return at < len(values) and bool(values[at] <= known.maximum)
    value = comparable(predicate.value, data_type)
    if value is None:
        return True
    if predicate.op == "=":
        return bool(known.minimum <= value <= known.maximum)
    if predicate.op in ("<", "<="):
        return bool(known.minimum < value if predicate.op == "<" else known.minimum <= value)
    return bool(known.maximum > value if predicate.op == ">" else known.maximum >= value)


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
