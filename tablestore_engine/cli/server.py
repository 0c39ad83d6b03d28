"""`tablestore server`: start, stop and list the Spark servers that processes of this user share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tablestore_engine.cli.output import show_table, waiting
from tablestore_engine.cli.warehouse import server_folder, warehouse_option


def _some_warehouse(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "-w", "--warehouse", type=click.Path(file_okay=False), help="Folder of a warehouse; by default all."
    )(command)


@click.group()
def server() -> None:
    """The Spark server that processes share: `session: shared` in a profile of dbt, or --session shared."""


@server.command()
@warehouse_option
@click.option(
    "--idle-minutes",
    type=click.FloatRange(min=0, min_open=True, max=1e6),
    default=30.0,
    show_default=True,
    help="How long it stays when nobody uses it.",
)
def start(warehouse: str, idle_minutes: float) -> None:
    """Start the server of a warehouse, unless it runs."""
    from tablestore_engine.spark.session.server_client import attach
    from tablestore_engine.spark.session.session_config import SessionConfig

    with waiting("Spark starts …"):
        record = attach(SessionConfig(shared=server_folder(warehouse), idle_minutes=idle_minutes, any_settings=True))
    click.echo(f"The Spark server of {record.warehouse} runs: process {record.pid}, port {record.port}.")


@server.command()
@_some_warehouse
@click.option("--force", is_flag=True, help="Also a server that is in use. Statements that run fail.")
def stop(warehouse: str | None, force: bool) -> None:
    """Stop the server of a warehouse, or all servers of this user."""
    from tablestore_engine.errors import ServerInUseError
    from tablestore_engine.spark.session.server_client import living_servers, stop_server

    found = living_servers(warehouse=server_folder(warehouse) if warehouse else None)
    refused = None
    for one in found:
        try:
            stop_server(one, force=force)
        except ServerInUseError as error:
            refused = refused or error
        else:
            click.echo(f"The Spark server of {one.record.warehouse} was stopped.")
    if refused is not None:
        raise refused
    if not found:
        click.echo("No Spark server runs.")


@server.command()
@_some_warehouse
def status(warehouse: str | None) -> None:
    """List the servers that run: of a warehouse, or of this user."""
    from tablestore_engine.spark.session.server_client import living_servers
    from tablestore_engine.sql.catalog.execute_context import utc

    rows = [
        (one.record.warehouse, one.record.pid, one.record.port, utc(int(one.record.started * 1000)),
         "in use" if one.in_use else "idle", one.record.idle_seconds / 60, one.record.version, one.record.log)
        for one in living_servers(warehouse=server_folder(warehouse) if warehouse else None)
    ]  # fmt: skip
    titles = ("warehouse", "process", "port", "started", "state", "idle minutes", "version", "log")
    show_table(titles, ("string", "bigint", "int", "string", "string", "double", "string", "string"), rows)
