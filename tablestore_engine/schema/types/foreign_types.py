"""Types that Spark or a table does not have, and what to use instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NAMES: Final = {
    "STRING": ("TEXT", "LONGTEXT", "NVARCHAR", "NCHAR", "CLOB", "JSON", "JSONB", "UUID", "SUPER"),
    "TIMESTAMP": ("DATETIME", "DATETIME2", "SMALLDATETIME", "TIMESTAMPTZ", "TIMESTAMP_TZ"),
    "DECIMAL(precision, scale)": ("NUMBER", "BIGNUMERIC", "BIGDECIMAL", "MONEY"),
    "BIGINT": ("INT8", "INT64", "BIGSERIAL"),
    "INT": ("INT4", "MEDIUMINT", "SERIAL"),
    "SMALLINT": ("INT2",),
    "DOUBLE": ("FLOAT8", "FLOAT64"),
    "FLOAT": ("FLOAT4",),
    "BOOLEAN": ("BOOL", "BIT"),
    "BINARY": ("BYTES", "BYTEA", "VARBINARY", "BLOB", "LONGBLOB"),
}

INSTEAD: Final[Mapping[str, str]] = {
    "INTERVAL": "Store the bounds, or a number of units.",
    "VARIANT": "Store the value as STRING, for example by to_json(…).",
    "VOID": "Cast the column to a type.",
    "NULL": "Cast the column to a type.",
    "TIME": "Store the time as STRING or as a number of microseconds.",
    **{name: f"Use {kind}." for kind, names in _NAMES.items() for name in names},
}
"""What to do instead of using a type, by its name in capitals."""
