"""Columns with Spark's types, and the names of these types in other warehouses.

A column's `dtype` is the type as Spark writes it (`decimal(10,2)`, `struct<a:int>`), so two columns have the same
type exactly when their `dtype` is the same text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Dict, Optional  # noqa: UP035

from dbt.adapters.base.column import Column
from dbt_common.exceptions import DbtRuntimeError

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.types.sql_literals import quoted_name, spark_type
from tablestore_engine.schema.types.types import MAX_TIME_PRECISION, ArrayType, DataType, MapType, RowType
from tablestore_engine.sql.types.types import VoidType, parse_sql_type

_SIZED = re.compile(r"^(?:var)?char\s*\(\s*(\d+)\s*\)$")
_CHAR = re.compile(r"^char\((\d+)\)$")
_DECIMAL = re.compile(r"^(?:decimal|dec|numeric)\s*\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\)$")

_LENGTH = re.compile(r"(?<![^<,:])(?:var)?char\(\d+\)")
# Sized types that Spark does not know by these names.
_FOREIGN_SIZED = re.compile(r"^(?:NUMBER|BIGNUMERIC|(?P<text>NVARCHAR|CHARACTER VARYING)) ?(?P<size>\([\d, ]+\))$")

ANY_DECIMAL = "decimal(38,6)"
"""The type of exact numbers whose precision is not given. Spark's `decimal` is `decimal(10,0)`, without fractions."""

_VOID = re.compile(r"(?<![^<,:])void(?=[>,]|$)")
_TIME = re.compile(r"(?<![^<,:])time\((\d+)\)")

_INTEGERS = ("tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long")
_FLOATS = ("float", "real", "double")


def stored_dtype(dtype: str) -> str:
    """The type of a table's column that is made by a query's column: one of nulls only becomes text, and a time has
    milliseconds."""
    timed = _TIME.sub(lambda found: f"time({min(int(found[1]), MAX_TIME_PRECISION)})", dtype)
    return _VOID.sub("string", timed)


@dataclass
class TableStoreColumn(Column):
    """One column: its name, its Spark type and, if it comes from the catalog, its comment."""

    TYPE_LABELS: ClassVar[Dict[str, str]] = {  # noqa: UP006
        "TEXT": "string",
        "STRING": "string",
        "VARCHAR": "string",
        "NVARCHAR": "string",
        "CHAR": "string",
        "CHARACTER VARYING": "string",
        "INTEGER": "int",
        "INT2": "smallint",
        "INT4": "int",
        "INT8": "bigint",
        "INT64": "bigint",
        "LONG": "bigint",
        "BOOL": "boolean",
        "FLOAT": "double",
        "FLOAT4": "float",
        "FLOAT8": "double",
        "FLOAT64": "double",
        "DOUBLE PRECISION": "double",
        "NUMERIC": ANY_DECIMAL,
        "DECIMAL": ANY_DECIMAL,
        "DEC": ANY_DECIMAL,
        "NUMBER": ANY_DECIMAL,
        "BIGNUMERIC": ANY_DECIMAL,
        "TIMESTAMP": "timestamp",
        "TIMESTAMPTZ": "timestamp",
        "TIMESTAMP_TZ": "timestamp",
        "TIMESTAMP WITH TIME ZONE": "timestamp",
        "DATETIME": "timestamp",
    }

    comment: Optional[str] = None  # noqa: UP045

    @property
    def as_stored(self) -> str:
        """SQL of a query's value for this column as the table holds it: a CHAR is compared with its blanks."""
        found = _CHAR.match(self.dtype)
        name = self.quoted
        return f"if(length({name}) < {found[1]}, rpad({name}, {found[1]}, ' '), {name}) as {name}" if found else name

    declared: bool = False  # by a contract, so that a table of another type does not fit

    @classmethod
    def translate_type(cls, dtype: str) -> str:
        """The Spark type for a type's name in dbt or another warehouse. Unknown names are returned unchanged.

        `float` is what the macro `type_float()` says, 64 bits wide; `float4` has 32 bits.
        """
        words = " ".join(dtype.upper().split())
        if words in cls.TYPE_LABELS:
            return cls.TYPE_LABELS[words]
        sized = _FOREIGN_SIZED.match(words)
        if sized is None:
            return dtype
        return f"{'varchar' if sized['text'] else 'decimal'}{sized['size']}"

    @classmethod
    def type_of_column(cls, dtype: str) -> str:
        """The same for a column that a table has or gets, where `float` is Spark's, 32 bits wide."""
        return "float" if dtype.strip().lower() == "float" else cls.translate_type(dtype)

    @classmethod
    def numeric_type(cls, dtype: str, precision: Any, scale: Any) -> str:
        """`decimal(28,6)`: the only exact numeric type with fractions."""
        if precision is None or scale is None:
            return ANY_DECIMAL if dtype.lower() in ("numeric", "decimal") else dtype
        return f"decimal({precision},{scale})"

    @classmethod
    def string_type(cls, size: int) -> str:
        """Strings have no length limit."""
        return "string"

    @property
    def quoted(self) -> str:
        return quoted_name(self.column)

    @property
    def data_type(self) -> str:
        return self.dtype

    @property
    def without_lengths(self) -> str:
        """The type in which texts are of any length."""
        return _LENGTH.sub("string", self.dtype)

    def is_string(self) -> bool:
        kind = self.dtype.lower()
        return kind in ("string", "text", "varchar", "char") or bool(_SIZED.match(kind))

    def is_integer(self) -> bool:
        return self.dtype.lower() in _INTEGERS

    def is_float(self) -> bool:
        return self.dtype.lower() in _FLOATS

    def is_numeric(self) -> bool:
        kind = self.dtype.lower()
        return kind in ("decimal", "dec", "numeric") or bool(_DECIMAL.match(kind))

    def string_size(self) -> int:
        if not self.is_string():
            raise DbtRuntimeError("Called string_size() on non-string field!")
        match = _SIZED.match(self.dtype.lower())
        return int(match[1]) if match else 2**31 - 1

    def can_expand_to(self, other_column: Column) -> bool:
        """Whether the other column has a larger character limit, so that all values of this one fit."""
        if not self.is_string() or not other_column.is_string():
            return False
        return other_column.string_size() > self.string_size()

    def fits_into(self, other: TableStoreColumn) -> bool:
        """Whether the other column has the same type, or, unless this one's is declared, texts without a limit."""
        return self.dtype == other.dtype or (not self.declared and self.without_lengths == other.dtype)

    def filled_from(self, other: TableStoreColumn) -> TableStoreColumn:
        """The column with the types of another one where its own has nulls only, as in `array()`."""
        if not _VOID.search(self.dtype):
            return self
        try:
            given = parse_sql_type(self.dtype, self.name, of_query=True)
            kind = _filled(given, parse_sql_type(other.dtype, other.name))
        except UnsupportedTypeError:
            return self
        return self if kind is None else TableStoreColumn(self.name, spark_type(kind))

    def literal(self, value: Any) -> str:
        return f"cast({value} as {self.data_type})"

    def __repr__(self) -> str:
        return f"<TableStoreColumn {self.name} ({self.data_type})>"


def _filled(given: DataType, known: DataType) -> DataType | None:
    """A type with the types of a known one for VOID; None where it has none to offer."""
    if isinstance(given, VoidType):
        return None if isinstance(known, VoidType) else known
    if isinstance(given, ArrayType):
        element = _filled(given.element, known.element) if isinstance(known, ArrayType) else None
        return element and replace(given, element=element)
    if isinstance(given, MapType):
        key = _filled(given.key, known.key) if isinstance(known, MapType) else None
        value = _filled(given.value, known.value) if isinstance(known, MapType) else None
        return key and value and replace(given, key=key, value=value)
    if isinstance(given, RowType):
        types = {one.name.lower(): one.type for one in known.fields} if isinstance(known, RowType) else {}
        found = [_filled(one.type, types.get(one.name.lower(), one.type)) for one in given.fields]
        fields = tuple(replace(one, type=kind) for one, kind in zip(given.fields, found, strict=True) if kind)
        return replace(given, fields=fields) if len(fields) == len(found) else None
    return given
