"""Which tables of a query are read with their hidden columns, and the stars that must leave these out.

A hidden column that is named without a qualifier may belong to any table of the query. Spark knows no hidden columns of
a view, so the views have them as plain columns, and ``*`` becomes ``* EXCEPT (…)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tablestore_engine.schema.types.system_columns import HIDDEN_COLUMNS
from tablestore_engine.sql.query_structure.query_structure import Relation, Select, Structure
from tablestore_engine.sql.tokens.lexer import Token, outside_queries, tokenize, top_level

_BEFORE_STAR = ("SELECT", "DISTINCT", "ALL", ",")


def hidden_columns(structure: Structure, tokens: Sequence[Token]) -> dict[Relation, tuple[str, ...]]:
    """The hidden columns that the query needs, by table."""
    named: dict[str, set[str]] = {}  # by qualifier, which is empty when there is none
    for i, token in enumerate(tokens):
        if token.is_name and token.name.lower() in HIDDEN_COLUMNS:
            qualified = i > 1 and tokens[i - 1].key == "." and tokens[i - 2].is_name
            named.setdefault(tokens[i - 2].name.lower() if qualified else "", set()).add(token.name.lower())
    if not named:
        return {}
    natural = any(token.key == "NATURAL" for token in tokens)
    found = {}
    for table in structure.tables:
        wanted = named.get("", set()) | named.get((table.visible_name or "").lower(), set())
        alone = len(table.select.relations) == 1
        # Elsewhere, as in a pivot, all columns count that are not named.
        if wanted and table.select.items is not None and not table.select.opaque and (alone or not natural):
            found[table] = tuple(name for name in HIDDEN_COLUMNS if name in wanted)
    return found


def hidden_names(texts: Iterable[str | None]) -> tuple[str, ...]:
    """The hidden columns that some expressions name outside of their subqueries."""
    read = [tokenize(text) for text in texts if text]
    named = {tokens[i].name.lower() for tokens in read for i in outside_queries(tokens) if tokens[i].is_name}
    return tuple(name for name in HIDDEN_COLUMNS if name in named)


def stars(select: Select, tokens: Sequence[Token]) -> Iterator[int]:
    """The indexes of the stars without a qualifier among the items of a select."""
    start, end = select.items or (0, 0)
    for i in top_level(tokens, start, end):
        if tokens[i].key == "*" and tokens[i - 1].key in _BEFORE_STAR:
            yield i
