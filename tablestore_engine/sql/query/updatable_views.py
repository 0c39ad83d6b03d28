"""Views that can be written to: a view whose query is a plain selection of one table."""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.tokens.cursor import Cursor
from tablestore_engine.sql.tokens.lexer import tokenize


@dataclass(frozen=True)
class PlainSelection:
    """A query of all rows of a table; ``columns`` None are all of its columns, ``names`` how the query calls them."""

    table: TableName
    columns: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None


def plain_selection(query_sql: str) -> PlainSelection | None:
    """The columns that ``SELECT * FROM t``, ``SELECT a, b AS c FROM t`` and ``TABLE t`` select; None for any other
    query."""
    cursor = Cursor(query_sql, tokenize(query_sql))
    try:
        columns = names = None
        if not cursor.accept("TABLE"):
            cursor.expect("SELECT")
            if not cursor.accept("*"):
                columns, names = zip(*_items(cursor), strict=True)
            cursor.expect("FROM")
        table = cursor.table_name()
        cursor.expect_end()
    except SqlError:
        return None
    return PlainSelection(table, columns, names)


def _items(cursor: Cursor) -> list[tuple[str, str]]:
    items = [_item(cursor)]
    while cursor.accept(","):
        items.append(_item(cursor))
    return items


def _item(cursor: Cursor) -> tuple[str, str]:
    """A column, and the name that it gets."""
    column = cursor.name()
    return column, cursor.name() if cursor.accept("AS") else column
