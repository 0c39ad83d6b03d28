"""Data types as Spark writes them, without Spark.

Two forms: what Spark *shows* (``decimal(10,2)``, ``struct<a:int,b:string>``: DESCRIBE, the types of result columns)
and what SQL *declares* (``STRUCT<`a`: INT NOT NULL COMMENT '…'>``: CREATE TABLE). The declared form of any type that
came in through SQL gives the same type again; types that only other writers use are declared as the nearest one.
"""

from __future__ import annotations

from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType

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
    return spark_type(kind).upper()


def declared_column(column: DataField) -> str:
    """A column definition: ```id` BIGINT NOT NULL COMMENT '…'``."""
    return f"{quoted_name(column.name)} {_declared(column)}"


def _declared_field(one: DataField) -> str:
    return f"{quoted_name(one.name)}: {_declared(one)}"


def _declared(one: DataField) -> str:
    null = "" if one.type.nullable else " NOT NULL"
    comment = "" if one.description is None else f" COMMENT {quoted_text(one.description)}"
    return f"{declared_type(one.type)}{null}{comment}"


def quoted_name(name: str) -> str:
    """A name in backquotes."""
    return "`" + name.replace("`", "``") + "`"


def quoted_text(text: str) -> str:
    """A string literal whose value is the text."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
