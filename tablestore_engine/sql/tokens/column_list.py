"""The parentheses after the name in CREATE TABLE: columns, or a query; and columns of a table AS a query."""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.tokens.cursor import Cursor, error_at
from tablestore_engine.sql.tokens.lexer import behind, top_level


def opens_query(cursor: Cursor) -> bool:
    """Whether the next parenthesis encloses a query, not columns. A column may be called FROM, VALUES or WITH."""
    tokens, i = cursor.tokens, cursor.i
    first, end = cursor.key_at(1), max(tokens[i].partner, i + 1)
    if first == "FROM":
        return any(tokens[at].key in ("SELECT", "MAP", "REDUCE", "|>") for at in top_level(tokens, i + 2, end))
    if first == "VALUES":
        return not tokens[i + 2].is_name
    if first == "WITH":
        return cursor.key_at(3) in ("AS", "(")
    return first in ("SELECT", "(")


def leads_to_query(cursor: Cursor) -> bool:
    """Whether AS follows the list that opens here, so that its columns may lack types."""
    tokens, last = cursor.tokens, len(cursor.tokens) - 1
    return any(tokens[i].key in ("AS", "SELECT") for i in top_level(tokens, behind(tokens, cursor.i), last))


def refuse_computed(cursor: Cursor, names: Sequence[str]) -> None:
    """Raise a SqlError for computed columns in the list of CREATE TABLE … AS."""
    if names:
        raise cursor.error(
            f"Column {names[0]} is computed, and the list of CREATE TABLE … AS names the columns of the query",
            kind=SqlError,
            hint=f"Leave it out, and then use ALTER TABLE … ADD COLUMN {names[0]} AS expression.",
        )


def without_query(cursor: Cursor, what: str, *keys: str) -> str:
    """The text of an expression up to a comma or one of the keys. Raises a SqlError for a query in it."""
    start = cursor.i
    found = cursor.until(",", *keys, what="an expression")
    for i in range(start, cursor.i):
        if cursor.tokens[i].key == "(" and cursor.tokens[i + 1].key in ("SELECT", "WITH", "FROM"):
            raise error_at(
                cursor.text,
                cursor.tokens[i],
                f"{what} cannot hold a subquery",
                kind=SqlError,
                hint="Use columns of the table, constants and functions. A view can have subqueries.",
            )
    return found
