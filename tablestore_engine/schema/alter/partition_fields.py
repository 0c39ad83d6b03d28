"""Partition columns that are added or dropped for new rows.

Files that exist stay in their folders. A partition in a manifest is a row of values that says how many there are, and
not of which columns; so their number must say, in the whole history of a table, which columns they are
(`TableSchema.partition_layouts`). Where there were as many other columns before, nulls fill the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.table.schema_changes import AddPartitionField, PartitionChange
from tablestore_engine.schema.table.table_schema import FILL, TableSchema
from tablestore_engine.schema.types.types import BINARY_ROOTS, AtomicType, DataField, DataType

_LEGACY_NAME = "partition.legacy-name"
# Types whose partition directory is another one under that option.
_RENAMED = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ")
_REPLACE = "Use CREATE OR REPLACE TABLE … PARTITIONED BY (…) AS SELECT …."


def changed_partition_keys(
    schema: TableSchema, keys: tuple[str, ...], change: PartitionChange, fields: Sequence[DataField]
) -> tuple[str, ...]:
    """The partition columns after a change. Raises ColumnNotFound, SchemaError."""
    _check_table(schema)
    field = replace(schema, fields=tuple(fields)).field(change.name)
    if isinstance(change, AddPartitionField):
        _check_added(schema, keys, field)
        return (*keys, field.name)
    if field.name not in keys:
        raise SchemaError(
            f"Column '{field.name}' is no partition column.",
            hint=f"The table is partitioned by: {', '.join(keys)}." if keys else "The table is not partitioned.",
        )
    return tuple(name for name in keys if name != field.name)


def with_partition_keys(before: TableSchema, after: TableSchema, keys: tuple[str, ...], has_data: bool) -> TableSchema:
    """The next schema with its partition columns, which remembers those that files have."""
    changed = replace(after, partition_keys=keys)
    wanted = layout_of(changed.partition_fields)
    if wanted == layout_of(before.partition_fields):
        return changed
    if any(one.name in keys and _root(one) in _RENAMED for one in after.fields) and not any(
        _root(one) in _RENAMED for layout in before.partition_layouts.values() for one in layout
    ):
        changed = replace(changed, options={_LEGACY_NAME: "false", **after.options})
    if not has_data:
        return changed
    known = before.partition_layouts
    width = next((n for n, one in known.items() if layout_of(one) == wanted), len(keys))
    while width in known and layout_of(known[width]) != wanted:
        width += 1
    former = tuple((*one, *[FILL] * (n - len(one))) for n, one in known.items() if n != width)
    return replace(changed, former_partitions=former, partition_fill=width - len(keys))


def layout_of(fields: Sequence[DataField]) -> tuple[tuple[int, str, DataType], ...]:
    """The properties of partition columns that name a folder: a column that got another name, or another type, names
    others."""
    return tuple((one.id, one.name, one.type.as_nullable(True)) for one in fields)


def _check_table(schema: TableSchema) -> None:
    if schema.is_keyed:
        raise SchemaError(
            f"The table has a primary key ({', '.join(schema.primary_keys)}), so its partition columns stay: old and "
            "new rows of a key would be in different partitions.",
            hint=_REPLACE,
        )
    if schema.merge_engine.rules.is_multiset:
        raise SchemaError(
            "The table counts rows ('merge-engine' = 'tablestore-count'), so its partition columns stay: rows and "
            "their retractions would be in different partitions.",
            hint=_REPLACE,
        )


def _check_added(schema: TableSchema, keys: tuple[str, ...], field: DataField) -> None:
    if field.name in keys:
        raise SchemaError(f"Column '{field.name}' is a partition column already.")
    if not field.type.is_atomic or _root(field) in BINARY_ROOTS:
        raise SchemaError(
            f"Column '{field.name}' has type {field.type}, which cannot name a partition.",
            hint="Add a column of another type.",
        )
    if field.name in schema.core_options.bucket_key:
        raise SchemaError(
            f"Column '{field.name}' chooses the bucket ('bucket-key'), so it cannot be a partition column.",
            hint=_REPLACE,
        )


def _root(field: DataField) -> str:
    return field.type.root if isinstance(field.type, AtomicType) else ""
