"""CREATE TABLE with columns or LIKE, the session's defaults for it, DROP, RENAME and REFRESH."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import NoReturn

from tablestore_engine.catalog.log_topics import TOPIC, replaced_log
from tablestore_engine.errors import OptionError, SqlError, TableNotFound
from tablestore_engine.operation.table_commands.metadata_commands import replace_empty
from tablestore_engine.options import find_option, validate
from tablestore_engine.schema.table.computed_columns import ComputedColumn, check_watermark, computed_options
from tablestore_engine.schema.table.create_schema import check_names, create_schema, with_defaults
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.alike_names import check_alike_fields
from tablestore_engine.schema.types.types import DataType
from tablestore_engine.sql.catalog.execute_context import (
    SESSION_PREFIXES,
    CatalogContext,
    answer,
    done,
    is_bucketed,
    say_notes,
)
from tablestore_engine.sql.catalog.left_views import warn_of_views
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.script import ResetSessionOption, SetSessionOption
from tablestore_engine.sql.statements.statement import ColumnDefinition, Existing
from tablestore_engine.sql.statements.table import (
    CreateTable,
    CreateTableLike,
    DropTable,
    ForeignStatement,
    RefreshTable,
    RenameTable,
)
from tablestore_engine.sql.statements.view import DropView
from tablestore_engine.sql.tokens.default_clause import default_text
from tablestore_engine.sql.types.types import parse_sql_type

_PREFIX = SESSION_PREFIXES[0]
_UNSET = "<undefined>"


def create_table(statement: CreateTable, context: CatalogContext) -> StatementResult:
    """CREATE [OR REPLACE] TABLE with columns: an empty table."""
    database, name = context.identifier(statement.table)
    existing = statement.existing
    if existing is Existing.KEPT and context.catalog.table_exists(database, name):
        return done("CREATE TABLE")
    if existing is Existing.REQUIRED and not context.catalog.table_exists(database, name):
        _missing(statement, context)
    check_names([one.name for one in statement.columns])
    context.resolver.check_alike([one.name for one in statement.columns])
    schema = new_schema(
        [column_of(one) for one in statement.columns if one.computed_sql is None],
        statement.primary_key,
        statement.partition_by,
        {**statement.options, **computed_options(computed_of(statement))},
        statement.comment,
        context,
    )
    schema = replace(schema, fields=tuple(with_defaults(schema.fields, defaults_of(statement.columns))))
    return _create((database, name), schema, existing, context)


def _create(
    identifier: tuple[str, str], schema: TableSchema, existing: Existing, context: CatalogContext
) -> StatementResult:
    """Make an empty table, also of one that exists where it is to be replaced."""
    if existing.is_replaced and context.catalog.table_exists(*identifier):
        state = context.catalog.load_table(*identifier).state
        with replaced_log(state, schema, context.catalog.tables) as wanted:
            replace_empty(state, wanted)
        return done("REPLACE TABLE")
    context.catalog.create_table(*identifier, schema, existing is Existing.KEPT)
    return done("CREATE TABLE")


def _missing(statement: CreateTable | CreateTableLike, context: CatalogContext) -> NoReturn:
    database, name = context.identifier(statement.table)
    raise TableNotFound(f"Table '{database}.{name}' does not exist.", hint="Use CREATE OR REPLACE TABLE.")


def computed_of(statement: CreateTable) -> list[ComputedColumn]:
    """The computed columns that a statement declares."""
    return [
        ComputedColumn(i, one.name, one.computed_sql, one.comment, type_text_of(one))
        for i, one in enumerate(statement.columns)
        if one.computed_sql is not None
    ]


def type_text_of(column: ColumnDefinition) -> str:
    """The text of the type that a computed column has; empty if it is not known."""
    return str(parse_sql_type(column.type_sql, column.name)) if column.type_sql else ""


def column_of(column: ColumnDefinition) -> tuple[str, DataType, str | None]:
    """The column that a definition describes.

    Raises:
        UnsupportedTypeError: a table cannot hold the type.
    """
    kind = parse_sql_type(column.type_sql, column.name, nullable=column.nullable)
    return column.name, kind, column.comment


def defaults_of(columns: Sequence[ColumnDefinition]) -> dict[str, str]:
    """The default values of columns, as the schema keeps them, by name.

    Raises:
        SqlError: a subquery. SchemaError: a constant that is no value of the type.
    """
    return {
        one.name: default_text(one.name, parse_sql_type(one.type_sql, one.name), one.default_sql)
        for one in columns
        if one.default_sql is not None
    }


def new_schema(
    columns: Sequence[tuple[str, DataType, str | None]],
    primary_key: Sequence[str],
    partition_by: Sequence[str],
    options: Mapping[str, str],
    comment: str | None,
    context: CatalogContext,
) -> TableSchema:
    """The schema of a new table: from the statement and the session's defaults.

    The property `comment` is the table's comment. Raises SchemaError, OptionError.
    """
    given = dict(options)
    said = given.pop("comment", None)
    check_alike_fields([(name, kind) for name, kind, _ in columns], context.resolver)
    check_watermark(given, [(name, kind) for name, kind, _ in columns])
    given = {**context.table_defaults(bucketed=is_bucketed(primary_key, given)), **given}
    schema = create_schema(
        columns,
        primary_key,
        partition_by,
        given,
        said if comment is None else comment,
        context.now_millis(),
    )
    say_notes(given, schema)
    return schema


def create_table_like(statement: CreateTableLike, context: CatalogContext) -> StatementResult:
    """CREATE TABLE … LIKE: columns, keys, partitions, options and comments of a table; columns of a view."""
    database, name = context.identifier(statement.table)
    existing = statement.existing
    if existing is Existing.KEPT and context.catalog.table_exists(database, name):
        return done("CREATE TABLE")
    if existing is Existing.REQUIRED and not context.catalog.table_exists(database, name):
        _missing(statement, context)
    if context.kind(statement.source) == "view":
        view = context.catalog.load_view(*context.identifier(statement.source))
        if not view.columns:
            raise SqlError(f"The columns of view {statement.source} are not known.", hint="Create the view again.")
        source = TableSchema(0, view.columns, 0, comment=view.comment)
    else:
        source = context.catalog.load_table(*context.identifier(statement.source)).schema
    schema = new_schema(
        [(one.name, one.type, one.description) for one in source.fields],
        source.primary_keys,
        source.partition_keys,
        {**{key: text for key, text in source.options.items() if key != TOPIC}, **statement.options},
        statement.comment or (source.comment if "comment" not in statement.options else None),
        context,
    )
    defaults = {one.name: one.default_value for one in source.fields}
    schema = replace(schema, fields=tuple(with_defaults(schema.fields, defaults)))
    return _create((database, name), schema, existing, context)


def drop_table(statement: DropTable, context: CatalogContext) -> StatementResult:
    """DROP TABLE. Views that read it stay, as Spark's do, and a warning names them."""
    identifier = context.identifier(statement.table)
    if context.catalog.view_exists(*identifier):
        context.table(statement.table, "DROP TABLE")
    existed = context.catalog.table_exists(*identifier)
    context.catalog.drop_table(*identifier, statement.if_exists)
    if existed:
        warn_of_views(f"Table {'.'.join(identifier)} is dropped; these views read it", [identifier], context)
    return done("DROP TABLE")


def drop_view(statement: DropView, context: CatalogContext) -> StatementResult:
    """DROP VIEW."""
    identifier = context.identifier(statement.view)
    if context.catalog.table_exists(*identifier):
        context.view(statement.view, "DROP VIEW")
    existed = context.catalog.view_exists(*identifier)
    context.catalog.drop_view(*identifier, statement.if_exists)
    if existed:
        warn_of_views(f"View {'.'.join(identifier)} is dropped; these views read it", [identifier], context)
    return done("DROP VIEW")


def rename(statement: RenameTable, context: CatalogContext) -> StatementResult:
    """ALTER TABLE or VIEW … RENAME TO. Views that read it stay as they are, and a warning names them."""
    verb = "ALTER VIEW" if statement.is_view else "ALTER TABLE"
    (context.view if statement.is_view else context.table)(statement.table, verb)
    database, name = context.identifier(statement.table)
    target = statement.new.database or database
    context.catalog.rename_table(database, name, target, statement.new.name)
    kind = "View" if statement.is_view else "Table"
    what = f"{kind} {database}.{name} is called {target}.{statement.new.name} now; these views read the former name"
    warn_of_views(what, [(database, name)], context)
    return done(verb)


def refresh(statement: RefreshTable, context: CatalogContext) -> StatementResult:
    """REFRESH TABLE: nothing to do, since every statement reads the newest snapshot."""
    context.kind(statement.table)
    return done("REFRESH TABLE")


def foreign(statement: ForeignStatement, context: CatalogContext) -> None:
    """A statement that is not supported. Raises SqlError for a managed table; None leaves it to Spark."""
    database, name = context.identifier(statement.table)
    kind = context.catalog.object_kind(database, name)
    if kind is not None:
        what = "managed table" if kind == "table" else "view of the warehouse"
        raise SqlError(f"{statement.verb} is not supported: '{database}.{name}' is a {what}.", hint=statement.hint)


def set_default(statement: SetSessionOption, options: MutableMapping[str, str]) -> StatementResult:
    """SET: the options change, or are shown in Spark's form. Raises OptionError for a value that no table can have."""
    option, value = statement.option, statement.value
    if option is not None and value is not None:
        if option == "file.path":
            raise OptionError(
                "Tables are below the warehouse, so 'file.path' cannot be set.",
                hint="Open another warehouse: TableStore(path), or `warehouse` in the profile.",
            )
        validate({option: value}, keyed=True)
        if find_option(option) is None:
            raise OptionError(
                f"Unknown table option '{option}'.",
                hint="A default is for an option that the engine knows; CREATE TABLE takes any property.",
            )
        options[option] = value
    shown = options if option is None else {option: options.get(option, _UNSET)}
    rows = [(f"{_PREFIX}{key}", shown[key]) for key in sorted(shown)]
    return answer("SET", {"key": "string", "value": "string"}, rows)


def reset_default(
    statement: ResetSessionOption, options: MutableMapping[str, str], initial: Mapping[str, str]
) -> StatementResult:
    """RESET: the options are again those that the session began with."""
    for key in [statement.option] if statement.option is not None else [*options, *initial]:
        options.pop(key, None)
        if key in initial:
            options[key] = initial[key]
    return done("RESET")
