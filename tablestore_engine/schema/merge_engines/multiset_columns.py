"""Which columns a multiset table may have: a table without a key that takes retractions compares whole rows. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from tablestore_engine.errors import OptionError
from tablestore_engine.options.declarations.merge_options import COUNT_ENGINE
from tablestore_engine.schema.types.system_columns import COUNT
from tablestore_engine.schema.types.types import AtomicType, DataField, has_root


def obstacle(
    fields: Iterable[DataField], bucket_columns: Iterable[str] = (), kind_column: str | None = None
) -> str | None:
    """Why rows of these columns cannot be counted, None when they can.

    `bucket_columns` are the columns that decided the bucket of rows before: partition columns and bucket key; a table
    that always counted its rows writes equal numbers in the same bits. `kind_column` is the column that holds the kind
    of each row.
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
        if has_root(field.type, ("VARIANT",)):
            return f"column '{field.name}' holds variants, which cannot be compared"
        if field.name in bucket_columns and isinstance(field.type, AtomicType) and field.type.root in _FLOATS:
            return (
                f"column '{field.name}', which says where a row lies, has type "
                f"{field.type}: equal numbers differ in their bits"
            )
    return None


_FLOATS = ("FLOAT", "DOUBLE")


def check_engine(fields: Iterable[DataField], keys: Iterable[str], kind_column: str | None = None) -> None:
    """Raise an OptionError if the table cannot have `merge-engine` = `tablestore-count`."""
    if tuple(keys):
        raise OptionError(f"Option 'merge-engine' = '{COUNT_ENGINE}' is for tables without a primary key.")
    reason = obstacle(fields, kind_column=kind_column)
    if reason:
        raise OptionError(f"Option 'merge-engine' = '{COUNT_ENGINE}' is not possible: {reason}.")
