"""Multisets as schemas: which append tables can take retractions, and the schema with which they do.

The merge engine `COUNT_ENGINE` marks such a table. Paimon does not know it, so its readers refuse the table instead of
showing removed rows. Nothing else changes: each row of an older file counts +1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tablestore_engine.errors import RowKindError
from tablestore_engine.options.declarations.merge_options import COUNT_ENGINE
from tablestore_engine.schema.merge_engines.multiset_columns import obstacle
from tablestore_engine.schema.table.table_schema import TableSchema


def check_retractable(schema: TableSchema, row: Mapping[str, Any]) -> None:
    """Raise a RowKindError unless a table without a key takes retractions. `row` is the first one, for the message."""
    counted = schema.merge_engine.rules.is_multiset
    if schema.core_options.retractions == "refuse" and not counted:
        raise RowKindError(
            f"A retraction (-U or -D) cannot be written to a table with no primary "
            f"key and 'retractions' = 'refuse': {row}.",
            hint="Write +I and +U rows only, or set the option to 'auto'.",
        )
    if schema.core_options.deletion_vectors:
        raise RowKindError(
            f"A retraction (-U or -D) cannot be written to this table, because it keeps deletion vectors: {row}.",
            hint="DELETE and UPDATE change its rows.",
        )
    bucket_columns = () if counted else (*schema.partition_keys, *schema.bucket_keys)
    reason = obstacle(schema.fields, bucket_columns, schema.core_options.rowkind_field)
    if schema.former_partitions:
        reason = "its partition columns were changed, so a row may be in another partition than its retraction"
    if reason:
        raise RowKindError(
            f"A retraction (-U or -D) cannot be written to this table, because {reason}: {row}.",
            hint="Give the table a primary key, or other columns.",
        )


def as_multiset(schema: TableSchema) -> TableSchema:
    """The same version of an append table, as a multiset."""
    return replace(schema, options={**schema.options, "merge-engine": COUNT_ENGINE})


def with_retractions(schema: TableSchema, newest_id: int, time_millis: int) -> TableSchema:
    """The version after `newest_id`, in which an append table becomes a multiset."""
    # A version that is void takes those made from it along; `base` says where to look.
    direct = schema.id == newest_id and schema.base is None
    base = None if direct else schema.id
    return replace(as_multiset(schema), id=newest_id + 1, time_millis=time_millis, replaces=None, base=base)
