"""`tablestore sql`: statements from the command line, a file or standard input, and their answers in turn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from tablestore_engine.cli.failures import AT
from tablestore_engine.cli.output import show_table, waiting
from tablestore_engine.cli.warehouse import (
    existing_catalog,
    open_store,
    schema_option,
    session_option,
    warehouse_option,
)

if TYPE_CHECKING:
    from tablestore_engine.sql.result import StatementResult

_CREATE_WORDS = 4  # CREATE OR REPLACE TEMPORARY


@click.command()
@warehouse_option
@schema_option
@session_option
@click.option("--limit", default=100, show_default=True, help="Rows to show of each result.")
@click.option(
    "-f",
    "--file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Run the statements of a file, or of standard input (-).",
)
@click.argument("text", required=False)
def sql(warehouse: str, schema: str, session: str, limit: int, file: str | None, text: str | None) -> None:
    """Run the statements of TEXT, or of a file; a dash is standard input. Semicolons separate them."""
    from tablestore_engine.sql.tokens.split_statements import split

    if (file is None) == (text is None):
        raise click.UsageError("Give the text of a statement, or a file by -f.")
    given = _read(file) if file is not None else sys.stdin.read() if text == "-" else text or ""
    statements = split(given)
    if not any(map(_begins_warehouse, statements)):
        existing_catalog(warehouse)
    store = open_store(warehouse, schema, session)
    begun = store.catalog.io.exists(store.catalog.warehouse)
    try:
        for number, statement in enumerate(statements, 1):
            with (
                waiting("Spark starts with the first statement …" if number == 1 else "Running …"),
                _located(number, statements, given),
            ):
                show = answered(store.execute(statement), limit)
            if not begun and store.catalog.io.exists(store.catalog.warehouse):
                click.echo(f"This began a new warehouse in {store.catalog.warehouse}.", err=True)
                begun = True
            show()
    finally:
        store.stop()


def _read(file: str) -> str:
    """The text of a file, or of standard input."""
    if file == "-":
        return sys.stdin.read()
    try:
        with open(file, encoding="utf-8-sig") as opened:
            return opened.read()
    except UnicodeDecodeError as error:
        raise click.FileError(file, hint=f"it is no UTF-8 text at byte {error.start + 1}") from None
    except OSError as error:
        raise click.FileError(file, hint=str(error)) from None


def _begins_warehouse(statement: str) -> bool:
    """Whether a statement may create a schema, a table or the like: only such a one begins a new warehouse."""
    from tablestore_engine.sql.tokens.lexer import tokenize

    words = [token.key for token in tokenize(statement)[:_CREATE_WORDS]]
    if words[:1] in (["BEGIN"], ["EXECUTE"]):  # of other statements
        return True
    return words[:1] == ["CREATE"] and not {"TEMPORARY", "TEMP"}.intersection(words)


@contextmanager
def _located(number: int, statements: Sequence[str], text: str) -> Iterator[None]:
    """Note which of several statements fails, and its line in the text: positions in messages count from its start."""
    try:
        yield
    except Exception:
        if len(statements) > 1:
            start = 0
            for statement in statements[:number]:
                start = text.index(statement, start) + len(statement)
            line = text.count("\n", 0, start - len(statements[number - 1])) + 1
            click.get_current_context().meta[AT] = f"Statement {number} of {len(statements)} (line {line}): "
        raise


def answered(result: StatementResult, limit: int | None = None) -> Callable[[], None]:
    """Fetch the rows of a result. Returns a function that prints them, or a line that says what was done."""
    if result.dataframe is not None:
        from tablestore_engine.spark.errors.guarded_frames import guarded

        with result.running() as query:
            frame = guarded(query)
            rows = (frame if limit is None else frame.limit(limit + 1)).collect()
        kinds = [kind for _, kind in frame.dtypes]
        return partial(show_table, frame.columns, kinds, [tuple(row) for row in rows], limit)
    if result.columns is not None:
        return partial(show_table, result.columns, result.types or (), result.rows or (), limit)
    return partial(click.echo, result.message)
