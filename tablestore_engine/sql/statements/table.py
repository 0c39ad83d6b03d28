"""Statements that create, change, rename or drop a table.

Some of them also apply to views; `is_view` is true if the text says VIEW.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tablestore_engine.sql.statements.statement import ColumnDefinition, Existing, PartitionSpec, Statement, TableName


@dataclass(frozen=True, kw_only=True)
class TableCreation(Statement):
    """CREATE [OR REPLACE] TABLE: what the statement says besides its query."""

    table: TableName
    columns: tuple[ColumnDefinition, ...] = ()
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    comment: str | None = None
    options: Mapping[str, str]
    existing: Existing = Existing.REFUSED


@dataclass(frozen=True, kw_only=True)
class CreateTable(TableCreation):
    """CREATE [OR REPLACE] TABLE with columns. Columns that PARTITIONED BY declares are the last ones."""


@dataclass(frozen=True, kw_only=True)
class CreateTableAs(TableCreation):
    """CREATE [OR REPLACE] TABLE … AS query, whose columns come from the query.

    `columns` names all of them anew; a column without `type_sql` keeps the type that the query gives it.
    """

    query_sql: str


@dataclass(frozen=True, kw_only=True)
class CreateTableLike(Statement):
    table: TableName
    source: TableName
    comment: str | None = None
    options: Mapping[str, str]
    existing: Existing = Existing.REFUSED


@dataclass(frozen=True, kw_only=True)
class DropTable(Statement):
    table: TableName
    if_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class Truncate(Statement):
    table: TableName
    partition: PartitionSpec = ()


@dataclass(frozen=True, kw_only=True)
class RenameTable(Statement):
    """ALTER TABLE or VIEW … RENAME TO. ``new.database`` is None when the text names none: stay there."""

    table: TableName
    new: TableName
    is_view: bool = False


@dataclass(frozen=True, kw_only=True)
class SetTableProperties(Statement):
    table: TableName
    properties: Mapping[str, str]
    is_view: bool = False


@dataclass(frozen=True, kw_only=True)
class UnsetTableProperties(Statement):
    table: TableName
    keys: tuple[str, ...]
    if_exists: bool = False
    is_view: bool = False


@dataclass(frozen=True, kw_only=True)
class CommentOn(Statement):
    """COMMENT ON, ALTER TABLE … SET COMMENT, ALTER COLUMN … COMMENT. ``kind`` is TABLE, VIEW, COLUMN or
    SCHEMA; ``table`` is None for a schema, whose name is ``database``; ``comment`` None removes it. ``named`` are the
    parts of the column's name: ``a.b.c`` is column c of table b in schema a, or the field b.c of table a."""

    kind: str
    table: TableName | None = None
    column: str | None = None
    database: str | None = None
    comment: str | None
    named: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AddCheck(Statement):
    """ALTER TABLE … ADD [CONSTRAINT name] CHECK (condition); ``name`` is empty when the text names none."""

    table: TableName
    name: str
    condition_sql: str


@dataclass(frozen=True, kw_only=True)
class DropConstraint(Statement):
    """ALTER TABLE … DROP CONSTRAINT [IF EXISTS] name."""

    table: TableName
    name: str
    if_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class AlterUnsupported(Statement):
    """An ALTER TABLE or VIEW that managed tables do not support; ``what`` is the clause's head."""

    table: TableName
    what: str


@dataclass(frozen=True, kw_only=True)
class RefreshTable(Statement):
    table: TableName


@dataclass(frozen=True, kw_only=True)
class CacheTable(Statement):
    """CACHE [LAZY] TABLE name [OPTIONS ('storageLevel' = '…')]."""

    table: TableName
    lazy: bool = False
    storage_level: str | None = None


@dataclass(frozen=True, kw_only=True)
class UncacheTable(Statement):
    table: TableName


@dataclass(frozen=True, kw_only=True)
class ForeignStatement(Statement):
    """A statement for tables of other formats: refused with ``hint`` if ``table`` is a managed table or a view of the
    warehouse, and passed to Spark otherwise."""

    verb: str
    table: TableName
    hint: str
