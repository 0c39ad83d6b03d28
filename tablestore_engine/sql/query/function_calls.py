"""The calls of functions in a query: names before an opening parenthesis, which may belong to a function of ours.

A *call* is a name of one or more parts. Names of tables, columns lists and built-in functions look alike, so the
caller knows which functions there are.

Spark has no aggregate functions in SQL. A call of one is *inlined*: its body replaces the call, with the arguments for
the parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.warehouse.function import Function
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS, literal_at, names_of_text
from tablestore_engine.sql.tokens.lexer import Token, tokenize, top_level

_NEVER_CALLED = frozenset(["AS", "INTO", "TABLE", "WITH", "SELECT", "FROM", "IN", "VALUES", "OVER", "EXISTS", "USING"])
_CURRENT_DATABASE = frozenset(["current_database", "current_schema"])
_CURRENT_CATALOG = "current_catalog"
_SHOWN = "current_schema()"  # as Spark calls the column, for both names
_BEHIND_ITEM = frozenset(["", ",", ")", ";", "FROM", "WHERE", "UNION", "LIMIT", "ORDER", "GROUP", "HAVING"])
# The name behind these has a list of columns.
_BEFORE_NAMES = frozenset(["AS", "INTO", "TABLE", "WITH", "VIEW", ")"])


@dataclass(frozen=True)
class Call:
    """A name before a parenthesis, without our own catalog, and its offsets in the text.

    `opening` is the index of the token that opens the arguments.
    """

    parts: tuple[str, ...]
    start: int
    end: int
    opening: int


@lru_cache(maxsize=256)
def function_calls(text: str) -> tuple[Call, ...]:
    """All calls of a text, in order."""
    tokens = tokenize(text)
    found = []
    for i, token in enumerate(tokens):
        if token.key != "(" or i == 0:
            continue
        if not tokens[i - 1].is_name:
            found += _called_by_text(i, tokens)
            continue
        first = i - 1
        while first >= 2 and tokens[first - 1].key == "." and tokens[first - 2].is_name:
            first -= 2
        before = tokens[first - 1].key if first else ""
        if before in _BEFORE_NAMES or before == "." or (first == i - 1 and tokens[first].key in _NEVER_CALLED):
            continue
        parts = tuple(one.name for one in tokens[first:i:2])
        found += _call(parts, tokens[first].start, i, tokens)
    return tuple(found)


def _call(parts: tuple[str, ...], start: int, i: int, tokens: list[Token]) -> list[Call]:
    """The call of a name; none of one of another catalog."""
    if len(parts) == 3 and parts[0].lower() in OWN_CATALOGS:
        parts = parts[1:]
    return [Call(parts, start, tokens[i - 1].end, i)] if len(parts) <= 2 else []


def _called_by_text(i: int, tokens: list[Token]) -> list[Call]:
    """The call ``IDENTIFIER('db.f')(…)`` whose arguments open at ``i``; none for other calls."""
    opening = tokens[i - 1].partner
    if opening < 1 or tokens[opening - 1].key != "IDENTIFIER":
        return []
    text, end = literal_at(tokens, opening + 1)
    parts = tuple(one.name for one in names_of_text(text))
    return _call(parts, tokens[opening - 1].start, i, tokens) if parts and end == i - 1 else []


@lru_cache(maxsize=256)
def calls_of_current_names(text: str) -> tuple[tuple[int, int, str, bool], ...]:
    """The offsets of calls of `current_database()`, of `current_schema()`, which is the same, and of
    `current_catalog()`. After them comes the alias under which a value has the name that Spark gives such a column: of
    the first one of a SELECT, unless it has an alias. It is empty elsewhere. Last: whether it is the catalog."""
    tokens, found = tokenize(text), []
    for call in function_calls(text):
        closing, name = tokens[call.opening].partner, call.parts[0].lower()
        known = name in _CURRENT_DATABASE or name == _CURRENT_CATALOG
        if len(call.parts) == 1 and known and closing == call.opening + 1:
            first = call.opening >= 2 and tokens[call.opening - 2].key == "SELECT"
            named = first and tokens[closing + 1].key in _BEHIND_ITEM
            of_catalog = name == _CURRENT_CATALOG
            alias = f" AS {quoted_name(f'{_CURRENT_CATALOG}()' if of_catalog else _SHOWN)}" if named else ""
            found.append((call.start, tokens[closing].end, alias, of_catalog))
    return tuple(found)


def inlined(text: str, call: Call, function: Function) -> str:
    """A text with the body of a function instead of a call of it.

    Raises SqlError: another number of arguments, DISTINCT, FILTER or OVER.
    """
    tokens = tokenize(text)
    closing = max(tokens[call.opening].partner, call.opening + 1)
    _refuse_clauses(function, tokens[call.opening + 1].key, tokens[min(closing + 1, len(tokens) - 1)].key)
    commas = [i for i in top_level(tokens, call.opening + 1, closing) if tokens[i].key == ","]
    edges = [call.opening, *commas, closing]
    spans = [(tokens[a].end, tokens[b].start) for a, b in itertools.pairwise(edges)]
    arguments = [text[start:end].strip() for start, end in spans if text[start:end].strip()]
    if len(arguments) != len(function.parameters):
        wanted = len(function.parameters)
        raise SqlError(f"Function '{function.full_name}' takes {wanted} arguments, and {len(arguments)} are given.")
    return f"{text[: call.start]}{body_with(function, arguments)}{text[tokens[closing].end :]}"


def _refuse_clauses(function: Function, first: str, behind: str) -> None:
    """Raise a SqlError for clauses that only a single aggregate has; the body is an expression of several."""
    clause = first if first == "DISTINCT" else behind
    if clause in ("DISTINCT", "FILTER", "OVER"):
        raise SqlError(
            f"Function '{function.full_name}' is an aggregate function in SQL, which takes no {clause}.",
            hint="Write its body instead of the call, aggregate in a subquery, or make it a function in PYTHON.",
        )


def body_with(function: Function, arguments: Sequence[str]) -> str:
    """The body of a function with arguments instead of its parameters, as one expression."""
    values = {
        one.name.lower(): f"CAST({value} AS {one.type_sql})"
        for one, value in zip(function.parameters, arguments, strict=True)
    }
    tokens, pieces, position = tokenize(function.body), [], 0
    for i, token in enumerate(tokens):
        alone = token.is_name and (i == 0 or tokens[i - 1].key != ".") and tokens[i + 1].key not in (".", "(")
        if alone and token.name.lower() in values:
            pieces += [function.body[position : token.start], values[token.name.lower()]]
            position = token.end
    body = "".join([*pieces, function.body[position:]])
    return f"({body})" if function.returns_sql is None else f"CAST(({body}) AS {function.returns_sql})"
