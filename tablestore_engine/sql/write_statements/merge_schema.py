"""Writes that evolve the table: the schema that holds the columns of incoming rows, committed with them.

The new schema counts once its snapshot is committed (`storage.metadata_files.schema_store`), so the columns and the
rows are one change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tablestore_engine.errors import SqlError
from tablestore_engine.operation.table_commands.alter_table import refuse_nulls_of_casts
from tablestore_engine.options import LayoutOptions
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.alter.merge_schema import Column, Merging, merging_changes
from tablestore_engine.schema.table.row_kind import row_kind_column
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.alike_names import check_alike_fields
from tablestore_engine.spark.expressions.spark_types import columns_of, refuse_collations
from tablestore_engine.spark.session.session_settings import session_resolver
from tablestore_engine.storage import clock
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def incoming_columns(frame: DataFrame, schema: TableSchema, names: Sequence[str] = ()) -> list[Column]:
    """The columns of a query, by the names that they have in the table: the first ones are `names`, and those that come
    after them keep their own."""
    refuse_collations(one for one in frame.schema.fields[len(names) :] if not schema.has_field(one.name))
    found = columns_of(frame.schema)
    kind = row_kind_column([name for name, _, _ in found], schema)
    found = [one for one in found if one[0] != kind]
    named = [*names, *(name for name, _, _ in found[len(names) :])]
    return [(name, data_type, comment) for name, (_, data_type, comment) in zip(named, found, strict=False)]


def evolves(table: Table) -> bool:
    """Whether a write evolves the table: its rows may lack what the table has, too."""
    return table.options.write_merge_schema or table.state.evolving


def merged(table: Table, incoming: Sequence[Column], spark: SparkSession) -> Table:
    """The table with a schema that takes these columns, which the write commits; the table itself if it takes them.

    Raises:
        SchemaError: a column that cannot be added or changed. SqlError: keys of the table may change partition.
    """
    known = table.state.evolving
    schema = table.schema if known else table.schemas.load(table.schema.id)  # without the statement's options
    explicit = table.options.write_merge_schema_explicit_cast
    how = Merging(explicit, session_resolver(spark))
    check_alike_fields([(name, kind) for name, kind, _ in incoming], how.resolver)
    changes = merging_changes(schema, incoming, how)
    if not changes:
        return table
    if schema.crosses_partitions:
        raise SqlError(
            "A write adds no columns to a table whose primary key leaves a partition column out.",
            hint="Add them first: ALTER TABLE … ADD COLUMNS.",
        )
    ids = table.schemas.list_ids()
    earlier = [table.schemas.load(one) for one in ids if one < schema.id]
    changed = apply_changes(_casting(schema, explicit), changes, clock.now_millis(), earlier=earlier)
    changed = replace(changed, options=schema.options)
    refuse_nulls_of_casts(table.state, schema, changed)
    base = schema.base if known else schema.id
    return table.evolving(replace(changed, id=ids[-1] + 1, replaces=str(base), base=base))


def _casting(schema: TableSchema, explicit: bool) -> TableSchema:
    """The schema as one that takes explicit casts; a value that cannot be cast is an error when it is read."""
    if not explicit or schema.core_options.schema_evolution_cast != LayoutOptions.schema_evolution_cast.default:
        return schema
    return replace(schema, options={**schema.options, LayoutOptions.schema_evolution_cast.key: "explicit-error"})
