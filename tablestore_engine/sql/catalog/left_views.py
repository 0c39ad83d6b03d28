"""Warnings about views that a statement leaves without what they read: they fail from now on."""

from __future__ import annotations

import logging
from collections.abc import Collection

from tablestore_engine.errors import TableStoreError
from tablestore_engine.sql.catalog.execute_context import CatalogContext
from tablestore_engine.sql.query.bind import references

_log = logging.getLogger(__name__)

Identifier = tuple[str, str]


def warn_of_views(what: str, lost: Collection[Identifier], context: CatalogContext) -> None:
    """Log the views that read names which are lost, also through other views. `what` says what became of them."""
    reads: dict[str, set[Identifier]] = {}
    for schema in context.catalog.list_databases() if lost else ():
        for view_name in context.catalog.list_views(schema):
            try:
                view = context.catalog.load_view(schema, view_name)
                read = references(view.sql)
            except TableStoreError:
                continue  # unreadable already
            reads[f"{schema}.{view_name}"] = {((o.database or view.database).lower(), o.name.lower()) for o in read}
    missing, found = {(database.lower(), name.lower()) for database, name in lost}, list[str]()
    while more := [one for one, names in reads.items() if names & missing and one not in found]:
        found += more
        missing |= {(schema, view) for schema, _, view in (one.lower().partition(".") for one in more)}
    if found:
        _log.warning("%s: %s.", what, ", ".join(sorted(found)))
