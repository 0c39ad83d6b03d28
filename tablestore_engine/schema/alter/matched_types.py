"""A type that is wanted for a column, with the ids of the fields that it has already.

Fields of a struct are the same when their names are, without regard to case; others get new ids. Whether a value may
be null stays as it is: `SetNullability` changes it, once the data were checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.alter.edit_fields import position
from tablestore_engine.schema.types.types import ArrayType, DataField, DataType, MapType, RowType, assign_field_ids

NextId = Callable[[], int]


def matched(column: str, now: DataType, wanted: DataType, next_id: NextId) -> DataType:
    """The wanted type, numbered. Raises SchemaError for a new field that is NOT NULL."""
    wanted = wanted.as_nullable(now.nullable)
    if isinstance(now, ArrayType) and isinstance(wanted, ArrayType):
        return replace(wanted, element=matched(f"{column}.element", now.element, wanted.element, next_id))
    if isinstance(now, MapType) and isinstance(wanted, MapType):
        key = matched(f"{column}.key", now.key, wanted.key, next_id)
        return replace(wanted, key=key, value=matched(f"{column}.value", now.value, wanted.value, next_id))
    if isinstance(now, RowType) and isinstance(wanted, RowType):
        return replace(wanted, fields=tuple(_field(column, now, one, next_id) for one in wanted.fields))
    return assign_field_ids(wanted, next_id)


def _field(column: str, now: RowType, wanted: DataField, next_id: NextId) -> DataField:
    at = position(now.fields, wanted.name)
    if at is None:
        if not wanted.type.nullable:
            raise SchemaError(
                f"Field '{column}.{wanted.name}' cannot be added as NOT NULL: rows that exist have no value for it.",
                hint="Add it without NOT NULL.",
            )
        inner = assign_field_ids(wanted.type, next_id)
        return replace(wanted, id=next_id(), type=inner)
    same = now.fields[at]
    inner = matched(f"{column}.{same.name}", same.type, wanted.type, next_id)
    return replace(same, type=inner, description=wanted.description or same.description)
