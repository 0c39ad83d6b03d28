"""Replacing a table: the same name and history, other columns and rows, in one atomic step.

The next schema is written first, marked as replacing; it counts only once a snapshot has been committed with it
(`storage.metadata_files.schema_store`). A replacement that is killed in between therefore leaves the old table, and
readers, also those of other engines, never see the schema without the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from tablestore_engine.errors import ConflictError
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataType, assign_field_ids
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore

_FAR_AHEAD = str(2**53)
_UNDER_WAY = "the table is being replaced: try again, or run a CREATE OR REPLACE of it that was cut short once more"


def everything(entry: ManifestEntry) -> bool:
    """Chooses all files."""
    return True


def next_schema(current: TableSchema, wanted: TableSchema, newest_id: int) -> TableSchema:
    """The current schema if the wanted one is equal, else the version after `newest_id`, which replaces it."""
    if _same(current, wanted):
        return current
    # New ids for all columns: old files belong to old snapshots only, which are read with their own schema.
    ids = count(current.highest_field_id + 1)
    fields = tuple(replace(f, id=next(ids), type=assign_field_ids(f.type, lambda: next(ids))) for f in wanted.fields)
    return replace(
        wanted,
        id=newest_id + 1,
        fields=fields,
        highest_field_id=next(ids) - 1,
        replaces=str(current.id),
        base=None,
    )


def _same(current: TableSchema, wanted: TableSchema) -> bool:
    def shape(schema: TableSchema) -> tuple[object, ...]:
        columns = [(f.name, str(f.type), f.description, f.default_value) for f in schema.fields]
        return columns, schema.primary_keys, schema.partition_keys, dict(schema.options), schema.comment

    return shape(current) == shape(wanted)


def schema_publisher(
    schemas: SchemaStore, current: TableSchema | None, schema: TableSchema
) -> Callable[[], TableSchema] | None:
    """A function that writes the next schema right before the snapshot; None when it is the current one.

    The function raises ConflictError when another schema has the same number.
    """
    if schema is current:
        return None

    def publish() -> TableSchema:
        newest = schemas.list_ids()[-1]
        if newest == schema.id and schemas.load(newest) == schema:
            return schema  # written by an earlier attempt of this commit
        staged = None
        if current is not None and schema.replaces is not None and schema.base is None:
            # Under a schema with a base, old rows are read by field id: those of new columns are null.
            staged = until_committed(current, schema)
        if newest >= schema.id or not schemas.try_create(schema, staged):
            raise ConflictError("The schema of the table was changed meanwhile.", hint="Run the statement again.")
        return schema

    return publish


def until_committed(current: TableSchema, schema: TableSchema) -> dict[str, str]:
    """The options under which other engines see a schema that replaces the current one, until its snapshot is there.

    Paimon reads a table with the columns of its newest schema file, but a table that travels in time with those of the
    snapshot: the newest snapshot before a time far ahead is the old table now, and the new one once it is committed.
    Commits of others, which would carry the number of the newest schema, fail on a duration that is none.
    Paimon takes options from the newest schema in any case. Where they differ, the table cannot be opened meanwhile,
    unless it is another fixed number of buckets, which the rows of the old one may have, too.
    """
    alike = _of_readers(current) == _of_readers(schema)
    if alike and not any(one.startswith("scan.") for one in schema.options):
        return {**schema.options, "scan.timestamp-millis": _FAR_AHEAD, "commit.min-retry-wait": _UNDER_WAY}
    return {**schema.options, "scan.mode": _UNDER_WAY}


def _of_readers(schema: TableSchema) -> dict[str, str]:
    fixed = {"bucket": "fixed"} if schema.core_options.bucket > 0 else {}
    return {**schema.options, **fixed}


def restarts(current: TableSchema, schema: TableSchema) -> bool:
    """Whether the old files cannot be described in manifests of the new schema: other partition columns, or a key of
    other types, which pypaimon takes for those of the bounds of all files, also of removed ones."""
    old, new = current.partition_fields, schema.partition_fields
    filled = current.partition_fill != schema.partition_fill
    repartitioned = filled or [(f.name, f.type) for f in old] != [(f.name, f.type) for f in new]
    return repartitioned or _key_types(current) != _key_types(schema)


def _key_types(schema: TableSchema) -> list[DataType]:
    return [one.type for one in schema.trimmed_key_fields]


def replace_all(current: TableSchema, schema: TableSchema, added: tuple[ManifestEntry, ...] = ()) -> Change:
    """The change after which the table consists of `added` only."""
    if restarts(current, schema):
        return Change("OVERWRITE", added, restarts=True)
    return Change("OVERWRITE", added, replaces=everything, new_table=True)
