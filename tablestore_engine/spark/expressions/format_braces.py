"""SQL text that passes through `str.format`: `SparkSession.sql` with frames as `{name}`."""

from __future__ import annotations

from typing import Any

from tablestore_engine.schema.types.sql_literals import literal, quoted_name


def formatted(name: str) -> str:
    """The quoted name, with its braces doubled."""
    return _escaped(quoted_name(name))


def formatted_literal(value: Any) -> str:
    """The literal of a value, with its braces doubled."""
    return _escaped(literal(value))


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
