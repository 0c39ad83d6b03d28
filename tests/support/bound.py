"""Queries with their tables bound to names that say what they are: `@database.table`."""

from __future__ import annotations

from tablestore_engine.sql.query.bind import Binding, TableReference, bind

CURRENT = "main"
UNKNOWN = {"tmp", "unmanaged"}


def resolve(reference: TableReference) -> Binding | None:
    if reference.name in UNKNOWN:
        return None
    database = reference.database or CURRENT
    return Binding(f"@{database}.{reference.name}", database)


def bound(query: str) -> str:
    return bind(query, resolve).text
