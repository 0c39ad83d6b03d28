"""Statements that create or drop a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tablestore_engine.sql.statements.statement import Existing, Statement, TableName

GLOBAL_TEMPORARY = "global_temp"
"""Spark's schema of global temporary views."""


@dataclass(frozen=True, kw_only=True)
class CreateView(Statement):
    """CREATE [OR REPLACE] [TEMPORARY] VIEW … [WITH SCHEMA ``mode``] AS. ``columns`` are (name, comment). For a
    temporary view, Spark gets ``prefix + bound query``; a global one is in the schema ``GLOBAL_TEMPORARY``. ALTER VIEW
    … AS requires an existing view."""

    view: TableName
    query_sql: str
    columns: tuple[tuple[str, str | None], ...] = ()
    mode: str | None = None
    comment: str | None = None
    options: Mapping[str, str]
    existing: Existing = Existing.REFUSED
    temporary: bool = False
    is_global: bool = False
    prefix: str = ""


@dataclass(frozen=True, kw_only=True)
class SetViewMode(Statement):
    """ALTER VIEW … WITH SCHEMA ``mode``."""

    view: TableName
    mode: str


@dataclass(frozen=True, kw_only=True)
class DropView(Statement):
    view: TableName
    if_exists: bool = False
