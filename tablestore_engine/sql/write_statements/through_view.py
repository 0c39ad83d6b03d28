"""Statements that change rows through a temporary view of SQL, which is a plain selection of one managed table.

Such a statement changes the table. If the view calls the columns by other names, UPDATE, DELETE and MERGE see a table
whose columns have these names, and its rows are written under the table's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tablestore_engine.errors import BrokenViewError, ReadOnlyError, SqlError, TableStoreError
from tablestore_engine.schema.types.names import Names
from tablestore_engine.spark.queries.temp_views import Definition, definition_of, ends_with_session, is_temporary
from tablestore_engine.sql.catalog.execute_context import is_global_temporary
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.pinned_queries.temporary_objects import is_current
from tablestore_engine.sql.query.updatable_views import plain_selection
from tablestore_engine.sql.statements.row import Delete, InsertInto, InsertOverwrite, Merge, Update
from tablestore_engine.sql.statements.statement import Statement, TableName
from tablestore_engine.sql.statements.table import Truncate
from tablestore_engine.sql.statements.view import CreateView
from tablestore_engine.sql.write_statements.statement_context import RowContext

Change = InsertInto | InsertOverwrite | Update | Delete | Merge | Truncate


@dataclass(frozen=True)
class Made:
    """The statement that made a temporary view, the database of its names, and what it read: tables and views, and
    other temporary views `below` with their sources.

    `again` runs the statement anew.
    """

    view: CreateView
    database: str
    frames: Frames
    below: Mapping[str, Definition | None]
    again: Callable[[CreateView], object]

    def is_current(self) -> bool:
        """Whether the tables, and the views, that the view reads are as they were then."""
        return is_current(self.frames, self.below)

    def make(self) -> None:
        """Make the view over again. Raises BrokenViewError where its query no longer runs."""
        try:
            self.again(self.view)
        except TableStoreError as error:
            raise BrokenViewError(
                f"View '{self.view.view.name}' cannot be read any more: {error}",
                hint="Create it again on what exists now.",
            ) from error
        self.frames.temp_views.drop()


@dataclass(frozen=True)
class Shown:
    """The table that a temporary view selects; ``names`` are what the view calls its columns, None for their own."""

    table: TableName
    columns: tuple[str, ...]
    names: tuple[str, ...] | None


def temporary_target(statement: Change, context: RowContext) -> Made | None:
    """The temporary view that a statement writes to. Raises ReadOnlyError for one that was not made by SQL."""
    name = statement.table
    if is_global_temporary(name.database, context.catalog):
        raise _read_only(name)
    if name.database is not None or context.catalog.object_kind(context.database, name.name) is not None:
        return None
    spark = context.running()  # without a session there is no temporary view
    if spark is None or not is_temporary(spark, name.name) or not ends_with_session(spark, name.name):
        return None
    made = definition_of(spark, name.name)
    if isinstance(made, Made):
        return made
    raise _read_only(name)


def table_shown(view: CreateView, context: RowContext) -> Shown:
    """The managed table that a temporary view selects. Raises ReadOnlyError for a view that does more."""
    selected = plain_selection(view.query_sql)
    if selected is None or (selected.table.database is None and is_temporary(context.spark(), selected.table.name)):
        raise _read_only(view.view)
    database = selected.table.database or context.database
    if context.catalog.object_kind(database, selected.table.name) != "table":
        raise _read_only(view.view)
    own = context.catalog.load_table(database, selected.table.name).schema.field_names
    names = tuple(name for name, _ in view.columns) or selected.names or tuple(own)
    if len(names) != len(own) or not _same(selected.columns or own, own):
        raise _read_only(view.view)
    renamed = None if _same(names, own) else names
    return Shown(TableName(database, selected.table.name), tuple(own), renamed)


def on_table(statement: Change, shown: Shown) -> Statement:
    """A statement on a view as a statement on its table, which keeps the view's name as its alias.

    Raises:
        ReadOnlyError: rows by name for a view that has other names.
    """
    table = shown.table
    if isinstance(statement, Merge):
        return replace(statement, table=table, target_alias=statement.target_alias or statement.table.name)
    if isinstance(statement, Update | Delete):
        return replace(statement, table=table, alias=statement.alias or statement.table.name)
    if isinstance(statement, Truncate) or shown.names is None:
        return replace(statement, table=table)
    if statement.by_name or (isinstance(statement, InsertOverwrite) and statement.replace_where_sql is not None):
        raise SqlError(
            f"'{statement.table.name}' calls the columns of '{table}' by other names, and takes no rows BY NAME and no "
            "REPLACE WHERE.",
            hint=f"Write to '{table}'.",
        )
    key = Names(shown.names).key
    own = {key(name): column for name, column in zip(shown.names, shown.columns, strict=True)}
    columns = tuple(own.get(key(name), name) for name in statement.columns)
    partition = tuple(replace(one, column=own.get(key(one.column), one.column)) for one in statement.partition)
    return replace(statement, table=table, columns=columns, partition=partition)


def shown_to(statement: Change, shown: Shown, context: RowContext) -> RowContext:
    """The context of a statement on a view's table: only those that read its rows see the names of the view."""
    reads = isinstance(statement, Update | Delete | Merge)
    return replace(context, shown_names=shown.names) if reads else context


def _same(names: tuple[str, ...] | list[str], own: tuple[str, ...] | list[str]) -> bool:
    key = Names(own).key
    return [key(name) for name in names] == [key(name) for name in own]


def _read_only(name: TableName) -> ReadOnlyError:
    return ReadOnlyError(
        f"'{name.name}' is a temporary view, which cannot be written to.",
        hint="Write to the table it reads. Only a view of all columns and rows of one managed table, as SELECT * FROM "
        "it, can be written to.",
    )
