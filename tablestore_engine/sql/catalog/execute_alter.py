"""ALTER TABLE, ALTER VIEW and COMMENT ON.

A change of a table becomes schema changes, applied as one new schema. A change of a view rewrites its file.
The property `comment` is the comment of the table or view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tablestore_engine.catalog import View
from tablestore_engine.errors import ColumnNotFound, SqlError, did_you_mean
from tablestore_engine.options import find_option
from tablestore_engine.schema.table.creation import create_schema
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    RemoveOption,
    SchemaChange,
    SetColumnComment,
    SetColumnDefault,
    SetComment,
    SetOption,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.sql.catalog.execute_context import CatalogContext, done, say_notes
from tablestore_engine.sql.catalog.execute_schema import comment_schema
from tablestore_engine.sql.catalog.execute_table import column_of, defaults_of
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.statements.table import (
    AddColumns,
    AlterColumn,
    AlterDefault,
    AlterUnsupported,
    CommentOn,
    DropColumns,
    RenameColumn,
    SetTableProperties,
    UnsetTableProperties,
)
from tablestore_engine.sql.text.default_text import default_text

_BUCKET_OPTIONS = ("bucket", "bucket-key", "sequence.field", "merge-engine")
_KEY = "primary-key"  # which an empty table may still get


def _alter(name: TableName, changes: Sequence[SchemaChange], context: CatalogContext) -> StatementResult:
    if changes:
        context.catalog.alter_table(*context.identifier(name), changes)
    return done("ALTER TABLE")


def add_columns(statement: AddColumns, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … ADD COLUMNS."""
    schema = context.table(statement.table, "ALTER TABLE").schema
    wanted = [one for one in statement.columns if not (statement.if_not_exists and schema.has_field(one.name))]
    changes: list[SchemaChange] = [AddColumn(*column_of(one)) for one in wanted]
    changes += [SetColumnDefault(name, text) for name, text in defaults_of(wanted).items()]
    return _alter(statement.table, changes, context)


def alter_default(statement: AlterDefault, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … ALTER COLUMN … SET or DROP DEFAULT: for rows that are written from then on."""
    field = context.table(statement.table, "ALTER TABLE").schema.field(statement.column)
    sql = statement.default_sql
    text = None if sql is None else default_text(field.name, field.type, sql)
    return _alter(statement.table, [SetColumnDefault(field.name, text)], context)


# -- properties ------------------------------------------------------------------------------------------


def set_properties(statement: SetTableProperties, context: CatalogContext) -> StatementResult:
    """ALTER TABLE or VIEW … SET TBLPROPERTIES."""
    properties = dict(statement.properties)
    if statement.is_view:
        view = context.view(statement.table, "ALTER VIEW")
        comment = properties.pop("comment", view.comment)
        return _store(statement.table, replace(view, comment=comment, options={**view.options, **properties}), context)
    schema = context.table(statement.table, "ALTER TABLE").schema
    changes: list[SchemaChange] = []
    if "comment" in properties:
        changes.append(SetComment(properties.pop("comment")))
    _check_bucket_columns(schema, {**schema.options, **properties}, properties)
    changes += [SetOption(key, value) for key, value in properties.items()]
    altered = _alter(statement.table, changes, context)
    say_notes(properties)
    return altered


def unset_properties(statement: UnsetTableProperties, context: CatalogContext) -> StatementResult:
    """ALTER TABLE or VIEW … UNSET TBLPROPERTIES. A key that is not set is an error without IF EXISTS."""
    if statement.is_view:
        view = context.view(statement.table, "ALTER VIEW")
        _check_set(statement, view.options, view.comment)
        options = {key: value for key, value in view.options.items() if key not in statement.keys}
        comment = None if "comment" in statement.keys else view.comment
        return _store(statement.table, replace(view, comment=comment, options=options), context)
    schema = context.table(statement.table, "ALTER TABLE").schema
    _check_set(statement, schema.options, schema.comment)
    kept = {key: value for key, value in schema.options.items() if key not in statement.keys}
    removed = {key: "" for key in schema.options if key in statement.keys}
    _check_bucket_columns(schema, kept, removed)
    changes: list[SchemaChange] = [RemoveOption(key) for key in removed]
    if "comment" in statement.keys:
        changes.append(SetComment(None))
    return _alter(statement.table, changes, context)


def _check_set(statement: UnsetTableProperties, options: Mapping[str, str], comment: str | None) -> None:
    known = {*options, *(() if comment is None else ("comment",))}
    missing = [key for key in statement.keys if key not in known]
    if missing and not statement.if_exists:
        raise SqlError(
            f"{statement.table} does not have the property '{missing[0]}'.",
            hint="Use UNSET TBLPROPERTIES IF EXISTS.",
        )


def _check_bucket_columns(schema: TableSchema, options: Mapping[str, str], new_options: Mapping[str, str]) -> None:
    """Check that options about buckets fit the columns, as in CREATE TABLE."""
    if not {option.key for key in new_options if (option := find_option(key))}.intersection(_BUCKET_OPTIONS):
        return
    bucket_options = {key: value for key, value in options.items() if key in _BUCKET_OPTIONS}
    if _KEY in new_options and not schema.is_keyed:
        bucket_options[_KEY] = new_options[_KEY]
    if schema.is_keyed and "bucket" not in bucket_options:
        raise SqlError("A table with a primary key needs the option 'bucket'.", hint="Set it to another number.")
    columns = [(one.name, one.type, one.description) for one in schema.fields]
    create_schema(columns, schema.primary_keys, schema.partition_keys, bucket_options)


def _store(name: TableName, view: View, context: CatalogContext) -> StatementResult:
    context.catalog.create_view(*context.identifier(name), view, replace=True)
    return done("ALTER VIEW")


# -- comments --------------------------------------------------------------------------------------------


def comment_on(statement: CommentOn, context: CatalogContext) -> StatementResult:
    """COMMENT ON, and the equivalent ALTER TABLE."""
    if statement.kind == "SCHEMA":
        return comment_schema(statement.database or context.database, statement.comment, context)
    name = statement.table
    assert name is not None
    if context.kind(name) == "view":
        view = context.catalog.load_view(*context.identifier(name))
        _store(name, _commented(view, name, statement.column, statement.comment), context)
    elif statement.column is not None:
        _alter(name, [SetColumnComment(statement.column, statement.comment)], context)
    elif statement.kind == "VIEW":
        context.view(name, "COMMENT ON VIEW")
    else:
        _alter(name, [SetComment(statement.comment)], context)
    return done("COMMENT")


def _commented(view: View, name: TableName, column: str | None, comment: str | None) -> View:
    if column is None:
        return replace(view, comment=comment)
    if column.lower() not in {one.name.lower() for one in view.columns}:
        raise ColumnNotFound(
            f"View {name} has no column '{column}'.",
            hint=did_you_mean(column, [one.name for one in view.columns]),
        )
    columns = tuple(
        replace(one, description=comment) if one.name.lower() == column.lower() else one for one in view.columns
    )
    return replace(view, columns=columns)


# -- what tables cannot do yet ---------------------------------------------------------------------------


def drop_columns(statement: DropColumns, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … DROP COLUMNS; with IF EXISTS a missing column is not an error."""
    schema = context.table(statement.table, "ALTER TABLE").schema
    if statement.if_exists and not any(schema.has_field(one) for one in statement.columns):
        return done("ALTER TABLE")
    for column in statement.columns:
        if not statement.if_exists:
            schema.field(column)
    raise _not_yet(statement.table, "Dropping columns", "SELECT the other columns FROM it")


def rename_column(statement: RenameColumn, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … RENAME COLUMN."""
    column = context.table(statement.table, "ALTER TABLE").schema.field(statement.column).name
    raise _not_yet(statement.table, "Renaming columns", f"SELECT …, {column} AS {statement.new} FROM it")


def alter_column(statement: AlterColumn, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … ALTER COLUMN; its COMMENT is `comment_on`."""
    context.table(statement.table, "ALTER TABLE")
    if statement.type_sql is not None:
        what, query = (
            "Changing the type of columns",
            f"SELECT …, CAST({statement.column} AS {statement.type_sql}) …",
        )
    elif statement.nullable is not None:
        what, query = "Changing whether columns may be null", "SELECT …"
    else:
        what, query = "Moving columns", "SELECT the columns in another order FROM it"
    raise _not_yet(statement.table, what, query)


def unsupported(statement: AlterUnsupported, context: CatalogContext) -> StatementResult:
    """Any other ALTER TABLE or VIEW."""
    raise SqlError(
        f"{statement.table} cannot be altered by {statement.what}.",
        hint="Tables take RENAME TO, ADD COLUMNS, ADD PRIMARY KEY, CLUSTERED INTO n "
        "BUCKETS, DROP PARTITION, SET and UNSET "
        "TBLPROPERTIES, CREATE, REPLACE, RENAME and DELETE TAG, COMMENT and COMPACT; views take "
        "RENAME TO, SET and UNSET TBLPROPERTIES and AS.",
    )


def _not_yet(name: TableName, what: str, query: str) -> SqlError:
    return SqlError(f"{what} is not supported yet.", hint=f"Use CREATE OR REPLACE TABLE {name} … AS {query}.")
