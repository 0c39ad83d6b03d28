"""DEFAULT in the text of statements: as a clause of a column, and as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from tablestore_engine.errors import SqlError
from tablestore_engine.schema.table.predicate import Constant
from tablestore_engine.schema.types.default_values import default_scalar, expression_text
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_ROOTS,
    NULL_DEFAULT,
    STRING_ROOTS,
    TIMESTAMP_ROOTS,
    AtomicType,
    DataField,
    DataType,
)
from tablestore_engine.sql.tokens.constants import constant_at, is_random
from tablestore_engine.sql.tokens.lexer import END, Token, edited, tokenize, top_level

_NUMBERS: Final = (*INTEGER_ROOTS, "DECIMAL", "FLOAT", "DOUBLE")
_AFTER_ITEMS: Final = frozenset(
    [*("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET", "WINDOW"),
     *("LATERAL", "UNION", "EXCEPT", "MINUS", "INTERSECT")]
)  # fmt: skip
_QUOTED: Final = ("DATE", *TIMESTAMP_ROOTS, *BINARY_ROOTS)


def is_default(value_sql: str) -> bool:
    """Whether the text of a value is the word DEFAULT."""
    return value_sql.strip().upper() == "DEFAULT"


def default_text(name: str, kind: DataType, sql: str) -> str:
    """The text by which a schema keeps the DEFAULT of a column.

    Raises:
        SqlError: a subquery. SchemaError: a constant that is no value of the column's type.
    """
    tokens = tokenize(sql)
    if sql.strip().upper() == "NULL":
        return NULL_DEFAULT
    if any(token.key == "SELECT" for token in tokens):
        raise SqlError(f"The DEFAULT of column '{name}' holds a query: {sql}.", hint="Use constants and functions.")
    found = constant_at(tokens, 0)
    if found is None or found[1] < len(tokens) - 1 or not isinstance(kind, AtomicType):
        return expression_text(sql, kind)
    text = _constant_text(found[0], kind)
    if text is None:
        return expression_text(sql, kind)
    in_session_zone = kind.root == "TIMESTAMP_LTZ" and isinstance(found[0], str)
    if not in_session_zone:
        default_scalar(DataField(0, name, kind, default_value=text))
    return text


def _constant_text(value: Constant, kind: AtomicType) -> str | None:
    """The text that every writer of the format casts to the same value; None where a cast may differ."""
    if kind.root in STRING_ROOTS:
        return f"'{_plain(value)}'" if isinstance(value, (str, bool, int)) or type(value) is date else None
    if kind.root == "BOOLEAN":
        return _plain(value) if isinstance(value, bool) else f"'{value}'" if isinstance(value, str) else None
    if kind.root in _NUMBERS:
        if isinstance(value, str):
            return f"'{value}'"
        return None if isinstance(value, (bool, date)) else _plain(value)
    if kind.root in _QUOTED and isinstance(value, str):
        return f"'{value}'"
    if kind.root == "DATE" and type(value) is date:
        return f"'{value.isoformat()}'"
    if isinstance(value, datetime) and kind.root in TIMESTAMP_ROOTS:
        fits = (value.tzinfo is None) == (kind.root == "TIMESTAMP")
        return f"'{value.isoformat(' ')}'" if fits else None
    return None


def _plain(value: Constant) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


# -- DEFAULT as a value -----------------------------------------------------------------------------------


def with_default_values(query_sql: str, names: Sequence[str], default_of: Callable[[str], str]) -> str:
    """The text of a query with each DEFAULT that is a value replaced by the default of its column.

    A value is one of VALUES, or an item of a SELECT that gives the rows, also where UNION and its kin join several.
    `names` are the columns that the query fills, in order. Any other query is unchanged.

    Raises:
        SqlError: DEFAULT after a star, whose columns are not known here.
    """
    if "DEFAULT" not in query_sql.upper():
        return query_sql
    tokens = tokenize(query_sql)
    starts = [i for i in top_level(tokens, 0, len(tokens)) if tokens[i].key in ("VALUES", "SELECT")]
    if tokens[0].key not in ("VALUES", "SELECT", "WITH") or not starts:
        return query_sql

    def default(column: int) -> str:
        return default_of(names[column]) if column < len(names) else "NULL"

    if tokens[starts[0]].key == "VALUES":
        return _with_defaults_in_rows(query_sql, tokens, starts[0], default)
    found = (one for start in starts if tokens[start].key == "SELECT" for one in _default_items(tokens, start + 1))
    return edited(query_sql, ((one.start, one.end, default(column)) for column, one in found))


def _default_items(tokens: Sequence[Token], start: int) -> Iterator[tuple[int, Token]]:
    """Each DEFAULT that is a whole item of a SELECT, with the number of its column."""
    column, star = 0, False
    for i in top_level(tokens, start, len(tokens)):
        if tokens[i].key in _AFTER_ITEMS:
            return
        if tokens[i].key == ",":
            column += 1
        elif tokens[i].key == "*":
            star = star or tokens[i - 1].key in ("SELECT", "ALL", "DISTINCT", ",", ".")
        elif tokens[i].key == "DEFAULT" and _is_item(tokens, i):
            if star:
                raise SqlError("DEFAULT after * is not supported.", hint="List the columns instead of the star.")
            yield column, tokens[i]


def _is_item(tokens: Sequence[Token], i: int) -> bool:
    """Whether the token is an item, alone or with an alias."""
    if tokens[i - 1].key not in ("SELECT", "ALL", "DISTINCT", ","):
        return False
    after = i + 1
    if tokens[after].key == "AS" or (tokens[after].is_name and tokens[after].key not in _AFTER_ITEMS):
        after += 2 if tokens[after].key == "AS" else 1
    return tokens[after].key in (",", "", *_AFTER_ITEMS)


def _with_defaults_in_rows(query_sql: str, tokens: Sequence[Token], values: int, default: Callable[[int], str]) -> str:
    """Rows of VALUES with their defaults. Spark takes no random value there: a query on the rows, in which one more
    column says where the default goes, has it."""
    rows = [_Row(tokens, *one) for one in _rows(tokens, values + 1)]
    used = {column for row in rows for column in row.defaults}
    defaults = {column: default(column) for column in used}
    late = sorted(column for column, text in defaults.items() if is_random(text))
    if not all(row.is_whole for row in rows):
        late = []
    edits: list[tuple[int, int, str]] = []
    for row in rows:
        flags = "".join(f", {str(column in row.defaults).lower()}" for column in late)
        texts = ((one, "NULL" if column in late else defaults[column]) for column, one in row.defaults.items())
        edits += ((one.start, one.end, text) for one, text in texts)
        if late:
            first, last = row.outside
            edits += ((first, first, "(" * row.is_bare), (last, last, flags + ")" * row.is_bare))
    if late:
        end = tokens[values].start
        flag_of = {column: f"col{rows[0].width + 1 + number}" for number, column in enumerate(late)}
        items = (
            f"if({flag_of[column]}, {defaults[column]}, {name})" if column in flag_of else name
            for column, name in enumerate(f"col{number + 1}" for number in range(rows[0].width))
        )
        edits.append((end, end, f"SELECT {', '.join(items)} FROM "))
    return edited(query_sql, sorted(edits))


class _Row:
    """One row of VALUES, from its first token up to one behind it: its DEFAULTs, by their columns, and its width. A
    *bare* row is one value without parentheses; a row is *whole* if nothing follows its parentheses."""

    def __init__(self, tokens: Sequence[Token], first: int, end: int) -> None:
        self.is_bare = tokens[first].key != "("
        behind_all = end if self.is_bare else tokens[first].partner
        self.is_whole = self.is_bare or behind_all == end - 1
        inside = top_level(tokens, first if self.is_bare else first + 1, behind_all)
        self.width, self.defaults = 1, dict[int, Token]()
        for at in inside:
            self.width += tokens[at].key == "," and not self.is_bare
            if _is_value(tokens, at):
                self.defaults[self.width - 1] = tokens[at]
        last = tokens[end - 1]
        self.outside = (tokens[first].start, last.end if self.is_bare else last.start)


def _rows(tokens: Sequence[Token], start: int) -> Iterator[tuple[int, int]]:
    """Where each row of VALUES begins, and one behind its end."""
    first = start
    for at in top_level(tokens, start, len(tokens)):
        if tokens[at].key == "," or tokens[at].kind == END:
            yield first, at
            first = at + 1


def _is_value(tokens: Sequence[Token], i: int) -> bool:
    return (
        tokens[i].key == "DEFAULT" and tokens[i - 1].key in ("(", ",", "VALUES") and tokens[i + 1].key in (",", ")", "")
    )
