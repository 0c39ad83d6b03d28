"""Columns as dbt sees them."""

from __future__ import annotations

from dbt.adapters.tablestore.relation.column import TableStoreColumn


def columns(**types):
    """Columns by name and type."""
    return [TableStoreColumn(name, kind) for name, kind in types.items()]


TABLE = columns(id="int", a="string", b="bigint")
