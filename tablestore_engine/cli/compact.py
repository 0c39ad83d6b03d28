"""`tablestore compact`: the compactions that are due, one line of output for each table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tablestore_engine.cli.failures import FAILED, RETRY, WRONG, exit_code, message
from tablestore_engine.cli.warehouse import (
    existing_catalog,
    open_store,
    schema_option,
    session_option,
    stored_name,
    warehouse_option,
)

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.store import TableStore


@click.command()
@warehouse_option
@schema_option
@session_option
@click.option("--all", "everything", is_flag=True, help="All tables of the warehouse.")
@click.option("--full", is_flag=True, help="Make every bucket one sorted run, due or not.")
@click.argument("table", required=False)
@click.pass_context
def compact(
    ctx: click.Context, warehouse: str, schema: str, session: str, everything: bool, full: bool, table: str | None
) -> None:
    """Run the compactions of TABLE that are due: scheduled ones, and those that its thresholds require."""
    if everything == (table is not None):
        raise click.UsageError("Name a table, or use --all.")
    catalog = existing_catalog(warehouse)
    tables = [stored_name(catalog, schema, table)] if table is not None else _all_tables(catalog)
    store = open_store(warehouse, schema, session)
    try:
        ctx.exit(_compact_each(store, tables, full=full))
    finally:
        store.stop()


def _all_tables(catalog: Catalog) -> list[tuple[str, str]]:
    return [(one, name) for one in catalog.list_databases() for name in sorted(catalog.list_tables(one))]


def _compact_each(store: TableStore, tables: Sequence[tuple[str, str]], *, full: bool) -> int:
    """Compact tables one after the other, and print one line for each. Returns the exit code: the worst of all."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    lines: list[str] = []
    codes: list[int] = []
    width = max((len(".".join(identifier)) for identifier in tables), default=0)
    shown = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=len(tables))
        for identifier in tables:
            name = ".".join(identifier)
            progress.update(bar, description=escape(name))
            text, code = _compact_one(store, identifier, full=full)
            lines.append(f"{name:<{width}}  {text}")
            codes.append(code)
            progress.advance(bar)
    for line in lines:
        click.echo(line)
    return next((code for code in (FAILED, WRONG, RETRY) if code in codes), 0)


def _compact_one(store: TableStore, identifier: tuple[str, str], *, full: bool) -> tuple[str, int]:
    """A description of what was done, and its exit code."""
    from tablestore_engine.operation.compact.pick_tasks import Extent
    from tablestore_engine.spark.compact.compact_due import compact_due

    try:
        extent = Extent.FULL if full else Extent.DUE
        done = compact_due(lambda: store.spark, store.catalog.load_table(*identifier), extent)
    except Exception as error:
        return f"FAILED: {' '.join(message(error).split())}", exit_code(error)
    return ", ".join(done) or "nothing was due", 0
