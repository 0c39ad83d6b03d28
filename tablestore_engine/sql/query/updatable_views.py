"""Views that can be written to: a view whose query is a plain selection of one table."""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.tokens.cursor import Cursor
from tablestore_engine.sql.tokens.lexer import tokenize


@dataclass(frozen=True)
class PlainSelection:
    """A query of all rows of a table; ``columns`` None are all of its columns."""

    table: TableName
    columns: tuple[str, ...] | None = None


def plain_selection(query_sql: str) -> PlainSelection | None:
    """The columns that ``SELECT * FROM t``, ``SELECT a, b FROM t`` and ``TABLE t`` select; None for any other query."""
    cursor = Cursor(query_sql, tokenize(query_sql))
    try:
        columns = None
        if not cursor.accept("TABLE"):
            cursor.expect("SELECT")
            columns = None if cursor.accept("*") else _names(cursor)
            cursor.expect("FROM")
        table = cursor.table_name()
        cursor.expect_end()
    except SqlError:
        return None
    return PlainSelection(table, columns)


def _names(cursor: Cursor) -> tuple[str, ...]:
    names = [cursor.name()]
    while cursor.accept(","):
        names.append(cursor.name())
    return tuple(names)
