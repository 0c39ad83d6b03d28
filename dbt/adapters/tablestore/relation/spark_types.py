"""The names of the engine's data types in Spark, found without Spark."""

from __future__ import annotations

from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataType, MapType, RowType

_NAMES = {"BYTES": "binary", "BINARY": "binary", "VARBINARY": "binary", "TIMESTAMP": "timestamp_ntz",
          "TIMESTAMP_LTZ": "timestamp"}  # fmt: skip


def spark_type(kind: DataType) -> str:
    """`decimal(10,2)` for DECIMAL(10, 2), `timestamp` for TIMESTAMP WITH LOCAL TIME ZONE, `array<int>` …"""
    if isinstance(kind, ArrayType):
        return f"array<{spark_type(kind.element)}>"
    if isinstance(kind, MapType):
        return f"map<{spark_type(kind.key)},{spark_type(kind.value)}>"
    if isinstance(kind, RowType):
        return f"struct<{','.join(f'{one.name}:{spark_type(one.type)}' for one in kind.fields)}>"
    assert isinstance(kind, AtomicType)
    if kind.root == "DECIMAL":
        return f"decimal({kind.precision},{kind.scale})"
    if kind.root in ("CHAR", "VARCHAR"):
        return f"{kind.root.lower()}({kind.precision})"
    return _NAMES.get(kind.root, kind.root.lower())
