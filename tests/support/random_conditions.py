"""Random conditions in SQL on columns of many types, and rows with the edges of these types."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from random import Random

COLUMNS = {
    "id": "INT", "t": "TINYINT", "i": "INT", "j": "INT", "l": "BIGINT", "d": "DECIMAL(10, 2)", "e": "DECIMAL(20, 5)",
    "f": "FLOAT", "x": "DOUBLE", "y": "DOUBLE", "s": "STRING", "c": "VARCHAR(8)", "b": "BOOLEAN", "day": "DATE",
    "until": "DATE", "at": "TIMESTAMP_LTZ", "clock": "TIMESTAMP(3)",
}  # fmt: skip
_EDGES = {
    "t": (None, 0, 1, -1, 127, -128),
    "i": (None, 0, 1, -1, 2, 7, 2**31 - 1, -(2**31)),
    "j": (None, 0, 1, -1, 3, 7, 2**31 - 1),
    "l": (None, 0, 1, -1, 5, 2**53 + 1, 2**63 - 1, -(2**63)),
    "d": (None, *map(Decimal, ("0.00", "1.00", "-0.01", "2.50", "99999999.99"))),
    "e": (None, *map(Decimal, ("0", "1.00000", "2.5", "-0.00001", "999999999999999.99999"))),
    "f": (None, 0.0, -0.0, 1.0, 0.10000000149011612, float("nan"), float("inf"), -2.5),
    "x": (None, 0.0, -0.0, 1.0, 0.1, 2.5, float("nan"), float("-inf"), 9007199254740993.0, 1e300),
    "y": (None, 0.0, -0.0, 1.0, 0.1, float("nan"), float("inf"), 3.0),
    "s": (None, "", " ", "a", "A", "ab", "a%", "a\nb", "  pad ", "é", "\U0001f600", "\uffee", "ß", "İ", "\tx"),
    "c": (None, "", "a", "ab ", "Ab", "é", "z"),
    "b": (None, True, False),
    "day": (None, date(1, 1, 1), date(1582, 10, 10), date(2024, 2, 29), date(9999, 12, 31)),
    "until": (None, date(2024, 2, 29), date(2024, 3, 1)),
    "at": (None, datetime(1500, 1, 1, tzinfo=timezone.utc), datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=timezone.utc)),
    "clock": (None, datetime(2024, 2, 29), datetime(1969, 12, 31, 23, 59, 59, 999000)),
}
_CONSTANTS = {
    "number": ("0", "1", "-1", "7", "2.5", "-0.01", "1e0", "0.1", "3000000000", "5L", "128", "1Y", "2.50D"),
    "text": ("''", "'a'", "'A'", "'ab'", "' '", "'é'", "'a%'"),
    "day": ("DATE '2024-02-29'", "'2024-03-01'", "CAST('0001-01-01' AS DATE)"),
    "time": ("TIMESTAMP '2024-01-01 00:00:00Z'", "TIMESTAMP_NTZ '2024-02-29 00:00:00'"),
    "truth": ("TRUE", "FALSE"),
}
_OF = {
    "number": ("t", "i", "j", "l", "d", "e", "f", "x", "y"),
    "text": ("s", "c"),
    "day": ("day", "until"),
    "time": ("at", "clock"),
    "truth": ("b",),
}
_PATTERNS = ("'%'", "'a%'", "'%b'", "'_'", "'__'", "'a_b'", "'%a%'", "'a'", "''", "'a%%'", "'.*'", "'(a'")


def rows(number: int, random: Random) -> list[tuple[object, ...]]:
    """Rows of edges, numbered from 0."""
    return [(at, *(random.choice(_EDGES[name]) for name in list(COLUMNS)[1:])) for at in range(number)]


class Conditions:
    """Conditions of some depth."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def one(self, depth: int = 3) -> str:
        """A condition, in parentheses where it is joined."""
        forms: list[Callable[[int], str]] = [self._comparison, self._comparison, self._membership, self._test]
        if depth > 1:
            forms += [self._joined, self._joined, self._negated]
        return self._random.choice(forms)(depth)

    def value(self, column: str, depth: int = 2) -> str:
        """An expression of the kind of a column's values."""
        return self._value(next(kind for kind, names in _OF.items() if column in names), depth)

    def _joined(self, depth: int) -> str:
        word = self._random.choice(("AND", "OR"))
        return f"({self.one(depth - 1)}) {word} ({self.one(depth - 1)})"

    def _negated(self, depth: int) -> str:
        return f"NOT ({self.one(depth - 1)})"

    def _comparison(self, depth: int) -> str:
        kind = self._kind()
        op = self._random.choice(("=", "<>", "<", "<=", ">", ">=", "<=>", "IS DISTINCT FROM"))
        return f"{self._value(kind, depth)} {op} {self._value(kind, depth)}"

    def _membership(self, depth: int) -> str:
        kind, word = self._kind(), self._random.choice(("", "NOT "))
        value = self._value(kind, depth)
        if self._random.random() < 0.5:
            return f"{value} {word}BETWEEN {self._value(kind, 1)} AND {self._value(kind, 1)}"
        listed = [self._value(kind, 1) for _ in range(self._random.randint(1, 4))]
        if self._random.random() < 0.3:
            listed.append("NULL")
        return f"{value} {word}IN ({', '.join(listed)})"

    def _test(self, depth: int) -> str:
        if self._random.random() < 0.4:
            word = self._random.choice(("", "NOT "))
            return f"{self._value('text', depth)} {word}LIKE {self._random.choice(_PATTERNS)}"
        if self._random.random() < 0.2:
            return self._random.choice(("b IS TRUE", "b IS NOT FALSE", "b IS UNKNOWN", "b", "isnan(x)", "isnull(s)"))
        return f"{self._value(self._kind(), depth)} IS {self._random.choice(('', 'NOT '))}NULL"

    def _kind(self) -> str:
        return self._random.choice(("number", "number", "number", "text", "text", "day", "time", "truth"))

    def _value(self, kind: str, depth: int) -> str:
        chance = self._random.random()
        if depth > 1 and chance < 0.5 and kind in ("number", "text"):
            return self._number(depth - 1) if kind == "number" else self._text(depth - 1)
        if depth > 1 and chance < 0.55:
            return f"coalesce({self._value(kind, depth - 1)}, {self._value(kind, depth - 1)})"
        if chance < 0.75:
            return self._random.choice(_OF[kind])
        return "NULL" if chance > 0.98 else self._random.choice(_CONSTANTS[kind])

    def _number(self, depth: int) -> str:
        one, other = self._value("number", depth), self._value("number", depth)
        form = self._random.choice(
            ("{0} + {1}", "({0} - {1})", "({0} * {1})", "{0} / {1}", "({0} % {1})", "({0} DIV {1})", "abs({0})",
             "- ({0})", "length({2})", "char_length({2})")
        )  # fmt: skip
        return form.format(one, other, self._value("text", depth))

    def _text(self, depth: int) -> str:
        one, other = self._value("text", depth), self._value("text", depth)
        form = self._random.choice(("upper({0})", "lower({0})", "trim({0})", "ltrim({0})", "rtrim({0})", "{0} || {1}"))
        return form.format(one, other)
