"""Structs of a model's query whose fields are not those of its table, where on_schema_change leaves the table's.

Fields that only the query has are left out, and those that it lacks are null, also inside arrays and maps.
Fields are matched by name, without regard to case.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.tablestore.models.on_schema_change import APPEND
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from tablestore_engine.errors import TableStoreError
from tablestore_engine.schema.types.sql_literals import quoted_name, quoted_text, spark_type
from tablestore_engine.schema.types.types import ArrayType, DataType, MapType, RowType
from tablestore_engine.sql.types.types import parse_sql_type

_MODES = ("ignore", APPEND)


def may_differ(mode: str, target: Sequence[TableStoreColumn]) -> bool:
    """Whether a mode leaves fields of the table as they are, and it has some."""
    return mode in _MODES and any("struct<" in one.dtype.lower() for one in target)


def with_fields_of(query: str, source: Sequence[TableStoreColumn], target: Sequence[TableStoreColumn]) -> str:
    """The query, with the fields of the table's structs; as it is where these are its own."""
    wanted = {one.name.lower(): one for one in target}
    items, same = [], True
    for one in source:
        name = quoted_name(one.name)
        value = _fitted_column(name, one, wanted.get(one.name.lower()))
        same = same and value == name
        items.append(name if value == name else f"{value} as {name}")
    listed = ",\n  ".join(items)
    return query if same else f"select\n  {listed}\nfrom (\n{query}\n) as dbt_fields"


def _fitted_column(name: str, given: TableStoreColumn, wanted: TableStoreColumn | None) -> str:
    if wanted is not None:
        given = given.filled_from(wanted)
    if wanted is None or given.dtype == wanted.dtype:
        return name
    try:
        return _fitted(name, parse_sql_type(given.dtype, given.name), parse_sql_type(wanted.dtype, wanted.name))
    except TableStoreError:
        return name  # the write says what is wrong with its type


def _fitted(value: str, given: DataType, wanted: DataType, depth: int = 0) -> str:
    if not _other_fields(given, wanted):
        return value
    if isinstance(given, RowType) and isinstance(wanted, RowType):
        own = {one.name.lower(): one for one in given.fields}
        parts = []
        for one in wanted.fields:
            field = own.get(one.name.lower())
            part = f"cast(null as {spark_type(one.type)})"
            if field is not None:
                part = _fitted(f"{value}.{quoted_name(field.name)}", field.type, one.type, depth)
            parts.append(f"{quoted_text(one.name)}, {part}")
        return f"if({value} is null, null, named_struct({', '.join(parts)}))"
    each = f"dbt_field_{depth}"
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return f"transform({value}, {each} -> {_fitted(each, given.element, wanted.element, depth + 1)})"
    assert isinstance(given, MapType)
    assert isinstance(wanted, MapType)
    inner = _fitted(each, given.value, wanted.value, depth + 1)
    return f"transform_values({value}, (dbt_key_{depth}, {each}) -> {inner})"


def _other_fields(given: DataType, wanted: DataType) -> bool:
    """Whether two types are alike but for the names of fields in them."""
    if isinstance(given, RowType) and isinstance(wanted, RowType):
        own = {one.name.lower(): one.type for one in given.fields}
        known = {one.name.lower(): one.type for one in wanted.fields}
        return own.keys() != known.keys() or any(_other_fields(kind, known[name]) for name, kind in own.items())
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return _other_fields(given.element, wanted.element)
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        return _other_fields(given.value, wanted.value)
    return False
