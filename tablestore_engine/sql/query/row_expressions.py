"""Reads the SQL of an expression on columns as a tree: ``a NOT IN (1, b)`` → NOT IN(a, 1, b).

The order of operators is that of Spark's grammar: OR, AND, NOT, then one of IS, IN, BETWEEN and LIKE behind a
comparison, sums, products, signs. An expression with any other part is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from tablestore_engine.schema.expressions.expression import Call, ColumnValue, Expression, Literal
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.types import MOST_DIGITS, AtomicType
from tablestore_engine.sql.query.predicate_reader import NOT_COLUMNS
from tablestore_engine.sql.tokens.constants import constant_at, number_value
from tablestore_engine.sql.tokens.lexer import NUMBER, QUOTED, STRING, WORD, Token, tokenize

_COMPARISONS: Final = {"=": "=", "==": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>"}
_UNEQUAL: Final = ("<>", "!=")
_SUMS: Final = ("+", "-", "||")
_PRODUCTS: Final = ("*", "/", "%", "DIV")
_SUFFIXES: Final = {"Y": ("TINYINT", 7), "S": ("SMALLINT", 15), "L": ("BIGINT", 63)}
_NULL: Final = Literal(None, None)

ColumnOf = Callable[[tuple[str, ...]], str | None]
"""Which column a name means, given its parts from the outermost one; None for none."""


class _UnreadableError(Exception):
    """The expression has a part that is none of these."""


def read_expression(sql: str, columns: Sequence[str]) -> Expression | None:
    """The expression; None when it has other parts, or names no column of these."""
    names = Names(columns)
    return read_value(sql, lambda parts: names.find(parts[0]) if len(parts) == 1 else None)


def read_value(sql: str, column_of: ColumnOf) -> Expression | None:
    """The same, where a column may have qualifiers; `column_of` says which one is meant."""
    try:
        return _Reader(tokenize(sql), column_of).whole()
    except (_UnreadableError, RecursionError):
        return None


class _Reader:
    """Reads tokens from `at` on."""

    def __init__(self, tokens: Sequence[Token], column_of: ColumnOf) -> None:
        self._tokens = tokens
        self._column_of = column_of
        self._at = 0

    def whole(self) -> Expression:
        """The expression of all tokens."""
        found = self._any()
        self._require(self._at == len(self._tokens) - 1)
        return found

    @property
    def _key(self) -> str:
        return self._tokens[self._at].key

    def _ahead(self, number: int) -> str:
        at = self._at + number
        return self._tokens[at].key if at < len(self._tokens) else ""

    def _require(self, condition: bool) -> None:
        if not condition:
            raise _UnreadableError

    def _takes(self, *keys: str) -> bool:
        """Step over these tokens, if they come next."""
        if any(self._ahead(number) != key for number, key in enumerate(keys)):
            return False
        self._at += len(keys)
        return True

    def _expect(self, key: str) -> None:
        self._require(self._takes(key))

    def _any(self) -> Expression:
        return self._joined("OR", self._all)

    def _all(self) -> Expression:
        return self._joined("AND", self._negated)

    def _joined(self, operator: str, operand: Callable[[], Expression]) -> Expression:
        found = operand()
        while self._takes(operator):
            found = Call(operator, (found, operand()))
        return found

    def _negated(self) -> Expression:
        if self._takes("NOT") or self._takes("!"):
            return Call("NOT", (self._negated(),))
        return self._behind(self._value())

    def _behind(self, value: Expression) -> Expression:
        """A value with the predicate behind it, if there is one."""
        if self._takes("IS"):
            negated = self._takes("NOT")
            return _not(self._is(value), negated)
        negated = self._key == "NOT" and self._ahead(1) in ("IN", "BETWEEN", "LIKE")
        self._at += negated
        if self._takes("IN", "("):
            return _not(Call("IN", (value, *self._listed())), negated)
        if self._takes("BETWEEN"):
            low = self._value()
            self._expect("AND")
            return _not(Call("BETWEEN", (value, low, self._value())), negated)
        if self._takes("LIKE"):
            pattern = self._value()
            self._require(self._key != "ESCAPE")
            return _not(Call("LIKE", (value, pattern)), negated)
        return value

    def _is(self, value: Expression) -> Expression:
        if self._takes("NULL") or self._takes("UNKNOWN"):
            return Call("IS NULL", (value,))
        if self._takes("DISTINCT", "FROM"):
            return Call("NOT", (Call("<=>", (value, self._value())),))
        self._require(self._key in ("TRUE", "FALSE"))
        truth = Literal(self._key == "TRUE", AtomicType("BOOLEAN"))
        self._at += 1
        return Call("<=>", (value, truth))

    def _listed(self) -> list[Expression]:
        """Expressions in parentheses that are open."""
        found = [self._any()]
        while self._takes(","):
            found.append(self._any())
        self._expect(")")
        return found

    def _value(self) -> Expression:
        found = self._sum()
        while self._key in _COMPARISONS or self._key in _UNEQUAL:
            key = self._key
            self._at += 1
            pair = (found, self._sum())
            found = Call("NOT", (Call("=", pair),)) if key in _UNEQUAL else Call(_COMPARISONS[key], pair)
        return found

    def _sum(self) -> Expression:
        return self._operated(_SUMS, self._product)

    def _product(self) -> Expression:
        return self._operated(_PRODUCTS, self._signed)

    def _operated(self, operators: Sequence[str], operand: Callable[[], Expression]) -> Expression:
        found = operand()
        while self._key in operators:
            operator = self._key
            self._at += 1
            found = Call(operator, (found, operand()))
        return found

    def _signed(self) -> Expression:
        if self._key in ("+", "-") and self._tokens[self._at + 1].kind == NUMBER:
            return self._number()
        if self._takes("-"):
            return Call("-", (self._signed(),))
        return self._primary()

    def _primary(self) -> Expression:
        token = self._tokens[self._at]
        if token.kind == NUMBER:
            return self._number()
        if self._takes("NULL"):
            return _NULL
        constant = self._constant()
        if constant is not None:
            return constant
        if self._takes("("):
            found = self._any()
            self._expect(")")
            return found
        self._require(token.kind == QUOTED or (token.kind == WORD and token.key not in NOT_COLUMNS))
        self._at += 1
        if token.kind == WORD and self._takes("("):
            return Call(token.key, tuple(self._listed()))
        parts = [token.name]
        while self._key == "." and self._tokens[self._at + 1].is_name:
            parts.append(self._tokens[self._at + 1].name)
            self._at += 2
        name = self._column_of(tuple(parts))
        if name is None:
            raise _UnreadableError
        return ColumnValue(name)

    def _constant(self) -> Literal | None:
        """A text, a truth value, a date or a time. Numbers are read here only in parentheses, and then elsewhere."""
        token = self._tokens[self._at]
        if token.kind != STRING and token.key not in _CONSTANTS:
            return None
        found = constant_at(list(self._tokens), self._at)
        if found is None:
            return None
        kind = _type_of(found[0], token.key)
        if kind is None:
            raise _UnreadableError
        self._at = found[1]
        return Literal(found[0], kind)

    def _number(self) -> Literal:
        sign = self._key if self._key in ("+", "-") else ""
        self._at += bool(sign)
        text = self._tokens[self._at].text
        value = number_value(text)
        self._require(value is not None and self._ahead(1) != "::")
        assert value is not None
        self._at += 1
        if sign == "-":
            value = value.copy_negate() if isinstance(value, Decimal) and value else -value
        kind = _number_type(value, text[-1].upper())
        if kind is None:
            raise _UnreadableError
        return Literal(value, kind)


_CONSTANTS: Final = frozenset(
    ["TRUE", "FALSE", "DATE", "TO_DATE", "CAST", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"]
)


def _not(found: Expression, negated: bool) -> Expression:
    return Call("NOT", (found,)) if negated else found


def _type_of(value: object, key: str) -> AtomicType | None:
    """The type of a constant that begins with a keyword; None for a time that is another one in each session."""
    if isinstance(value, bool):
        return AtomicType("BOOLEAN")
    if isinstance(value, str):
        return AtomicType("STRING")
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            return AtomicType("TIMESTAMP_LTZ")
        return AtomicType("TIMESTAMP") if key == "TIMESTAMP_NTZ" else None
    return AtomicType("DATE") if isinstance(value, date) else None


def _number_type(value: int | Decimal | float, suffix: str) -> AtomicType | None:
    """The type that Spark gives a number; None when it is none of the type."""
    if isinstance(value, float):
        return AtomicType("DOUBLE")
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int) or exponent > 0:
            return None
        precision = max(len(digits), -exponent)
        return AtomicType("DECIMAL", precision=precision, scale=-exponent) if precision <= MOST_DIGITS else None
    if suffix in _SUFFIXES:
        root, bits = _SUFFIXES[suffix]
        return AtomicType(root) if _fits(value, bits) else None
    for root, bits in (("INT", 31), ("BIGINT", 63)):
        if _fits(value, bits):
            return AtomicType(root)
    digits_count = len(str(abs(value)))
    return AtomicType("DECIMAL", precision=digits_count, scale=0) if digits_count <= MOST_DIGITS else None


def _fits(value: int, bits: int) -> bool:
    return -(1 << bits) <= value < 1 << bits
