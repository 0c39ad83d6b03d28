"""Procedures on the tables of whole databases: compact them, or renew the hints by which readers find snapshots."""

from __future__ import annotations

from tablestore_engine.errors import TableStoreError
from tablestore_engine.schema.types.sql_literals import unquoted_name
from tablestore_engine.spark.compact.compactor import compact_table
from tablestore_engine.sql.procedures.compaction_procedures import with_options
from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows, named_table, pattern, text
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table


def table_or_database(arguments: Arguments, context: RowContext) -> list[Table]:
    """The table of the argument `table`, or with `db.*` all tables of a database. Raises TableNotFound."""
    database = whole_database(arguments)
    return named_table(arguments, context) if database is None else _tables_of(database, context)


def whole_database(arguments: Arguments) -> str | None:
    """The database of the argument `table` where this is `db.*`, else None."""
    name = str(arguments["table"])
    return unquoted_name(name[:-2]) if name.endswith(".*") else None


def _tables_of(database: str, context: RowContext) -> list[Table]:
    catalog = context.catalog
    known = catalog.require_database(database)
    return [catalog.load_table(known, name) for name in catalog.list_tables(known)]


def _chosen(arguments: Arguments, context: RowContext) -> list[Table]:
    """The tables whose names fit the regular expressions."""
    databases = pattern("including_databases", arguments, ".*")
    included = pattern("including_tables", arguments, ".*")
    excluded = pattern("excluding_tables", arguments, "")
    return [
        table
        for database in filter(databases.fullmatch, context.catalog.list_databases())
        for table in _tables_of(database, context)
        if included.fullmatch(table.name) and not excluded.fullmatch(table.name)
    ]


def _compact(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Compacts every table whose name fits, and returns how many; the tables that fail follow, with the reason.

    `including_databases` is a regular expression on the names of databases, `including_tables` and `excluding_tables`
    on `database.table`; by default all are chosen. `options` ('target-file-size=64 mb,…') apply to this compaction
    only.
    """
    changed = with_options(table, text("options", arguments) or "")
    try:
        compact_table(context.spark, changed)
    except TableStoreError as error:
        return [(f"{table.name}: {error}",)]
    return [("",)]


def _summary(rows: Rows) -> Rows:
    failed = [row for row in rows if row[0]]
    counted = f"Success: {len(rows) - len(failed)}, Failed: {len(failed)}"
    return [(f"Compact database finished. {counted}",), *failed]


def _to_repair(arguments: Arguments, context: RowContext) -> list[Table]:
    """The tables of a list of databases and tables; of the whole warehouse when the list is empty."""
    listed = str(arguments.get("database_or_table", ""))
    names = [one.strip() for one in listed.split(",") if one.strip()]
    if not names:
        names = context.catalog.list_databases()
    return [table for name in names for table in _named(name, context)]


def _named(name: str, context: RowContext) -> list[Table]:
    return named_table({"table": name}, context) if "." in name else _tables_of(unquoted_name(name), context)


def _repair(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Writes anew the hints by which readers find the oldest and the newest snapshot, of tables, of databases, or of
    the whole warehouse.

    `database_or_table` is a list such as 'db1,db2.t'. This engine does not need the hints, but other readers may follow
    a wrong one. The folder is the catalog, so there is nothing else to repair.
    """
    table.snapshot_store.renew_hints()
    return []


PROCEDURES: dict[str, Procedure] = {
    "compact_database": Procedure(
        _compact,
        ("including_databases", "including_tables", "excluding_tables", "options"),
        0,
        {"result": "string"},
        "CALL sys.compact_database(including_databases => 'db1|db2', excluding_tables => 'db1.t_.*').",
        tables=_chosen,
        answer=_summary,
    ),
    "repair": Procedure(
        _repair,
        ("database_or_table",),
        0,
        {"result": "boolean"},
        "CALL sys.repair('db1,db2.t').",
        tables=_to_repair,
        answer=lambda rows: [(True,)],
    ),
}
