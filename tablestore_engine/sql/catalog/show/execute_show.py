"""SHOW TABLES, VIEWS, TBLPROPERTIES, COLUMNS and PARTITIONS, with Spark's result columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tablestore_engine.errors import SqlError, TableStoreError
from tablestore_engine.metadata.partition import PartitionFormat, escape
from tablestore_engine.sql.catalog.execute_context import CatalogContext, answer, is_global_temporary
from tablestore_engine.sql.catalog.partition_spec import live_partitions, static_values
from tablestore_engine.sql.catalog.show.shown_columns import ShownColumn, columns_of, shown_columns, shown_fields
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.show import (
    ShowColumns,
    ShowPartitions,
    ShowTables,
    ShowTblProperties,
    ShowViews,
)
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.tokens.patterns import matching

Listed = tuple[str, str, bool, str]
_LISTING = {"namespace": "string", "tableName": "string", "isTemporary": "boolean"}


def show_tables(statement: ShowTables, context: CatalogContext) -> StatementResult:
    """SHOW TABLES and SHOW TABLE EXTENDED, including views, as in Spark."""
    catalog, schema, rows = context.catalog, statement.database, list[Listed]()
    if not is_global_temporary(schema, catalog):
        database = catalog.require_database(schema or context.database)
        names = matching([*catalog.list_tables(database), *catalog.list_views(database)], statement.like)
        extended = statement.extended
        rows = [(database, name, False, _information(database, name, context) if extended else "") for name in names]
    rows += _temporary(statement, context, details=statement.extended)
    if statement.extended:
        return answer("SHOW TABLE EXTENDED", {**_LISTING, "information": "string"}, rows)
    return answer("SHOW TABLES", _LISTING, [row[:3] for row in rows])


def show_views(statement: ShowViews, context: CatalogContext) -> StatementResult:
    """SHOW VIEWS."""
    rows = _temporary(statement, context)
    if not is_global_temporary(statement.database, context.catalog):
        database = context.catalog.require_database(statement.database or context.database)
        names = matching(context.catalog.list_views(database), statement.like)
        rows = [*((database, name, False, "") for name in names), *rows]
    columns = {"namespace": "string", "viewName": "string", "isTemporary": "boolean"}
    return answer("SHOW VIEWS", columns, [row[:3] for row in rows])


def _temporary(statement: ShowTables | ShowViews, context: CatalogContext, *, details: bool = False) -> list[Listed]:
    """The rows of temporary views, which Spark lists in every schema."""
    found = context.temporary_views(statement.database, details)
    named = set(matching([name for _, name, _, _ in found], statement.like))
    return [row for row in found if row[1] in named]


def _information(database: str, name: str, context: CatalogContext) -> str:
    """The description of a table or view as in Spark, line by line."""
    lines = [f"Database: {database}", f"Table: {name}"]
    if context.catalog.object_kind(database, name) == "view":
        view = context.catalog.load_view(database, name)
        lines += ["Type: VIEW", f"View Text: {view.sql}", *_comment(view.comment)]
        return "\n".join([*lines, *_tree(shown_fields(view.columns)), ""])
    try:
        table = context.catalog.load_table(database, name)
        found = table.statistics()
    except TableStoreError as error:
        # An unreadable table, for example of another tool, must not hide the others.
        return "\n".join([*lines, "Type: MANAGED", f"Problem: {error.message}", ""])
    lines += ["Type: MANAGED", "Provider: tablestore", *_comment(table.schema.comment)]
    lines += [f"Location: {table.path}", f"Statistics: {found.bytes} bytes, {found.row_count_text} rows"]
    if table.schema.primary_keys:
        lines.append(f"Primary Key: {', '.join(table.schema.primary_keys)}")
    if table.schema.partition_keys:
        lines.append(f"Partition Columns: {', '.join(table.schema.partition_keys)}")
    return "\n".join([*lines, *_tree(shown_columns(table.schema)), ""])


def _comment(text: str | None) -> list[str]:
    return [] if text is None else [f"Comment: {text}"]


def _tree(columns: Iterable[ShownColumn]) -> list[str]:
    nullable = ((one, "true" if one.nullable else "false") for one in columns)
    return ["Schema: root", *(f" |-- {one.name}: {one.type_text} (nullable = {null})" for one, null in nullable)]


def show_columns(statement: ShowColumns, context: CatalogContext) -> StatementResult:
    """SHOW COLUMNS."""
    found = columns_of(context.catalog, *context.identifier(statement.table), context.kind(statement.table))
    rows = [(one.name,) for one in found]
    return answer("SHOW COLUMNS", {"col_name": "string"}, rows)


def properties_of(name: TableName, context: CatalogContext) -> Mapping[str, str]:
    """The properties of a table or view; the primary key is one of them."""
    identifier = context.identifier(name)
    if context.kind(name) == "view":
        return context.catalog.load_view(*identifier).options
    schema = context.catalog.load_table(*identifier).schema
    key = {"primary-key": ",".join(schema.primary_keys)} if schema.primary_keys else {}
    return {**schema.options, **key}


def show_properties(statement: ShowTblProperties, context: CatalogContext) -> StatementResult:
    """SHOW TBLPROPERTIES; a requested property that is not set is reported as missing, as in Spark."""
    found = properties_of(statement.table, context)
    key = statement.key
    if key is None:
        rows = sorted(found.items())
    else:
        database, name = context.identifier(statement.table)
        rows = [(key, found.get(key, f"Table {database}.{name} does not have property: {key}"))]
    return answer("SHOW TBLPROPERTIES", {"key": "string", "value": "string"}, rows)


def show_partitions(statement: ShowPartitions, context: CatalogContext) -> StatementResult:
    """SHOW PARTITIONS: those that hold files now, as `dt=2024-01-01/hr=3`, or `dt=null/hr=3`."""
    table = context.table(statement.table, "SHOW PARTITIONS")
    if not table.schema.partition_keys:
        raise SqlError(f"Table {table.name} is not partitioned.")
    wanted = static_values(table.schema, statement.partition, context.resolver)
    rows = live_partitions(table.schema, {one.partition for one in table.live_files()}, wanted)
    named = PartitionFormat(table.schema)
    specs = [zip(map(escape, named.names_of(row)), map(escape, named.texts_of(row)), strict=True) for _, row in rows]
    shown = [("/".join(f"{name}={text}" for name, text in spec),) for spec in specs]
    return answer("SHOW PARTITIONS", {"partition": "string"}, shown)
