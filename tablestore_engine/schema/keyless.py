"""Tables without a key that take retractions, as schemas: which can, and what turns an append table into one.

The merge engine `COUNT_ENGINE` marks such a table. Paimon does not know it, so its readers refuse the table instead of
taking rows that were removed for rows. Nothing else changes: files that were written before count +1 for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tablestore_engine.errors import OptionError, RowKindError
from tablestore_engine.options.catalog import COUNT_ENGINE
from tablestore_engine.schema.system import COUNT
from tablestore_engine.schema.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType

if TYPE_CHECKING:
    from tablestore_engine.schema.table_schema import TableSchema


def obstacle(
    fields: Iterable[DataField], placing: Iterable[str] = (), kind_column: str | None = None
) -> str | None:
    """Why rows of these columns cannot be counted, None when they can.

    `placing` are the columns that say where a row lies: partition columns and bucket key. `kind_column` is the one that
    says the kind of each row.
    """
    if kind_column is not None:
        return f"column '{kind_column}', which says the kind of a row, is part of it: no row is like the one that takes it away"
    placing = set(placing)
    for field in fields:
        if field.name.lower() == COUNT.name.lower():
            return f"column '{field.name}' has the name of the count that files keep"
        if _has_map(field.type):
            return f"column '{field.name}' has type {field.type}, and maps cannot be compared"
        if field.name in placing and isinstance(field.type, AtomicType) and field.type.root in _FLOATS:
            return f"column '{field.name}', which says where a row lies, has type {field.type}: equal numbers differ in their bits"
    return None


_FLOATS = ("FLOAT", "DOUBLE")


def _has_map(data_type: DataType) -> bool:
    if isinstance(data_type, ArrayType):
        return _has_map(data_type.element)
    if isinstance(data_type, RowType):
        return any(_has_map(one.type) for one in data_type.fields)
    return isinstance(data_type, MapType)


def check_engine(
    fields: Iterable[DataField], keys: Iterable[str], placing: Iterable[str], kind_column: str | None = None
) -> None:
    """Raise an OptionError where `merge-engine` = `tablestore-count` does not go."""
    if tuple(keys):
        raise OptionError(f"Option 'merge-engine' = '{COUNT_ENGINE}' is for tables without a primary key.")
    reason = obstacle(fields, placing, kind_column)
    if reason:
        raise OptionError(f"Option 'merge-engine' = '{COUNT_ENGINE}' is not possible: {reason}.")


def check_retractable(schema: TableSchema, row: Mapping[str, Any]) -> None:
    """Raise a RowKindError unless a table without a key takes retractions. `row` is the first one, to be shown."""
    if schema.core_options.retractions == "refuse" and not schema.merge_engine.counts:
        raise RowKindError(
            f"A retraction (-U or -D) cannot be written to a table with no primary key and 'retractions' = 'refuse': {row}.",
            hint="Write +I and +U rows only, or set the option to 'auto'.",
        )
    placing = (*schema.partition_keys, *schema.bucket_keys)
    reason = obstacle(schema.fields, placing, schema.core_options.rowkind_field)
    if reason:
        raise RowKindError(
            f"A retraction (-U or -D) cannot be written to this table, because {reason}: {row}.",
            hint="Give the table a primary key, or other columns.",
        )


def counting(schema: TableSchema) -> TableSchema:
    """The same version of an append table as one that counts rows."""
    return replace(schema, options={**schema.options, "merge-engine": COUNT_ENGINE})


def turned(schema: TableSchema, newest_id: int, time_millis: int) -> TableSchema:
    """The version after `newest_id` in which an append table counts rows."""
    # A version that is void takes those made from it along; `base` says where to look.
    direct = schema.id == newest_id and schema.base is None
    base = None if direct else schema.id
    return replace(counting(schema), id=newest_id + 1, time_millis=time_millis, replaces=None, base=base)
