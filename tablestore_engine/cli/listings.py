"""Commands that show what a warehouse holds, without Spark: its tables, one table, the snapshots of a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from tablestore_engine.cli.failures import complain
from tablestore_engine.cli.output import show_pairs, show_table
from tablestore_engine.cli.warehouse import (
    existing_catalog,
    schema_option,
    stored_name,
    table_name,
    warehouse_option,
)
from tablestore_engine.errors import TableStoreError

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.sql.statements.statement import TableName

_REPEATS = ("name", "file.path")  # options that say what Name and Location say
_PROPERTIES = "Table Properties"
_UUID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


@click.command()
@warehouse_option
@click.argument("schema", required=False)
def tables(warehouse: str, schema: str | None) -> None:
    """List the tables and views of SCHEMA, or of all schemas."""
    catalog = existing_catalog(warehouse)
    rows: list[tuple[Any, ...]] = []
    for database in [catalog.require_database(schema)] if schema else catalog.list_databases():
        for name in sorted(catalog.list_tables(database)):
            try:
                found = catalog.load_table(database, name)
                stats = found.statistics()
            except TableStoreError as error:
                # An unreadable table, for example of another tool, must not hide the others.
                complain(f"{database}.{name}: {error}")
                rows.append((database, name, "table", "", "", "", "", ""))
                continue
            key = ", ".join(found.schema.primary_keys)
            rows.append((database, name, "table", key, stats.row_count, stats.bytes, stats.files, stats.snapshots))
        rows += [(database, one, "view", "", "", "", "", "") for one in sorted(catalog.list_views(database))]
    numbers = ["bigint"] * 4
    titles = ("schema", "name", "kind", "primary key", "rows", "bytes", "files", "snapshots")
    show_table(titles, ["string"] * 4 + numbers, rows)


@click.command()
@warehouse_option
@schema_option
@click.argument("table")
def describe(warehouse: str, schema: str, table: str) -> None:
    """Show columns, keys, options and figures of TABLE, which may be a view."""
    catalog = existing_catalog(warehouse)
    name = table_name(schema, table)
    columns, defaults, details = _described(catalog, name)
    titles = ("column", "type", "comment", "default") if defaults else ("column", "type", "comment")
    show_table(titles, (), [(*one, defaults.get(one[0], ""))[: len(titles)] for one in columns], counted=False)
    show_pairs(details)


@click.command()
@warehouse_option
@schema_option
@click.option("--limit", default=20, show_default=True, help="Snapshots to show, newest first.")
@click.argument("table")
def snapshots(warehouse: str, schema: str, limit: int, table: str) -> None:
    """List the snapshots of TABLE that can be read. Of the user, a UUID is cut to its first part."""
    from tablestore_engine.sql.catalog.execute_context import utc

    catalog = existing_catalog(warehouse)
    found = catalog.load_table(*stored_name(catalog, schema, table)).snapshots()[::-1]
    titles = ("id", "committed (UTC)", "kind", "written", "in files", "schema", "user")
    types = ("bigint", "string", "string", "bigint", "bigint", "bigint", "string")
    rows = [
        (one.id, utc(one.time_millis).removesuffix(" UTC"), one.commit_kind, one.delta_record_count,
         one.total_record_count, one.schema_id, _UUID.sub(r"\1…", one.commit_user))
        for one in found
    ]  # fmt: skip
    show_table(titles, types, rows, limit)


def _described(
    catalog: Catalog, name: TableName
) -> tuple[list[tuple[str, str, str]], dict[str, str], list[tuple[str, str]]]:
    """The answer of DESCRIBE EXTENDED, each thing once: the columns, their defaults, and the details that are set."""
    from tablestore_engine.sql.catalog.execute_catalog import CatalogContext, execute
    from tablestore_engine.sql.statements.show import Describe

    context = CatalogContext(catalog)
    result = execute(Describe(sql="", table=name, extended=True), context)
    assert result is not None
    sections: dict[str, list[Any]] = {"": []}
    current = sections[""]
    for row in result.rows or ():
        if row[0].startswith("# ") and not row[1]:
            current = sections.setdefault(row[0], [])
        elif row[0]:
            current.append(row)
    columns = [(column, kind, comment or "") for column, kind, comment in sections[""]]
    defaults = {column: default for column, _, default in sections.get("# Column Default Values", [])}
    found = {label: value for label, value, _ in sections["# Detailed Table Information"] if label not in _REPEATS}
    if context.kind(name) == "table":
        options = catalog.load_table(*context.identifier(name)).schema.options
        found[_PROPERTIES] = ", ".join(f"{key}={value}" for key, value in sorted(options.items()) if key not in found)
    return columns, defaults, [(label, value) for label, value in found.items() if value not in ("", "none")]
