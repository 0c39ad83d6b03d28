"""A few columns in which nearly all rows differ, chosen by statistics alone, so that most rows can be compared by them.

Rows that differ in a *discriminating* column differ. Rows that are equal in all of these columns may differ in others;
where that matters, the few such rows are compared in all columns. A bad choice makes a read slower, not wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tablestore_engine.operation.scan.multiset_file_overlap import Values
from tablestore_engine.schema.types.types import AtomicType, DataField, DataType, has_map

ENOUGH_BITS = 48.0
"""Enough columns are chosen when they could take 2 to this number of different values."""
_MOST_COLUMNS = 4
# A wide range may hold few different values; so no column is trusted alone.
_MOST_BITS = 32.0
# Decimals of more digits are no numbers in the file, but bytes.
_LONG_DIGITS = 18


def discriminating_columns(fields: Iterable[DataField], known: Mapping[str, Values]) -> tuple[str, ...]:
    """The names of a few columns of numbers, dates and times in which rows differ; of all columns when these do not
    suffice, but for maps, which Spark does not hash.

    `known` are the values of columns in the rows that are looked for. Columns without nulls and of wide ranges come
    first.
    """
    fields = tuple(fields)
    ranked = sorted(
        (known[f.name].nulls, -bits, f.name)
        for f in fields
        if f.name in known and (bits := _bits(known[f.name], f.type)) > 0
    )
    chosen: list[str] = []
    total_bits = 0.0
    for _, bits, name in ranked[:_MOST_COLUMNS]:
        if total_bits >= ENOUGH_BITS:
            break
        chosen.append(name)
        total_bits -= bits
    return tuple(chosen) if chosen and total_bits >= ENOUGH_BITS else hashable_columns(fields)


def hashable_columns(fields: Iterable[DataField]) -> tuple[str, ...]:
    """The names of the columns without maps."""
    return tuple(f.name for f in fields if not has_map(f.type))


def _bits(values: Values, data_type: DataType) -> float:
    """How many bits a column may distinguish: the logarithm of the width of its range, 0 for types that are expensive
    to compare."""
    if not isinstance(data_type, AtomicType) or values.low is None:
        return 0.0
    return min(math.log2(max(_width(values.low, values.high, data_type), 1)), _MOST_BITS)


def _width(low: Any, high: Any, data_type: AtomicType) -> int:
    if isinstance(low, datetime):
        return int((high - low).total_seconds() * 1_000_000) + 1
    if isinstance(low, date):
        return int((high - low).days) + 1
    if isinstance(low, Decimal):
        short = data_type.precision is not None and data_type.precision <= _LONG_DIGITS
        return int((high - low).scaleb(data_type.scale or 0)) + 1 if short else 1
    return high - low + 1 if isinstance(low, int) else 1


def narrower(known: Mapping[str, Values], others: Mapping[str, Values]) -> dict[str, Values]:
    """The integer and date columns of `known`, without nulls, that take up less than half of the range of `others`.

    Only such columns are worth a condition on the files that hold the others.
    """
    found = {}
    for name, values in known.items():
        other = others.get(name)
        if values.nulls or values.low is None or other is None or other.low is None:
            continue
        if isinstance(values.low, (bool, datetime)) or not isinstance(values.low, (int, date)):
            continue
        if 2 * (values.high - values.low) < other.high - other.low:
            found[name] = values
    return found
