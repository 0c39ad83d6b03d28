"""The command `tablestore`: inspect a warehouse and run SQL in it.

Exit codes: 0 done; 1 wrong request (SQL, names, options); 2 wrong command line; 3 the machine or the storage failed;
75 another writer won, and a retry may help; 130 interrupted. An error is one red line on stderr.
Invariant: only commands that read or write rows start Spark, and `--help` imports neither Spark nor Arrow.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tablestore_engine.cli_output import show_table, waiting
from tablestore_engine.cli_server import server, server_folder, warehouse_option
from tablestore_engine.errors import NotFoundError, TableStoreError, UserError, interrupted

if TYPE_CHECKING:
    from tablestore_engine.catalog import Catalog
    from tablestore_engine.sql.result import StatementResult
    from tablestore_engine.sql.statements.statement import Statement, TableName
    from tablestore_engine.store import TableStore

WRONG, FAILED, RETRY, INTERRUPTED = 1, 3, 75, 130


class _Commands(click.Group):
    """A group whose commands print one line when they fail."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            _complain("Interrupted.")
            ctx.exit(INTERRUPTED)
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            if interrupted(error):
                _complain("Interrupted.")
                ctx.exit(INTERRUPTED)
            _complain(_message(error))
            ctx.exit(exit_code(error))


def _message(error: Exception) -> str:
    """The message for an error; that of an unexpected one says where to find more."""
    if isinstance(error, TableStoreError):
        return str(error)
    said = f": {error}" if str(error) else ""
    return f"{type(error).__name__}{said}. This is not foreseen: `tablestore --debug …` shows where it happens."


def exit_code(error: Exception) -> int:
    """The exit code for an error."""
    if isinstance(error, TableStoreError) and error.retryable:
        return RETRY
    return WRONG if isinstance(error, UserError) else FAILED


def _complain(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True).print(Text(f"Error: {' '.join(text.split())}", style="red"), soft_wrap=True)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="dbt-tablestore", prog_name="tablestore")
def main(debug: bool) -> None:
    """Managed tables in a warehouse folder: inspect them, run SQL on them."""


main.add_command(server)


def _schema(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("-s", "--schema", default="default", show_default=True, help="Schema of bare names.")(command)


def _session(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--session",
        envvar="TABLESTORE_SESSION",
        type=click.Choice(["own", "shared"]),
        default="own",
        show_default=True,
        help="A Spark of this process, or the server of the warehouse; by default $TABLESTORE_SESSION.",
    )(command)


@main.command()
@warehouse_option
@_schema
@_session
@click.option("--limit", default=100, show_default=True, help="Rows to show of each result.")
@click.argument("text")
def sql(warehouse: str, schema: str, session: str, limit: int, text: str) -> None:
    """Run the statements of TEXT, or of standard input when TEXT is a dash."""
    from tablestore_engine.sql.tokens.split_statements import split

    statements = split(sys.stdin.read() if text == "-" else text)
    store = _open(warehouse, schema, session)
    try:
        for statement in statements:
            with waiting("Spark starts with the first statement …" if statement is statements[0] else "Running …"):
                show = _answered(store.execute(statement), limit)
            show()
    finally:
        store.stop()


@main.command()
@warehouse_option
@_schema
@_session
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
    catalog = _catalog(warehouse)
    tables = [_resolved(catalog, schema, table)] if table is not None else _all_tables(catalog)
    store = _open(warehouse, schema, session)
    try:
        ctx.exit(_compact_each(store, tables, full=full))
    finally:
        store.stop()


@main.command()
@warehouse_option
@_schema
@click.option("--servers", required=True, help="Kafka brokers, such as localhost:9092.")
@click.option("--format", "form", default="debezium-json", show_default=True, help="Format of the messages.")
@click.option("--start", default="earliest", show_default=True, help="Where a table begins that took nothing yet.")
@click.option("--new-columns", is_flag=True, help="Add columns that the table lacks.")
@click.option("--dead-letters", metavar="TABLE", help="Table of messages that cannot be read.")
@click.option("--client", help="Settings of the Kafka client: key=value, …")
@click.option("--every", type=click.FloatRange(0.1), metavar="SECONDS", help="Go on, with such a pause, until Ctrl-C.")
@click.argument("topic")
@click.argument("table")
def sync(warehouse: str, schema: str, topic: str, table: str, every: float | None, **given: Any) -> None:
    """Take the new messages of a Kafka TOPIC into TABLE, each exactly once."""
    given["format"] = given.pop("form")
    store = _open(warehouse, schema, "own")
    arguments = {"table": table, "topic": topic, **given}
    call = f"CALL sys.sync_from_kafka({', '.join(f'{k} => {_constant(v)}' for k, v in arguments.items() if v)})"
    while True:
        (messages, rows, bad, _, columns), *_ = store.execute(call).rows or [(0, 0, 0, 0, None)]
        if messages or every is None:
            added = f", new columns {columns}" if columns else ""
            click.echo(f"{messages:,} messages, {rows:,} rows, {bad:,} that cannot be read{added}")
        if every is None:
            return
        time.sleep(every)


def _constant(value: str | bool) -> str:
    from tablestore_engine.schema.types.sql_literals import literal

    return "true" if value is True else literal(str(value))


@main.command()
@warehouse_option
@click.argument("schema", required=False)
def tables(warehouse: str, schema: str | None) -> None:
    """List the tables and views of SCHEMA, or of all schemas."""
    catalog = _catalog(warehouse)
    rows: list[tuple[Any, ...]] = []
    for database in [catalog.require_database(schema)] if schema else catalog.list_databases():
        for name in sorted(catalog.list_tables(database)):
            try:
                found = catalog.load_table(database, name)
                stats = found.statistics()
            except TableStoreError as error:
                # An unreadable table, for example of another tool, must not hide the others.
                _complain(f"{database}.{name}: {error}")
                rows.append((database, name, "table", "", "", "", "", ""))
                continue
            key = ", ".join(found.schema.primary_keys)
            rows.append((database, name, "table", key, stats.row_count, stats.bytes, stats.files, stats.snapshots))
        rows += [(database, one, "view", "", "", "", "", "") for one in sorted(catalog.list_views(database))]
    numbers = ["bigint"] * 4
    titles = ("schema", "name", "kind", "primary key", "rows", "bytes", "files", "snapshots")
    show_table(titles, ["string"] * 4 + numbers, rows)


@main.command()
@warehouse_option
@_schema
@click.argument("table")
def describe(warehouse: str, schema: str, table: str) -> None:
    """Show columns, keys, options and figures of TABLE, which may be a view."""
    from tablestore_engine.sql.statements.show import Describe

    catalog = _catalog(warehouse)
    _answered(_answer(catalog, Describe(sql="", table=_table_name(schema, table), extended=True)))()


@main.command()
@warehouse_option
@_schema
@click.option("--limit", default=20, show_default=True, help="Snapshots to show, newest first.")
@click.argument("table")
def snapshots(warehouse: str, schema: str, limit: int, table: str) -> None:
    """List the snapshots of TABLE that can be read."""
    from tablestore_engine.sql.catalog.execute_context import utc

    catalog = _catalog(warehouse)
    found = catalog.load_table(*_resolved(catalog, schema, table)).snapshots()[::-1]
    titles = ("id", "committed", "kind", "rows written", "rows in files", "schema", "user")
    types = ("bigint", "string", "string", "bigint", "bigint", "bigint", "string")
    rows = [
        (one.id, utc(one.time_millis), one.commit_kind, one.delta_record_count, one.total_record_count, one.schema_id,
         one.commit_user)
        for one in found
    ]  # fmt: skip
    show_table(titles, types, rows, limit)


# -- where ---------------------------------------------------------------------------------------------


def _open(warehouse: str, schema: str, session: str) -> TableStore:
    from tablestore_engine.store import TableStore

    store = TableStore(warehouse, session_factory=_shared_session(warehouse) if session == "shared" else None)
    store.use(schema)
    return store


def _shared_session(warehouse: str) -> Callable[[], Any]:
    from tablestore_engine.spark.session.session import SessionConfig, start_session

    return lambda: start_session(SessionConfig(shared=server_folder(warehouse), any_settings=True))


def _catalog(warehouse: str) -> Catalog:
    """The catalog of an existing warehouse: inspecting one never creates it."""
    from tablestore_engine.catalog import Catalog

    catalog = Catalog(warehouse)
    if not catalog.io.exists(catalog.warehouse):
        raise NotFoundError(f"There is no warehouse at {catalog.warehouse}.")
    return catalog


def _table_name(schema: str, name: str) -> TableName:
    from tablestore_engine.sql.statements.statement import TableName

    database, _, bare = name.rpartition(".")
    return TableName(database or schema, bare)


def _resolved(catalog: Catalog, schema: str, name: str) -> tuple[str, str]:
    """Stored database and name of a table. Raises TableNotFound, also for a view."""
    identifier = _table_name(schema, name)
    return catalog.load_table(identifier.database or schema, identifier.name).identifier


def _answer(catalog: Catalog, statement: Statement) -> StatementResult:
    from tablestore_engine.sql.catalog.execute_catalog import CatalogContext, execute

    result = execute(statement, CatalogContext(catalog))
    assert result is not None
    return result


# -- compacting ----------------------------------------------------------------------------------------


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
    from tablestore_engine.operation.compact.compact_plan import Extent
    from tablestore_engine.spark.compact.compact_due import compact_due

    try:
        extent = Extent.FULL if full else Extent.DUE
        done = compact_due(lambda: store.spark, store.catalog.load_table(*identifier), extent)
    except Exception as error:
        return f"FAILED: {' '.join(_message(error).split())}", exit_code(error)
    return ", ".join(done) or "nothing was due", 0


# -- showing -------------------------------------------------------------------------------------------


def _answered(result: StatementResult, limit: int | None = None) -> Callable[[], None]:
    """Fetch the rows of a result. Returns a function that prints them, or a line that says what was done."""
    if result.dataframe is not None:
        from tablestore_engine.spark.errors.guarded_frames import guarded

        frame = guarded(result.dataframe)
        with result.running():
            rows = (frame if limit is None else frame.limit(limit + 1)).collect()
        kinds = [kind for _, kind in frame.dtypes]
        return partial(show_table, frame.columns, kinds, [tuple(row) for row in rows], limit)
    if result.columns is not None:
        return partial(show_table, result.columns, result.types or (), result.rows or (), limit)
    return partial(click.echo, result.message)


if __name__ == "__main__":
    main()
