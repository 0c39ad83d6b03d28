"""Random values of any type, few enough that they repeat, and rows of them."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any

from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_ROOTS,
    STRING_ROOTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
)

_WORDS = ("", " ", "a", "A", "b", "é", "日", "a/b", "x=y", "%", "null", "0", "seven77", "a longer text, in the tail")
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_NULLS = 0.15


def random_value(rng: Random, data_type: DataType) -> Any:
    """A value; null at times where the type may be."""
    if data_type.nullable and rng.random() < _NULLS:
        return None
    if isinstance(data_type, ArrayType):
        return [random_value(rng, data_type.element) for _ in range(rng.randrange(3))]
    if isinstance(data_type, MapType):
        keys = {random_value(rng, data_type.key.as_nullable(False)) for _ in range(rng.randrange(3))}
        return [(key, random_value(rng, data_type.value)) for key in sorted(keys)]
    if isinstance(data_type, RowType):
        return {one.name: random_value(rng, one.type) for one in data_type.fields}
    assert isinstance(data_type, AtomicType)
    return _atomic(rng, data_type)


def _atomic(rng: Random, data_type: AtomicType) -> Any:
    root, precision = data_type.root, data_type.precision or 0
    if root in INTEGER_ROOTS:
        limit = 2 ** (_BITS[root] - 1)
        return rng.choice((rng.randrange(-3, 9), rng.randrange(-3, 9), limit - 1, -limit))
    if root in STRING_ROOTS:
        fitting = [w for w in _WORDS if root == "STRING" or len(w) <= precision]
        return rng.choice(fitting).ljust(precision, "c") if root == "CHAR" else rng.choice(fitting)
    if root in BINARY_ROOTS:
        size = precision if root == "BINARY" else rng.randrange(5)
        return bytes(rng.randrange(256) for _ in range(size))
    if root == "BOOLEAN":
        return rng.random() < 0.5
    if root in ("FLOAT", "DOUBLE"):
        return rng.choice((0.0, 1.5, -2.25, 1024.0, rng.randrange(100) / 4))
    if root == "DECIMAL":
        most = 10**precision - 1
        unscaled = rng.choice((rng.randrange(-50, 50), most, -most)) if precision > 2 else rng.randrange(10)
        return Decimal(f"{unscaled}E-{data_type.scale or 0}")
    if root == "DATE":
        return date(2024, 2, 27) + timedelta(days=rng.choice((0, 1, 2, 3, -20_000, 40_000)))
    if root == "TIME":
        return time(rng.randrange(24), rng.randrange(60), rng.randrange(60), rng.randrange(1000) * 1000)
    micros = rng.randrange(10) * 10 ** max(6 - precision, 0) if precision else 0
    moment = datetime(2024, 2, 28, 23, 59, 58) + timedelta(
        seconds=rng.choice((0, 1, 2, 3, -1_800_000_000, 900_000_000)), microseconds=micros
    )
    return moment.replace(tzinfo=timezone.utc) if root == "TIMESTAMP_LTZ" else moment


def random_rows(rng: Random, schema: TableSchema, count: int, key: str = "id") -> list[dict[str, Any]]:
    """Rows whose key counts from a random number on."""
    first = rng.randrange(60)
    return [
        {f.name: first + i if f.name == key else random_value(rng, f.type) for f in schema.fields} for i in range(count)
    ]
