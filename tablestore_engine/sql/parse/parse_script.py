"""Scripts (BEGIN … END), EXECUTE IMMEDIATE, variables and SQL functions.

The engine executes a script of plain statements, one statement after the other. Spark executes a script with variables
or control flow: its queries are bound, and a statement that only the engine can execute is refused, because Spark would
look for the table in its own catalog.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from tablestore_engine.errors import SqlError
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.query.bind import names_table
from tablestore_engine.sql.statements.script import (
    ExecuteImmediate,
    Piece,
    QueriesInside,
    ResetSession,
    ResetSessionOption,
    Script,
    SetSessionOption,
)
from tablestore_engine.sql.statements.statement import PassThrough, Query, Statement
from tablestore_engine.sql.tokens.cursor import Cursor, error_at, literal_text
from tablestore_engine.sql.tokens.lexer import Token, top_level

_DEFAULT: Final = re.compile(
    r"""(?P<q>[`'"]?)(?:table-storage|tablestore)(?:\.(?P<option>[\w.*-]+))?(?P=q)\s*(?:=(?P<value>.*))?""",
    re.DOTALL | re.IGNORECASE,
)
# A setting with characters that Spark takes between backquotes only.
_OF_PAIMON: Final = re.compile(r"(spark\.paimon\.[\w.*-]*[*-][\w.*-]*)(\s*=.*)?", re.DOTALL | re.IGNORECASE)
Parse = Callable[[str], Statement]

_CONTROL: Final = frozenset(
    [*("DECLARE", "SET", "IF", "CASE", "WHILE", "REPEAT", "LOOP", "FOR", "LEAVE", "ITERATE", "BEGIN"),
     *("SIGNAL", "RESIGNAL", "OPEN", "FETCH", "CLOSE")]
)  # fmt: skip
_UP_TO: Final = {  # the keyword that ends the expression of a control statement
    "IF": "THEN", "ELSEIF": "THEN", "CASE": "THEN", "WHEN": "THEN", "WHILE": "DO", "FOR": "DO", "UNTIL": "END",
}  # fmt: skip
_BETWEEN: Final = frozenset([";", "BEGIN", "ATOMIC", "ELSE", "LOOP", "REPEAT", "THEN", "DO"])


# -- scripts -----------------------------------------------------------------------------------------------


def script(cursor: Cursor, parse: Parse) -> Statement | None:
    """``BEGIN … END``, starting at BEGIN; None when it uses no managed table."""
    plain = _plain_statements(cursor)
    if plain is not None:
        ours = any(_is_ours(parse(text)) for text in plain)
        return Script(sql=cursor.text, statements=plain) if ours else None
    return _queries_inside(cursor, "SCRIPT", *_pieces(cursor, parse))


def _is_ours(statement: Statement) -> bool:
    if isinstance(statement, Query):
        return names_table(statement.query_sql, is_query=True)
    return not isinstance(statement, PassThrough)


def _queries_inside(cursor: Cursor, kind: str, *pieces: Piece) -> Statement | None:
    """The statement with its pieces that name tables; None when there are none."""
    named = [one for one in pieces if names_table(cursor.text[one.start : one.end], is_query=one.is_query)]
    return QueriesInside(sql=cursor.text, kind=kind, pieces=tuple(named)) if named else None


def _plain_statements(cursor: Cursor) -> tuple[str, ...] | None:
    """The statements of a script that has neither variables nor control flow; None for any other."""
    tokens = cursor.tokens
    first = cursor.i + (3 if cursor.key_at(1) == "NOT" else 1)
    last = len(tokens) - 2
    if tokens[last].key != "END":
        return None
    starts = [first, *(i + 1 for i in top_level(tokens, first, last) if tokens[i].key == ";")]
    if starts[-1] != last or any(tokens[i].key in _CONTROL or tokens[i + 1].key == ":" for i in starts[:-1]):
        return None
    return tuple(cursor.slice(a, b - 1) for a, b in pairwise(starts))


def _pieces(cursor: Cursor, parse: Parse) -> Iterator[Piece]:
    """The queries and expressions to bind in a script with variables or control flow."""
    tokens = cursor.tokens
    i, last = cursor.i, len(tokens) - 1
    while i < last:
        key = tokens[i].key
        if key in _BETWEEN or (key == "NOT" and tokens[i + 1].key == "ATOMIC"):
            i += 1
        elif tokens[i].is_name and tokens[i + 1].key == ":":  # a label
            i += 2
        elif key == "DECLARE" and any(one.key == "HANDLER" for one in tokens[i + 1 : i + 3]):
            i = _behind_handler_head(tokens, i)
        else:
            end = _end_of_step(tokens, i, last)
            yield from _pieces_of_step(cursor, i, end, parse)
            i = end


def _behind_handler_head(tokens: list[Token], i: int) -> int:
    """The index after ``DECLARE EXIT HANDLER FOR NOT FOUND, SQLSTATE '22012'``."""
    last = len(tokens) - 1
    while tokens[i].key not in ("FOR", ";", ""):
        i += 1
    while tokens[i].key in ("FOR", ","):
        i += 1
        if tokens[i].key == "NOT":
            i += 2
        elif tokens[i].key == "SQLSTATE":
            i += 3 if tokens[i + 1].key == "VALUE" else 2
        else:
            i += 1
        i = min(i, last)
    return i


def _end_of_step(tokens: list[Token], i: int, last: int) -> int:
    """The index at which a statement, or the head of a control statement, ends."""
    stop = _UP_TO.get(tokens[i].key)
    for at in top_level(tokens, i, last):
        if tokens[at].key == ";" or (stop is not None and tokens[at].key == stop and at > i):
            return at
    return last


def _pieces_of_step(cursor: Cursor, i: int, end: int, parse: Parse) -> Iterator[Piece]:
    tokens, key = cursor.tokens, cursor.tokens[i].key
    if key in ("END", "LEAVE", "ITERATE", "OPEN", "FETCH", "CLOSE") or end == i:
        return
    start = _query_of_step(tokens, i, end)
    if key == "DECLARE" and start is None:
        _refuse_subquery_default(cursor, i, end)
    if start is None and key not in _UP_TO and key not in _CONTROL:
        statement = parse(cursor.slice(i, end))
        if isinstance(statement, PassThrough):
            return
        if not isinstance(statement, Query):
            raise _refused(cursor, i, end)
        start = i
    first = i + 1 if start is None else start
    if first < end:
        yield Piece(tokens[first].start, tokens[end - 1].end, start is not None)


def _query_of_step(tokens: list[Token], i: int, end: int) -> int | None:
    """The index at which the query of ``FOR row AS query`` or ``DECLARE name CURSOR FOR query`` begins; else None."""
    if tokens[i].key == "FOR":
        return i + 3 if end > i + 2 and tokens[i + 2].key == "AS" else i + 1
    if tokens[i].key == "DECLARE" and end > i + 2:
        found = [at for at in range(i + 2, end) if tokens[at].key == "FOR" and tokens[i + 2].key in _CURSOR_WORDS]
        return found[0] + 1 if found else None
    return None


_CURSOR_WORDS: Final = frozenset(["CURSOR", "ASENSITIVE", "INSENSITIVE"])


def _refused(cursor: Cursor, i: int, end: int) -> SqlError:
    said = " ".join(cursor.slice(i, end).split())
    return error_at(
        cursor.text,
        cursor.tokens[i],
        f"'{said if len(said) <= 60 else said[:57] + '…'}' cannot run in a script with variables or control flow",
        kind=SqlError,
        hint="Send it as a separate statement, or in a BEGIN … END of plain statements.",
    )


# -- EXECUTE IMMEDIATE -------------------------------------------------------------------------------------


def execute_immediate(cursor: Cursor) -> Statement | None:
    """``EXECUTE IMMEDIATE text [INTO a, b] [USING x AS p, y]``, in either order."""
    if not cursor.accept("EXECUTE", "IMMEDIATE"):
        return None
    text = cursor.until("INTO", "USING", what="the text of a statement")
    into: str | None = None
    arguments: tuple[tuple[str, str | None], ...] = ()
    while not cursor.at_end:
        if into is None and cursor.accept("INTO"):
            into = cursor.until("USING", what="a variable")
        elif not arguments and cursor.accept("USING"):
            arguments = _arguments(cursor)
        else:
            cursor.expect_end()
    return ExecuteImmediate(sql=cursor.text, text_sql=text, arguments=arguments, into_sql=into)


def _arguments(cursor: Cursor) -> tuple[tuple[str, str | None], ...]:
    """``1 AS a, b``, also in parentheses. A variable without AS gives its own name to the parameter."""
    grouped = cursor.key == "(" and cursor.tokens[cursor.closing(cursor.i) + 1].key in ("", "INTO")
    if grouped:
        cursor.i += 1
    found = []
    while True:
        start = cursor.i
        value = cursor.until(",", "AS", "INTO", what="a value")
        is_name = cursor.tokens[cursor.i - 1].is_name and all(
            one.is_name or one.key == "." for one in cursor.tokens[start : cursor.i]
        )
        name = cursor.tokens[cursor.i - 1].name if is_name else None
        if cursor.accept("AS"):
            name = cursor.name("the name of a parameter")
        found.append((value, name))
        if not cursor.accept(","):
            break
    if grouped:
        cursor.expect(")")
    return tuple(found)


# -- variables and functions -------------------------------------------------------------------------------


def declare(cursor: Cursor) -> Statement | None:
    """``DECLARE name type DEFAULT value``: Spark executes it, and refuses subqueries in the default."""
    _refuse_subquery_default(cursor, cursor.i, len(cursor.tokens) - 1)
    return None


def _refuse_subquery_default(cursor: Cursor, start: int, end: int) -> None:
    for i in range(start, end):
        if cursor.tokens[i].key == "(" and cursor.tokens[i + 1].key in ("SELECT", "WITH", "FROM"):
            raise error_at(
                cursor.text,
                cursor.tokens[i],
                "The default of a variable cannot hold a subquery",
                kind=SqlError,
                hint="DECLARE the variable without a default, then SET VAR name = (SELECT …).",
            )


def set_variable(cursor: Cursor) -> Statement | None:
    """``SET VAR x = …, (y, z) = (SELECT …)``, or a default of new tables; None for settings of Spark."""
    found = _DEFAULT.fullmatch(cursor.slice(cursor.i + 1, len(cursor.tokens) - 1))
    if found is not None:
        value = found["value"]
        if value is not None:
            value = literal_text(value) or value.strip()
        return SetSessionOption(sql=cursor.text, option=found["option"], value=value)
    if cursor.key_at(1) not in ("VAR", "VARIABLE"):
        quoted = _OF_PAIMON.fullmatch(cursor.slice(cursor.i + 1, len(cursor.tokens) - 1))
        return None if quoted is None else PassThrough(sql=f"SET {quoted_name(quoted[1])}{quoted[2] or ''}")
    tokens = cursor.tokens
    piece = Piece(tokens[cursor.i + 2].start, tokens[-2].end, False)
    return _queries_inside(cursor, "SET VARIABLE", piece)


def reset(cursor: Cursor) -> Statement | None:
    """``RESET table-storage.option``, or of all such; ``RESET``, and of a setting of Spark."""
    setting = cursor.slice(cursor.i + 1, len(cursor.tokens) - 1)
    found = _DEFAULT.fullmatch(setting)
    if found is None or found["value"] is not None:
        if _OF_PAIMON.fullmatch(setting) and "=" not in setting:
            return ResetSession(sql=f"RESET {quoted_name(setting)}", setting=setting)
        return ResetSession(sql=cursor.text, setting=setting.strip("`") or None)
    return ResetSessionOption(sql=cursor.text, option=found["option"])


def create_temporary_function(cursor: Cursor) -> Statement | None:
    """``CREATE TEMPORARY FUNCTION … RETURN body``, after FUNCTION; None when the body names no table."""
    tokens = cursor.tokens
    for i in top_level(tokens, cursor.i, len(tokens) - 1):
        if tokens[i].key == "RETURN" and i + 1 < len(tokens) - 1:
            cursor.i = i + 1
            is_query = cursor.sees_query() and cursor.key != "("
            piece = Piece(cursor.token.start, tokens[-2].end, is_query)
            return _queries_inside(cursor, "CREATE TEMPORARY FUNCTION", piece)
    return None
