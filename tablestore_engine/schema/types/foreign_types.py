"""Types by their names in other warehouses: those that mean one of Spark's, and what to use instead of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NAMES: Final = {
    "STRING": ("TEXT", "LONGTEXT", "MEDIUMTEXT", "NTEXT", "CLOB"),
    "TIMESTAMP": ("DATETIME", "DATETIME2", "SMALLDATETIME", "TIMESTAMPTZ", "TIMESTAMP_TZ", "TIMESTAMP WITH TIME ZONE",
                  "TIMESTAMP WITH LOCAL TIME ZONE"),
    "TIMESTAMP_NTZ": ("TIMESTAMP WITHOUT TIME ZONE",),
    "BIGINT": ("INT8", "INT64"),
    "INT": ("INT4", "MEDIUMINT"),
    "SMALLINT": ("INT2",),
    "DOUBLE": ("FLOAT8", "FLOAT64", "DOUBLE PRECISION"),
    "FLOAT": ("FLOAT4",),
    "BOOLEAN": ("BOOL",),
    "BINARY": ("BYTES", "BYTEA", "VARBINARY", "BLOB", "LONGBLOB"),
}  # fmt: skip

SYNONYMS: Final[Mapping[str, str]] = {name: kind for kind, names in _NAMES.items() for name in names}
"""Spark's type by another name in capitals. A length or precision has no meaning in Spark's, and is left out."""

UNSIZED: Final[Mapping[str, str]] = {
    "VARCHAR": "VARCHAR",
    "NVARCHAR": "VARCHAR",
    "CHARACTER VARYING": "VARCHAR",
    "CHAR": "CHAR",
    "NCHAR": "CHAR",
    "CHARACTER": "CHARACTER",
}
"""Texts with a length, by Spark's name; without one they are strings."""

EXACT_NUMBERS: Final[Mapping[str, str]] = dict.fromkeys(("NUMBER", "BIGNUMERIC", "BIGDECIMAL"), "(38,6)")
"""Decimals, with the precision and scale where none is given."""

_INSTEAD: Final = {
    "STRING": ("JSON", "JSONB", "UUID", "SUPER"),
    "DECIMAL(precision, scale)": ("MONEY",),
    "BIGINT": ("BIGSERIAL",),
    "INT": ("SERIAL",),
    "BOOLEAN": ("BIT",),
}

INSTEAD: Final[Mapping[str, str]] = {
    "INTERVAL": "Store the bounds, or a number of units.",
    "VOID": "Cast the column to a type.",
    "NULL": "Cast the column to a type.",
    **{name: f"Use {kind}." for kind, names in _INSTEAD.items() for name in names},
}
"""The advice for a type that cannot be used, by its name in capitals."""
