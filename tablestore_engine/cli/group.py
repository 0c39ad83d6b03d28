"""The command `tablestore`: its commands, and one message for what fails in any of them."""

from __future__ import annotations

from typing import Any

import click

from tablestore_engine.cli.compact import compact
from tablestore_engine.cli.failures import AT, INTERRUPTED, complain, exit_code, message
from tablestore_engine.cli.listings import describe, snapshots, tables
from tablestore_engine.cli.server import server
from tablestore_engine.cli.sql import sql
from tablestore_engine.cli.sync import sync
from tablestore_engine.errors import interrupted


class _Commands(click.Group):
    """A group whose commands print one message when they fail."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            complain("Interrupted.")
            ctx.exit(INTERRUPTED)
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            if interrupted(error):
                complain("Interrupted.")
                ctx.exit(INTERRUPTED)
            complain(f"{ctx.meta.get(AT, '')}{message(error)}")
            ctx.exit(exit_code(error))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="dbt-tablestore", prog_name="tablestore")
def main(debug: bool) -> None:
    """Managed tables in a warehouse folder: inspect them, run SQL on them."""


for _command in (compact, describe, server, snapshots, sql, sync, tables):
    main.add_command(_command)
