"""ALTER TABLE … of columns and properties: one statement holds several actions, which are made together or not at all.

A column is a *path*: its name, followed by the names of the fields inside of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tablestore_engine.sql.statements.statement import ColumnDefinition, Statement, TableName

Path = tuple[str, ...]


@dataclass(frozen=True)
class AddColumn:
    """ADD COLUMN. `parent` is the path of the struct that a field is added to."""

    column: ColumnDefinition
    parent: Path = ()
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropColumn:
    """DROP COLUMN."""

    column: Path
    if_exists: bool = False


@dataclass(frozen=True)
class RenameColumn:
    """RENAME COLUMN a TO b, and CHANGE COLUMN a b …"""

    column: Path
    new: str


@dataclass(frozen=True)
class AlterColumn:
    """One or more changes of one column, by ALTER COLUMN, CHANGE COLUMN or MODIFY: those that are not None."""

    column: Path
    type_sql: str | None = None
    nullable: bool | None = None
    comment: str | None = None
    first: bool = False
    after: str | None = None


@dataclass(frozen=True)
class ReplaceColumns:
    """REPLACE COLUMNS (…): the columns of the table from then on."""

    columns: tuple[ColumnDefinition, ...]


@dataclass(frozen=True)
class AddPartitionField:
    """ADD PARTITION FIELD c."""

    column: str


@dataclass(frozen=True)
class DropPartitionField:
    """DROP PARTITION FIELD c."""

    column: str


@dataclass(frozen=True)
class SetDefault:
    """ALTER COLUMN … SET DEFAULT; `default_sql` None is DROP DEFAULT."""

    column: Path
    default_sql: str | None = None


@dataclass(frozen=True)
class SetProperties:
    """SET TBLPROPERTIES (…)."""

    properties: Mapping[str, str]


@dataclass(frozen=True)
class UnsetProperties:
    """UNSET TBLPROPERTIES [IF EXISTS] (…)."""

    keys: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True)
class SetTableComment:
    """SET COMMENT '…'."""

    comment: str


PartitionAction = AddPartitionField | DropPartitionField
PropertyAction = SetProperties | UnsetProperties | SetTableComment
ColumnAction = PartitionAction | AddColumn | DropColumn | RenameColumn | AlterColumn | ReplaceColumns | SetDefault
TableAction = ColumnAction | PropertyAction


@dataclass(frozen=True, kw_only=True)
class AlterColumns(Statement):
    """ALTER TABLE with changes of columns, or several of columns, properties and the comment, in the order of the
    text."""

    table: TableName
    actions: tuple[TableAction, ...]
