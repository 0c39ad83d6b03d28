"""SQL of values that are equal for equal rows.

Maps have no equality in Spark, and `GROUP BY` of a map with a null among its values loses the null: the sort of its
entries reads what is behind it (Spark 4.3; `select m, count(*) from t group by m`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType
from tablestore_engine.spark.expressions.format_braces import formatted


def comparable_row(fields: Sequence[DataField]) -> str:
    """SQL of a value that is equal for equal rows of these columns."""
    return f"struct({', '.join(comparable(formatted(f.name), f.type) for f in fields)})"


def comparable(value: str, kind: DataType, depth: int = 0) -> str:
    """SQL of a value that is equal for equal values."""
    if isinstance(kind, AtomicType):
        return f"to_json({value})" if kind.root == "VARIANT" else value
    one = f"x{depth}"
    if isinstance(kind, ArrayType):
        inner = comparable(one, kind.element, depth + 1)
        return value if inner == one else f"transform({value}, {one} -> {inner})"
    if isinstance(kind, MapType):
        inner = comparable(f"{one}.value", kind.value, depth + 1)
        entries = f"transform(map_entries({value}), {one} -> struct({one}.key AS k, {inner} AS v))"
        return f"array_sort({entries})"
    if isinstance(kind, RowType):
        fields = [(comparable(f"{value}.{formatted(f.name)}", f.type, depth + 1), f) for f in kind.fields]
        if all(text == f"{value}.{formatted(f.name)}" for text, f in fields):
            return value
        return f"CASE WHEN {value} IS NOT NULL THEN struct({', '.join(text for text, _ in fields)}) END"
    return value


def summed_rows(fields: Sequence[DataField], count: str, rows: str) -> str:
    """Query for the equal rows of a query, each once with the sum of a column."""
    columns, keys = [], []
    for field in fields:
        name = formatted(field.name)
        key = comparable(name, field.type)
        columns.append(name if key == name else f"any_value({name}) AS {name}")
        keys.append(key)
    return f"SELECT {', '.join([*columns, f'sum({count}) AS {count}'])} FROM ({rows}) GROUP BY {', '.join(keys)}"
