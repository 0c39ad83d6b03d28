"""Types, names and values as text of Spark SQL, without Spark. Nothing else quotes a name or writes a literal.

Types have two forms: what Spark *shows* (``decimal(10,2)``, ``struct<a:int,b:string>``: DESCRIBE, the types of result
columns) and what SQL *declares* (``STRUCT<`a`: INT NOT NULL COMMENT '…'>``: CREATE TABLE). The declared form of any
type that came in through SQL gives the same type again; types that only other writers use are declared as the nearest
one.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from tablestore_engine.schema.types.types import (
    MAX_TIMESTAMP_PRECISION,
    TIMESTAMP_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
)

_NAMES = {"BYTES": "binary", "BINARY": "binary", "VARBINARY": "binary", "TIMESTAMP": "timestamp_ntz",
          "TIMESTAMP_LTZ": "timestamp"}  # fmt: skip


def spark_type(kind: DataType) -> str:
    """The type as Spark shows it: ``decimal(10,2)``, ``timestamp`` for TIMESTAMP WITH LOCAL TIME ZONE."""
    if isinstance(kind, ArrayType):
        return f"array<{spark_type(kind.element)}>"
    if isinstance(kind, MapType):
        return f"map<{spark_type(kind.key)},{spark_type(kind.value)}>"
    if isinstance(kind, RowType):
        return f"struct<{','.join(f'{one.name}:{spark_type(one.type)}' for one in kind.fields)}>"
    assert isinstance(kind, AtomicType)
    if kind.root == "DECIMAL":
        return f"decimal({kind.precision},{kind.scale})"
    if kind.root in ("CHAR", "VARCHAR", "TIME"):
        return f"{kind.root.lower()}({kind.precision})"
    return _NAMES.get(kind.root, kind.root.lower())


def declared_type(kind: DataType) -> str:
    """The type as a column definition declares it, without its own NOT NULL."""
    if isinstance(kind, ArrayType):
        return f"ARRAY<{declared_type(kind.element)}>"
    if isinstance(kind, MapType):
        return f"MAP<{declared_type(kind.key)}, {declared_type(kind.value)}>"
    if isinstance(kind, RowType):
        return f"STRUCT<{', '.join(_declared_field(one) for one in kind.fields)}>"
    assert isinstance(kind, AtomicType)
    short = kind.root in TIMESTAMP_ROOTS and (kind.precision or 0) < MAX_TIMESTAMP_PRECISION
    return f"{spark_type(kind).upper()}{f'({kind.precision})' if short else ''}"


def declared_column(column: DataField, default_sql: str | None = None) -> str:
    """A column definition: ```id` BIGINT NOT NULL DEFAULT 0 COMMENT '…'``."""
    return f"{quoted_name(column.name)} {_declared(column, default_sql)}"


def _declared_field(one: DataField) -> str:
    return f"{quoted_name(one.name)}: {_declared(one)}"


def _declared(one: DataField, default_sql: str | None = None) -> str:
    null = "" if one.type.nullable else " NOT NULL"
    null += "" if default_sql is None else f" DEFAULT {default_sql}"
    comment = "" if one.description is None else f" COMMENT {quoted_text(one.description)}"
    return f"{declared_type(one.type)}{null}{comment}"


def quoted_name(name: str) -> str:
    """A name in backquotes, so that it may hold any character."""
    return "`" + name.replace("`", "``") + "`"


def unquoted_name(text: str) -> str:
    """The name that a text means: in backquotes or not."""
    text = text.strip()
    return text[1:-1].replace("``", "`") if len(text) > 1 and text[0] == text[-1] == "`" else text


def quoted_text(text: str) -> str:
    """A string token with this value, where the grammar allows no expression: COMMENT, properties, PARTITION.

    Escapes are those that Spark reads by default, and that this engine's parser always reads. In an expression,
    `literal` does not depend on Spark's settings.
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def literal(value: Any, kind: DataType | None = None) -> str:
    """An expression with the value of a Python object, which no setting of Spark's parser changes.

    `kind` is its type where the value leaves that open: the width of a number, or whether a time without a zone is one
    of the session's zone (TIMESTAMP_LTZ) rather than of none.

    Raises:
        TypeError: the object is of a type for which there is no literal, or a decimal that is no number.
    """
    root = kind.root if isinstance(kind, AtomicType) else ""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return f"{value}{_INTEGER_SUFFIX.get(root, '')}"
    if isinstance(value, float):
        finite = isfinite(value)
        return f"{value!r}{'F' if root == 'FLOAT' else 'D'}" if finite else f"{root.lower() or 'double'}('{value}')"
    if isinstance(value, Decimal) and value.is_finite():
        return f"{value:f}BD"
    if isinstance(value, str):
        return _text_expression(value)
    if isinstance(value, datetime):
        local = value.tzinfo is None and root != "TIMESTAMP_LTZ"
        return f"TIMESTAMP{'_NTZ' if local else ''} '{value.isoformat(' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, time):
        return f"TIME '{value.isoformat()}'"
    if isinstance(value, (bytes, bytearray)):
        return f"X'{value.hex()}'"
    raise TypeError(f"A {type(value).__name__} cannot be written as a SQL literal.")


_INTEGER_SUFFIX = {"TINYINT": "Y", "SMALLINT": "S", "BIGINT": "L"}
_READ_DIFFERENTLY = re.compile(r"['\\]|\$\{")
"""Escapes depend on `escapedStringLiterals`; ``${…}`` is a variable where `variable.substitute` is on."""


def _text_expression(text: str) -> str:
    if _READ_DIFFERENTLY.search(text):
        return f"cast(X'{text.encode().hex()}' as string)"
    return f"'{text}'"
