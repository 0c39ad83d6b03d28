"""Texts that macros run: their effects on the session that they run in, and the names of functions in them."""

from __future__ import annotations

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.statements.statement import Query
from tablestore_engine.sql.tokens.lexer import WORD, edited, tokenize
from tablestore_engine.sql.tokens.split_statements import split

_SPARKS = "spark__"


def in_sparks_names(text: str) -> str:
    """The text with the names that Spark has for functions, which macros mark where a node has another dialect.

    Translation takes the marks off a node's own text. Queries that a macro runs while that text is made, as those of a
    date spine do, are not translated.
    """
    if _SPARKS not in text.lower():
        return text
    tokens = tokenize(text)
    marked = (
        one
        for at, one in enumerate(tokens)
        if one.kind == WORD and one.text.lower().startswith(_SPARKS) and one.end > one.start + len(_SPARKS)
        if tokens[at + 1].key == "(" and (at == 0 or tokens[at - 1].key != ".")
    )
    return edited(text, ((one.start, one.start + len(_SPARKS), "") for one in marked))


def changes_session(statement: str) -> bool:
    """Whether a statement changes its session: by a setting, a temporary view or a temporary function."""
    words = [one.key for one in tokenize(statement[:400])[:6] if one.key]
    if not words:
        return False
    if words[0] in ("SET", "RESET", "USE", "CACHE", "ADD", "DECLARE", "BEGIN"):
        return True
    return words[0] in ("CREATE", "DROP") and ("TEMPORARY" in words or "TEMP" in words)


def is_query(text: str) -> bool:
    """Whether a text is one query, which changes nothing, so that it may run again."""
    try:
        return [type(parse(one)) for one in split(text)] == [Query]
    except SqlError:
        return False
