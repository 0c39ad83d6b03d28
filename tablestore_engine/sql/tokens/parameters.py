"""Parameters of a statement: `:name` and `?` become literals before other code reads the text.

So they are allowed wherever a literal is, also in VERSION AS OF, PARTITION and IDENTIFIER. Invariant: a value never
changes the structure of the statement. Text that is no parameter (`:` after an operand, a name without a value) is
unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from tablestore_engine.errors import SqlError
from tablestore_engine.schema.types.sql_literals import literal, quoted_text
from tablestore_engine.schema.types.types import AtomicType
from tablestore_engine.sql.tokens.lexer import NUMBER, STRING, WORD, Token, tokenize


class SqlText(str):
    """A value that is already the text of a literal."""

    __slots__ = ()


Parameters = Mapping[str, Any] | Sequence[Any]


def with_parameters(text: str, given: Parameters) -> str:
    """The text with literals for its parameters: named ones of a mapping, those marked `?` of a sequence.

    Raises:
        SqlError: more or fewer values than `?`, or a value that has no literal.
    """
    tokens = tokenize(text)
    if isinstance(given, Mapping):
        found = list(_named(tokens, given))
    else:
        marks = [token for token in tokens if token.key == "?"]
        if len(marks) != len(given):
            raise SqlError(f"The statement has {len(marks)} parameters, but {len(given)} values are given.")
        found = [(mark.start, mark.end, _literal(value, "?")) for mark, value in zip(marks, given, strict=True)]
    pieces, position = [], 0
    for start, end, given_text in found:
        between = _between(text[:start], given_text), given_text, _between(given_text, text[end:])
        pieces += [text[position:start], *between]
        position = end
    return "".join([*pieces, text[position:]])


def _between(left: str, right: str) -> str:
    """A space if the two texts would otherwise become one token, or `--`, which begins a comment."""
    before, after = left[-1:], right[:1]
    words = (before.isalnum() or before == "_") and (after.isalnum() or after == "_")
    return " " if words or before == after == "-" else ""


def _named(tokens: list[Token], given: Mapping[str, Any]) -> Iterator[tuple[int, int, str]]:
    for i, (colon, name) in enumerate(pairwise(tokens)):
        if colon.key != ":" or name.kind != WORD or name.start != colon.end or name.text not in given:
            continue
        if i == 0 or not _is_operand(tokens[i - 1]) or tokens[i - 1].end < colon.start:
            yield colon.start, name.end, _literal(given[name.text], name.text)


def _is_operand(token: Token) -> bool:
    """Whether a colon directly after a token selects a field of its value."""
    return token.is_name or token.kind in (STRING, NUMBER) or token.key in (")", "]", ":")


def _literal(value: Any, name: str) -> str:
    if isinstance(value, SqlText):
        return value
    try:
        if isinstance(value, str):
            return quoted_text(value)  # also where the grammar allows no expression
        return literal(value, _SESSION_TIME if isinstance(value, datetime) else None)
    except TypeError:
        raise SqlError(
            f"The parameter {name} has a value of the type {type(value).__name__}, for which there is no literal.",
            hint="Give it as a text, number, boolean, date, time or bytes, or build it in the statement: "
            "array(:a, :b).",
        ) from None


_SESSION_TIME = AtomicType("TIMESTAMP_LTZ", precision=6)
