"""Which columns a multiset table may have: a table without a key that takes retractions compares whole rows. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from tablestore_engine.errors import OptionError
from tablestore_engine.options.declarations.merge_options import COUNT_ENGINE
from tablestore_engine.schema.types.system import COUNT
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType


def obstacle(
    fields: Iterable[DataField], bucket_columns: Iterable[str] = (), kind_column: str | None = None
) -> str | None:
    """Why rows of these columns cannot be counted, None when they can.

    `bucket_columns` are the columns that decide the bucket of a row: partition columns and bucket key. `kind_column` is
    the column that holds the kind of each row.
    """
    if kind_column is not None:
        return (
            f"column '{kind_column}', which says the kind of a row, is part of it: no "
            f"row is like the one that takes it away"
        )
    bucket_columns = set(bucket_columns)
    for field in fields:
        if field.name.lower() == COUNT.name.lower():
            return f"column '{field.name}' has the name of the count that files keep"
        if _has_map(field.type):
            return f"column '{field.name}' has type {field.type}, and maps cannot be compared"
        if field.name in bucket_columns and isinstance(field.type, AtomicType) and field.type.root in _FLOATS:
            return (
                f"column '{field.name}', which says where a row lies, has type "
                f"{field.type}: equal numbers differ in their bits"
            )
    return None


_FLOATS = ("FLOAT", "DOUBLE")


def _has_map(data_type: DataType) -> bool:
    if isinstance(data_type, ArrayType):
        return _has_map(data_type.element)
    if isinstance(data_type, RowType):
        return any(_has_map(one.type) for one in data_type.fields)
    return isinstance(data_type, MapType)


def check_engine(
    fields: Iterable[DataField], keys: Iterable[str], bucket_columns: Iterable[str], kind_column: str | None = None
) -> None:
    """Raise an OptionError if the table cannot have `merge-engine` = `tablestore-count`."""
    if tuple(keys):
        raise OptionError(f"Option 'merge-engine' = '{COUNT_ENGINE}' is for tables without a primary key.")
    reason = obstacle(fields, bucket_columns, kind_column)
    if reason:
        raise OptionError(f"Option 'merge-engine' = '{COUNT_ENGINE}' is not possible: {reason}.")
