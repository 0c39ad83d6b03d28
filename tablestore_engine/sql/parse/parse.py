"""SQL text → one statement value.

The first keywords decide. Statements on managed tables and schemas are parsed here and in the
``parse_*`` modules; queries are recognised and kept as text; everything else becomes ``PassThrough`` for
Spark. Parts that Spark understands better (queries, conditions, types) are slices of the user's text.

Decisions:

* ``CREATE TABLE … USING x`` is accepted for x = tablestore or paimon only. A table of another format
  would be in Spark's own catalog and disappear with the session, so the statement is refused with this reason.
* ``BEGIN`` and ``COMMIT`` are accepted and do nothing: each statement is its own transaction. ``ROLLBACK`` is refused.
  ``BEGIN …; END`` is a script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tablestore_engine.errors import ParseError, SqlError
from tablestore_engine.sql.parse import (
    parse_alter,
    parse_create,
    parse_foreign,
    parse_function,
    parse_insert,
    parse_merge_update_delete,
    parse_script,
    parse_show,
)
from tablestore_engine.sql.statements.function import ShowFunctions
from tablestore_engine.sql.statements.schema import DropSchema, Use
from tablestore_engine.sql.statements.script import ExecuteImmediate
from tablestore_engine.sql.statements.statement import (
    Explain,
    Noop,
    PassThrough,
    Query,
    QueryInside,
    Statement,
)
from tablestore_engine.sql.statements.table import CacheTable, DropTable, RefreshTable, Truncate, UncacheTable
from tablestore_engine.sql.statements.view import DropView
from tablestore_engine.sql.tokens.common_table_expressions import skip_ctes
from tablestore_engine.sql.tokens.cursor import Cursor, error_at, literal_text, properties
from tablestore_engine.sql.tokens.lexer import END, Token, nests_deeper, tokenize, top_level
from tablestore_engine.sql.tokens.query_hints import refuse_unread
from tablestore_engine.sql.tokens.split_statements import TRANSACTION_WORDS, is_script, is_transaction, second_statement

MOST_LEVELS = 500
"""Groups of tokens inside of each other. Spark's own parser runs out of stack before twice as many."""
_NESTING_HINT = "Split it, or name its parts in WITH."


def parse(text: str) -> Statement:
    """The statement of a text.

    Raises ParseError, with line and column, when a statement on managed tables is malformed, and SqlError
    when it asks for something that managed tables do not have. Syntax that Spark checks is not checked here.
    """
    try:
        return _parse(text)
    except RecursionError:
        raise ParseError("The statement nests parentheses or statements too deeply.", hint=_NESTING_HINT) from None


def _parse(text: str) -> Statement:
    tokens = _one_statement(text, tokenize(text))
    if nests_deeper(tokens, MOST_LEVELS):
        raise ParseError(
            f"The statement nests parentheses, brackets, CASE, NOT or signs in more than {MOST_LEVELS} levels.",
            hint=_NESTING_HINT,
        )
    cursor = Cursor(text, tokens)
    if cursor.at_end:
        return Noop(sql=text)
    handler = _HEADS.get(cursor.key)
    try:
        statement = None if handler is None else handler(cursor)
    finally:
        refuse_unread(text, tokens, cursor.read_query_hints)
    return PassThrough(sql=text) if statement is None else statement


def _one_statement(text: str, tokens: list[Token]) -> list[Token]:
    """The tokens without the semicolons at the end; ParseError when there is a second statement."""
    second = second_statement(tokens)
    if second is not None:
        raise error_at(text, second, "A second statement starts", hint="Send one statement at a time.")
    end = tokens.pop()
    while tokens and tokens[-1].key == ";":
        tokens.pop()
    return [*tokens, end]


# -- heads: each gets the cursor at its keyword, and returns None when the statement is Spark's -----------


def _query(cursor: Cursor) -> Statement | None:
    if not cursor.sees_query():
        return None
    return Query(sql=cursor.text, query_sql=cursor.rest())


def _from(cursor: Cursor) -> Statement | None:
    for i in top_level(cursor.tokens, cursor.i, len(cursor.tokens)):
        if cursor.tokens[i].key == "INSERT":
            raise error_at(
                cursor.text,
                cursor.tokens[i],
                "FROM … INSERT is not supported",
                kind=SqlError,
                hint="Use INSERT … SELECT.",
            )
    return _query(cursor)


def _with(cursor: Cursor) -> Statement | None:
    """A query, or a statement that follows common table expressions."""
    start = cursor.i
    skip_ctes(cursor)
    verb = cursor.key
    if verb in ("INSERT", "UPDATE", "DELETE", "MERGE"):
        return _ROW_PARSERS[verb](cursor, cursor.slice(start, cursor.i))
    if verb == "FROM":
        _from(cursor)
    cursor.i = start
    return _query(cursor)


def _rows(cursor: Cursor) -> Statement | None:
    return _ROW_PARSERS[cursor.key](cursor, None)


def _create(cursor: Cursor) -> Statement | None:
    return parse_create.create(cursor)


def _drop(cursor: Cursor) -> Statement | None:
    cursor.expect("DROP")
    parse_create.refuse_kept_up(cursor)
    if cursor.key == "INDEX":
        return parse_foreign.index(cursor, "DROP INDEX")
    if cursor.accept("FUNCTION"):
        return parse_function.drop_function(cursor)
    kind = cursor.accept_one("TABLE", "VIEW", "SCHEMA", "DATABASE", "NAMESPACE")
    if kind is None:
        return None
    cursor.refuse_unfinished()
    if_exists = cursor.accept_if_exists()
    if kind in ("TABLE", "VIEW"):
        name = cursor.table_name()
        cursor.accept("PURGE")
        cursor.accept_one("CASCADE", "RESTRICT")
        cursor.expect_end()
        if kind == "TABLE":
            return DropTable(sql=cursor.text, table=name, if_exists=if_exists)
        return DropView(sql=cursor.text, view=name, if_exists=if_exists)
    database = cursor.database_name()
    mode = cursor.accept_one("CASCADE", "RESTRICT")
    cursor.expect_end()
    return DropSchema(sql=cursor.text, database=database, if_exists=if_exists, cascade=mode == "CASCADE")


def _truncate(cursor: Cursor) -> Statement | None:
    cursor.expect("TRUNCATE")
    cursor.accept("TABLE")
    table = cursor.table_name()
    partition = parse_insert.partition_spec(cursor)
    cursor.expect_end()
    return Truncate(sql=cursor.text, table=table, partition=partition)


def _use(cursor: Cursor) -> Statement | None:
    cursor.expect("USE")
    if cursor.key == "CATALOG" and cursor.tokens[cursor.i + 1].kind != END:
        return parse_show.set_catalog(cursor)
    if cursor.key in ("SCHEMA", "DATABASE", "NAMESPACE") and cursor.tokens[cursor.i + 1].kind != END:
        cursor.i += 1
    database = cursor.database_name()
    cursor.expect_end()
    return Use(sql=cursor.text, database=database)


def _set(cursor: Cursor) -> Statement | None:
    if cursor.key_at(1) != "CATALOG":
        return parse_script.set_variable(cursor)
    cursor.i += 1
    return parse_show.set_catalog(cursor)


def _explain(cursor: Cursor) -> Statement | None:
    cursor.expect("EXPLAIN")
    mode = cursor.accept_one("LOGICAL", "FORMATTED", "EXTENDED", "CODEGEN", "COST")
    offset = cursor.token.start
    prefix = cursor.text[:offset]
    inner = parse(cursor.text[offset:])
    if isinstance(inner, Query):
        return QueryInside(sql=cursor.text, kind="EXPLAIN", prefix=prefix, query_sql=inner.query_sql)
    return (
        None if isinstance(inner, PassThrough | ShowFunctions) else Explain(sql=cursor.text, mode=mode, statement=inner)
    )


def _cache(cursor: Cursor) -> Statement | None:
    """CACHE [LAZY] TABLE name [OPTIONS (…)] [AS] query."""
    cursor.expect("CACHE")
    lazy = cursor.accept("LAZY")
    if not cursor.accept("TABLE"):
        return None
    start = cursor.i
    cursor.dotted()
    options = properties(cursor) if cursor.accept("OPTIONS") else {}
    cursor.accept("AS")
    if cursor.sees_query():
        return _inside(cursor, "CACHE TABLE")
    cursor.expect_end()
    cursor.i = start
    level = next((value for key, value in options.items() if key.lower() == "storagelevel"), None)
    return CacheTable(sql=cursor.text, table=cursor.table_name(), lazy=lazy, storage_level=level)


def _uncache(cursor: Cursor) -> Statement | None:
    cursor.expect("UNCACHE")
    if not cursor.accept("TABLE"):
        return None
    cursor.accept_if_exists()
    table = cursor.table_name()
    cursor.expect_end()
    return UncacheTable(sql=cursor.text, table=table)


def _execute(cursor: Cursor) -> Statement | None:
    """EXECUTE IMMEDIATE; when its text is a literal and it has no arguments, the statement in the literal."""
    immediate = parse_script.execute_immediate(cursor)
    if not isinstance(immediate, ExecuteImmediate) or immediate.arguments or immediate.into_sql is not None:
        return immediate
    text = literal_text(immediate.text_sql)
    return parse(text) if text else immediate


def _inside(cursor: Cursor, kind: str) -> Statement:
    prefix = cursor.text[: cursor.token.start]
    return QueryInside(sql=cursor.text, kind=kind, prefix=prefix, query_sql=cursor.rest())


def _describe(cursor: Cursor) -> Statement | None:
    cursor.expect(cursor.key)
    if cursor.accept("QUERY") or (cursor.sees_query() and cursor.key not in ("TABLE", "MAP", "REDUCE")):
        return _inside(cursor, "DESCRIBE QUERY")
    return parse_show.describe(cursor)


def _refresh(cursor: Cursor) -> Statement | None:
    cursor.expect("REFRESH")
    parse_create.refuse_kept_up(cursor)
    if cursor.key == "FUNCTION" and cursor.tokens[cursor.i + 1].is_name:
        cursor.i += 1
        return parse_function.refresh_function(cursor)
    if not (cursor.token.is_name and cursor.accept("TABLE")):
        return None
    table = cursor.table_name()
    cursor.expect_end()
    return RefreshTable(sql=cursor.text, table=table)


def _transaction(cursor: Cursor) -> Statement | None:
    if is_transaction(cursor.tokens):
        if cursor.key == "ROLLBACK":
            raise cursor.error(
                "ROLLBACK takes nothing back: each statement is a transaction of its own, and is committed",
                kind=SqlError,
                hint="CALL sys.rollback(table => …, version => …) makes an earlier snapshot of a table the newest.",
            )
        return Noop(sql=cursor.text)
    return parse_script.script(cursor, parse) if is_script(cursor.tokens) else None


_ROW_PARSERS: Final[Mapping[str, Callable[[Cursor, str | None], Statement]]] = {
    "INSERT": parse_insert.insert,
    "UPDATE": parse_merge_update_delete.update,
    "DELETE": parse_merge_update_delete.delete,
    "MERGE": parse_merge_update_delete.merge,
}

_Head = Callable[[Cursor], "Statement | None"]


def _ours(parser: _Head) -> _Head:
    """A head whose statements always belong to the engine, so an unclosed quote in them is reported here."""

    def checked(cursor: Cursor) -> Statement | None:
        cursor.refuse_unfinished()
        return parser(cursor)

    return checked


_HEADS: Final[Mapping[str, _Head]] = {
    **dict.fromkeys(("SELECT", "VALUES", "TABLE", "MAP", "REDUCE", "("), _query),
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "MERGE"), _ours(_rows)),
    **dict.fromkeys(TRANSACTION_WORDS, _transaction),
    **dict.fromkeys(("DESCRIBE", "DESC"), _describe),
    "FROM": _from,
    "WITH": _with,
    "CREATE": _create,
    "REPLACE": _create,
    "DROP": _drop,
    "ALTER": parse_alter.alter,
    "COMMENT": _ours(parse_alter.comment_on),
    "TRUNCATE": _ours(_truncate),
    "ANALYZE": parse_show.analyze,
    "CALL": parse_show.call,
    "SHOW": parse_show.show,
    "USE": _ours(_use),
    "EXPLAIN": _explain,
    "CACHE": _cache,
    "UNCACHE": _uncache,
    "SET": _set,
    "RESET": parse_script.reset,
    "DECLARE": parse_script.declare,
    "EXECUTE": _execute,
    "REFRESH": _refresh,
    **dict.fromkeys(("GRANT", "REVOKE"), parse_foreign.grant),
    **dict.fromkeys(("MSCK", "FSCK", "REPAIR"), parse_foreign.repair),
    "OPTIMIZE": parse_foreign.optimize,
    "VACUUM": parse_foreign.vacuum,
    "RESTORE": parse_foreign.restore,
    "LOAD": parse_foreign.load,
}

__all__ = ["ParseError", "parse"]
