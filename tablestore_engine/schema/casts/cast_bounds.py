"""Statistics of a column of an older file, as those of its present type.

Invariant: bounds are cast only where the cast keeps the order of values, and where every value has a result. Elsewhere
nothing is known of them, and the file is read: the order of numbers is not that of their texts.
"""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

from tablestore_engine.schema.casts.cast_old_columns import CastRules, is_same, never_fails
from tablestore_engine.schema.types.types import INTEGER_ROOTS, AtomicType, DataType

_UTC = "UTC"


def keeps_order(past: DataType, current: DataType, zone: str) -> bool:
    """Whether the cast of a smaller value is never greater, and each value has one that is not rounded."""
    if is_same(past, current):
        return True
    if not isinstance(past, AtomicType) or not isinstance(current, AtomicType) or not never_fails(past, current):
        return False
    root, to = past.root, current.root
    if root in (*INTEGER_ROOTS, "DECIMAL") and to in (*INTEGER_ROOTS, "DECIMAL"):
        return True
    if root == "VARCHAR" and to in ("VARCHAR", "STRING"):
        return True
    times = ("TIMESTAMP", "TIMESTAMP_LTZ")
    if root in times and root == to:
        return (past.precision or 0) <= (current.precision or 0)
    # Clocks in other zones are set back at times.
    if "TIMESTAMP_LTZ" in (root, to) and zone != _UTC:
        return False
    return root in ("DATE", *times) and to in ("DATE", *times) and (to == "DATE" or (current.precision or 0) >= 6)


def cast_bound(value: Any, current: DataType) -> Any:
    """A bound, of a type whose cast keeps the order, as a value of the present type."""
    root = current.root if isinstance(current, AtomicType) else ""
    if root == "DECIMAL" and isinstance(value, int):
        return Decimal(value)
    if isinstance(value, datetime):
        if root == "DATE":
            return value.date()
        return value.replace(tzinfo=timezone.utc if root == "TIMESTAMP_LTZ" else None)
    if isinstance(value, date) and root != "DATE":
        return datetime.combine(value, time(), timezone.utc if root == "TIMESTAMP_LTZ" else None)
    return value


def null_count_after(past: DataType, current: DataType, rules: CastRules, nulls: int | None, rows: int) -> int | None:
    """How many nulls there are after the cast; None when it is not known."""
    whole = nulls is not None and nulls == rows
    return nulls if whole or rules.fails or never_fails(past, current) else None
