"""Parses Spark's types, as written in a column definition, without a JVM.

``bigint`` → BIGINT, ``timestamp`` → TIMESTAMP_LTZ (Spark's TIMESTAMP has the session's time zone),
``timestamp_ntz`` → TIMESTAMP, ``time`` → TIME(3), ``struct<a: int, b: string>`` → ROW, and so on. Fields of a ROW
get the id -1; they are numbered when the type is added to a schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tablestore_engine.errors import UnsupportedTypeError, nearest
from tablestore_engine.schema.types.foreign_types import INSTEAD
from tablestore_engine.schema.types.types import (
    MAX_TIME_PRECISION,
    MAX_TIMESTAMP_PRECISION,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
)
from tablestore_engine.sql.tokens.cursor import Cursor
from tablestore_engine.sql.tokens.lexer import NUMBER, Token, tokenize
from tablestore_engine.sql.types.type_names import spark_type

UNNUMBERED: Final = -1
MOST_TYPE_LEVELS: Final = 100
"""Arrays, maps and structs inside of each other, with the innermost type."""

_ATOMIC: Final[Mapping[str, tuple[str, int | None]]] = {
    "BOOLEAN": ("BOOLEAN", None),
    "TINYINT": ("TINYINT", None),
    "BYTE": ("TINYINT", None),
    "SMALLINT": ("SMALLINT", None),
    "SHORT": ("SMALLINT", None),
    "INT": ("INT", None),
    "INTEGER": ("INT", None),
    "BIGINT": ("BIGINT", None),
    "LONG": ("BIGINT", None),
    "FLOAT": ("FLOAT", None),
    "REAL": ("FLOAT", None),
    "DOUBLE": ("DOUBLE", None),
    "STRING": ("STRING", None),
    "BINARY": ("BYTES", None),
    "DATE": ("DATE", None),
    "TIMESTAMP": ("TIMESTAMP_LTZ", 6),
    "TIMESTAMP_LTZ": ("TIMESTAMP_LTZ", 6),
    "TIMESTAMP_NTZ": ("TIMESTAMP", 6),
    "TIME": ("TIME", MAX_TIME_PRECISION),
    "VARIANT": ("VARIANT", None),
}
_LONGEST_TIME: Final = f"TIME({MAX_TIME_PRECISION})"
_TIMESTAMPS: Final = frozenset(["TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"])
_WITH_LENGTH: Final = {"CHAR": "CHAR", "CHARACTER": "CHAR", "VARCHAR": "VARCHAR"}
_DECIMALS: Final = frozenset(["DECIMAL", "DEC", "NUMERIC"])
_KNOWN: Final = [*_ATOMIC, *_WITH_LENGTH, *_DECIMALS, "ARRAY", "MAP", "STRUCT"]


@dataclass(frozen=True)
class VoidType(DataType):
    """The type of a column of nulls in a query, of the elements of `array()`, and so on. A table cannot hold it."""

    nullable: bool = True


def parse_sql_type(text: str, column: str = "", *, nullable: bool = True, of_query: bool = False) -> DataType:
    """The data type of a Spark type text.

    ``column`` is the column's name in an error. ``of_query``: the text may have the type VOID. Raises
    UnsupportedTypeError for types that a table cannot hold, unknown ones, and texts that are not a type.
    """
    text = spark_type(text)
    parser = _TypeParser(text, column, of_query=of_query)
    found = parser.type()
    if not parser.at_end:
        raise parser.unsupported(text)
    return found.as_nullable(nullable)


class _TypeParser(Cursor):
    def __init__(self, text: str, column: str, *, of_query: bool) -> None:
        super().__init__(text, list(_split_angles(tokenize(text))))
        self.column = column
        self.of_query = of_query
        self._levels = 0

    def type(self) -> DataType:
        """A type, without a NOT NULL after it."""
        self._levels += 1
        if self._levels > MOST_TYPE_LEVELS:
            raise self.too_deep()
        found = self._type()
        self._levels -= 1
        return found

    def _type(self) -> DataType:
        if not self.token.is_name:
            raise self.unsupported(self.text)
        start = self.i
        root = self.name().upper()
        if root == "ARRAY":
            self.angle("<")
            element = self.type()
            self.angle(">")
            return ArrayType(element)
        if root == "MAP":
            self.angle("<")
            key = self.type()
            self.angle(",")
            value = self.type()
            self.angle(">")
            return MapType(key.as_nullable(False), value)
        if root == "STRUCT":
            return self.struct()
        arguments = self.arguments()
        if root in _ATOMIC and not arguments:
            if root == "STRING" and self.accept("COLLATE") and self.name().upper() != "UTF8_BINARY":
                raise self.unsupported(self.slice(start, self.i), "Only the collation UTF8_BINARY is supported.")
            name, precision = _ATOMIC[root]
            return AtomicType(name, precision=precision)
        if root in _TIMESTAMPS and len(arguments) == 1:
            if arguments[0] > MAX_TIMESTAMP_PRECISION:
                raise self.unsupported(self.slice(start, self.i), f"Spark has microseconds: use {root}.")
            return AtomicType(_ATOMIC[root][0], precision=arguments[0])
        if root in _WITH_LENGTH and len(arguments) == 1:
            return AtomicType(_WITH_LENGTH[root], precision=arguments[0])
        if root == "TIME" and len(arguments) == 1:
            if arguments[0] > MAX_TIME_PRECISION:
                raise self.unsupported(self.slice(start, self.i), f"Times have milliseconds: use {_LONGEST_TIME}.")
            return AtomicType("TIME", precision=arguments[0])
        if root in _DECIMALS and len(arguments) <= 2:
            precision, scale = (*arguments, *(10, 0)[len(arguments) :])
            return self.decimal(precision, scale)
        if root == "VOID" and self.of_query and not arguments:
            return VoidType()
        raise self.unsupported(self.slice(start, self.i), self.advice(root))

    def struct(self) -> DataType:
        """``<a: int not null comment '…', b string>``, or ``<>``."""
        self.angle("<")
        fields: list[DataField] = []
        while not self.accept(">"):
            if fields:
                self.angle(",")
            name = self.name("a field name")
            self.accept(":")
            data_type = self.type()
            if self.accept("NOT", "NULL"):
                data_type = data_type.as_nullable(False)
            comment = self.string() if self.accept("COMMENT") else None
            fields.append(DataField(UNNUMBERED, name, data_type, comment))
        if not fields:
            raise self.unsupported("struct<>", "A struct needs a field.")
        return RowType(tuple(fields))

    def decimal(self, precision: int, scale: int) -> DataType:
        """A DECIMAL, with an error that names the column."""
        if not 1 <= precision <= 38 or not 0 <= scale <= precision:
            raise self.unsupported(
                f"DECIMAL({precision}, {scale})", "The precision is 1 to 38 and the scale 0 to the precision."
            )
        return AtomicType("DECIMAL", precision=precision, scale=scale)

    def arguments(self) -> tuple[int, ...]:
        """``(10, 2)``, or nothing."""
        if not self.accept("("):
            return ()
        numbers = []
        while True:
            if self.token.kind != NUMBER or not self.token.text.isdigit():
                raise self.unsupported(self.text)
            numbers.append(int(self.token.text))
            self.i += 1
            if not self.accept(","):
                break
        self.angle(")")
        return tuple(numbers)

    def angle(self, key: str) -> None:
        """Consumes a punctuation sign of a type."""
        if not self.accept(key):
            raise self.unsupported(self.text, f"Expected {key}.")

    def unsupported(self, type_text: str, hint: str | None = None) -> UnsupportedTypeError:
        """The error about an unsupported type."""
        where = f"Column {self.column} has" if self.column else "There is"
        return UnsupportedTypeError(f"{where} the type '{type_text}', which a table cannot hold.", hint=hint)

    def too_deep(self) -> UnsupportedTypeError:
        """The error about a type in too many levels."""
        where = f"Column {self.column} has" if self.column else "There is"
        return UnsupportedTypeError(
            f"{where} a type with more than {MOST_TYPE_LEVELS} levels, which a table cannot hold.",
            hint="Split it into several columns, or keep it as a STRING or VARIANT.",
        )

    def advice(self, root: str) -> str | None:
        """A hint what to write instead of an unknown type."""
        if root in INSTEAD:
            return INSTEAD[root]
        near = nearest(root, _KNOWN)
        return f"Did you mean {near}?" if near and near != root else None


def _split_angles(tokens: list[Token]) -> list[Token]:
    """The tokens with ``<>`` and similar signs split into single characters, which are brackets in a type."""
    found: list[Token] = []
    for token in tokens:
        if len(token.key) > 1 and token.key[0] in "<>":
            found += [
                Token(token.kind, sign, token.start + at, token.start + at + 1, sign)
                for at, sign in enumerate(token.key)
            ]
        else:
            found.append(token)
    return found
