"""ALTER TABLE … of columns: the actions of a statement become schema changes, applied as one new schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tablestore_engine.errors import SqlError
from tablestore_engine.schema.alter.edit_fields import Path, find_path, shown, siblings_of
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    AddComputedColumn,
    AddPartitionField,
    DropColumn,
    DropPartitionField,
    MoveColumn,
    RenameColumn,
    RetypeColumn,
    SchemaChange,
    SetColumnComment,
    SetColumnDefault,
    SetComment,
    SetNullability,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.alike_names import check_alike_fields
from tablestore_engine.schema.types.default_values import Expression, parsed_default
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.sql.catalog.execute_alter import changes_of_set, changes_of_unset
from tablestore_engine.sql.catalog.execute_context import CatalogContext, done, say_notes
from tablestore_engine.sql.catalog.execute_table import column_of, defaults_of, type_text_of
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements import columns
from tablestore_engine.sql.statements.columns import AlterColumns
from tablestore_engine.sql.statements.statement import ColumnDefinition, Statement, TableName
from tablestore_engine.sql.statements.table import CreateTable
from tablestore_engine.sql.tokens.default_clause import default_text
from tablestore_engine.sql.types.types import parse_sql_type

_ONE_EACH = "Use a statement for each change."


def alter_columns(statement: AlterColumns, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … ADD, DROP, RENAME, ALTER, CHANGE, MODIFY and REPLACE COLUMNS, also with properties."""
    table = context.table(statement.table, "ALTER TABLE")
    schema = table.schema
    _check_once(statement, schema)
    changes = [change for action in statement.actions for change in _changes(action, statement.table, schema, context)]
    for change in changes:
        if isinstance(change, AddColumn | RetypeColumn):
            check_alike_fields([(shown(change.name), change.type)], context.resolver)
    if changes:
        table = context.catalog.alter_table(*context.identifier(statement.table), changes)
    for action in statement.actions:
        if isinstance(action, columns.SetProperties):
            say_notes(action.properties, table.schema)
    return done("ALTER TABLE")


def _changes(
    action: columns.TableAction, table: TableName, schema: TableSchema, context: CatalogContext
) -> Iterator[SchemaChange]:
    if isinstance(action, columns.SetProperties):
        yield from changes_of_set(action.properties)
    elif isinstance(action, columns.UnsetProperties):
        yield from changes_of_unset(action, table, schema)
    elif isinstance(action, columns.SetTableComment):
        yield SetComment(action.comment)
    else:
        _check_spelled(action, schema, context)
        yield from _changes_of_columns(action, schema, context)


def _changes_of_columns(
    action: columns.ColumnAction, schema: TableSchema, context: CatalogContext
) -> Iterator[SchemaChange]:
    if isinstance(action, columns.AddColumn):
        path = (*action.parent, action.column.name)
        added = _added(action.column, schema, action.parent, if_not_exists=action.if_not_exists)
        yield from (_by_case(one, path, schema, context) for one in added)
    elif isinstance(action, columns.DropColumn):
        yield _dropped(action, schema, context)
    elif isinstance(action, columns.RenameColumn):
        path = (*action.column[:-1], action.new)
        found = find_path(schema.fields, action.column)
        if found is None or found[-1] != action.new:
            yield _by_case(RenameColumn(action.column, action.new), path, schema, context)
    elif isinstance(action, columns.AlterColumn):
        yield from _altered(action)
    elif isinstance(action, columns.AddPartitionField):
        yield AddPartitionField(action.column)
    elif isinstance(action, columns.DropPartitionField):
        yield DropPartitionField(action.column)
    elif isinstance(action, columns.SetDefault):
        yield _default(action, schema)
    else:
        yield from _replaced(action.columns, schema, context)


def _check_once(statement: AlterColumns, schema: TableSchema) -> None:
    """Raise a SqlError for a column that is changed twice, also by its parts: the order would not be seen."""
    changed: dict[Path, None] = {}
    for action in statement.actions:
        if isinstance(action, columns.AlterColumn | columns.SetDefault):
            found = find_path(schema.fields, action.column) or action.column
            if found in changed:
                raise SqlError(f"Column '{shown(found)}' is changed twice in one statement.", hint=_ONE_EACH)
            changed[found] = None
    for path in changed:
        parent = next((path[:n] for n in range(1, len(path)) if path[:n] in changed), None)
        if parent is not None:
            raise SqlError(
                f"Column '{shown(parent)}' and '{shown(path)}' inside of it are changed in one statement.",
                hint=_ONE_EACH,
            )


def _check_spelled(action: columns.ColumnAction, schema: TableSchema, context: CatalogContext) -> None:
    """Check the spelling of the columns and fields that an action names: what it changes, and what it is put after."""
    for path in _named_by(action):
        found = find_path(schema.fields, path)
        if found is not None:
            context.resolver.check_spelling(shown(path), shown(found))


def _named_by(action: columns.ColumnAction) -> Iterator[Path]:
    """Paths of what a table has. A DROP that names something else drops nothing: `_dropped`."""
    if isinstance(action, columns.AddColumn):
        if action.parent:
            yield action.parent
        if action.column.after is not None:
            yield (*action.parent, action.column.after)
    elif isinstance(action, columns.RenameColumn | columns.SetDefault):
        yield action.column
    elif isinstance(action, columns.AlterColumn):
        yield action.column
        if action.after is not None:
            yield (*action.column[:-1], action.after)
    elif isinstance(action, columns.AddPartitionField | columns.DropPartitionField):
        yield (action.column,)


def _added(
    column: ColumnDefinition, schema: TableSchema, parent: tuple[str, ...] = (), *, if_not_exists: bool = False
) -> Iterator[SchemaChange]:
    if column.computed_sql is not None:
        kind = type_text_of(column)
        yield AddComputedColumn(
            column.name, column.computed_sql, kind, column.comment, column.first, column.after, if_not_exists
        )
        return
    name, data_type, comment = column_of(column)
    yield AddColumn((*parent, name), data_type, comment, column.first, column.after, if_not_exists)
    if column.default_sql is not None and not (if_not_exists and schema.has_field(name)):
        yield SetColumnDefault((*parent, name), default_text(name, data_type, column.default_sql))


def _dropped(action: columns.DropColumn, schema: TableSchema, context: CatalogContext) -> DropColumn:
    """The name means what it means before the statement: of `id` and `Id`, only one is dropped by `(id, id)`. Where a
    session distinguishes names by their case, it means no other spelling."""
    found = find_path(schema.fields, action.column)
    if found is None:
        return DropColumn(action.column, action.if_exists)
    same = context.resolver.is_same(shown(action.column), shown(found))
    return DropColumn(found if same else action.column, action.if_exists, by_case=True)


def _by_case(change: SchemaChange, path: tuple[str, ...], schema: TableSchema, context: CatalogContext) -> SchemaChange:
    """A change that makes the name at a path; where a sibling has it in another spelling, the session decides."""
    if not isinstance(change, (AddColumn, RenameColumn)):
        return change
    parent = find_path(schema.fields, path[:-1]) if len(path) > 1 else ()
    if parent is None:
        return change
    siblings = [one.name for one in siblings_of(schema.fields, (*parent, path[-1]))]
    alike = any(one != path[-1] and one.lower() == path[-1].lower() for one in siblings)
    return replace(change, by_case=True) if alike and context.resolver.distinguishes else change


def _default(action: columns.SetDefault, schema: TableSchema) -> SetColumnDefault:
    if action.default_sql is None or len(action.column) > 1:
        return SetColumnDefault(action.column, action.default_sql)
    field = schema.field(action.column[0])
    return SetColumnDefault((field.name,), default_text(field.name, field.type, action.default_sql))


def declared_columns(statement: Statement) -> list[ColumnDefinition]:
    """The columns that CREATE TABLE or ADD COLUMN declares."""
    if isinstance(statement, CreateTable):
        return list(statement.columns)
    if isinstance(statement, AlterColumns):
        return [one.column for one in statement.actions if isinstance(one, columns.AddColumn) and not one.parent]
    return []


def with_columns(statement: Statement, declared: Sequence[ColumnDefinition]) -> Statement:
    """The statement with other definitions of its `declared_columns`, of the same names."""
    if isinstance(statement, CreateTable):
        return replace(statement, columns=tuple(declared))
    assert isinstance(statement, AlterColumns)
    by_name = {one.name: one for one in declared}
    actions = (
        replace(one, column=by_name[one.column.name]) if isinstance(one, columns.AddColumn) and not one.parent else one
        for one in statement.actions
    )
    return replace(statement, actions=tuple(actions))


def declared_expressions(statement: Statement, context: CatalogContext) -> list[DataField]:
    """The columns to which a statement gives a default value that is an expression."""
    found: list[DataField] = []
    if isinstance(statement, CreateTable):
        found = _with_default([one for one in statement.columns if one.computed_sql is None])
    elif isinstance(statement, AlterColumns):
        for action in statement.actions:
            if isinstance(action, columns.SetDefault) and action.default_sql is not None:
                schema = context.table(statement.table, "ALTER TABLE").schema
                changed = _default(action, schema)
                found.append(replace(schema.field(action.column[0]), default_value=changed.default))
            elif isinstance(action, columns.AddColumn):
                found += _with_default([action.column])
            elif isinstance(action, columns.ReplaceColumns):
                found += _with_default(action.columns)
    return [one for one in found if isinstance(parsed_default(one), Expression)]


def _with_default(definitions: Sequence[ColumnDefinition]) -> list[DataField]:
    texts = defaults_of(definitions)
    typed = [(one.name, parse_sql_type(one.type_sql, one.name)) for one in definitions if one.name in texts]
    return [DataField(0, name, kind, default_value=texts[name]) for name, kind in typed]


def _altered(action: columns.AlterColumn) -> Iterator[SchemaChange]:
    if action.type_sql is not None:
        yield RetypeColumn(action.column, parse_sql_type(action.type_sql, ".".join(action.column)))
    if action.nullable is not None:
        yield SetNullability(action.column, action.nullable)
    if action.comment is not None:
        yield SetColumnComment(action.column, action.comment)
    if action.first or action.after is not None:
        yield MoveColumn(action.column, action.first, action.after)


def _replaced(
    wanted: Sequence[ColumnDefinition], schema: TableSchema, context: CatalogContext
) -> Iterator[SchemaChange]:
    """Columns of the same name stay, with their rows, and are spelled anew; others are dropped, and new ones added."""
    names = Names(one.name for one in wanted)
    if names.has_repeated:
        raise SqlError("REPLACE COLUMNS names a column twice.")
    context.resolver.check_alike(names)
    kept: set[str] = set()
    for one in wanted:
        known = schema.names.find(one.name)
        if known is None or names.find(known) != one.name or not context.resolver.is_same(one.name, known):
            yield from (
                replace(change, by_case=True) if isinstance(change, AddColumn) else change
                for change in _added(one, schema)
            )
            continue
        kept.add(known)
        old = schema.field(known)
        _, data_type, comment = column_of(one)
        if data_type.as_nullable(True) != old.type.as_nullable(True):
            yield RetypeColumn((old.name,), data_type)
        if old.name not in schema.primary_keys and one.nullable != old.type.nullable:
            yield SetNullability((old.name,), one.nullable)
        if comment != old.description:
            yield SetColumnComment((old.name,), comment)
        text = defaults_of([one]).get(one.name)
        if text != old.default_value:
            yield SetColumnDefault((old.name,), text)
        if one.name != old.name:
            yield RenameColumn((old.name,), one.name)
    # The new columns are there by now, so that one is left also where all the others are dropped.
    yield from (DropColumn((old.name,), by_case=True) for old in schema.fields if old.name not in kept)
    for at, one in enumerate(wanted):
        yield MoveColumn((one.name,), first=at == 0, after=None if at == 0 else wanted[at - 1].name)
