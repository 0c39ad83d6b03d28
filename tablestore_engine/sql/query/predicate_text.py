"""A predicate as the SQL text of a condition that is read as the same predicate again (`conditions`)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from tablestore_engine.schema.table.predicate import And, Compare, Constant, In, IsNull, Or, Predicate
from tablestore_engine.sql.text.lexer import quote


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
        return None if value is None else f"{quote(name)} {predicate.op} {value}"
    if isinstance(predicate, In):
        values = [_constant(value) for value in predicate.values]
        shown = [value for value in values if value is not None]
        return f"{quote(name)} IN ({', '.join(shown)})" if len(shown) == len(values) else None
    return f"{quote(name)} IS {'NULL' if isinstance(predicate, IsNull) else 'NOT NULL'}"


def _constant(value: Constant) -> str | None:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}BD" if value.is_finite() else None
    if isinstance(value, float):
        return f"{value!r}D" if abs(value) < float("inf") else None
    if isinstance(value, datetime):
        return f"TIMESTAMP{'_NTZ' if value.tzinfo is None else ''}'{value.isoformat(' ')}'"
    if isinstance(value, date):
        return f"DATE'{value.isoformat()}'"
    return None if "\\" in value or "'" in value else f"'{value}'"
