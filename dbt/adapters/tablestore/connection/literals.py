"""Python values as Spark SQL literals that read back as the same value."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any


def literal(value: Any) -> str:
    """The literal of one value. Raises TypeError for a type that has none."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}BD"
    if isinstance(value, float):
        return f"double({text_literal(repr(value))})"
    if isinstance(value, datetime):
        kind = "timestamp_ntz" if value.tzinfo is None else "timestamp"
        return f"{kind}{text_literal(value.isoformat(sep=' '))}"
    if isinstance(value, date):
        return f"date{text_literal(value.isoformat())}"
    if isinstance(value, time):
        return text_literal(value.isoformat())
    if isinstance(value, (bytes, bytearray)):
        return f"X'{bytes(value).hex()}'"
    if isinstance(value, str):
        return text_literal(value)
    raise TypeError(f"A {type(value).__name__} cannot be written as a SQL literal.")


def text_literal(text: str) -> str:
    """A Spark string literal that reads back as exactly `text`."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
