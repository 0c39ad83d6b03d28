"""Common table expressions before INSERT, UPDATE, DELETE and MERGE.

They are moved to where they are used: before the query of an INSERT, and into each subquery of the conditions and
values of the other statements. So every part of a statement can be run alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.sql.tokens.cursor import Cursor
from tablestore_engine.sql.tokens.lexer import Token, tokenize


def skip_ctes(cursor: Cursor) -> None:
    """Moves after ``WITH a AS (…), b AS (…)``; the cursor does not move when something else follows."""
    start = cursor.i
    cursor.expect("WITH")
    if cursor.key == "RECURSIVE" and cursor.tokens[cursor.i + 1].is_name:
        cursor.i += 1
    while cursor.token.is_name:
        cursor.i += 1
        if cursor.key == "(" and cursor.key_at(1) not in ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "("):
            cursor.skip_group()
        while not cursor.at_end and cursor.key not in ("AS", "("):
            cursor.i += 1
        cursor.accept("AS")
        if cursor.key != "(":
            break
        cursor.skip_group()
        if not cursor.accept(","):
            return
    cursor.i = start


def with_ctes(with_sql: str | None, query_sql: str) -> str:
    """A query with the common table expressions of its statement before it."""
    if with_sql is None:
        return query_sql
    tokens = tokenize(query_sql)
    if tokens[0].key != "WITH":
        return f"{with_sql} {query_sql}"
    says_recursive = tokens[1].key == "RECURSIVE" and tokens[2].is_name
    first = tokens[2] if says_recursive else tokens[1]
    recursive = says_recursive and tokenize(with_sql)[1].key != "RECURSIVE"
    head = "WITH RECURSIVE" + with_sql[len("WITH") :] if recursive else with_sql
    return f"{head}, {query_sql[first.start :]}"


def inline_ctes(with_sql: str | None, expression_sql: str) -> str:
    """An expression whose outermost subqueries each begin with the common table expressions."""
    if with_sql is None:
        return expression_sql
    pieces, position, i = [], 0, 0
    tokens = tokenize(expression_sql)
    while i < len(tokens):
        if tokens[i].partner > i and _opens_query(tokens, i):
            opening, i = tokens[i], tokens[i].partner
            pieces.append(expression_sql[position : opening.end])
            pieces.append(with_ctes(with_sql, expression_sql[opening.end : tokens[i].start]))
            position = tokens[i].start
        i += 1
    pieces.append(expression_sql[position:])
    return "".join(pieces)


def _opens_query(tokens: Sequence[Token], i: int) -> bool:
    """Whether a parenthesis in an expression opens a subquery."""
    after = tokens[i + 1].key
    return tokens[i].key == "(" and (after in ("SELECT", "WITH") or (after == "FROM" and tokens[i - 1].key != "TRIM"))
