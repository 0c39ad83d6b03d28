"""Which tables a text of SQL writes rows to, and whether it may do so twice, before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.query.bind import TableReference, references
from tablestore_engine.sql.statements.partition import DropPartitions
from tablestore_engine.sql.statements.row import RowStatement
from tablestore_engine.sql.statements.script import ExecuteImmediate, QueriesInside, Script
from tablestore_engine.sql.statements.statement import Call, TableName
from tablestore_engine.sql.statements.table import CreateTableAs, Truncate
from tablestore_engine.sql.tokens.cursor import literal_text

_SCRIPT = "SCRIPT"


@dataclass(frozen=True)
class Written:
    """A write of rows. `table` None: to which table is known when it runs. `anew`: the table is made by it."""

    table: TableName | None
    anew: bool = False


def written_tables(statement_text: str) -> tuple[Written, ...]:
    """The writes of one statement, in order. Raises SqlError."""
    return tuple(_writes(statement_text))


def makes_anew(statement_text: str) -> bool:
    """Whether a statement replaces all of a table by rows that it reads elsewhere, so that a second time does no harm.

    Raises SqlError.
    """
    statement = parse(statement_text)
    if not isinstance(statement, CreateTableAs) or not statement.existing.is_replaced:
        return False
    return not any(_may_be(one, statement.table) for one in references(statement.query_sql))


def _may_be(read: TableReference, table: TableName) -> bool:
    """Whether two names are, or may be, those of one table."""
    databases = {one.lower() for one in (read.database, table.database) if one is not None}
    return read.name.partition("$")[0].lower() == table.name.lower() and len(databases) < 2


def _writes(text: str) -> Iterator[Written]:
    statement = parse(text)
    if isinstance(statement, Script):
        for inner in statement.statements:
            yield from _writes(inner)
    elif isinstance(statement, ExecuteImmediate):
        made = literal_text(statement.text_sql)
        yield from [Written(None)] if made is None else _writes(made)
    elif isinstance(statement, (RowStatement, Truncate, DropPartitions)):
        yield Written(statement.table)
    elif isinstance(statement, CreateTableAs):
        yield Written(statement.table, anew=True)
    elif isinstance(statement, Call) or (isinstance(statement, QueriesInside) and statement.kind == _SCRIPT):
        yield Written(None)
