"""The first retraction of an append table: its commit turns the table into a multiset table.

The next schema is written right before the snapshot. A writer that is killed between the two leaves a multiset table
without retractions, whose rows are the same. Writers that began with the old schema may continue, because they add
plain files, which mean the same in both kinds of table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from tablestore_engine.errors import ConflictError
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.commit.replace_table import schema_publisher
from tablestore_engine.schema.table.multiset_schema import with_retractions
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore

Publisher = Callable[[], TableSchema]


def enables_retractions(schema: TableSchema, added: Iterable[ManifestEntry]) -> bool:
    """Whether committing these files makes the table a multiset table."""
    if schema.primary_keys or schema.merge_engine.rules.is_multiset:
        return False
    return any(is_retraction(entry.file) for entry in added)


def schema_to_commit(
    schemas: SchemaStore, schema: TableSchema, committed: int | None, added: Iterable[ManifestEntry]
) -> tuple[TableSchema, Publisher | None]:
    """The schema to commit files with, and the function that publishes the next one right before the snapshot, if the
    files make the table a multiset table.

    `committed` is the schema id of the latest snapshot.

    Raises:
        ConflictError: others changed the schema meanwhile. The function raises it, too.
    """
    if not enables_retractions(schema, added):
        return schema, None
    # Listed before the current schema is read: a version that is created in between makes the create fail.
    newest = schemas.list_ids()[-1]
    current = schemas.latest(committed)
    # The next schema is derived from this one, not from the one that this one may have replaced; and from the stored
    # one, since a write may have options of its own.
    base = replace(schema, replaces=None)
    if current is not None and current.id == schema.id:
        return base, schema_publisher(schemas, schema, with_retractions(current, newest, now_millis()))
    if current is not None and current.merge_engine.rules.is_multiset and schemas.descends(current.id, schema.id):
        return base, partial(schemas.load, current.id)  # others enabled retractions already
    raise ConflictError("The schema of the table was changed meanwhile.", hint="Run the statement again.")
