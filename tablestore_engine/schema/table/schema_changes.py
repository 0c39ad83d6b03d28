"""Schema changes as values; `schema.alter.apply_changes` folds them over a schema.

A column is named by a text, or by a *path*: `("s", "x")` is field x of the struct s, `("a", "element", "x")` one of
the structs in an array, `("m", "key", …)` and `("m", "value", …)` lie inside of a map. A text is the name of a column,
dots included, or else a path that is written with dots. `schema.types.names` compares names; a new one may differ from
that of a sibling in case only if the change says so (`by_case`).
"""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.schema.types.types import DataType

ColumnPath = str | tuple[str, ...]


@dataclass(frozen=True)
class AddColumn:
    """Add a nullable column; rows that exist read null. It is the last one, unless it is `first` or comes `after`
    another. A text is its plain name; a path adds a field to a struct."""

    name: ColumnPath
    type: DataType
    comment: str | None = None
    first: bool = False
    after: str | None = None
    if_not_exists: bool = False
    by_case: bool = False


@dataclass(frozen=True)
class AddComputedColumn:
    """Add a column that is evaluated when the table is read: SQL of other columns, and the text of its type."""

    name: str
    sql: str
    type_text: str = ""
    comment: str | None = None
    first: bool = False
    after: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropColumn:
    """Drop a column or field. Its values are no longer read; its id is never used again. With `by_case` the name is
    spelled as the column's is."""

    name: ColumnPath
    if_exists: bool = False
    by_case: bool = False


@dataclass(frozen=True)
class RenameColumn:
    """Give a column or field another name. Options that name the column follow."""

    name: ColumnPath
    new: str
    by_case: bool = False


@dataclass(frozen=True)
class RetypeColumn:
    """Change the type of a column, field, element, key or value; whether it may be null stays."""

    name: ColumnPath
    type: DataType


@dataclass(frozen=True)
class MoveColumn:
    """Move a column or field to the beginning, or after one of its siblings."""

    name: ColumnPath
    first: bool = False
    after: str | None = None


@dataclass(frozen=True)
class SetNullability:
    """Let a column or field be null, or forbid it."""

    name: ColumnPath
    nullable: bool


@dataclass(frozen=True)
class AddPartitionField:
    """Partition new rows by one more column, the last of the partition columns. Files that exist stay where they
    are."""

    name: str


@dataclass(frozen=True)
class DropPartitionField:
    """Partition new rows by one column less. Files that exist stay where they are."""

    name: str


@dataclass(frozen=True)
class SetOption:
    """Set a table option."""

    key: str
    value: str


@dataclass(frozen=True)
class RemoveOption:
    """Remove a table option; its default applies again."""

    key: str


@dataclass(frozen=True)
class SetComment:
    """Set the comment of the table, or remove it with None."""

    comment: str | None


@dataclass(frozen=True)
class AddCheckConstraint:
    """Add a CHECK constraint, whose condition is false for no row of a snapshot (0: the table has none yet) under a
    schema."""

    name: str
    sql: str
    snapshot_id: int
    schema_id: int


@dataclass(frozen=True)
class SetColumnComment:
    """Set the comment of a column or field, or remove it with None."""

    name: ColumnPath
    comment: str | None


@dataclass(frozen=True)
class SetColumnDefault:
    """Set the default value of a column, as its schema keeps it, or remove it with None. Rows that exist stay."""

    name: ColumnPath
    default: str | None


ColumnChange = (
    AddColumn
    | AddComputedColumn
    | DropColumn
    | RenameColumn
    | RetypeColumn
    | MoveColumn
    | SetNullability
    | SetColumnComment
    | SetColumnDefault
)
PartitionChange = AddPartitionField | DropPartitionField
SchemaChange = ColumnChange | PartitionChange | SetOption | RemoveOption | SetComment | AddCheckConstraint
