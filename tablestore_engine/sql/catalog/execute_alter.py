"""ALTER TABLE, ALTER VIEW and COMMENT ON.

A change of a table becomes schema changes, applied as one new schema. A change of a view rewrites its file.
The property `comment` is the comment of the table or view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tablestore_engine.catalog import View
from tablestore_engine.errors import ColumnNotFound, SqlError, did_you_mean
from tablestore_engine.schema.alter.edit_fields import commented, find_path, shown
from tablestore_engine.schema.table.check_constraints import check_constraints, check_options, find_check
from tablestore_engine.schema.table.schema_changes import (
    RemoveOption,
    SchemaChange,
    SetColumnComment,
    SetComment,
    SetOption,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.sql.catalog.execute_context import CatalogContext, done, say_notes
from tablestore_engine.sql.catalog.execute_schema import comment_schema
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.columns import UnsetProperties
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.statements.table import (
    AlterUnsupported,
    CommentOn,
    DropConstraint,
    SetTableProperties,
    UnsetTableProperties,
)
from tablestore_engine.sql.statements.view import SetViewMode


def _alter(name: TableName, changes: Sequence[SchemaChange], context: CatalogContext) -> StatementResult:
    if changes:
        context.catalog.alter_table(*context.identifier(name), changes)
    return done("ALTER TABLE")


# -- properties ------------------------------------------------------------------------------------------


def set_properties(statement: SetTableProperties, context: CatalogContext) -> StatementResult:
    """ALTER TABLE or VIEW … SET TBLPROPERTIES."""
    if statement.is_view:
        properties = dict(statement.properties)
        view = context.view(statement.table, "ALTER VIEW")
        comment = properties.pop("comment", view.comment)
        return _store(statement.table, replace(view, comment=comment, options={**view.options, **properties}), context)
    altered = context.table(statement.table, "ALTER TABLE")
    changes = list(changes_of_set(statement.properties))
    if changes:
        altered = context.catalog.alter_table(*context.identifier(statement.table), changes)
    say_notes(statement.properties, altered.schema)
    return done("ALTER TABLE")


def changes_of_set(properties: Mapping[str, str]) -> Iterator[SchemaChange]:
    """The changes of a table by SET TBLPROPERTIES: of options, and of the comment."""
    for key, value in properties.items():
        yield SetComment(value) if key == "comment" else SetOption(key, value)


def set_view_mode(statement: SetViewMode, context: CatalogContext) -> StatementResult:
    """ALTER VIEW … WITH SCHEMA: what becomes of its columns when its tables change."""
    view = context.view(statement.view, "ALTER VIEW")
    return _store(statement.view, replace(view, mode=statement.mode), context)


def unset_properties(statement: UnsetTableProperties, context: CatalogContext) -> StatementResult:
    """ALTER TABLE or VIEW … UNSET TBLPROPERTIES. A key that is not set is an error without IF EXISTS."""
    if statement.is_view:
        view = context.view(statement.table, "ALTER VIEW")
        _check_set(statement, statement.table, view.options, view.comment)
        options = {key: value for key, value in view.options.items() if key not in statement.keys}
        comment = None if "comment" in statement.keys else view.comment
        return _store(statement.table, replace(view, comment=comment, options=options), context)
    schema = context.table(statement.table, "ALTER TABLE").schema
    return _alter(statement.table, list(changes_of_unset(statement, statement.table, schema)), context)


def changes_of_unset(
    unset: UnsetTableProperties | UnsetProperties, table: TableName, schema: TableSchema
) -> Iterator[SchemaChange]:
    """The changes of a table by UNSET TBLPROPERTIES. Raises SqlError for a key that is not set."""
    _check_set(unset, table, schema.options, schema.comment)
    for key in unset.keys:
        yield SetComment(None) if key == "comment" else RemoveOption(key)


def _check_set(
    unset: UnsetTableProperties | UnsetProperties, name: TableName, options: Mapping[str, str], comment: str | None
) -> None:
    known = {*options, *(() if comment is None else ("comment",))}
    missing = [key for key in unset.keys if key not in known]
    if missing and not unset.if_exists:
        raise SqlError(
            f"{name} does not have the property '{missing[0]}'.",
            hint="Use UNSET TBLPROPERTIES IF EXISTS.",
        )


def _store(name: TableName, view: View, context: CatalogContext) -> StatementResult:
    context.catalog.create_view(*context.identifier(name), view, replace=True)
    return done("ALTER VIEW")


# -- comments --------------------------------------------------------------------------------------------


def comment_on(statement: CommentOn, context: CatalogContext) -> StatementResult:
    """COMMENT ON, and the equivalent ALTER TABLE."""
    if statement.kind == "SCHEMA":
        return comment_schema(statement.database or context.database, statement.comment, context)
    statement = _meant(statement, context)
    name = statement.table
    assert name is not None
    if context.kind(name) == "view":
        view = context.catalog.load_view(*context.identifier(name))
        _store(name, _commented(view, name, statement.column, statement.comment), context)
    elif statement.column is not None:
        found = find_path(context.table(name, "COMMENT ON COLUMN").schema.fields, statement.column)
        if found is not None:
            context.resolver.check_spelling(statement.column, shown(found))
        _alter(name, [SetColumnComment(statement.column, statement.comment)], context)
    elif statement.kind == "VIEW":
        context.view(name, "COMMENT ON VIEW")
    else:
        _alter(name, [SetComment(statement.comment)], context)
    return done("COMMENT")


def _meant(statement: CommentOn, context: CatalogContext) -> CommentOn:
    """The statement about a field of a table, where no table in a schema has the name."""
    first, named = statement.table, statement.named
    if first is None or len(named) < 3 or context.catalog.object_kind(*context.identifier(first)) is not None:
        return statement
    table = TableName(None, named[0])
    if context.catalog.object_kind(*context.identifier(table)) is None:
        return statement
    return replace(statement, table=table, column=".".join(named[1:]))


def _commented(view: View, name: TableName, column: str | None, comment: str | None) -> View:
    if column is None:
        return replace(view, comment=comment)
    path = find_path(view.columns, column)
    if path is None:
        names = [one.name for one in view.columns]
        raise ColumnNotFound(f"View {name} has no column '{column}'.", hint=did_you_mean(column, names))
    return replace(view, columns=commented(view.columns, path, comment))


def drop_constraint(statement: DropConstraint, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … DROP CONSTRAINT of a CHECK constraint. Raises SqlError for a name that is none."""
    options = context.table(statement.table, "ALTER TABLE").schema.options
    found = find_check(options, statement.name)
    if found is None and not statement.if_exists:
        names = [one.name for one in check_constraints(options)]
        raise SqlError(
            f"{statement.table} has no CHECK constraint '{statement.name}'.",
            hint=did_you_mean(statement.name, names) or "Use DROP CONSTRAINT IF EXISTS; primary keys stay.",
        )
    removed = check_options([found] if found else [])
    return _alter(statement.table, [RemoveOption(key) for key in removed], context)


def unsupported(statement: AlterUnsupported, context: CatalogContext) -> StatementResult:
    """Any other ALTER TABLE or VIEW."""
    if statement.what.endswith(" CONSTRAINT"):
        raise SqlError(
            f"{statement.table} cannot be altered by {statement.what}: PRIMARY KEY, NOT NULL and CHECK are kept.",
            hint="Use ADD PRIMARY KEY (…) NOT ENFORCED, ADD CONSTRAINT name CHECK (…), or ALTER COLUMN … SET NOT NULL.",
        )
    raise SqlError(
        f"{statement.table} cannot be altered by {statement.what}.",
        hint="Tables take RENAME TO; ADD, DROP, RENAME, ALTER and REPLACE COLUMNS; ADD PRIMARY KEY, CLUSTERED INTO n "
        "BUCKETS, DROP PARTITION, SET and UNSET TBLPROPERTIES, CREATE, REPLACE, RENAME and DELETE TAG, COMMENT and "
        "COMPACT; views take RENAME TO, SET and UNSET TBLPROPERTIES and AS.",
    )
