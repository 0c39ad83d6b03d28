"""Statements on schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tablestore_engine.sql.statements.statement import Statement


@dataclass(frozen=True, kw_only=True)
class CreateSchema(Statement):
    database: str
    if_not_exists: bool = False
    comment: str | None = None
    properties: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class DropSchema(Statement):
    database: str
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, kw_only=True)
class AlterSchema(Statement):
    """ALTER SCHEMA … SET or UNSET DBPROPERTIES: properties to set and to remove; others stay."""

    database: str
    properties: Mapping[str, str]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Use(Statement):
    database: str


@dataclass(frozen=True, kw_only=True)
class ShowSchemas(Statement):
    """SHOW SCHEMAS. ``parent`` is the schema of SHOW SCHEMAS IN schema, which holds no schemas."""

    like: str | None = None
    parent: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowCurrentSchema(Statement):
    pass


@dataclass(frozen=True, kw_only=True)
class DescribeSchema(Statement):
    database: str
    extended: bool = False
