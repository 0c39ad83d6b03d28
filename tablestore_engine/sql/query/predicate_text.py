"""A predicate as the SQL text of a condition that is read as the same predicate again (`conditions`)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from math import isfinite

from tablestore_engine.schema.table.predicate import And, Compare, Constant, In, IsNull, Or, Predicate
from tablestore_engine.schema.types.sql_text import literal, quoted_name, quoted_text


def predicate_text(predicate: Predicate, columns: Mapping[str, str]) -> str | None:
    """The text of what can be said of some columns: lower-cased names of the predicate, and what to call them.

    What cannot be said is left out, so the condition is weaker, never stronger; None when nothing is left.
    """
    if isinstance(predicate, (And, Or)):
        parts = [predicate_text(child, columns) for child in predicate.children]
        known = [f"({part})" for part in parts if part is not None]
        if isinstance(predicate, Or):
            return " OR ".join(known) if len(known) == len(parts) else None
        return " AND ".join(known) or None
    name = columns.get(predicate.column.lower())
    if name is None:
        return None
    if isinstance(predicate, Compare):
        value = _constant(predicate.value)
        return None if value is None else f"{quoted_name(name)} {predicate.op} {value}"
    if isinstance(predicate, In):
        values = [_constant(value) for value in predicate.values]
        shown = [value for value in values if value is not None]
        return f"{quoted_name(name)} IN ({', '.join(shown)})" if len(shown) == len(values) else None
    return f"{quoted_name(name)} IS {'NULL' if isinstance(predicate, IsNull) else 'NOT NULL'}"


def _constant(value: Constant) -> str | None:
    """The literal of a constant, where `constant_at` reads the same constant from it."""
    if isinstance(value, str):
        return None if "\\" in value or "'" in value else quoted_text(value)
    if isinstance(value, (Decimal, float)) and not isfinite(value):
        return None
    return literal(value)
