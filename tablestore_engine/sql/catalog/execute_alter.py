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
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.statements.table import (
    AlterUnsupported,
    CommentOn,
    SetTableProperties,
    UnsetTableProperties,
)

_BUCKET_OPTIONS = ("bucket", "bucket-key", "sequence.field", "merge-engine")
_KEY = "primary-key"  # which an empty table may still get


def _alter(name: TableName, changes: Sequence[SchemaChange], context: CatalogContext) -> StatementResult:
    if changes:
        context.catalog.alter_table(*context.identifier(name), changes)
    return done("ALTER TABLE")


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


def unsupported(statement: AlterUnsupported, context: CatalogContext) -> StatementResult:
    """Any other ALTER TABLE or VIEW."""
    raise SqlError(
        f"{statement.table} cannot be altered by {statement.what}.",
        hint="Tables take RENAME TO; ADD, DROP, RENAME, ALTER and REPLACE COLUMNS; ADD PRIMARY KEY, CLUSTERED INTO n "
        "BUCKETS, DROP PARTITION, SET and UNSET TBLPROPERTIES, CREATE, REPLACE, RENAME and DELETE TAG, COMMENT and "
        "COMPACT; views take RENAME TO, SET and UNSET TBLPROPERTIES and AS.",
    )
