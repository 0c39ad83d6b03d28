"""The counts that a select has as its outputs: `count(*)`, or its comparison with a number."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tablestore_engine.sql.tokens.lexer import NUMBER, Token, top_level

_OPERATORS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MOST_DIGITS: Final = 18  # of a number that is certainly a BIGINT


@dataclass(frozen=True)
class Count:
    """One output: `count(*)`, or its comparison with a number."""

    name: str
    operator: str | None = None
    number: int = 0

    @property
    def type(self) -> str:
        """Spark's name of its type."""
        return "bigint" if self.operator is None else "boolean"

    def value(self, rows: int) -> int | bool:
        """Its value for a number of rows."""
        return rows if self.operator is None else _OPERATORS[self.operator](rows, self.number)


def is_count(tokens: Sequence[Token], i: int = 0) -> bool:
    """Whether `count(*)` or `count(1)` is at a token."""
    return [token.key for token in tokens[i : i + 2]] == ["COUNT", "("] and [
        token.text for token in tokens[i + 2 : i + 4]
    ] in (["*", ")"], ["1", ")"])


def items_of(tokens: Sequence[Token], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The begin and the end of each part between commas."""
    commas = [i for i in top_level(tokens, start, end) if tokens[i].key == ","]
    yield from zip([start, *(i + 1 for i in commas)], [*commas, end], strict=True)


def read_counts(tokens: Sequence[Token], start: int, end: int) -> tuple[Count, ...] | None:
    """The outputs between two tokens, if all of them are counts with different names."""
    found = [read_count(tokens[first:last]) for first, last in items_of(tokens, start, end)]
    counts = tuple(one for one in found if one is not None)
    return counts if len({one.name.lower() for one in counts}) == len(found) else None


def read_count(item: Sequence[Token]) -> Count | None:
    """`count(*)`, an operator and a number if there is one, and a name; Spark names a plain count itself."""
    if not is_count(item):
        return None
    rest, compared, number = item[4:], None, 0
    if len(rest) > 1 and rest[0].key in _OPERATORS:
        if rest[1].kind != NUMBER or not rest[1].text.isdigit() or len(rest[1].text) > _MOST_DIGITS:
            return None
        compared, number, rest = rest[0].key, int(rest[1].text), rest[2:]
    if rest and rest[0].key == "AS":
        rest = rest[1:]
        if len(rest) != 1:
            return None
    if not rest:
        return Count("count(1)") if compared is None else None
    return Count(rest[0].name, compared, number) if len(rest) == 1 and rest[0].is_name else None
