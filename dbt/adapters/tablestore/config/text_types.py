"""The types that a table has from its contract: those with texts, `varchar(3)` or `struct<x:char(2)>`, and numbers.

Queries have texts of any length, or of lengths that their sources have. So a table gets these types from the contract,
and each row is checked by an expression before it is written: a table that was there may allow longer texts.

In another dialect, Spark's functions give integers of other sizes than the warehouse's, and a constant is an INT where
the warehouse has one type of integers: a contract takes each of them, and the table has the declared type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tablestore_engine.errors import TableStoreError
from tablestore_engine.schema.types.sql_literals import declared_type, quoted_name, spark_type
from tablestore_engine.schema.types.types import (
    STRING_ROOTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    has_root,
)
from tablestore_engine.sql.types.types import parse_sql_type

_SIZED = ("CHAR", "VARCHAR")
_INTEGER = re.compile("tinyint|smallint|int|bigint")
_NUMBER = re.compile(rf"(?:{_INTEGER.pattern})|decimal\(\d+,\d+\)")

TextTypes = Mapping[str, DataType]
"""The types that a table has from its contract, by the lower-case name of their column."""


def text_types(columns: Iterable[tuple[str, Any]], dialect: str = "") -> dict[str, DataType]:
    """The types of these columns, by name and type as written, that have texts; in a dialect, also numbers."""
    parsed = ((name.lower(), _parsed(str(text), dialect)) for name, text in columns)
    return {
        name: kind
        for name, kind in parsed
        if kind is not None and (has_root(kind, STRING_ROOTS) or is_number(kind, dialect))
    }


def is_number(kind: DataType, dialect: str) -> bool:
    """Whether values of other types of numbers are cast to this one, because a dialect's contract takes them."""
    numbers = _numbers(dialect)
    return numbers is not None and isinstance(kind, AtomicType) and numbers.fullmatch(spark_type(kind)) is not None


def compared(dtype: str, dialect: str) -> str:
    """A type as contracts compare it: one name for the numbers of which a dialect's contract takes each."""
    numbers = _numbers(dialect)
    return dtype if numbers is None or not numbers.fullmatch(dtype) else "bigint" if numbers is _INTEGER else "number"


def _numbers(dialect: str) -> re.Pattern[str] | None:
    """The numbers that are one type: in Snowflake, integers are decimals."""
    return None if dialect in ("", "databricks") else _NUMBER if dialect == "snowflake" else _INTEGER


def has_length(kind: DataType) -> bool:
    """Whether a text in a type has a length."""
    return has_root(kind, _SIZED)


def _parsed(text: str, dialect: str) -> DataType | None:
    if dialect:
        from dbt.adapters.tablestore.dialect import reading  # which imports sqlglot

        text = reading.declared_type(text, dialect)
    try:
        return parse_sql_type(text)
    except TableStoreError:
        return None  # the comparison with the query, or the cast of a seed, says what is wrong with it


def listed_columns(names: Iterable[str], types: TextTypes) -> tuple[str, ...]:
    """The columns as CREATE TABLE … AS lists them; empty when none has texts."""
    if not types:
        return ()
    kinds = ((quoted_name(name), types.get(name.lower())) for name in names)
    return tuple(name if kind is None else f"{name} {declared_type(kind)}" for name, kind in kinds)


def cast_to(value: str, kind: DataType) -> str:
    """A value as a type of numbers has it; texts as they are."""
    return value if has_root(kind, STRING_ROOTS) else f"cast({value} as {spark_type(kind)})"


def too_long(value: str, kind: DataType, level: int = 0) -> str:
    """The condition that a value has a text that is longer than its type, apart from blanks at the end; empty for a
    type without lengths."""
    one = f"v{level}"
    if isinstance(kind, AtomicType):
        return f"char_length(rtrim({value})) > {kind.precision}" if kind.root in _SIZED else ""
    if isinstance(kind, RowType):
        parts = [too_long(f"{value}.{quoted_name(field.name)}", field.type, level) for field in kind.fields]
    elif isinstance(kind, MapType):
        inside = (("map_keys", kind.key), ("map_values", kind.value))
        parts = [_any(f"{name}({value})", one, too_long(one, inner, level + 1)) for name, inner in inside]
    else:
        assert isinstance(kind, ArrayType)
        parts = [_any(value, one, too_long(one, kind.element, level + 1))]
    return " or ".join(part for part in parts if part)


def _any(values: str, one: str, condition: str) -> str:
    return condition and f"exists({values}, {one} -> {condition})"
